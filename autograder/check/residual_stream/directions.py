"""max_cosine: how near to orthogonal a set of directions is."""

from __future__ import annotations


import numpy as np
from array_api_compat import array_namespace

from autograder.check.component import Component
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture
from autograder.check.draw import choice, normal
from autograder.check.properties import python_numbers, unchanged
from autograder.check.varied import property_of
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


def cosine_fixtures(rng):
    n, d, many, few = choice(rng, (6, 11, 8, 3), (7, 10, 9, 4), (8, 12, 7, 4))
    return [
        Fixture("two vectors", {"vectors": normal(rng, 2, d)}, weight=1.0),
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


def _of_pairs(f, **switches):
    """`f` of the cosines of all pairs of different rows."""
    return lambda vectors: float(f(oracle.pairs(vectors, **switches)))


def _normalised_columns(vectors):
    xp = array_namespace(vectors)
    unit = vectors / xp.sum(vectors**2, axis=0) ** 0.5
    return oracle.max_cosine(unit, power=0.0)


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
    mistakes=(
        Mistake(
            "diagonal",
            lambda vectors: 1.0,
            "Each vector is compared with itself too, and that cosine is 1.",
            "Take the diagonal out before you look for the largest.",
        ),
        Mistake(
            "signed",
            _of_pairs(lambda c: c.max()),
            "It takes the largest cosine, sign included: -0.9 is as far from orthogonal as 0.9.",
            "The absolute value first, then the maximum.",
        ),
        Mistake(
            "most_negative",
            _of_pairs(lambda c: c.min()),
            "It takes the smallest cosine, sign included.",
            "The absolute value first, then the maximum.",
        ),
        Mistake(
            "dot_product",
            altered(oracle.max_cosine, power=0.0),
            "These are dot products: the vectors are not scaled to length 1.",
        ),
        Mistake(
            "squared_length",
            altered(oracle.max_cosine, power=1.0),
            "The vectors are divided by the square of their length.",
            "The length is the root of the sum of squares.",
        ),
        Mistake(
            "columns_normalised",
            _normalised_columns,
            "The columns are scaled to length 1, not the rows.",
            "A vector is a row: its length is a norm along dim=-1.",
        ),
        Mistake(
            "columns_compared",
            lambda vectors: oracle.max_cosine(array_namespace(vectors).matrix_transpose(vectors)),
            "It compares the columns; the vectors are the rows.",
        ),
        Mistake(
            "whole_norm",
            lambda vectors: oracle.max_cosine(vectors, power=0.0) / float((vectors**2).sum()),
            "All vectors are divided by one norm, that of the whole matrix.",
            "Each row has a length of its own: dim=-1, keepdim=True.",
        ),
        Mistake(
            "mean",
            _of_pairs(lambda c: abs(c).mean()),
            "It takes the mean over the pairs; the worst pair is asked for.",
        ),
        Mistake(
            "smallest",
            _of_pairs(lambda c: abs(c).min()),
            "It takes the pair that is nearest to orthogonal; the worst pair is asked for.",
        ),
        Mistake(
            "squared",
            _of_pairs(lambda c: (c * c).max()),
            "It returns the square of the cosine.",
        ),
        Mistake(
            "neighbours",
            lambda vectors: float(abs(oracle.cosines(vectors).diagonal(1)).max()),
            "Only neighbouring rows are compared.",
            "Every row with every other: a matrix product gives all cosines at once.",
        ),
        Mistake(
            "first_row",
            lambda vectors: float(abs(oracle.cosines(vectors)[0, 1:]).max()),
            "Only row 0 is compared with the others.",
            "Every row with every other: a matrix product gives all cosines at once.",
        ),
        Mistake(
            "angle",
            lambda vectors: float(np.arccos(oracle.max_cosine(vectors))),
            "It returns the angle, not its cosine.",
        ),
    ),
    shortcuts=frozenset({"cosine_similarity", "CosineSimilarity", "corrcoef"}),
    outputs="the largest cosine",
)
