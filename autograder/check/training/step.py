"""train_step, with a small model in the place of GPT-2."""

from __future__ import annotations

import numpy as np

from autograder.check.component import Component
from autograder.check.mistake import Mistake
from autograder.check.parts import Fixture, Inputs, Property
from autograder.check.draw import choice, normal
from autograder.check.tensors import works_away
from autograder.check.varied import property_of
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

    def case(lrs, training=True):
        xs, ys = (rng.integers(0, V, (len(lrs), B, T)) for _ in range(2))
        inputs = {"values": values, "xs": xs, "ys": ys, "keep": keep}
        inputs |= {"training": training, "weight_decay": 0.4}
        return inputs | {"lrs": np.array(lrs), "betas": betas, "eps": 0.05, "max_norm": 0.2}

    return [
        Fixture("losses and norms at learning rate 0", case([0.0] * 3)),
        Fixture("one step", case([0.3])),
        Fixture("a model in evaluation mode", case([0.3, 0.2], training=False), weight=1.0),
        Fixture("several steps", case([0.3, 0.25, 0.2, 0.15]), weight=3.0),
    ]


def trained(
    values, xs, ys, keep, training, weight_decay, lrs, betas, eps, max_norm, mode=None, **switches
):
    """`mode` is the one that a wrong step trains in, and leaves the model in."""
    mode = training if mode is None else mode
    rest = (weight_decay, lrs, betas, eps, max_norm)
    return *oracle.train(values, xs, ys, keep, *rest, eval_mode=not mode, **switches), mode


def swapped(**inputs):
    losses, norms, *rest = trained(**inputs)
    return norms, losses, *rest


def step_mistake(name, says, look="", **switches):
    return Mistake(name, lambda **inputs: trained(**inputs | switches), says, look)


def read_steps(inputs: Inputs, value):
    if isinstance(value, tuple) and len(value) == 5:
        return value[:4]
    found = (
        " and ".join(map(kind, value))
        if isinstance(value, tuple) and len(value) == 2
        else kind(value)
    )
    return Trouble(
        f"The result should be two numbers, the loss and the norm; it is {found}.",
        look="Is a `return` missing?" if value is None else "",
    )


def _tensor(c, inputs, answers):
    tensor = answers[0].value[4]
    name = tensor.split(" ")[0]
    if not tensor:
        return None
    return Trouble(
        f"The {name} that it returns is a tensor; it should be a Python float.",
        "It still holds its graph: memory would fill up." if " " in tensor else "",
        f"Return a plain number: {name}.item().",
    )


def _with_unused(c, inputs):
    return inputs | {"values": inputs["values"] | {"unused": inputs["values"]["W"]}}


MODE = "Leave the mode as it is, without model.train() and model.eval(): the caller sets it."
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
        works_away,
        Property("returns plain numbers", lambda c, i: [c.call(i)], _tensor, weight=0.5),
    ),
    mistakes=(
        step_mistake(
            "not_cleared",
            "The gradients of earlier steps are still there when the next are added.",
            "Set every p.grad to None before loss.backward().",
            clear=False,
        ),
        step_mistake(
            "cleared_too_late",
            "The gradients are cleared after loss.backward(): nothing is left to step with.",
            "First clear, then loss.backward(), then the norm.",
            clear="too late",
        ),
        step_mistake(
            "group_by_group",
            "Each group is clipped by its own norm.",
            "One call of clip_grad_norm, with the parameters of all groups in one list.",
            clip="by group",
            report_norm="last group",
        ),
        step_mistake(
            "only_decaying_clipped",
            "Only the first group is clipped.",
            "Hand clip_grad_norm the parameters of all groups in one list.",
            clip="first group",
            report_norm="first group",
        ),
        step_mistake(
            "no_norm",
            "The gradients are not clipped, and the norm that it returns is 0.",
            "Call clip_grad_norm between loss.backward() and the updates, and return its result.",
            clip=False,
            report_norm="zero",
        ),
        Mistake(
            "swapped",
            swapped,
            "The two results have changed places.",
            "Return the loss first, then the norm.",
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
            MODE,
            mode=False,
        ),
        step_mistake(
            "train_mode",
            "It puts the model into training mode, also where the caller has turned dropout off.",
            MODE,
            mode=True,
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
    outputs=(
        "the loss of each step",
        "the norm of each step",
        "the parameter at the end",
        "the mode (model.training) afterwards",
    ),
    look={
        "losses and norms at learning rate 0": "The loss is model.loss(x, y) before the update, the "
        "norm what clip_grad_norm returns for all parameters together.",
        "one step": "After clipping, adamw_step for each parameter that has a gradient.",
        "a model in evaluation mode": MODE,
    },
)
