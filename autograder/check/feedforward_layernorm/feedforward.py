"""FeedForward: tight enough to tell the two forms of GELU apart inside of it."""

from __future__ import annotations

from functools import partial

import numpy as np

from autograder.check.component import Component, module
from autograder.check.draw import choice, normal
from autograder.check.mistake import entries
from autograder.check.parts import Fixture
from autograder.check.properties.common import COMMON
from autograder.check.properties.initial import each, initial_values
from autograder.check.properties.varied import batch_dims
from autograder.judge.compare import Tolerance
from autograder.oracle import feedforward_layernorm as oracle

LINE = "gelu_tanh(x @ self.W_up + self.b_up) @ self.W_down + self.b_down"


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
        Fixture("all biases zero", network(x, bias=0.0), weight=1.0),
        Fixture("d_ff = 4 d by default", network(x, 4 * d, (d,)), weight=1.0),
        Fixture("x = 0, hidden values near ±2.7", network(0 * x, b_up=apart), weight=1.0),
        Fixture("the whole network", network(x), weight=3.0),
    ]


def _feed_forward(init, state, x, **switches):
    return oracle.feed_forward(x, **state, **switches)


mistake = entries(_feed_forward)


def bend(name, uses, wrong, why, activation):
    """Another function where gelu_tanh belongs."""
    return mistake(
        name,
        f"Between the two products it uses {uses}; it should use gelu_tanh.",
        f"{wrong} -> gelu_tanh(x @ self.W_up + self.b_up)",
        why,
        activation=activation,
    )


def _without(*names):
    """Some of the biases are left out."""
    return lambda inputs: {"state": {k: v * (k not in names) for k, v in inputs["state"].items()}}


def _bent_input(inputs):
    return {"x": oracle.gelu_tanh(inputs["x"])}


def _plus_x(result, inputs):
    return result + inputs["x"]


FEED_FORWARD = Component(
    "FeedForward",
    feed_forward_fixtures,
    _feed_forward,
    call=module,
    properties=(
        initial_values(
            (90, 100),
            each("W_up", "W_down", value=0.02),
            {"biases": (("b_up", "b_down"), 0.0)},
            look="nn.Parameter(0.02 * torch.randn(rows, columns)) for each weight, "
            "nn.Parameter(torch.zeros(n)) for each bias.",
        ),
        *batch_dims("x"),
        *COMMON,
    ),
    mistakes=(
        mistake(
            "exact_gelu",
            "It uses the exact GELU, with erf; it should use gelu_tanh, the form of GPT-2.",
            "gelu(...) -> gelu_tanh(...), the function of exercise 5.2. PyTorch has it as "
            "torch.nn.functional.gelu(..., approximate='tanh').",
            "The two differ by 4.7e-4 at most. That is no harm to a model that you train yourself, "
            "but GPT-2's weights then give logits that differ from the published ones.",
            activation=oracle.gelu,
        ),
        bend(
            "relu",
            "ReLU",
            "relu(...)",
            "A small model trains as well with it. GPT-2's weights were trained with GELU, and with "
            "ReLU each hidden unit is off by as much as 0.17.",
            oracle.relu,
        ),
        bend(
            "silu",
            "SiLU, z * sigmoid(z) with z = x @ W_up + b_up",
            "silu(...)",
            "SiLU is off from GELU by as much as 0.19 in each hidden unit, so that GPT-2's weights "
            "do not fit.",
            oracle.silu,
        ),
        bend(
            "sigmoid_form",
            "z * sigmoid(1.702 * z) with z = x @ W_up + b_up",
            "z * sigmoid(1.702 * z)",
            "This approximation is off by as much as 0.02 in each hidden unit, forty times more than "
            "the tanh form is.",
            partial(oracle.silu, slope=1.702),
        ),
        bend(
            "tanh",
            "tanh alone",
            "torch.tanh(...)",
            "tanh ends at 1: a pattern that fits ten times as well would hardly be answered louder.",
            oracle.tanh,
        ),
        bend(
            "sigmoid",
            "a sigmoid",
            "torch.sigmoid(...)",
            "A sigmoid is 0.5 at 0, so that every unit writes half of its value even when nothing "
            "fits.",
            oracle.sigmoid,
        ),
        mistake(
            "no_activation",
            "It has no GELU: it is (x @ W_up + b_up) @ W_down + b_down; it should be gelu_tanh(x "
            "@ W_up + b_up) @ W_down + b_down.",
            "(x @ self.W_up + self.b_up) -> gelu_tanh(x @ self.W_up + self.b_up)",
            "In GPT-2 the two matrices of a block hold 4.7 million numbers. Without GELU a single "
            "one of 768 x 768, 0.6 million, would do the same.",
            activation=oracle.as_is,
        ),
        mistake(
            "activation_last",
            "GELU comes last, after W_down and b_down; it should come before them, after W_up and b_up.",
            "Move gelu_tanh from the whole result to x @ self.W_up + self.b_up.",
            "GELU is never below -0.17, so the network could hardly write a negative number to the "
            "stream; and what stands before it is one linear map.",
            activation=oracle.as_is,
            last=oracle.gelu_tanh,
        ),
        mistake(
            "activation_first",
            "GELU is on x, before W_up; it should come after W_up and b_up.",
            "gelu_tanh(x) @ self.W_up + self.b_up -> gelu_tanh(x @ self.W_up + self.b_up)",
            "The hidden layer then adds nothing: two products in a row are one linear map of d x d.",
            activation=oracle.as_is,
            before=_bent_input,
        ),
        mistake(
            "activation_twice",
            "A second GELU comes last, after W_down and b_down; there should be one only, after W_up "
            "and b_up.",
            "In the return: gelu_tanh(... @ self.W_down + self.b_down) -> ... @ self.W_down + "
            "self.b_down",
            "GELU is never below -0.17, so the network could hardly write a negative number to the "
            "stream.",
            last=oracle.gelu_tanh,
        ),
        mistake(
            "activation_on_x_too",
            "A second GELU is on x, before W_up; there should be one only, after W_up and b_up.",
            "gelu_tanh(x) @ self.W_up -> x @ self.W_up",
            "Most of what is negative in x is gone before any unit has compared it with its pattern.",
            before=_bent_input,
        ),
        mistake(
            "no_b_up",
            "It does not add b_up: it is gelu_tanh(x @ W_up); it should be gelu_tanh(x @ W_up + "
            "b_up).",
            "x @ self.W_up -> x @ self.W_up + self.b_up",
            "b_up sets from where on a unit answers. Without it every unit has its bend at 0, and "
            "GPT-2's weights, trained with it, give other numbers.",
            before=_without("b_up"),
        ),
        mistake(
            "no_b_down",
            "It does not add b_down: it is ... @ W_down; it should be ... @ W_down + b_down.",
            "... @ self.W_down -> ... @ self.W_down + self.b_down",
            "It starts at 0, so an untrained model does not show it. GPT-2's trained b_down is not "
            "0, and its weights would give other logits.",
            before=_without("b_down"),
        ),
        mistake(
            "no_bias",
            "It adds neither b_up nor b_down; it should add both.",
            "x @ self.W_up -> x @ self.W_up + self.b_up, and + self.b_down at the end",
            "Both start at 0, so an untrained model does not show it. GPT-2's trained biases are not "
            "0, and its weights would give other logits.",
            before=_without("b_up", "b_down"),
        ),
        mistake(
            "bias_after_activation",
            "It adds b_up after GELU, gelu_tanh(x @ W_up) + b_up; it should be gelu_tanh(x @ W_up + "
            "b_up).",
            "gelu_tanh(x @ self.W_up) + self.b_up -> gelu_tanh(x @ self.W_up + self.b_up)",
            "After GELU, b_up would only be a constant that W_down maps to one more constant, as "
            "b_down is already: no unit could move its bend.",
            b_up_after=True,
        ),
        mistake(
            "adds_x",
            "It adds x to the result; it should return the network's output alone.",
            "In the return: x + ... -> ... alone. Adding x is the work of the block, which comes "
            "later.",
            "The block adds x once more, so that every block would double the stream: after twelve "
            "of them the input would count 2^12 = 4096 times.",
            after=_plus_x,
        ),
    ),
    needs=("gelu_tanh",),
    tolerance=Tolerance(1e-5, 5e-6),  # tells the two forms of GELU apart
    look={
        "x = 0, hidden values near ±2.7": "Where x is 0, the result is gelu_tanh(b_up) @ W_down + "
        "b_down.",
        "all biases zero": "Without biases it is gelu_tanh(x @ W_up) @ W_down.",
        "d_ff = 4 d by default": "d_ff = 4 * d_model where the caller gives none.",
        "the whole network": LINE,
    },
    raises={
        "cannot be multiplied": "W_up has the shape (d_model, d_ff) and W_down (d_ff, d_model): x "
        "@ W_up, without a transpose.",
        "must match the size": "b_up has d_ff entries: add it to x @ W_up, before GELU. b_down has "
        "d_model entries: add it last, after the product with W_down.",
        "has shape": "W_up (d_model, d_ff), b_up (d_ff), W_down (d_ff, d_model), b_down (d_model); "
        "d_ff is 4 * d_model only where the caller gives none.",
        "missing:": "Each of W_up, b_up, W_down and b_down is an nn.Parameter of this module. An "
        "nn.Linear has other names, and its weight the other way round.",
    },
)
