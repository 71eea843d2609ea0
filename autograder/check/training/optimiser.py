"""adamw_step: several updates of one tensor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.check.component import Component
from autograder.check.defaults import defaults
from autograder.check.draw import choice, normal
from autograder.check.parts import Fixture, Property, double
from autograder.check.properties.common import unchanged
from autograder.check.properties.tensors import any_device
from autograder.check.training.optimiser_mistakes import AVERAGES, MISTAKES, expected
from autograder.judge.compare import difference, form
from autograder.oracle import training as oracle
from autograder.probes import Call


def fixtures(rng):
    n, m = choice(rng, (3, 4), (2, 5), (4, 3))
    betas = choice(rng, (0.8, 0.95), (0.7, 0.9), (0.85, 0.97))

    def case(steps, weight_decay=0.0, eps=1e-8, size=1.0):
        return {
            "param": normal(rng, n, m),
            "grads": normal(rng, steps, n, m, std=size),
            "lrs": np.linspace(0.3, 0.1, steps),
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
        }

    return [
        Fixture("the first step", case(1)),
        Fixture("several steps", case(4)),
        Fixture("weight decay alone", case(3, 0.3, size=0.0), weight=1.0),
        Fixture("several steps with decay and a large eps", case(5, 0.3, eps=0.2)),
    ]


def _state(c, inputs, answers):
    """The dict that the caller saves with a checkpoint."""
    _, state = answers[0].value
    _, want = oracle.adamw(**double(inputs))
    trouble = form(state, want, "state")
    if trouble:
        look = (
            'The dict that is handed in holds state["step"], state["m"] and state["v"] afterwards.'
        )
        return replace(trouble, look=look)
    trouble = difference(state, want, c.tolerance, "state")
    look = f"{AVERAGES}. Both are 0 at first."
    if state["step"] != want["step"]:
        look = 'state["step"] counts the steps: 0 at first, then one more in each call.'
    return trouble and replace(trouble, look=look)


def with_look(prop: Property, look: str) -> Property:
    """The same property, with advice that fits an update in place."""

    def verdict(c, inputs, answers):
        trouble = prop.verdict(c, inputs, answers)
        return trouble and replace(trouble, look=look)

    return replace(prop, verdict=verdict)


# The gradients are as small as the default eps, so that it counts.
_with_defaults = defaults(
    lambda i: i
    | {"grads": 1e-8 * i["grads"], "betas": (0.9, 0.95), "eps": 1e-8, "weight_decay": 0.0},
    "betas",
    "eps",
    "weight_decay",
)
NEW = "Before the first step the state is {}: put step = 0 and zeros for m and v into it."
ADAMW_STEP = Component(
    "adamw_step",
    fixtures,
    expected,
    call=lambda inputs: Call(args=tuple(inputs.values()), probe="training:adamw"),
    read=lambda inputs, value: value[0],
    properties=(
        _with_defaults,
        Property("state holds step, m and v", lambda c, i: [c.call(i)], _state),
        with_look(unchanged, "Change m, v and param in place, but not grad: it is the caller's."),
        with_look(any_device, "torch.zeros_like(param) makes zeros where param is."),
    ),
    mistakes=MISTAKES,
    outputs="the parameter after each step (indices: step, row, column)",
    look={
        "the first step": "With t = 1, m_hat = g and v_hat = g * g: each entry moves by lr.",
        "several steps": "The t of the corrections is 1, 2, 3, ..., and m and v go on from the step "
        "before. The two steps by hand in the book show each number.",
        "weight decay alone": "With g = 0, only theta - lr * weight_decay * theta is left.",
    },
    raises={
        "leaf Variable": "Keep @torch.no_grad() above the function: a parameter records gradients.",
        "'step'": NEW,
        "'m'": NEW,
        "'v'": NEW,
    },
)
