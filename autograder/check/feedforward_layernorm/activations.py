"""What gelu and gelu_tanh have in common: two functions that differ in the fourth decimal, and must
not be confused."""

from __future__ import annotations

import numpy as np

from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture
from autograder.check.draw import choice, normal
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


EXAMPLE = {"x": np.float32([-2.7, -1, 0, 0.5, 1, 2.7])}
SHORTCUTS = frozenset({"gelu", "GELU"})
LOOK = {
    "0, and far from it": "It must be 0 at 0, about 60 at 60 and 0 at -60. torch.exp overflows "
    "beyond 88; torch.erf and torch.tanh do not.",
}
RAISES = {
    "bitwise_xor": "A power is x ** 3 in Python: x ^ 3 means something else.",
    "converted to": "math.erf and math.tanh take one number; torch.erf and torch.tanh take a "
    "tensor, entry by entry.",
    "must be Tensor, not": "torch.sqrt takes a tensor; for a plain number it is math.sqrt.",
}


def others(line):
    """Functions of the same kind, in place of GELU. `line`: what should be there."""
    return (
        Mistake(
            "relu",
            oracle.relu,
            "It is ReLU, which is 0 for every negative x; it should be GELU, which is -0.159 at -1.",
            f"max(x, 0) -> {line}",
            "Where ReLU is flat no gradient comes back: a unit that is negative on all of the data "
            "never learns again.",
        ),
        Mistake(
            "silu",
            oracle.silu,
            "It is SiLU, x * sigmoid(x), which comes later, in SwiGLU; it should be GELU.",
            f"x * sigmoid(x) -> {line}",
            "SiLU bends more gently: at -2 it is -0.24, where GELU is -0.05. Weights that were "
            "trained with one of them do not fit the other.",
        ),
        Mistake(
            "sigmoid_form",
            altered(oracle.silu, slope=1.702),
            "It is x * sigmoid(1.702 * x), a coarser approximation of GELU; another form is asked for.",
            f"x * sigmoid(1.702 * x) -> {line}",
            "It is off by as much as 0.02, forty times more than the tanh form. Some models use it; "
            "GPT-2 does not.",
        ),
    )
