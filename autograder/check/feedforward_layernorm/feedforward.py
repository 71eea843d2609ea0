"""FeedForward: tight enough to tell the two forms of GELU apart inside of it."""

from __future__ import annotations

from functools import partial

import numpy as np

from autograder.check.component import Component, module
from autograder.check.mistake import Mistake
from autograder.check.parts import Fixture
from autograder.check.draw import choice, normal
from autograder.check.initial import initial_values
from autograder.check.properties import COMMON
from autograder.check.varied import batch_dims
from autograder.judge.compare import Tolerance
from autograder.oracle import feedforward_layernorm as oracle


def feed_forward_fixtures(rng):
    B, T, d, d_ff = choice(rng, (2, 5, 4, 9), (3, 4, 5, 7), (2, 3, 6, 10))

    def network(x, d_ff=d_ff, init=(d, d_ff), b_up=None, bias=0.5):
        state = {
            "W_up": normal(rng, d, d_ff, std=0.5),
            "b_up": normal(rng, d_ff, std=bias) if b_up is None else b_up,
            "W_down": normal(rng, d_ff, d, std=0.5),
            "b_down": normal(rng, d, std=bias),
        }
        return {"init": init, "state": state, "x": x}

    x = normal(rng, B, T, d)
    signs = np.where(np.arange(d_ff) % 2, 1, -1)
    apart = (signs * (2.7 + 0.1 * rng.standard_normal(d_ff))).astype(np.float32)
    return [
        Fixture("x = 0, hidden values near ±2.7", network(0 * x, b_up=apart), weight=1.0),
        Fixture("all biases zero", network(x, bias=0.0), weight=1.0),
        Fixture("d_ff = 4 d by default", network(x, 4 * d, (d,)), weight=1.0),
        Fixture("the whole network", network(x), weight=3.0),
    ]


def _feed_forward(init, state, x, **switches):
    return oracle.feed_forward(x, **state, **switches)


def _without(*names):
    """The network with some of its biases left out."""
    return lambda init, state, x: _feed_forward(
        init, {k: v * (k not in names) for k, v in state.items()}, x
    )


def _with_activation(activation):
    return partial(_feed_forward, activation=activation)


def _bias_after(init, state, x):
    hidden = oracle.gelu_tanh(x @ state["W_up"]) + state["b_up"]
    return hidden @ state["W_down"] + state["b_down"]


FEED_FORWARD = Component(
    "FeedForward",
    feed_forward_fixtures,
    _feed_forward,
    call=module,
    properties=(
        initial_values(
            (50, 70),
            {"weights": (("W_up", "W_down"), 0.02)},
            {"biases": (("b_up", "b_down"), 0.0)},
        ),
        *batch_dims("x"),
        *COMMON,
    ),
    mistakes=(
        Mistake(
            "exact_gelu",
            _with_activation(oracle.gelu),
            "It uses the exact GELU; GPT-2 uses the tanh form.",
            "gelu_tanh, not gelu. They differ in the fourth decimal only.",
        ),
        Mistake("relu", _with_activation(oracle.relu), "It uses ReLU instead of GELU."),
        Mistake("silu", _with_activation(oracle.silu), "It uses SiLU instead of GELU."),
        Mistake(
            "sigmoid_form",
            _with_activation(partial(oracle.silu, slope=1.702)),
            "It uses x sigmoid(1.702 x) instead of the tanh form of GELU.",
        ),
        Mistake(
            "no_activation",
            _with_activation(lambda z: z),
            "There is no nonlinearity between the two products: together they are one linear map.",
            "GELU(x W_up + b_up), then the second product.",
        ),
        Mistake(
            "activation_last",
            lambda init, state, x: oracle.gelu_tanh(
                _feed_forward(init, state, x, activation=lambda z: z)
            ),
            "GELU comes after the second product instead of between the two.",
            "GELU(x W_up + b_up), then W_down and b_down.",
        ),
        Mistake(
            "activation_twice",
            lambda init, state, x: oracle.gelu_tanh(_feed_forward(init, state, x)),
            "A second GELU follows the second product.",
            "What is written to the stream may be negative: nothing bends it.",
        ),
        Mistake("no_b_up", _without("b_up"), "It does not add b_up.", "GELU(x W_up + b_up)"),
        Mistake("no_b_down", _without("b_down"), "It does not add b_down.", "... W_down + b_down"),
        Mistake("no_bias", _without("b_up", "b_down"), "It adds neither bias."),
        Mistake(
            "bias_after_activation",
            _bias_after,
            "It adds b_up after GELU instead of before it.",
            "GELU(x W_up + b_up)",
        ),
        Mistake(
            "adds_x",
            lambda init, state, x: x + _feed_forward(init, state, x),
            "It adds x to the result.",
            "The residual is the block's business: return only what is to be added.",
        ),
    ),
    needs=("gelu_tanh",),
    tolerance=Tolerance(1e-5, 5e-6),  # tells the two forms of GELU apart
)
