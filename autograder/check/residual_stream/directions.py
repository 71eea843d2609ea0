"""max_cosine: how near to orthogonal a set of directions is."""

from __future__ import annotations

import numpy as np

from autograder.check.component import Component
from autograder.check.draw import choice, normal
from autograder.check.parts import Fixture
from autograder.check.properties.common import python_numbers, unchanged
from autograder.check.properties.varied import property_of
from autograder.check.residual_stream.direction_mistakes import MISTAKES
from autograder.oracle import residual_stream as oracle


def crowded(rng, n, d):
    """n vectors that are nearly orthogonal, but for three pairs, none of them neighbours: the
    worst has a negative cosine, the next a positive one, the third belongs to row 0."""
    e = np.linalg.qr(rng.standard_normal((d, d)))[0]
    vectors = e[:n].copy()
    for i, j, cosine in ((3, 1, -0.9), (4, 2, 0.8), (5, 0, 0.7)):
        vectors[i] = cosine * e[j] + (1 - cosine**2) ** 0.5 * e[i]
    lengths = rng.permutation(np.linspace(0.6, 2.5, n))[:, None]
    return (lengths * (vectors + 0.03 * rng.standard_normal((n, d)))).astype(np.float32)


def opposed(rng, d):
    """Two vectors with a negative cosine, which 0 on the diagonal would beat; the first is longer
    (in the worst pair of the example, the second)."""
    u, v = normal(rng, 2, d)
    v = v - u / 2
    u = u * np.float32(1.5 * np.linalg.norm(v) / np.linalg.norm(u))
    return np.stack([u, -v if u @ v > 0 else v])


def cosine_fixtures(rng):
    n, d, many, few = choice(rng, (6, 11, 8, 3), (7, 10, 9, 4), (8, 12, 7, 4))
    return [
        Fixture("two vectors", {"vectors": opposed(rng, d)}, weight=1.0),
        Fixture("more vectors than dimensions", {"vectors": normal(rng, many, few)}, weight=1.0),
        Fixture("vectors of several lengths", {"vectors": crowded(rng, n, d)}, weight=3.0),
    ]


def _stretched(c, inputs):
    n = len(inputs["vectors"])
    factors = np.linspace(0.3, 4.0, n) * (-1) ** np.arange(n)
    return {"vectors": inputs["vectors"] * factors.astype(np.float32)[:, None]}


def _parallel(c, inputs):
    vectors = inputs["vectors"].copy()
    vectors[-1] = 2 * vectors[1]
    return {"vectors": vectors}


# The lengths are 5, 3, 5 and 7; the worst pair is rows 1 and 3, and its cosine -13/21.
EXAMPLE = {"vectors": np.float32([[-3, 0, 4], [2, 1, 2], [4, -3, 0], [-2, 3, -6]])}

MAX_COSINE = Component(
    "max_cosine",
    cosine_fixtures,
    oracle.max_cosine,
    properties=(
        property_of(
            _stretched,
            "lengths and signs do not matter",
            "A cosine is the dot product of two vectors of length 1; take its absolute value.",
        ),
        property_of(
            _parallel,
            "two rows that are parallel: 1",
            "Two different rows may well have a cosine of 1: leave out the diagonal, "
            "not all values that are near 1.",
            weight=0.5,
        ),
        python_numbers(float),
        unchanged,
    ),
    mistakes=MISTAKES,
    example=EXAMPLE,
    shortcuts=frozenset({"cosine_similarity", "CosineSimilarity", "corrcoef"}),
    raises={
        "must match the size": "A length for each row, as a column: vectors.norm(dim=-1, keepdim=True).",
        "cannot be multiplied": "All dot products of rows at once: unit @ unit.T.",
        "inconsistent tensor size": "All dot products of rows at once: unit @ unit.T.",
    },
)
