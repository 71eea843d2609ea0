"""What is taken for the worst overlap of two directions."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace

from autograder.check.mistake import Mistake, altered
from autograder.oracle import residual_stream as oracle


def _mistake(name: str, says: str, look: str, why: str, **changes: Any) -> Mistake:
    return Mistake(name, altered(oracle.max_cosine, **changes), says, look, why)


def _columns(inputs: dict) -> dict:
    v = inputs["vectors"]
    return {"vectors": array_namespace(v).matrix_transpose(v)}


def _centred(inputs: dict) -> dict:
    v = inputs["vectors"]
    return {"vectors": v - array_namespace(v).mean(v, axis=-1, keepdims=True)}


def _absolute_sum(vectors):
    xp = array_namespace(vectors)
    return xp.sum(xp.abs(vectors), axis=-1, keepdims=True)


def _but_the_last(n: int) -> np.ndarray:
    index = np.arange(n)
    return oracle.different(n) & (index[:, None] < n - 1) & (index < n - 1)


LENGTH = "Each row by its own length: vectors / vectors.norm(dim=-1, keepdim=True)."
ABSOLUTE = "The absolute value first, then the maximum: cosines.abs().max()."
WORST = "The maximum of the absolute cosines, over all pairs: cosines.abs().max()."
EVERY = "Every row with every other: unit @ unit.T gives all cosines at once."

MISTAKES = (
    _mistake(
        "diagonal",
        "Each vector is compared with itself too, and that cosine is 1.",
        "Take the diagonal out before you look for the largest: cosines.fill_diagonal_(0).",
        "The result is 1 for any set of directions, for orthogonal ones too.",
        among=lambda n: np.ones((n, n), dtype=bool),
    ),
    _mistake(
        "signed",
        "It takes the largest cosine, sign included: -0.9 is as far from orthogonal as 0.9.",
        ABSOLUTE,
        "Of random directions the worst pair has a negative cosine half of the time.",
        of=max,
    ),
    _mistake(
        "signed_above_zero",
        "It takes the largest cosine, sign included, and 0 where all are negative.",
        ABSOLUTE,
        "Of random directions the worst pair has a negative cosine half of the time.",
        of=lambda c: max(0.0, *c),
    ),
    _mistake(
        "most_negative",
        "It takes the smallest cosine, sign included.",
        ABSOLUTE,
        "Of random directions the worst pair has a positive cosine half of the time.",
        of=min,
    ),
    _mistake(
        "dot_product",
        "These are dot products: the vectors are not scaled to length 1.",
        LENGTH,
        "For random directions of width 768 a dot product has deviation 28, and grows with the width. "
        "The overlap gets smaller with it.",
        power=0.0,
    ),
    _mistake(
        "one_length",
        "The dot product is divided by the length of one of the two vectors only.",
        "Scale all rows to length 1 first, and multiply the scaled ones: unit @ unit.T.",
        "The result then depends on how long the other vector is: twice its length, twice the overlap.",
        sides=1,
    ),
    _mistake(
        "squared_length",
        "The vectors are divided by the square of their length.",
        "The length is the root of the sum of squares: vectors.norm(dim=-1, keepdim=True).",
        "Long vectors then seem to overlap less: for those of 768 normal entries, whose length is 28, "
        "every cosine comes out 768 times too small.",
        power=1.0,
    ),
    _mistake(
        "absolute_sum",
        "The vectors are divided by the sum of their absolute entries, which is not their length.",
        "The length is the root of the sum of squares: vectors.norm(dim=-1, keepdim=True).",
        "In 768 dimensions that sum is 22 times the length of a random vector, so the overlap comes "
        "out nearly 500 times too small.",
        length=_absolute_sum,
    ),
    _mistake(
        "columns_normalised",
        "The columns are scaled to length 1, not the rows.",
        "A vector is a row: its length is a norm along dim=-1, with keepdim=True.",
        "Each feature is stretched by a factor of its own, and that changes the angles.",
        axis=0,
    ),
    _mistake(
        "columns_compared",
        "It compares the columns; the vectors are the rows.",
        "Rows with rows: lengths along dim=-1, then unit @ unit.T, of shape (n, n).",
        "That asks how two features go together over all directions, not how two directions do.",
        before=_columns,
    ),
    _mistake(
        "whole_norm",
        "All vectors are divided by one norm, that of the whole matrix.",
        LENGTH,
        "Among n vectors that are all the same every cosine is 1, and this gives 1 / n.",
        axis=None,
    ),
    _mistake(
        "correlation",
        "The mean of each vector is subtracted first: that gives correlations, not cosines.",
        "The dot product of the rows as they are, divided by both lengths.",
        "[1, 1.1] and [1.1, 1] are nearly parallel, their cosine is 0.995. Their correlation is -1.",
        before=_centred,
    ),
    _mistake(
        "mean",
        "It takes the mean over the pairs; the worst pair is asked for.",
        WORST,
        "1000 random directions of width 768 overlap by 0.03 on average, and the worst pair by 0.17.",
        of=lambda c: np.mean(np.abs(c)),
    ),
    _mistake(
        "smallest",
        "It takes the pair that is nearest to orthogonal; the worst pair is asked for.",
        WORST,
        "Among many directions some pair is always nearly orthogonal. Whether there is room for all "
        "depends on the pair that is not.",
        of=lambda c: min(map(abs, c)),
    ),
    _mistake(
        "squared",
        "It returns the square of the cosine.",
        "The cosine itself: its absolute value, with no square.",
        "An overlap of 0.2 would look like one of 0.04.",
        after=lambda c: c * c,
    ),
    _mistake(
        "angle",
        "It returns the angle, not its cosine.",
        "The cosine is the dot product itself; leave out the arccos.",
        "An angle gets smaller where the overlap gets larger: orthogonal vectors have pi / 2.",
        after=lambda c: float(np.arccos(c)) if c < 1 - 1e-6 else np.nan,  # at 1 rounding decides
    ),
    _mistake(
        "neighbours",
        "Only neighbouring rows are compared.",
        EVERY,
        "Among 1000 directions there are 499,500 pairs, and 999 of them are neighbours.",
        among=lambda n: np.eye(n, k=1, dtype=bool),
    ),
    _mistake(
        "first_row",
        "Only row 0 is compared with the others.",
        EVERY,
        "Among 1000 directions there are 499,500 pairs, and row 0 belongs to 999 of them.",
        among=lambda n: oracle.different(n) & (np.arange(n)[:, None] == 0),
    ),
    _mistake(
        "last_row_missing",
        "The last row is compared with none.",
        "Loops over pairs go up to n: for i in range(n), for j in range(i + 1, n).",
        "Of two directions no pair is left; of many, the worst pair is missed now and then.",
        among=_but_the_last,
    ),
)
