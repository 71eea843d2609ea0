"""What is taken for the worst overlap of two directions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from array_api_compat import array_namespace

from autograder.check.mistake import entries
from autograder.oracle import residual_stream as oracle

_mistake = entries(oracle.max_cosine)


def _columns(inputs: dict) -> dict:
    v = inputs["vectors"]
    return {"vectors": array_namespace(v).matrix_transpose(v)}


def _less_mean(axis: int) -> Callable[[dict], dict]:
    """The vectors less their mean along this axis."""

    def changed(inputs: dict) -> dict:
        v = inputs["vectors"]
        return {"vectors": v - array_namespace(v).mean(v, axis=axis, keepdims=True)}

    return changed


def _shared_by_all(mean: float, inputs: dict) -> float:
    """The mean over the pairs -> that over all entries, with 0 on the diagonal."""
    n = len(inputs["vectors"])
    return mean * (n - 1) / n


def _absolute_sum(vectors):
    xp = array_namespace(vectors)
    return xp.sum(xp.abs(vectors), axis=-1, keepdims=True)


def _but_the_last(n: int) -> np.ndarray:
    index = np.arange(n)
    return oracle.different(n) & (index[:, None] < n - 1) & (index < n - 1)


def _mean_size(cosines: list[float]) -> float:
    return float(np.mean(np.abs(cosines)))


def _all(n: int) -> np.ndarray:
    return np.ones((n, n), dtype=bool)


MISTAKES = (
    _mistake(
        "diagonal",
        "Each row is compared with itself too, and that cosine is 1; only different rows should be "
        "compared.",
        "Put 0 on the diagonal before the maximum: cosines.fill_diagonal_(0).",
        "The result is 1 for any set of directions, for orthogonal ones too.",
        among=_all,
    ),
    _mistake(
        "signed",
        "It returns the largest cosine, sign included; it should be the largest |cosine|: -0.9 is as "
        "bad as 0.9.",
        ".max() -> .abs().max(). If -inf or -1 was put on the diagonal, put 0 there: abs() would "
        "make it the largest.",
        "Of random directions the worst pair has a negative cosine half of the time.",
        of=max,
    ),
    _mistake(
        "signed_above_zero",
        "It returns the largest cosine, sign included, or 0 where all are negative; it should be the "
        "largest |cosine|.",
        "cosines.fill_diagonal_(0).max() -> .abs().max(). In a loop: abs(...) around each cosine.",
        "Of random directions the worst pair has a negative cosine half of the time.",
        of=lambda c: max(0.0, *c),
    ),
    _mistake(
        "most_negative",
        "It returns the smallest cosine, sign included; it should be the largest |cosine|.",
        "In the last step: .min() -> .abs().max(), with 0 on the diagonal first: "
        "cosines.fill_diagonal_(0).",
        "Of random directions the worst pair has a positive cosine half of the time.",
        of=min,
    ),
    _mistake(
        "dot_product",
        "It returns the largest dot product, in absolute value; each should be divided by both lengths.",
        "Before the product, divide each row by its length: vectors.norm(dim=-1, keepdim=True).",
        "For random directions of width 768 a dot product has deviation 28, and grows with the width. "
        "The overlap gets smaller with it.",
        power=0.0,
    ),
    _mistake(
        "one_length",
        "Each dot product is divided by one of the two lengths only, as in unit @ vectors.T; it "
        "should be divided by both.",
        "In the product: unit @ vectors.T -> unit @ unit.T, where unit holds the rows of length 1.",
        "The result then depends on how long the other vector is: twice its length, twice the overlap.",
        sides=1,
    ),
    _mistake(
        "first_length",
        "Each dot product is divided by the length of the earlier of its two rows only; it should be "
        "divided by both lengths.",
        "In the loop, the length of the later row is missing in the divisor: both in parentheses, "
        "(v[i].norm() * v[j].norm()).",
        "The result then depends on how long the other vector is: twice its length, twice the overlap.",
        sides=1,
        among=lambda n: np.triu(_all(n), 1),
    ),
    _mistake(
        "second_length",
        "Each dot product is divided by the length of the later of its two rows only; it should be "
        "divided by both lengths.",
        "In the loop, the length of the earlier row is missing in the divisor: both in parentheses, "
        "(v[i].norm() * v[j].norm()).",
        "The result then depends on how long the other vector is: twice its length, twice the overlap.",
        sides=1,
        among=lambda n: np.tril(_all(n), -1),
    ),
    _mistake(
        "squared_length",
        "Each vector is divided by its squared length, the sum of its squares; it should be divided "
        "by its length, the root of that.",
        "The length: (vectors ** 2).sum(-1, keepdim=True) -> vectors.norm(dim=-1, keepdim=True).",
        "Long vectors then seem to overlap less: for those of 768 normal entries, whose length is 28, "
        "every cosine comes out 768 times too small.",
        power=1.0,
    ),
    _mistake(
        "absolute_sum",
        "Each vector is divided by the sum of its absolute entries; it should be divided by its "
        "length, the root of the sum of squares.",
        "The length: .abs().sum(dim=-1, keepdim=True) or .norm(1, ...) -> .norm(dim=-1, "
        "keepdim=True).",
        "In 768 dimensions that sum is 22 times the length of a random vector, so the overlap comes "
        "out nearly 500 times too small.",
        length=_absolute_sum,
    ),
    _mistake(
        "columns_normalised",
        "Each column is divided by its length; each row should be. The rows are then compared, as "
        "they should be.",
        "The length: vectors.norm(dim=0, ...) -> vectors.norm(dim=-1, keepdim=True).",
        "Each column is stretched by a factor of its own, and that changes the angles.",
        axis=0,
    ),
    _mistake(
        "columns_compared",
        "It returns the largest |cosine| of two columns; it should be that of two rows. Lengths and "
        "products are both those of columns.",
        "Is vectors transposed first? Lengths: dim=0 -> dim=-1. Product: unit.T @ unit -> "
        "unit @ unit.T.",
        "That asks how two columns go together over all directions, not how two directions do.",
        before=_columns,
    ),
    _mistake(
        "whole_norm",
        "All rows are divided by one number, the norm of the whole matrix; each should be divided by "
        "its own length.",
        "The length: vectors.norm() -> vectors.norm(dim=-1, keepdim=True).",
        "Among n vectors that are all the same every cosine is 1, and this gives 1 / n.",
        axis=None,
    ),
    _mistake(
        "correlation",
        "From each row the mean of its own entries is subtracted first; the cosine should be taken of "
        "the rows as they are.",
        "Leave out vectors - vectors.mean(dim=-1, keepdim=True), or torch.corrcoef.",
        "[1, 1.1] and [1.1, 1] are nearly parallel, their cosine is 0.995. Their correlation is -1.",
        before=_less_mean(-1),
    ),
    _mistake(
        "mean_row_subtracted",
        "The mean of all rows is subtracted from each row first; the cosine should be taken of the "
        "rows as they are.",
        "Leave out vectors - vectors.mean(dim=0).",
        "Two vectors less their mean are always opposite: their cosine is then -1, whatever they are.",
        before=_less_mean(-2),
    ),
    _mistake(
        "mean",
        "It returns the mean of |cosine| over the pairs of different rows; it should be the largest.",
        "In the last step: .mean() -> .max().",
        "1000 random directions of width 768 overlap by 0.03 on average, and the worst pair by 0.17.",
        of=_mean_size,
    ),
    _mistake(
        "mean_with_diagonal",
        "It returns the mean of |cosine| over the whole table, ones on the diagonal included; it "
        "should be the largest |cosine| beside the diagonal.",
        "In the last step: .abs().mean() -> .fill_diagonal_(0).abs().max().",
        "1000 random directions of width 768 overlap by 0.03 on average, and the worst pair by 0.17.",
        of=_mean_size,
        among=_all,
    ),
    _mistake(
        "mean_with_zeros",
        "It returns the mean of |cosine| over the whole table, with 0 on the diagonal; it should be "
        "the largest.",
        "The diagonal is right. After it: .abs().mean() -> .abs().max().",
        "1000 random directions of width 768 overlap by 0.03 on average, and the worst pair by 0.17.",
        after=_shared_by_all,
        of=_mean_size,
    ),
    _mistake(
        "smallest",
        "It returns the smallest |cosine|, that of the pair nearest to orthogonal; it should be the "
        "largest.",
        "The minimum of the absolute values -> their maximum, with 0 on the diagonal: "
        "cosines.fill_diagonal_(0).abs().max().",
        "Among many directions some pair is always nearly orthogonal. Whether there is room for all "
        "depends on the pair that is not.",
        of=lambda c: min(map(abs, c)),
    ),
    _mistake(
        "squared",
        "It returns the square of the cosine of the worst pair; it should be the |cosine| itself.",
        "(cosines ** 2).max() -> cosines.abs().max(). If abs() is there already, only leave out "
        "the ** 2.",
        "An overlap of 0.2 would look like one of 0.04.",
        after=lambda c: c * c,
    ),
    _mistake(
        "angle",
        "It returns an angle, arccos(|cosine|) of the worst pair; it should be the |cosine| itself.",
        "Leave out the arccos.",
        "An angle gets smaller where the overlap gets larger: orthogonal vectors have pi / 2.",
        after=lambda c: float(np.arccos(c)) if c < 1 - 1e-6 else np.nan,  # at 1 rounding decides
    ),
    _mistake(
        "neighbours",
        "Each row is compared with the next one only, 0 with 1, 1 with 2, and so on; all pairs should "
        "be compared.",
        "In a loop, j goes over all of range(i + 1, n), not i + 1 alone; unit @ unit.T has all pairs.",
        "Among 1000 directions there are 499,500 pairs, and 999 of them are neighbours.",
        among=lambda n: np.eye(n, k=1, dtype=bool),
    ),
    _mistake(
        "first_row",
        "Only row 0 is compared with the other rows; each row should be compared with each other.",
        "unit[0] @ unit.T -> unit @ unit.T, or cosines[0] -> cosines. In a loop: is the return in it?",
        "Among 1000 directions there are 499,500 pairs, and row 0 belongs to 999 of them.",
        among=lambda n: oracle.different(n) & (np.arange(n)[:, None] == 0),
    ),
    _mistake(
        "last_row_missing",
        "The last row is compared with no other; it should be compared with all of them.",
        "In the inner loop: range(i + 1, n - 1) -> range(i + 1, n). And no vectors[:-1].",
        "Of two directions no pair is left; of many, the worst pair is missed now and then.",
        among=_but_the_last,
    ),
)
