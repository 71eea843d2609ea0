"""gelu and gelu_tanh: two functions that differ in the fourth decimal, and must not be confused."""

from __future__ import annotations

import math

import numpy as np
from array_api_compat import array_namespace

from autograder.check.component import Component
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture
from autograder.check.draw import choice, normal
from autograder.check.properties import COMMON
from autograder.judge.compare import Tolerance
from autograder.oracle import feedforward_layernorm as oracle

APART = 2.7  # where the two forms differ most: by 4.7e-4

# At x = 2.7 this lets 3e-5 pass, at x = -2.7 5e-6: the other form is far beyond both.
CLOSE = Tolerance(1e-5, 5e-6)


def fixtures(rng):
    n, m, k = choice(rng, (3, 4, 7), (2, 5, 6), (4, 3, 8))
    signs = np.where(np.arange(k) % 2, 1, -1)
    far = np.array([0, 1, -1, 6, -6, 15, -15, 60, -60, 200, -200], np.float32)
    return [
        Fixture("0, and far from it", {"x": far * np.float32(rng.uniform(0.9, 1.1))}, weight=1.0),
        Fixture(
            "near ±2.7, where the two forms differ most",
            {"x": (signs * (APART + 0.1 * rng.standard_normal((m, k)))).astype(np.float32)},
        ),
        Fixture("values of every size", {"x": normal(rng, n, m, k, std=1.5)}),
    ]


RELU = Mistake(
    "relu",
    oracle.relu,
    "It is ReLU: exactly 0 for every negative input.",
    "GELU lets a little of a small negative input through.",
)
SILU = Mistake(
    "silu",
    oracle.silu,
    "It is SiLU, x sigmoid(x), not GELU.",
    "SiLU comes later, in the gate of SwiGLU.",
)
QUICK = Mistake(
    "sigmoid_form",
    altered(oracle.silu, slope=1.702),
    "It is x sigmoid(1.702 x): a coarser approximation of GELU, off by as much as 0.02.",
)

GELU = Component(
    "gelu",
    fixtures,
    oracle.gelu,
    properties=COMMON,
    mistakes=(
        Mistake(
            "tanh_form",
            oracle.gelu_tanh,
            "It is the tanh form of GELU: close, but up to 4.7e-4 away from the exact one.",
            "Here the exact Phi(x) is asked for, with erf; the tanh form is the next exercise.",
        ),
        RELU,
        SILU,
        QUICK,
        Mistake(
            "no_root",
            altered(oracle.gelu, root=1.0),
            "What goes into erf is x, and not x / sqrt(2).",
            "Phi(x) = (1 + erf(x / sqrt 2)) / 2",
        ),
        Mistake(
            "divided_by_2",
            altered(oracle.gelu, root=2.0),
            "Inside erf it divides by 2 instead of sqrt(2).",
            "Phi(x) = (1 + erf(x / sqrt 2)) / 2",
        ),
        Mistake(
            "only_phi",
            altered(oracle.gelu, times_x=False),
            "It returns Phi(x); the factor x is missing.",
            "GELU(x) = x Phi(x)",
        ),
        Mistake(
            "not_halved",
            altered(oracle.gelu, half=1.0),
            "It is twice too large: for large x, GELU(x) must be x.",
            "1 + erf lies between 0 and 2, and a probability between 0 and 1.",
        ),
        Mistake(
            "no_one",
            altered(oracle.gelu, one=0.0),
            "It is 0.5 x erf(...): the 1 + is missing.",
            "Phi(x) = (1 + erf(x / sqrt 2)) / 2",
        ),
        Mistake(
            "density",
            lambda x: x * array_namespace(x).exp(-(x**2) / 2) / math.sqrt(2 * math.pi),
            "It multiplies x by the normal density instead of the distribution function.",
            "Phi(x) is the area to the left of x: it grows from 0 to 1.",
        ),
    ),
    shortcuts=frozenset({"gelu", "GELU"}),
    tolerance=CLOSE,
)

GELU_TANH = Component(
    "gelu_tanh",
    fixtures,
    oracle.gelu_tanh,
    properties=COMMON,
    mistakes=(
        Mistake(
            "exact_form",
            oracle.gelu,
            "It is the exact GELU, with erf: close, but up to 4.7e-4 away from the tanh form.",
            "GPT-2 was trained with the tanh form, so its weights want exactly that.",
        ),
        RELU,
        SILU,
        QUICK,
        Mistake(
            "no_cubic_term",
            altered(oracle.gelu_tanh, cubic=0.0),
            "The cubic term 0.044715 x^3 is missing.",
        ),
        Mistake(
            "cubic_term_outside",
            altered(oracle.gelu_tanh, cubic=0.0, outside=0.044715),
            "The factor sqrt(2/pi) reaches x only, and not the cubic term.",
            "sqrt(2/pi) * (x + 0.044715 x^3): mind the parentheses.",
        ),
        Mistake(
            "square",
            altered(oracle.gelu_tanh, power=2),
            "It has x^2 where x^3 belongs.",
            "A square is the same for x and -x, and the curve leans to one side.",
        ),
        Mistake(
            "root_of_2_pi",
            altered(oracle.gelu_tanh, factor=math.sqrt(2 * math.pi)),
            "The factor is sqrt(2 pi) instead of sqrt(2 / pi).",
        ),
        Mistake(
            "no_root",
            altered(oracle.gelu_tanh, factor=2 / math.pi),
            "The factor is 2 / pi; its square root is missing.",
        ),
        Mistake(
            "no_factor",
            altered(oracle.gelu_tanh, factor=1.0),
            "The factor sqrt(2 / pi) is missing.",
        ),
        Mistake(
            "decimal_point",
            altered(oracle.gelu_tanh, cubic=0.44715),
            "The coefficient of the cubic term is ten times too large: 0.44715 for 0.044715.",
        ),
        Mistake(
            "not_halved",
            altered(oracle.gelu_tanh, half=1.0),
            "It is twice too large: for large x, GELU(x) must be x.",
            "1 + tanh lies between 0 and 2.",
        ),
        Mistake(
            "no_one",
            altered(oracle.gelu_tanh, one=0.0),
            "It is 0.5 x tanh(...): the 1 + is missing.",
        ),
    ),
    shortcuts=frozenset({"gelu", "GELU"}),
    tolerance=CLOSE,
)
