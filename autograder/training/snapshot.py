"""A run in memory to the record and tensors of a checkpoint, and back, bit for bit."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

import torch
from torch import Tensor, nn

from autograder.errors import CourseError
from autograder.training import device as devices
from autograder.training.loop import Training, config_of

# Names in the tensors file: a weight has its own, the rest one of these in front.
ADAMW, RNG = "adamw.", "rng."


def take(training: Training) -> tuple[dict, dict[str, Tensor]]:
    """What the run needs to go on as if it had never stopped."""
    names = {p: name for name, p in training.model.named_parameters()}
    tensors = {name: p.detach() for p, name in names.items()}
    numbers: dict[str, dict] = {}
    for p, state in training.adamw.items():
        if not (isinstance(p, Tensor) and p in names and isinstance(state, dict)):
            raise CourseError(
                f"{training.module.__file__} keeps the state of AdamW in its own way. For the run "
                "to be saved, train_step has to keep it as state[parameter] = {...}, a dict of "
                "tensors and numbers."
            )
        for key, value in state.items():
            if isinstance(value, Tensor):
                tensors[f"{ADAMW}{key}.{names[p]}"] = value.detach()
            else:
                numbers.setdefault(names[p], {})[key] = value
    tensors[f"{RNG}batches"] = training.batches.get_state()
    for name, state in devices.random_state(training.device).items():
        tensors[f"{RNG}{name}"] = state
    record = {
        "step": training.step,
        "config": config_of(training.settings, len(training.text.vocabulary)),
        "settings": dataclasses.asdict(training.settings),
        "seconds": training.seconds,
        "history": training.history,
        "adamw": numbers,
    }
    return record, tensors


def put_back(training: Training, record: dict, tensors: dict[str, Tensor]) -> None:
    """Bring a fresh run to where the checkpoint was taken."""
    put_weights(training.model, tensors)
    parameters = dict(training.model.named_parameters())
    for name, numbers in record["adamw"].items():
        training.adamw[parameters[name]] = dict(numbers)
    for full, tensor in tensors.items():
        if full.startswith(ADAMW):
            key, name = full.removeprefix(ADAMW).split(".", 1)
            state = training.adamw.setdefault(parameters[name], {})
            state[key] = tensor.to(training.device, copy=True)
    rng = {n.removeprefix(RNG): t for n, t in tensors.items() if n.startswith(RNG)}
    training.batches.set_state(rng.pop("batches"))
    devices.set_random_state(rng, training.device)
    training.step = record["step"]
    training.seconds = record["seconds"]
    training.history = record["history"]


@torch.no_grad()
def put_weights(model: nn.Module, tensors: dict[str, Tensor]) -> None:
    """The checkpoint's weights into the model; CourseError where names or shapes differ."""
    weights = {n: t for n, t in tensors.items() if not n.startswith((ADAMW, RNG))}
    parameters = dict(model.named_parameters())
    lacking, left = sorted(parameters.keys() - weights), sorted(weights.keys() - parameters)
    wrong = [n for n, p in parameters.items() if n in weights and p.shape != weights[n].shape]
    if lacking or left or wrong:
        some = lacking[:1] + left[:1] + wrong[:1]
        raise CourseError(
            "the checkpoint is of another model: its parameters have other names or shapes "
            f"({', '.join(some)}). Use the gpt2.py it was trained with."
        )
    for name, p in parameters.items():
        p.copy_(weights[name])


def source(path: str | Path) -> dict:
    """The path and hash of the gpt2.py."""
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return {"path": str(path), "sha256": digest}
