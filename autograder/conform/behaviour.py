"""Rows on how the model behaves: what each logit may depend on, errors, dropout, repeatability."""

import math

import numpy as np
import torch

from autograder import references
from autograder.conform.row import Worst, Wrong, prop
from autograder.conform.subject import Subject

GROUP = "behaviour"
LEAK = (
    "position t may see tokens 0 … t alone: the mask's diagonal and direction, -inf before the "
    "softmax, softmax over keys, heads split with a transpose, LayerNorm over the last axis only"
)


def changed_later(subject: Subject, model, ids: np.ndarray, vocab: int, label: str) -> Worst:
    """Change one token at a time; every logit before it has to stay."""
    worst, full = Worst(), subject.logits(model, ids)
    for t in range(1, ids.shape[1]):
        other = ids.copy()
        other[:, t] = (other[:, t] + 1) % vocab
        now, before = subject.logits(model, other)[:, :t], full[:, :t]
        both = np.isnan(now) & np.isnan(before)  # NaN twice is another row's matter
        worst.add(
            f"{label}, token {t} changed: logits", np.where(both, 0, now), np.where(both, 0, before)
        )
    return worst


@prop(GROUP, "leak test", "a later token changed, earlier logits", 1e-5, LEAK)
def leak(subject: Subject) -> Worst:
    worst = Worst()
    for name in ("short", "full"):
        r = references.load(name)
        found = changed_later(subject, subject.model(r), r["ids"], r.sizes.V, name)
        worst.note(found.error, found.where)
    return worst


@prop(
    GROUP,
    "leak test, large scores",
    "scores near -2e4; scores 1e4 apart",
    1e-5,
    "the mask holds -inf; a finite number such as -1e4 is passed by large scores",
)
def leak_large(subject: Subject) -> Worst:
    worst, r = Worst(), references.load("short")
    for label, parameters in (
        ("scores near -2e4", lowered(r.parameters, r.sizes.H)),
        ("scores 1e4 apart", {**r.parameters, **widened(r.parameters)}),
    ):
        model = subject.model(r, parameters=parameters)
        found = changed_later(subject, model, r["ids"], r.sizes.V, label)
        worst.note(found.error, found.where)
    return worst


def widened(parameters: dict) -> dict:
    """W_Q and W_K so large that scores of one row lie 1e4 and more apart."""
    return {k: 150 * a for k, a in parameters.items() if k.endswith(("W_Q", "W_K"))}


def lowered(parameters: dict, n_head: int) -> dict:
    """The same attention with every score lower by 2e4.

    The first dimension of every head is spent on it: q = c, k = -c, so -c^2 / sqrt(d_k).
    """
    lower = {k: a.copy() for k, a in parameters.items()}
    d_k = parameters["E"].shape[1] // n_head
    c = math.sqrt(2e4 * math.sqrt(d_k))
    for name, array in lower.items():
        if name.endswith(("W_Q", "W_K")):
            array[:, ::d_k] = 0
        elif name.endswith(("b_Q", "b_K")):
            array[::d_k] = c if name.endswith("b_Q") else -c
    return lower


@prop(GROUP, "prefix passes", "the first n tokens alone, all n", 1e-5, LEAK)
def prefixes(subject: Subject) -> Worst:
    worst = Worst()
    for name in ("short", "full"):
        r = references.load(name)
        model = subject.model(r)
        full = subject.logits(model, r["ids"])
        for n in range(1, r.sizes.T + 1):
            got = subject.logits(model, r["ids"][:, :n])
            worst.add(f"{name}, {n} tokens: logits", got, full[:, :n])
    return worst


@prop(
    GROUP,
    "batch independence",
    "each row alone, and in another order",
    1e-5,
    "no mean, norm or softmax over the batch axis; heads and batch kept apart in reshapes",
)
def batch(subject: Subject) -> Worst:
    worst, r = Worst(), references.load("short")
    model = subject.model(r)
    full = subject.logits(model, r["ids"])
    for b in range(r.sizes.B):
        worst.add(f"row {b} alone: logits", subject.logits(model, r["ids"][b : b + 1])[0], full[b])
    worst.add("rows reversed: logits", subject.logits(model, r["ids"][::-1].copy())[::-1], full)
    return worst


@prop(
    GROUP,
    "determinism",
    "the same input twice, bit for bit",
    0,
    "nothing random outside training; nothing kept from one pass to the next",
)
def determinism(subject: Subject) -> Worst:
    worst, r = Worst(), references.load("short")
    model, ids = subject.model(r), subject.ids(r["ids"])
    with torch.no_grad():
        first = model(ids).cpu().numpy().copy()
        torch.manual_seed(1)
        second = model(ids).cpu().numpy()
    differ = first.view(np.uint8) != second.view(np.uint8)
    worst.note(differ.sum(), "bytes of the logits differ between two passes")
    worst.note((ids.cpu().numpy() != r["ids"]).sum(), "ids were changed")
    return worst


@prop(
    GROUP,
    "dropout",
    "0.3: off in evaluation, on in training; 0: never",
    1e-5,
    "self.training decides; nn.Dropout, or torch.dropout(..., train=self.training)",
)
def dropout(subject: Subject) -> Worst:
    worst, r = Worst(), references.load("short")
    want = subject.logits(subject.model(r), r["ids"])
    model = subject.model(r, dropout=0.3)
    worst.add("model.eval(), dropout 0.3: logits", subject.logits(model, r["ids"]), want)
    model.train()
    if np.array_equal(subject.logits(model, r["ids"]), subject.logits(model, r["ids"])):
        raise Wrong("with dropout 0.3, two training passes are the same")
    plain = subject.model(r).train()
    worst.add("model.train(), dropout 0: logits", subject.logits(plain, r["ids"]), want)
    return worst


@prop(
    GROUP,
    "ValueError",
    "T > n_positions, T = 0, id = V, id = -1",
    0,
    "forward checks T and the range of ids before it looks anything up",
)
def errors(subject: Subject) -> Worst:
    worst, r = Worst(), references.load("short")
    model, V = subject.model(r), r.sizes.V
    for label, ids in {
        "T > n_positions": np.zeros((2, r.sizes.n_positions + 1)),
        "T = 0": np.zeros((2, 0)),
        f"id {V}, V = {V},": np.array([[1, V]]),
        "id -1": np.array([[1, -1]]),
    }.items():
        try:
            subject.logits(model, ids)
        except ValueError:
            continue
        except Exception as other:
            worst.note(worst.error + 1, f"{label} raises {type(other).__name__}, no ValueError")
        else:
            worst.note(worst.error + 1, f"{label} raises nothing")
    return worst
