"""The run: as many steps as the time allows, with the file's own functions, and a look afterwards.

Losses on the training text and on held-out text are the doctor's own, from the model's logits, so
that a mistake in the file's loss does not hide what the model learns.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn

from autograder.doctor.patient import T, Patient, loss_and_norm
from autograder.doctor.probe_context import ahead, influence
from autograder.doctor.probe_model import Watch
from autograder.training.loop import losses

FEWEST, MOST = 20, 3000  # steps
SHARE = 0.8  # of the time for the steps themselves
REPEATED = 3  # steps that are made twice, for determinism
EVALUATIONS = 8
ALONE = 4  # windows that are read prefix by prefix


class Run:
    """A training in memory, on the patient's device."""

    def __init__(self, patient: Patient, steps: int):
        s = patient.settings
        self.patient, self.module = patient, patient.module
        self.settings = replace(s, steps=steps, warmup=max(1, steps // 10))
        self.model = patient.model().to(patient.device).train()
        self.groups = self.module.decay_groups(self.model, s.weight_decay)
        self.state: dict = {}
        self.batches = torch.Generator().manual_seed(s.seed)
        self.data = patient.text.train.to(patient.device)
        starts = patient.text.starts
        self.starts = None if starts is None else starts.to(patient.device)
        self.told: list[dict] = []

    def step(self) -> dict:
        """One step; what was measured of it."""
        s, number = self.settings, len(self.told)
        lr = self.module.lr_schedule(number, s.lr, s.min_lr, s.warmup, s.steps)
        x, y = self.module.get_batch(
            self.data, s.batch_size, s.context, starts=self.starts, generator=self.batches
        )
        self.before = {n: p.detach().clone() for n, p in self.model.named_parameters()}
        result = self.module.train_step(
            self.model,
            x,
            y,
            self.groups,
            self.state,
            lr,
            betas=(s.beta1, s.beta2),
            max_norm=s.max_norm,
        )
        self.x = x
        loss, norm = loss_and_norm(result)
        self.told.append({"loss": loss, "norm": norm, "lr": float(lr)})
        return self.told[-1]

    def evaluate(self) -> dict:
        text = self.patient.text
        found = {"step": len(self.told)}
        for name, windows in (("train", text.sampled), ("held_out", text.held_out)):
            found[name] = losses(self.model, windows, self.settings.batch_size).mean().item()
        return found

    def broke(self) -> dict | None:
        """What is no longer finite after the last step, and where it was first."""
        last, named = self.told[-1], dict(self.model.named_parameters())
        weights = [n for n, p in named.items() if not finite(p)]
        if math.isfinite(last["loss"]) and math.isfinite(last["norm"]) and not weights:
            return None
        what, first = "weights", weights[:1]
        if not math.isfinite(last["loss"]):
            what, first = "loss", self.first_part()
        elif not math.isfinite(last["norm"]):
            what, first = "gradient", [n for n, p in named.items() if not finite(p.grad)][:1]
        return {"step": len(self.told), "what": what, "part": first[0] if first else None}

    @torch.no_grad()
    def first_part(self) -> list[str]:
        """The first part of the forward pass that is not finite, with the weights before the step."""
        for name, p in self.model.named_parameters():
            p.copy_(self.before[name])
        with Watch(self.model) as watch:
            self.model(self.x)
        return [watch.first["part"]] if watch.first else []


def finite(tensor: Tensor | None) -> bool:
    return tensor is None or bool(tensor.isfinite().all())


def repeated(patient: Patient) -> tuple[dict, float]:
    """The first steps twice from one seed, and the seconds that a step takes."""
    found, seconds = [], 0.0
    for _ in range(2):
        run, started = Run(patient, FEWEST), time.perf_counter()
        found.append([run.step()["loss"] for _ in range(REPEATED)])
        seconds = (time.perf_counter() - started) / REPEATED
    return {"first": found[0], "second": found[1], "on_cpu": patient.device.type == "cpu"}, seconds


def training(patient: Patient, seconds: float, say: Callable[[int], None] = lambda n: None) -> dict:
    """Train for so long, or until a number is not finite; `say` hears the step, often."""
    began = time.perf_counter()
    twice, each = repeated(patient)
    steps = min(MOST, max(FEWEST, int(SHARE * seconds / max(each, 1e-4))))
    run, broke = Run(patient, steps), None
    history = [run.evaluate()]
    while len(run.told) < steps and broke is None:
        if len(run.told) >= FEWEST and time.perf_counter() - began > 1.5 * seconds:
            break  # the machine became slower: enough is enough
        run.step()
        broke = run.broke()
        say(len(run.told))
        if broke is None and len(run.told) % max(1, steps // EVALUATIONS) == 0:
            history.append(run.evaluate())
    text = patient.text
    found = {
        "repeated": twice,
        "steps": run.told,
        "asked": steps,
        "broke": broke,
        "history": history,
        "largest": largest_weights(run.before),
        "levels": {"unigram": text.unigram(), "bigram": text.bigram()},
        "floor": text.floor and text.floor.loss,
        "tokens": len(text.train),
    }
    return found if broke else found | after(run)


def largest_weights(tensors: dict[str, Tensor]) -> dict[str, float]:
    sizes = {name: tensor.abs().max().item() for name, tensor in tensors.items()}
    return dict(sorted(sizes.items(), key=lambda item: -item[1])[:2])


@torch.no_grad()
def after(run: Run) -> dict:
    """The trained model: its last losses, and each position predicted from its prefix alone."""
    model, device = run.model.eval(), run.patient.device
    windows = run.patient.text.held_out[:ALONE].to(device)
    x, y = windows[:, :-1], windows[:, 1:]
    alone = torch.stack([model(x[:, : n + 1])[:, -1] for n in range(x.shape[1])], dim=1)
    cross = nn.functional.cross_entropy
    return {
        "final": run.evaluate(),
        "parallel": cross(model(x).flatten(0, 1), y.flatten()).item(),
        "prefix": cross(alone.flatten(0, 1), y.flatten()).item(),
        "moved": ahead(influence(model, run.patient.ids(2, T).to(device), run.patient.V)),
    }
