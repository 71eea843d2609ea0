"""What the watched steps say."""

from __future__ import annotations

import math

from autograder.doctor.finding import Finding, Look, short
from autograder.probes.plain import few
from autograder.doctor.updates import MISTAKES, RIGHT, TOLERANCE, off_by

CLEAR = "train_step: set each p.grad to None (or 0) before loss.backward()."


def at_rest(data: dict) -> Look:
    """At a learning rate of 0 nothing moves, and the gradient's norm is the same each time."""
    norms, moved = data["norms"], data["moved"]
    findings = []
    if not all(math.isfinite(n) for n in norms):
        return Look("steps at lr 0", ", ".join(map(short, norms)), "one norm, nothing moves")
    grown = [n / (k * norms[0]) for k, n in enumerate(norms, start=1)] if norms[0] else [0]
    if norms[0] and not moved and all(abs(g - 1) < 0.02 for g in grown):
        what = "gradients are not cleared between steps: each one adds to those before"
        evidence = f"the norm on one batch, weights at rest: {', '.join(map(short, norms))}."
        findings.append(Finding("gradients_not_cleared", what, evidence, CLEAR))
    if moved:
        name, (low, high) = next(iter(moved.items()))
        what = f"{few(list(moved), 3)} move although the learning rate is 0"
        evidence = f"the entries of {name} are {short(low)} to {short(high)} times what they were."
        look = "adamw_step: both the update and the decay are multiplied by lr."
        findings.append(Finding("moves_at_rest", what, evidence, look))
    said = f"norms {', '.join(map(short, norms))}; {len(moved)} parameters moved"
    return Look("steps at lr 0", said, "one norm, nothing moves", tuple(findings))


def updates(data: dict) -> Look | None:
    """Are three updates those of AdamW, with clipping and decay?"""
    if not data["decay"]:
        return None
    off = off_by(data, RIGHT)
    said, bound = f"off by {short(off)} lr", f"AdamW, to {TOLERANCE:g} lr"
    if off <= TOLERANCE:
        return Look("updates", said, bound)
    if all(step["before"] == step["after"] for step in data["steps"]):
        what = "train_step moves no parameter"
        evidence = f"in {len(data['steps'])} steps the weights stayed as they were, bit for bit."
        look = "train_step: loss.backward(), then an update in place of each parameter."
        return Look("updates", said, bound, (Finding("nothing_moves", what, evidence, look),))
    fits = [cause for cause, (rule, *_) in MISTAKES.items() if off_by(data, rule) <= TOLERANCE]
    name = next(iter(data["decay"]))
    step = data["steps"][0]
    made = (step["after"][name][0] - step["before"][name][0]) / step["lr"]
    evidence = f"three steps are {short(off)} learning rates off AdamW"
    if len(fits) == 1:
        _, what, look = MISTAKES[fits[0]]
        evidence += (
            f", and {short(off_by(data, MISTAKES[fits[0]][0]))} off AdamW with this mistake."
        )
        return Look("updates", said, bound, (Finding(fits[0], what, evidence, look),))
    what = "the updates are not those of AdamW"
    evidence += f"; the first moved an entry of {name} by {short(made)} lr."
    look = "adamw_step, clip_grad_norm, train_step: `autograder conform` compares them one by one."
    return Look("updates", said, bound, (Finding("updates_not_adamw", what, evidence, look),))


def moved(data: dict) -> Look:
    """Every parameter with a gradient moves; the model stays in training mode."""
    findings, still = [], data["still"]
    if still and any(step["before"] != step["after"] for step in data["steps"]):
        what = "parameters never move, though they have a gradient and are in a group"
        evidence = f"{len(still)} are the same after {len(data['steps'])} steps: {few(still, 4)}."
        look = "train_step: update every parameter of every group."
        findings.append(Finding("parameter_does_not_move", what, evidence, look))
    if not data["training"]:
        what = "train_step leaves the model in evaluation mode: dropout is off from then on"
        evidence = "model.training was True before the step and is False after it."
        look = "train_step: leave the mode alone, or call model.train()."
        findings.append(Finding("step_in_evaluation", what, evidence, look))
    said = f"{len(still)} parameters stand still"
    return Look("movement", said, "none", tuple(findings))


def returned(data: dict) -> Look:
    """train_step returns the loss before the update and the norm before clipping."""
    findings = []
    step = data["steps"][1]  # the one that is clipped
    loss, norm = step["given"]
    said = f"loss {short(loss)}, norm {short(norm)}"
    bound = f"{short(step['loss'])} and {short(step['norm'])}, before the update and clipping"
    if abs(loss - step["loss"]) > 1e-3 * max(1.0, abs(step["loss"])):
        what = "the loss that train_step returns is not that of its batch"
        evidence = f"it returns {short(loss)}; model.loss was {short(step['loss'])}."
        findings.append(Finding("returns_another_loss", what, evidence, "train_step."))
    clipped = abs(norm - step["max_norm"]) < 1e-3 * step["max_norm"]
    if abs(norm - step["norm"]) > 1e-3 * max(1e-6, step["norm"]) and clipped:
        what = "the norm that train_step returns is the one after clipping: it hides explosions"
        evidence = f"it returns {short(norm)}; before clipping the norm was {short(step['norm'])}."
        look = "clip_grad_norm: return the norm before scaling."
        findings.append(Finding("norm_after_clipping", what, evidence, look))
    return Look("what a step returns", said, bound, tuple(findings))
