"""Rows of numbers: transformers' stored float32 arrays, and the float64 oracle computed afresh."""

from functools import cache

import numpy as np
import torch

from autograder import references
from autograder.conform.row import F32, F64, Worst, Wrong, prop, tolerance_on
from autograder.conform.subject import Subject, attention_maps, hidden_states
from autograder.oracle import model as oracle

THEIRS, EXACT = "transformers, float32", "oracle, float64"
PLAIN = ("short", "full", "deep")

LOGITS = (
    "the row 'hidden states' names the first place that differs; "
    "if that row is ok, the final LayerNorm or the output matrix"
)
HIDDEN = (
    "after the embedding: E[ids] + P[:T]; after a block: pre-norm order, residual additions, "
    "each LayerNorm its own gamma and beta, tanh GELU, heads split and merged by columns"
)
ATTENTION = (
    "the LayerNorm before it (ln_1), scale 1/sqrt(d_k), mask added before the softmax, "
    "softmax over the last axis, which of Q and K comes first"
)
LOSS = "mean over all B*T positions of the cross-entropy of raw logits; targets are already shifted"
GRADIENTS = (
    "a detach(), .data, no_grad() or in-place change in the forward pass; "
    "a tied E takes gradients from both ends"
)
STEPS = (
    "gradients set to zero first, clipping by the joint norm, bias correction, eps after the root, "
    "decay on tensors of two dimensions or more only"
)
QUIET = "variance divided by d (not d - 1), eps = 1e-5 added to the variance inside the root"


@cache
def expected(name: str, exact: bool) -> dict:
    """Logits, hidden states, attention maps, loss and gradients of a reference."""
    r = references.load(name)
    if exact:
        run = oracle.forward(r.parameters, r["ids"], r.sizes.H)
        loss, gradients = oracle.gradients(r.parameters, r["ids"], r["targets"], r.sizes.H)
        embedding, blocks, final = run.embedding, run.blocks, run.final_norm
        logits, attentions = run.logits, np.stack(run.attentions)
    else:
        keys = ("embedding", "blocks", "final_norm", "logits", "attentions", "loss")
        embedding, blocks, final, logits, attentions, loss = (r[f"float32/{k}"] for k in keys)
        gradients = r.gradients("float32")
    hidden = {"embedding": embedding}
    hidden |= {f"after block {i}": x for i, x in enumerate(blocks)}
    hidden["after ln_f"] = final
    return dict(logits=logits, hidden=hidden, attentions=attentions, loss=loss, gradients=gradients)


def logits(subject: Subject, names, exact: bool) -> Worst:
    worst = Worst()
    for name in names:
        run = subject.run(name, dtype(exact))
        if run.watched.logits.dtype != dtype(exact):
            raise Wrong(f"logits of a {dtype(exact)} model are {run.watched.logits.dtype}")
        worst.add(name, run.watched.logits, expected(name, exact)["logits"])
    return worst


def hidden(subject: Subject, names, exact: bool) -> Worst:
    """The first place that differs, rather than the one that differs most."""
    worst = Worst()
    for name in names:
        run = subject.run(name, dtype(exact))
        want = expected(name, exact)["hidden"]
        states = hidden_states(run.watched, references.load(name).sizes)
        for stage, (place, x) in enumerate(states.items()):
            worst.add(f"{name}, {place}", x, want[place])
            if worst.error > tolerance_on(subject.device, F64 if exact else F32):
                worst.stage = (name, stage)
                return worst
    return worst


def attentions(subject: Subject, names, exact: bool) -> Worst:
    """The first layer that differs: the weights of layer l come before the stream after block l."""
    worst = Worst()
    for name in names:
        maps = attention_maps(subject.run(name, dtype(exact)).watched, references.load(name).sizes)
        for layer, (got, want) in enumerate(zip(maps, expected(name, exact)["attentions"])):
            worst.add(f"{name}, layer {layer}", got, want)
            if worst.error > tolerance_on(subject.device, F64 if exact else F32):
                worst.stage = (name, layer + 0.5)
                return worst
    return worst


def loss(subject: Subject, names, exact: bool) -> Worst:
    worst = Worst()
    for name in names:
        worst.add(name, subject.run(name, dtype(exact)).loss, expected(name, exact)["loss"])
    return worst


def gradients(subject: Subject, names, exact: bool) -> Worst:
    worst = Worst()
    for name in names:
        got = subject.run(name, dtype(exact)).gradients
        for parameter, want in expected(name, exact)["gradients"].items():
            if got.get(parameter) is None:
                raise Wrong(f"{parameter} gets no gradient ({name})")
            worst.add(f"{name}, {parameter}", got[parameter], want)
    return worst


def dtype(exact: bool) -> torch.dtype:
    return torch.float64 if exact else torch.float32


def ten_steps(subject: Subject, name: str, exact: bool) -> tuple[list[float], list[float]]:
    """Losses and norms of the file's own decay_groups and train_step on one batch."""
    r = references.load(name)
    settings = dict(r.optimiser)
    model = subject.model(r, dtype(exact)).train()
    groups = subject.decay_groups(model, settings.pop("weight_decay"))
    x, y, state, results = subject.ids(r["ids"]), subject.ids(r["targets"]), {}, []
    for _ in range(10):
        result = subject.train_step(model, x, y, groups, state, **settings)
        if not (isinstance(result, tuple) and len(result) == 2):
            raise Wrong(f"train_step returns {type(result).__name__}, not (loss, norm)")
        results.append([float(number) for number in result])
    losses, norms = zip(*results)
    return losses, norms


@cache
def expected_steps(name: str, exact: bool) -> tuple:
    r = references.load(name)
    if exact:
        p, H = r.parameters, r.sizes.H
        return oracle.train(p, r["ids"], r["targets"], H, steps=10, **r.optimiser)[:2]
    return r["float32/step_losses"], r["float32/step_norms"]


def compare_steps(subject: Subject, exact: bool, which: int) -> Worst:
    """which: 0 for the losses, 1 for the norms."""
    worst = Worst()
    for name in PLAIN:
        got = subject.once(("steps", name, exact), lambda: ten_steps(subject, name, exact))
        pairs = zip(got[which], expected_steps(name, exact)[which])
        for step, (g, w) in enumerate(pairs, start=1):
            worst.add(f"{name}, step {step}", g, w)
    return worst


def numeric_rows(group: str, exact: bool, tolerance: float) -> None:
    """The same five comparisons, against transformers and against the oracle."""
    for name, compared, look, measure in (
        ("logits", "(B, T, V), three models", LOGITS, logits),
        ("hidden states", "embedding, after each block, after ln_f", HIDDEN, hidden),
        ("attention maps", "weights that `attention` returns", ATTENTION, attentions),
        ("loss", "model.loss", LOSS, loss),
        ("gradients", "every parameter", GRADIENTS, gradients),
    ):
        run = lambda subject, measure=measure: measure(subject, PLAIN, exact)
        prop(group, f"{name}{', float64' if exact else ''}", compared, tolerance, look)(run)


numeric_rows(THEIRS, False, F32)


@prop(THEIRS, "losses of ten steps", "decay_groups and train_step, AdamW", F32, STEPS)
def step_losses(subject: Subject) -> Worst:
    return compare_steps(subject, False, 0)


@prop(THEIRS, "gradient norms of ten steps", "before clipping", 1e-4, STEPS)
def step_norms(subject: Subject) -> Worst:
    return compare_steps(subject, False, 1)


@prop(THEIRS, "quiet stream", "rows of deviation 1e-3, a constant row", F32, QUIET)
def quiet(subject: Subject) -> Worst:
    worst = logits(subject, ["quiet"], False)
    grown = gradients(subject, ["quiet"], False)
    worst.note(grown.error, f"gradient: {grown.where}")
    return worst


numeric_rows(EXACT, True, F64)


@prop(EXACT, "ten steps, float64", "losses and norms", F64, STEPS)
def exact_steps(subject: Subject) -> Worst:
    worst = compare_steps(subject, True, 0)
    norms = compare_steps(subject, True, 1)
    worst.note(norms.error, norms.where)
    return worst


@prop(EXACT, "quiet stream, float64", "logits and gradients", F64, QUIET)
def exact_quiet(subject: Subject) -> Worst:
    worst = logits(subject, ["quiet"], True)
    grown = gradients(subject, ["quiet"], True)
    worst.note(grown.error, f"gradient: {grown.where}")
    return worst
