"""What the run says: each judge reads the recorded numbers of it and nothing else."""

from __future__ import annotations

import math

from autograder.doctor.finding import Finding, Look, short
from autograder.probes.plain import few

LEARNT = 300  # steps after which a model has to have used the context
FALL = 0.02  # nats
ENOUGH = 50  # steps before a loss that stands still says something
BELOW = 0.05  # nats below the floor that chance may give
GAP = 0.01  # nats between parallel and prefix-only evaluation
BEFORE = 6  # steps that are shown before a break
MODEL = "`autograder conform` compares each part of the model with references."


def determinism(data: dict) -> Look:
    """The same seed, the same losses."""
    first, second = data["repeated"]["first"], data["repeated"]["second"]
    room = 1e-6 if data["repeated"]["on_cpu"] else 1e-4
    pairs = list(zip(first, second))
    differ = [i for i, (a, b) in enumerate(pairs, 1) if abs(a - b) > room * max(1.0, abs(a))]
    said = f"{', '.join(f'{a:.6f}' for a in first)} twice"
    if not differ:
        return Look("same seed", said, "the same losses again")
    a, b = pairs[differ[0] - 1]
    wrong = Finding(
        "not_deterministic",
        "the same seed gives other losses",
        f"step {differ[0]} of two runs with one seed: {a:.6f} and {b:.6f}.",
        "get_batch (its generator), and anything random or kept between calls in GPT2.forward.",
    )
    return Look("same seed", f"{a:.6f}, {b:.6f}", "the same losses again", (wrong,))


def course_of_losses(data: dict) -> Look:
    """Finite throughout, falling, not rising at the end."""
    steps, broke = data["steps"], data["broke"]
    losses = [step["loss"] for step in steps]
    head, tail = mean(losses[:5]), mean(losses[-5:])
    said = f"{short(head)} to {short(tail)} in {len(losses):,} steps"
    bound = "finite, and falling"
    if broke:
        return Look("training loss", said, bound, (_broke(data),))
    start, end = data["history"][0]["train"], data["final"]["train"]
    unigram = data["levels"]["unigram"]
    look = "train_step and lr_schedule; " + MODEL
    if end > start + 0.5:
        worst = max(range(len(steps)), key=lambda i: steps[i]["norm"])
        evidence = (
            f"the loss on the training text goes from {short(start)} to {short(end)}; the gradient "
            f"was largest, {short(steps[worst]['norm'])}, at step {worst + 1}."
        )
        wrong = Finding("diverged", "training makes the model worse", evidence, look)
        return Look("training loss", said, bound, (wrong,))
    if len(losses) >= ENOUGH and end > start - FALL and start > unigram + 0.1:
        evidence = (
            f"the loss on the training text was {short(start)} and is {short(end)} after "
            f"{len(losses):,} steps; how often each token comes would give {short(unigram)}."
        )
        wrong = Finding("nothing_learnt", "the loss does not fall", evidence, look)
        return Look("training loss", said, bound, (wrong,))
    return Look("training loss", said, bound)


BROKE = {
    "loss": ("the loss is NaN or inf; in the forward pass the first such part is", ""),
    "gradient": ("the loss is finite, its gradient is not; the first one is that of", ""),
    "weights": (
        "loss and gradient are finite, the updated weights are not; the first is",
        "adamw_step, ",
    ),
}


def _broke(data: dict) -> Finding:
    """The step, the first part that is not finite, and what grew before."""
    broke, before = data["broke"], data["steps"][-BEFORE:-1]
    part = broke["part"] or "the loss itself"
    what, place = BROKE[broke["what"]]
    norms = ", ".join(short(step["norm"]) for step in before)
    largest = few([f"{name} {short(size)}" for name, size in data["largest"].items()], 4)
    return Finding(
        "not_finite",
        f"at step {broke['step']} {what} {part}",
        f"gradient norms of the steps before: {norms or 'none'}; largest weights: {largest}.",
        f"{place}what computes {part}; a root, a logarithm or a quotient at 0, exp of large numbers.",
    )


def mean(values: list[float]) -> float:
    return sum(values) / max(1, len(values))


def use_of_context(data: dict) -> Look | None:
    """After enough steps the loss is below what a reader without context can reach."""
    if data["broke"] or len(data["steps"]) < LEARNT:
        return None
    unigram, bigram = data["levels"]["unigram"], data["levels"]["bigram"]
    if bigram > unigram - 0.1:
        return None  # a text whose tokens tell nothing of the next one
    best = min(entry["train"] for entry in [*data["history"], data["final"]])
    said = f"{short(best)} at best; unigram {short(unigram)}, bigram {short(bigram)}"
    if best < unigram - FALL:
        return Look("use of context", said, "below the unigram level")
    wrong = Finding(
        "never_below_unigram",
        "the model learns how often each token comes and nothing of what stands before it",
        f"after {len(data['steps']):,} steps the loss is {said}.",
        "attention and what it adds to the stream; the targets of get_batch; " + MODEL,
    )
    return Look("use of context", said, "below the unigram level", (wrong,))


def floor(data: dict) -> Look | None:
    """No model can be below the floor of a text whose source is known."""
    if data["broke"] or data["floor"] is None:
        return None
    held_out = data["final"]["held_out"]
    said, bound = short(held_out), f"not below the floor, {short(data['floor'])}"
    if held_out >= data["floor"] - BELOW:
        return Look("held-out loss", said, bound)
    wrong = Finding(
        "below_the_floor",
        "the loss is lower than any model can reach: the model sees what it is to predict",
        f"held-out loss {said}; the floor of these tales is {short(data['floor'])}.",
        "causal_mask, attention, LayerNorm, split_heads and merge_heads.",
    )
    return Look("held-out loss", said, bound, (wrong,))


def prefixes(data: dict) -> Look | None:
    """Position by position from the prefix alone, as generation does it, the loss is the same."""
    if data["broke"]:
        return None
    parallel, prefix = data["parallel"], data["prefix"]
    said = f"{parallel:.4f} and {prefix:.4f}"
    bound = f"all at once and prefix by prefix, {GAP:g} apart at most"
    findings = []
    if abs(parallel - prefix) > GAP:
        what = "the model predicts otherwise from each prefix alone, as in generation"
        evidence = (
            f"on held-out text the loss is {short(parallel)} all at once, {short(prefix)} so."
        )
        look = "what depends on later tokens, or on T: causal_mask, attention, LayerNorm, embed."
        findings.append(Finding("prefix_gap", what, evidence, look))
    if data["moved"] > 1e-3:
        what = "the trained model's earlier logits move when a later token is changed"
        evidence = f"by {short(data['moved'])} of the largest logit."
        look = "causal_mask and attention: -inf before the softmax."
        findings.append(Finding("leak_after_training", what, evidence, look))
    return Look("prefixes", said, bound, tuple(findings))


def overfitting(data: dict) -> Look | None:
    """Training loss falls, held-out loss rises: no fault of the file."""
    if data["broke"]:
        return None
    final, entries = data["final"], [*data["history"], data["final"]]
    best = min(entries, key=lambda entry: entry["held_out"])
    said = f"train {short(final['train'])}, held-out {short(final['held_out'])}"
    findings = []
    rises = final["held_out"] > best["held_out"] + 0.1
    falls = final["train"] < best["train"] - 0.05
    if rises and falls and math.isfinite(final["held_out"]):
        what = "the model learns the text by heart (overfitting)"
        evidence = (
            f"from step {best['step']} on the training loss falls to {short(final['train'])} while "
            f"the held-out loss rises from {short(best['held_out'])} to {short(final['held_out'])}."
        )
        look = f"the text: {data['tokens']:,} tokens to train on are few; the code may be right."
        findings.append(Finding("overfitting", what, evidence, look, remark=True))
    return Look("training and held-out", said, "held-out does not rise", tuple(findings))
