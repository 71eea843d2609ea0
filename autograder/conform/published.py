"""Rows that need the published weights of GPT-2 small: numbers that others have printed.

Sources: TransformerLens' acceptance test (loss), transformers' test_modeling_gpt2.py (greedy ids),
mlverse/minhub (logits), llm.c's test_gpt2.c and test_gpt2.cu (ten AdamW steps).
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file as load_safetensors

from autograder.conform.row import Property, Row, Worst, measure
from autograder.conform.subject import Subject, put
from autograder.errors import CourseError
from autograder.references import FOLDER
from autograder.references.names import from_published

GROUP = "published weights"
FILES = ("model.safetensors", "pytorch_model.bin")
LOOK = (
    "whether this is the original GPT-2 small, not one trained further; what depends on the size: "
    "12 heads, 1024 positions, 50,257 tokens"
)


@dataclass(frozen=True)
class Printed:
    """Numbers printed for one published model. `steps` is laid out as llmc_batch.json."""

    name: str
    config: dict
    loss_ids: tuple[int, ...]
    loss: float
    greedy: tuple[int, ...]  # the first two are the prompt
    last_ids: tuple[int, ...]
    last_logits: tuple[float, ...]  # the first of the last position
    steps: dict


SMALL = Printed(
    name="GPT-2 small",
    config=dict(vocab_size=50257, n_positions=1024, n_layer=12, n_head=12, d_model=768),
    loss_ids=(50256, 15496, 995, 0),  # <|endoftext|>Hello world!
    loss=5.331856,
    greedy=(464, 3290, 373, 1043, 287, 257, 2214, 1474, 262, 16246)
    + (286, 2688, 290, 2688, 27262, 13, 198, 198, 464, 3290),
    last_ids=(15496, 995, 220),
    last_logits=(-53.2292, -55.5639, -58.5087, -57.6649, -59.0031),
    steps=json.loads((FOLDER / "llmc_batch.json").read_text(encoding="utf-8")),
)


def load_file(path: str | Path, printed: Printed = SMALL) -> dict[str, np.ndarray]:
    """Parameters, by gpt2.py's names, of a safetensors or PyTorch file, or of a folder with one."""
    path = Path(path)
    if path.is_dir():
        found = [path / name for name in FILES if (path / name).is_file()]
        if not found:
            raise CourseError(f"{path} holds neither {FILES[0]} nor {FILES[1]}.")
        path = found[0]
    if not path.is_file():
        raise CourseError(f"{path}: no such file.")
    try:
        if path.suffix == ".safetensors":
            state = load_safetensors(path)
        else:
            state = torch.load(path, map_location="cpu", weights_only=True)
        state = {name: tensor.float().numpy() for name, tensor in state.items()}
        parameters = from_published(state)
    except (SafetensorError, OSError, RuntimeError, AttributeError, EOFError, ValueError) as error:
        raise CourseError(f"{path} is not a GPT-2 weights file: {error}") from None
    except Exception as error:  # pickle raises types of its own
        raise CourseError(f"{path} cannot be read as PyTorch weights: {error}") from None
    require_size(path, parameters, printed)
    return parameters


def require_size(path: Path, parameters: dict[str, np.ndarray], printed: Printed) -> None:
    layers = sum(name.endswith("ln_1.gamma") for name in parameters)
    got = (*parameters["E"].shape, len(parameters["P"]), layers)
    c = printed.config
    want = (c["vocab_size"], c["d_model"], c["n_positions"], c["n_layer"])
    if got != want or "W_U" in parameters:
        untied = ", untied" if "W_U" in parameters else ""
        raise CourseError(
            f"{path} is not {printed.name}: (vocabulary, d, positions, layers) is {got}{untied}; "
            f"the printed numbers belong to {want}."
        )


def published_rows(
    subject: Subject,
    parameters: dict[str, np.ndarray],
    printed: Printed = SMALL,
    say: Callable[[Property], None] = lambda p: None,
) -> Iterator[Row]:
    """One row a printed number; `say` is told each before it is measured."""
    steps_tolerance = 1e-3 if subject.device.type == "cpu" else 1e-2
    properties = [
        ("printed loss", f"{printed.loss}", 1e-4, sentence_loss),
        ("printed greedy ids", f"{len(printed.greedy)} ids", 0, greedy_ids),
        ("printed logits", f"the first {len(printed.last_logits)}", 1e-4, last_logits),
    ]
    for run in printed.steps["runs"]:
        check = partial(ten_steps, run=run)
        properties.append((f"printed steps, {run['name']}", "losses", steps_tolerance, check))
    for name, compared, tolerance, check in properties:
        run = partial(check, parameters=parameters, printed=printed)
        row = Property(GROUP, name, compared, tolerance, LOOK, run)
        say(row)
        yield measure(row, subject)


def model_with(subject: Subject, parameters: dict, printed: Printed) -> torch.nn.Module:
    with torch.device("meta"):
        model = subject.GPT2(subject.GPT2Config(**printed.config)).eval()
    model = model.to_empty(device=subject.device)
    put(model, parameters)
    return model


def sentence_loss(subject: Subject, parameters, printed) -> Worst:
    worst, ids = Worst(), np.array([printed.loss_ids])
    model = model_with(subject, parameters, printed)
    with torch.no_grad():
        loss = model.loss(subject.ids(ids[:, :-1]), subject.ids(ids[:, 1:]))
    worst.add("the loss", loss, printed.loss)
    return worst


def greedy_ids(subject: Subject, parameters, printed) -> Worst:
    worst, want = Worst(), np.array([printed.greedy])
    model = model_with(subject, parameters, printed)
    got = subject.generate(model, subject.ids(want[:, :2]), want.size - 2, temperature=0)
    worst.add("the number of ids", got.shape[1], want.size)
    worst.note((got.cpu().numpy() != want).sum(), f"got {got[0].tolist()}")
    return worst


def last_logits(subject: Subject, parameters, printed) -> Worst:
    worst, model = Worst(), model_with(subject, parameters, printed)
    logits = subject.logits(model, np.array([printed.last_ids]))[0, -1]
    worst.add("the logits", logits[: len(printed.last_logits)], np.array(printed.last_logits))
    return worst


def ten_steps(subject: Subject, parameters, printed, run: dict) -> Worst:
    """The file's train_step with all tensors in one group, as llm.c does it, and no clipping."""
    worst, s = Worst(), printed.steps
    model = model_with(subject, parameters, printed).train()
    groups = [{"params": list(model.parameters()), "weight_decay": run["decay_of_all"]}]
    tokens, shape = np.array(s["tokens"]), (s["B"], s["T"])
    x, y = subject.ids(tokens[:-1].reshape(shape)), subject.ids(tokens[1:].reshape(shape))
    state, settings = {}, dict(lr=s["lr"], betas=tuple(run["betas"]), eps=s["eps"])
    for step, want in enumerate(run["losses"], start=1):
        loss, _ = subject.train_step(model, x, y, groups, state, max_norm=1e9, **settings)
        worst.add(f"step {step}", loss, want)
    return worst
