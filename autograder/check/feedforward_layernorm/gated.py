"""SwiGLU, and the width at which it has as many parameters as FeedForward."""

from __future__ import annotations

import math

from autograder.check.component import Component, module
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture, Property
from autograder.check.draw import choice, normal
from autograder.check.initial import initial_values
from autograder.check.properties import COMMON
from autograder.check.varied import batch_dims
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance, kind
from autograder.oracle import feedforward_layernorm as oracle

# ------------------------------------------------------------------ SwiGLU


def swiglu_fixtures(rng):
    B, T, d, d_ff = choice(rng, (2, 5, 4, 9), (3, 6, 5, 8), (2, 3, 7, 10))

    def network(x, d_ff=d_ff, init=(d, d_ff)):
        state = {
            "W_up": normal(rng, d, d_ff, std=0.5),
            "W_gate": normal(rng, d, d_ff, std=0.7),
            "W_down": normal(rng, d_ff, d, std=0.5),
        }
        return {"init": init, "state": state, "x": x}

    x = normal(rng, B, T, d)
    return [
        Fixture("one hidden unit", network(x, 1, (d, 1)), weight=1.0),
        Fixture("the default d_ff", network(x, oracle.matched_d_ff(d), (d,)), weight=1.0),
        Fixture("the whole network", network(x), weight=3.0),
    ]


def _swiglu(init, state, x, **switches):
    return oracle.swiglu(x, **state, **switches)


def _as_is(z):
    return z


def _hidden(make):
    """Another way to make the hidden layer of x W_up and x W_gate."""
    return lambda init, state, x: make(x @ state["W_up"], x @ state["W_gate"]) @ state["W_down"]


SWIGLU = Component(
    "SwiGLU",
    swiglu_fixtures,
    _swiglu,
    call=module,
    properties=(
        initial_values((50, 70), {"weights": (("W_up", "W_gate", "W_down"), 0.02)}, {}),
        *batch_dims("x"),
        *COMMON,
    ),
    mistakes=(
        Mistake(
            "silu_on_up",
            altered(_swiglu, up=oracle.silu, gate=_as_is),
            "SiLU is on x W_up instead of x W_gate.",
            "x W_up ⊙ SiLU(x W_gate): the gate is bent, the content is not.",
        ),
        Mistake(
            "sigmoid_gate",
            altered(_swiglu, gate=oracle.sigmoid),
            "The gate is sigmoid(z); SiLU is z sigmoid(z).",
        ),
        Mistake(
            "gelu_gate",
            altered(_swiglu, gate=oracle.gelu_tanh),
            "The gate is GELU instead of SiLU.",
            "SiLU(z) = z sigmoid(z)",
        ),
        Mistake(
            "exact_gelu_gate",
            altered(_swiglu, gate=oracle.gelu),
            "The gate is GELU instead of SiLU.",
            "SiLU(z) = z sigmoid(z)",
        ),
        Mistake(
            "relu_gate", altered(_swiglu, gate=oracle.relu), "The gate is ReLU instead of SiLU."
        ),
        Mistake(
            "linear_gate",
            altered(_swiglu, gate=_as_is),
            "There is no SiLU on the gate.",
            "x W_up ⊙ SiLU(x W_gate)",
        ),
        Mistake(
            "silu_on_both",
            altered(_swiglu, up=oracle.silu),
            "SiLU is on both branches.",
            "x W_up ⊙ SiLU(x W_gate): only the gate is bent.",
        ),
        Mistake(
            "silu_of_product",
            _hidden(lambda up, gate: oracle.silu(up * gate)),
            "SiLU is taken of the product instead of the gate alone.",
            "x W_up ⊙ SiLU(x W_gate)",
        ),
        Mistake(
            "no_gate",
            _hidden(lambda up, gate: oracle.silu(up)),
            "W_gate is not used: it is SiLU(x W_up) W_down.",
        ),
        Mistake(
            "no_up",
            _hidden(lambda up, gate: oracle.silu(gate)),
            "W_up is not used: it is SiLU(x W_gate) W_down.",
        ),
        Mistake(
            "sum",
            _hidden(lambda up, gate: up + oracle.silu(gate)),
            "The two branches are added instead of multiplied.",
            "⊙ is the product, entry by entry.",
        ),
        Mistake(
            "adds_x",
            lambda init, state, x: x + _swiglu(init, state, x),
            "It adds x to the result.",
            "The residual is the block's business: return only what is to be added.",
        ),
    ),
    needs=("matched_d_ff",),
)

# ------------------------------------------------------------------ matched_d_ff


def matched_fixtures(rng):
    third = 3 * int(rng.integers(20, 200))
    d, odd, many = (int(n) for n in (rng.integers(60, 900), rng.integers(50, 300), 2))
    d, odd = d - d % 3 + 1, odd - odd % 3 + 2  # 8 d / 3 is no whole number
    return [
        Fixture("8 d / 3 is a whole number", {"d_model": third}, weight=1.0),
        Fixture("8 d / 3 is not", {"d_model": d}, weight=1.0),
        Fixture(
            "8 d / 3 is a multiple already",
            {"d_model": third, "multiple_of": 8 * third // 3 // many},
            weight=1.0,
        ),
        Fixture(
            "8 d / 3 is just above a multiple",
            {"d_model": odd, "multiple_of": 8 * odd // 3},
            weight=1.0,
        ),
        Fixture("a multiple of 64", {"d_model": d, "multiple_of": 64}),
    ]


def _whole(c, inputs, answers):
    value = answers[0].value
    if isinstance(value, int):
        return None
    return Trouble(
        f"d_ff is {kind(value)}; it should be an int.", look="A width is a number of columns."
    )


def _rounded(make):
    """8 d / 3 in multiples, rounded in another way."""
    return lambda d_model, multiple_of=1: make(8 * d_model / (3 * multiple_of)) * multiple_of


def _times(factor):
    return lambda d_model, multiple_of=1: (
        math.ceil(factor * d_model / multiple_of - 1e-9) * multiple_of
    )


MATCHED_D_FF = Component(
    "matched_d_ff",
    matched_fixtures,
    oracle.matched_d_ff,
    properties=(Property("is an int", lambda c, i: [c.call(i)], _whole, weight=0.5),),
    mistakes=(
        Mistake(
            "four_d",
            _times(4),
            "It is 4 d: then three matrices hold 12 d², and not 8 d².",
            "Solve 3 d d_ff = 8 d² for d_ff.",
        ),
        Mistake(
            "two_matrices",
            _times(2),
            "It is 2 d.",
            "Solve 3 d d_ff = 8 d² for d_ff.",
        ),
        Mistake(
            "three_eighths",
            _times(3 / 8),
            "The fraction is upside down: 3 d / 8 instead of 8 d / 3.",
        ),
        Mistake(
            "rounded_down",
            _rounded(math.floor),
            "It rounds down: d_ff must be at least 8 d / 3.",
        ),
        Mistake(
            "rounded_to_nearest",
            _rounded(round),
            "It rounds to the nearest multiple: d_ff must be at least 8 d / 3, so round up.",
        ),
        Mistake(
            "always_one_more",
            _rounded(lambda n: math.floor(n) + 1),
            "It goes one multiple further where 8 d / 3 is one already.",
            "The smallest multiple that is at least 8 d / 3.",
        ),
        Mistake(
            "multiple_ignored",
            lambda d_model, multiple_of=1: oracle.matched_d_ff(d_model),
            "It does not use multiple_of.",
        ),
        Mistake(
            "cut_first",
            lambda d_model, multiple_of=1: -(-(8 * d_model // 3) // multiple_of) * multiple_of,
            "It cuts 8 d / 3 to a whole number before it rounds up to a multiple.",
            "Round once, at the end, and up.",
        ),
    ),
    outputs="d_ff",
    tolerance=Tolerance(0.0, 1e-9),
)
