"""AdamW in plain numbers, right and with one mistake: what three updates would have made.

The gradients are those measured in the file; only the rule that turns them into updates differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.oracle.training import adamw_step

TOLERANCE = 0.02  # of a learning rate


@dataclass(frozen=True)
class Rule:
    """AdamW as it should be; each field is a place for a mistake."""

    clip: str = "joint"  # "none", "each": by each tensor's own norm, "always": scaled up too
    first_lr: bool = False  # the learning rate of the first step, kept
    plain: bool = False  # gradient descent, without m and v
    switches: Mapping[str, Any] = field(default_factory=dict)  # of the oracle's adamw_step


RIGHT = Rule()


def adamw(**switches: Any) -> Rule:
    return Rule(switches=switches)


MISTAKES: dict[str, tuple[Rule, str, str]] = {
    "not_clipped": (
        Rule(clip="none"),
        "gradients are not clipped",
        "clip_grad_norm (does it scale in place?) and train_step (does it call it before the update?).",
    ),
    "clipped_one_by_one": (
        Rule(clip="each"),
        "each gradient is clipped by its own norm, not all by their joint norm",
        "clip_grad_norm: one norm over all parameters.",
    ),
    "clip_scales_up": (
        Rule(clip="always"),
        "gradients shorter than max_norm are scaled up to it",
        "clip_grad_norm: scale by at most 1.",
    ),
    "no_bias_correction": (
        adamw(correct=()),
        "AdamW lacks its bias correction",
        "adamw_step: m / (1 - beta1**t), v / (1 - beta2**t), t from 1.",
    ),
    "no_bias_correction_of_m": (
        adamw(correct=("v",)),
        "AdamW lacks the bias correction of m",
        "adamw_step: m / (1 - beta1**t), t from 1.",
    ),
    "no_bias_correction_of_v": (
        adamw(correct=("m",)),
        "AdamW lacks the bias correction of v",
        "adamw_step: v / (1 - beta2**t), t from 1.",
    ),
    "betas_swapped": (
        adamw(use="swapped"),
        "beta1 and beta2 have changed places",
        "adamw_step: beta1 is for m, beta2 for v.",
    ),
    "eps_inside_the_root": (
        adamw(eps_at="inside"),
        "eps is added inside the root",
        "adamw_step: v_hat.sqrt() + eps.",
    ),
    "decay_in_the_gradient": (
        adamw(decay="gradient"),
        "weight decay is added to the gradient (L2), so AdamW divides it away",
        "adamw_step: param *= 1 - lr * weight_decay, apart from the gradient.",
    ),
    "decay_without_lr": (
        adamw(decay="without lr"),
        "weight decay is not multiplied by the learning rate",
        "adamw_step: param *= 1 - lr * weight_decay.",
    ),
    "decay_not_applied": (
        adamw(decay="none"),
        "the groups' weight decay is not applied",
        "train_step: hand group['weight_decay'] to adamw_step.",
    ),
    "state_forgotten": (
        adamw(forget=True),
        "the moments of AdamW begin anew at each step",
        "adamw_step, train_step: the state is kept between calls.",
    ),
    "lr_of_the_first_step": (
        Rule(first_lr=True),
        "each step takes the learning rate of the first one: the schedule has no effect",
        "train_step: hand the lr of this call to the update.",
    ),
    "plain_gradient_descent": (
        Rule(plain=True),
        "updates are plain gradient descent, not AdamW",
        "adamw_step, and that train_step calls it.",
    ),
    "gradient_ascent": (
        adamw(sign=-1.0),
        "updates go up the gradient: the loss is made larger",
        "adamw_step: param is made smaller by lr * m_hat / (v_hat.sqrt() + eps).",
    ),
}


def predicted(data: dict, name: str, rule: Rule) -> list[np.ndarray]:
    """Entries of a parameter after each step."""
    p, found, state = np.array(data["steps"][0]["before"][name]), [], {}
    decay, betas = data["decay"][name], tuple(data["betas"])
    for step in data["steps"]:
        lr = data["steps"][0]["lr"] if rule.first_lr else step["lr"]
        g = np.array(step["grads"][name]) * scale(step, name, rule)
        if rule.plain:
            p = p * (1 - lr * decay) - lr * g
        else:
            p = adamw_step(p, g, state, lr, betas, data["eps"], decay, **rule.switches)
        found.append(p)
    return found


def scale(step: dict, name: str, rule: Rule) -> float:
    norm = step["norms"][name] if rule.clip == "each" else step["norm"]
    ratio = step["max_norm"] / (norm + 1e-6)
    return {"none": 1.0, "always": ratio}.get(rule.clip, min(1.0, ratio))


def off_by(data: dict, rule: Rule) -> float:
    """The largest difference from what the file made, in learning rates."""
    largest = max(step["lr"] for step in data["steps"])
    return max(
        float(np.abs(made - np.array(step["after"][name])).max()) / largest
        for name in data["decay"]
        for made, step in zip(predicted(data, name, rule), data["steps"])
    )
