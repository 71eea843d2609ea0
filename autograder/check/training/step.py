"""train_step, with a small model in the place of GPT-2."""

from __future__ import annotations

import numpy as np

from autograder.check.component import Component, Fixture, Inputs, Mistake, Property
from autograder.check.draw import choice, normal
from autograder.check.properties import property_of
from autograder.judge import Trouble
from autograder.judge.compare import kind
from autograder.oracle import training as oracle
from autograder.probes import Call


def small_model(rng, V, d):
    """Values of the probes' small model, and its fixed dropout."""
    values = {"E": normal(rng, V, d, std=2.0), "W": normal(rng, d, V), "b": normal(rng, V)}
    return values, np.resize(np.float32([2, 0, 1, 2, 0.5]), d)


def step_fixtures(rng):
    V, d, B, T = choice(rng, (5, 4, 2, 3), (6, 3, 3, 2), (4, 5, 3, 4))
    betas = choice(rng, (0.8, 0.9), (0.7, 0.92), (0.6, 0.85))
    values, keep = small_model(rng, V, d)

    def case(lrs):
        xs, ys = (rng.integers(0, V, (len(lrs), B, T)) for _ in range(2))
        inputs = {"values": values, "xs": xs, "ys": ys, "keep": keep, "weight_decay": 0.4}
        return inputs | {"lrs": np.array(lrs), "betas": betas, "eps": 0.05, "max_norm": 0.2}

    return [
        Fixture("losses and norms at learning rate 0", case([0.0] * 3)),
        Fixture("one step", case([0.3])),
        Fixture("several steps", case([0.3, 0.25, 0.2, 0.15]), weight=3.0),
    ]


def trained(values, xs, ys, keep, weight_decay, lrs, betas, eps, max_norm, **switches):
    return oracle.train(values, xs, ys, keep, weight_decay, lrs, betas, eps, max_norm, **switches)


def step_mistake(name, says, look="", **switches):
    return Mistake(name, lambda **inputs: trained(**inputs | switches), says, look)


def read_steps(inputs: Inputs, value):
    if isinstance(value, tuple) and len(value) == 4:
        return value[:3]
    return Trouble(
        f"The result should be two numbers, the loss and the norm; it is {kind(value)}.",
        look="Is a `return` missing?" if value is None else "",
    )


def _graph(c, inputs, answers):
    if answers[0].value[3]:
        return Trouble(
            "The loss that it returns still holds its graph: memory would fill up.",
            look="Return a plain number: loss.item().",
        )
    return None


def _with_unused(c, inputs):
    return inputs | {"values": inputs["values"] | {"unused": inputs["values"]["W"]}}


PASS_ON = "Hand it on by name or in the order of the signature."
TRAIN_STEP = Component(
    "train_step",
    step_fixtures,
    trained,
    call=lambda inputs: Call(args=tuple(inputs.values()), probe="training:train"),
    read=read_steps,
    needs=("clip_grad_norm", "adamw_step"),
    properties=(
        property_of(
            _with_unused,
            "a parameter that the loss does not use",
            "Its p.grad is None: leave it as it is.",
            weight=0.5,
        ),
        Property("returns plain numbers", lambda c, i: [c.call(i)], _graph, weight=0.5),
    ),
    mistakes=(
        step_mistake(
            "not_cleared",
            "The gradients of earlier steps are still there when the next are added.",
            "Set every p.grad to None before loss.backward().",
            clear=False,
        ),
        step_mistake(
            "not_clipped",
            "The gradients are not clipped before the update.",
            "Call clip_grad_norm between loss.backward() and the updates.",
            clip=False,
        ),
        step_mistake(
            "norm_after",
            "It returns the norm after clipping.",
            "Return what clip_grad_norm returns: the norm before.",
            report_norm="after",
        ),
        step_mistake(
            "loss_after",
            "It returns the loss after the update.",
            "Return the loss that gave the gradients; computing it again costs a pass.",
            report_loss="after",
        ),
        step_mistake(
            "all_decay",
            "Every parameter decays, the biases too.",
            'Each group has its own: group["weight_decay"].',
            decays="all",
        ),
        step_mistake(
            "none_decays",
            "Nothing decays.",
            'Hand group["weight_decay"] to adamw_step.',
            decays="none",
        ),
        step_mistake(
            "forgets",
            "Every step starts with empty AdamW states.",
            "Keep one dict for each parameter in `state`: state.setdefault(p, {}).",
            forget=True,
        ),
        step_mistake(
            "eval_mode",
            "It trains in evaluation mode: dropout is off.",
            "Leave the mode as it is; the caller sets it.",
            eval_mode=True,
        ),
        step_mistake(
            "betas_not_passed",
            "The betas are not handed to adamw_step.",
            PASS_ON,
            betas=(0.9, 0.95),
        ),
        step_mistake("eps_not_passed", "The eps is not handed to adamw_step.", PASS_ON, eps=1e-8),
        step_mistake(
            "max_norm_not_passed",
            "The bound max_norm is not used: it clips at 1.",
            PASS_ON,
            max_norm=1.0,
        ),
    ),
    shortcuts=frozenset({"AdamW", "clip_grad_norm_"}),
    outputs=("the loss of each step", "the norm of each step", "the parameter at the end"),
    look={
        "losses and norms at learning rate 0": "Clear, loss, backward, norm: in that order.",
        "one step": "After clipping, adamw_step for each parameter that has a gradient.",
    },
)
