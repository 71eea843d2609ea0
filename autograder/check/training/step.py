"""train_step, with a small model in the place of GPT-2."""

from __future__ import annotations

import numpy as np

from autograder.check.component import Component
from autograder.check.defaults import defaults
from autograder.check.draw import choice, normal
from autograder.check.parts import Fixture, Inputs, Property
from autograder.check.properties.tensors import works_away
from autograder.check.properties.varied import property_of
from autograder.check.training.step_mistakes import MISTAKES, MODE, named, trained
from autograder.judge import Trouble
from autograder.judge.compare import kind
from autograder.probes import Call


def small_model(rng, V, d):
    """Values of the probes' small model, and its fixed dropout."""
    values = {"E": normal(rng, V, d), "W": normal(rng, d, V), "b": normal(rng, V)}
    return values, np.resize(np.float32([2, 0, 1, 2, 0.5]), d)


def step_fixtures(rng):
    V, d, B, T = choice(rng, (5, 4, 2, 3), (6, 3, 3, 2), (4, 5, 3, 4))
    betas = choice(rng, (0.8, 0.9), (0.7, 0.92), (0.6, 0.85))
    values, keep = small_model(rng, V, d)

    def case(lrs, training=True, old=None):
        xs, ys = (rng.integers(0, V, (len(lrs), B, T)) for _ in range(2))
        inputs = {"values": values, "xs": xs, "ys": ys, "keep": keep}
        inputs |= {"training": training, "old": old or {}, "weight_decay": 0.4}
        return inputs | {"lrs": np.array(lrs), "betas": betas, "eps": 0.05, "max_norm": 0.2}

    left = {name: normal(rng, *value.shape) for name, value in values.items()}
    return [
        Fixture("losses and norms at learning rate 0", case([0.0] * 4)),
        Fixture("one step", case([0.3])),
        Fixture("two steps", case([0.4, 0.8]), weight=1.0),
        Fixture("gradients left over from before", case([0.0] * 2, old=left), weight=1.0),
        Fixture("a model in evaluation mode", case([0.3, 0.2], training=False), weight=1.0),
        Fixture("several steps", case([0.3, 0.25, 0.2, 0.15]), weight=3.0),
    ]


def read_steps(inputs: Inputs, value):
    if isinstance(value, tuple) and len(value) == 5:
        losses, norms, params, mode, _ = value
        return losses, norms, named(params), mode
    found = (
        " and ".join(map(kind, value))
        if isinstance(value, tuple) and len(value) == 2
        else kind(value)
    )
    return Trouble(
        f"The result should be two numbers, the loss and the norm; it is {found}.",
        look="Is a `return` missing?" if value is None else "return loss.item(), norm",
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


STATES = "Each parameter needs an AdamW state of its own: state.setdefault(p, {})."
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
            "Its p.grad is None: it took no part. Go on to the next parameter.",
            weight=0.5,
        ),
        defaults(
            lambda i: i | {"betas": (0.9, 0.95), "eps": 1e-8, "max_norm": 1.0},
            "betas",
            "eps",
            "max_norm",
        ),
        works_away,
        Property("returns plain numbers", lambda c, i: [c.call(i)], _tensor, weight=0.5),
    ),
    mistakes=MISTAKES,
    shortcuts=frozenset({"AdamW", "clip_grad_norm_"}),
    outputs=(
        "the loss of each step",
        "the norm of each step",
        "the parameters at the end",
        "the mode (model.training) afterwards",
    ),
    look={
        "losses and norms at learning rate 0": "With lr = 0 no parameter moves. The loss is "
        "model.loss(x, y) before the update, the norm what clip_grad_norm returns for all parameters "
        "together.",
        "one step": "One call of clip_grad_norm, for the parameters of all groups together. Then "
        "adamw_step for each parameter that has a gradient, with the lr, betas and eps that were "
        "handed in and the weight_decay of its group.",
        "gradients left over from before": "Set every p.grad to None before loss.backward(), in the "
        "first step too: PyTorch adds to what is there.",
        "a model in evaluation mode": MODE,
    },
    raises={
        "must match": STATES,
        "does not require grad": "The loss needs its graph: no torch.no_grad() around model.loss.",
        "leaf Variable": "Leave the update to adamw_step, which does not record it.",
        "NoneType": "Some p.grad is None: go on to the next parameter, and clear before the loss.",
        "backward through the graph a second time": "One loss.backward() for each model.loss(x, y).",
        "Boolean value of Tensor": "`p in list` compares numbers; a dict or id(p) goes by the object.",
    },
)
