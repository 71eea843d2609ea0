"""How wrong numbers relate to the right ones: what can be said of them without knowing the cause."""

from __future__ import annotations

import numpy as np

EXACT = 1e-4  # relative: as far as float32 arithmetic lets two ways to the same number differ
ENOUGH = 4  # entries below which a relation could be chance
NEAR = 0.02
AXES = {-1: ("column", "columns"), -2: ("row", "rows")}


def relation(got: np.ndarray, want: np.ndarray, wrong: np.ndarray) -> str:
    """One sentence, or none. All three have the same shape; `wrong` marks what differs."""
    if want.size < ENOUGH:
        return ""
    if not (np.isfinite(got).all() and np.isfinite(want).all()):
        return _located(wrong, want)
    tests = (_factor, _offset, _transposed, _order, _row_factors, _row_offsets)
    said = next((s for t in tests if (s := t(got, want))), "")
    return said or _located(wrong, want) or _small(got, want)


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    size = max(np.abs(a).max(), np.abs(b).max())
    return size > 0 and np.abs(a - b).max() <= EXACT * size


def _number(x: float) -> str:
    return f"{x:.4g}"


def _factor(got: np.ndarray, want: np.ndarray) -> str:
    if not np.abs(want).max() > 0 or _constant(want):
        return ""
    factor = float((got * want).sum() / (want * want).sum())
    if factor == 0 or not _same(got, factor * want):
        return ""
    if abs(factor - 1) <= NEAR:  # a constant that is slightly off
        return ""
    if abs(factor + 1) <= EXACT:
        return "Every entry has the opposite sign."
    return f"Every entry is {_number(factor)} times what it should be."


def _offset(got: np.ndarray, want: np.ndarray) -> str:
    gap = got - want
    if not _constant(gap) or _constant(got):
        return ""
    size = "large" if gap.mean() > 0 else "small"
    return f"Every entry is too {size} by {_number(abs(gap.mean()))}."


def _constant(x: np.ndarray) -> bool:
    return x.max() - x.min() <= EXACT * np.abs(x).max()


def _transposed(got: np.ndarray, want: np.ndarray) -> str:
    square = want.ndim > 1 and want.shape[-1] == want.shape[-2]
    if square and not _same(want, want.mT) and _same(got, want.mT):
        return "It is the transpose of what it should be."
    return ""


def _order(got: np.ndarray, want: np.ndarray) -> str:
    """The right numbers at other places."""
    if _constant(want):
        return ""
    for axis in range(-1, -want.ndim - 1, -1):
        n, name = want.shape[axis], _axis(axis, want.ndim)
        if n > 1 and _same(got, np.flip(want, axis)):
            return f"The numbers are right, but in reverse order along {name}."
        for by in {1, -1, n // 2}:
            if n > 2 and 0 < abs(by) < n and _same(got, np.roll(want, by, axis)):
                return f"The numbers are right, but shifted by {by} along {name}."
    if _same(np.sort(got, None), np.sort(want, None)):
        return "The numbers are the right ones, but at other places: look at reshapes and axes."
    return ""


def _axis(axis: int, ndim: int) -> str:
    return "the last axis" if axis == -1 else f"axis {axis + ndim}"


def _row_factors(got: np.ndarray, want: np.ndarray) -> str:
    """Each row up to a factor of its own, as a wrong normalisation gives."""
    if want.ndim < 2 or want.shape[-1] < 3:
        return ""
    square = (want * want).sum(-1, keepdims=True)
    if not (square > 0).all():
        return ""
    factor = (got * want).sum(-1, keepdims=True) / square
    if not _same(got, factor * want) or _constant(want - want.mean(-1, keepdims=True) + 1):
        return ""
    few = ", ".join(_number(f) for f in factor.ravel()[:3])
    return f"Each row is right up to a factor of its own: {few}, …"


def _row_offsets(got: np.ndarray, want: np.ndarray) -> str:
    gap = got - want
    if want.ndim < 2 or want.shape[-1] < 3 or not _same(gap, gap[..., :1] + 0 * gap):
        return ""
    few = ", ".join(_number(g) for g in gap[..., 0].ravel()[:3])
    return f"Each row is off by a constant of its own: {few}, …"


def _located(wrong: np.ndarray, want: np.ndarray) -> str:
    """All that differs lies in some rows or columns, and the others are right; not by being 0."""
    for axis in range(-1, -max(wrong.ndim, 1) - 1, -1):
        n = wrong.shape[axis]
        where = np.flatnonzero(np.moveaxis(wrong, axis, 0).reshape(n, -1).any(1))
        if n < 3 or len(where) == n:
            continue
        one, many = AXES.get(axis, ("index", "indices"))
        along = "" if axis in AXES else f" along axis {axis + wrong.ndim}"
        if wrong.ndim == 1:
            one, many = "entry", "entries"
        if len(where) == 1:
            return f"Only {one} {where[0]}{along} differs; the other {many} are right."
        if len(where) == n - 1:
            (left,) = set(range(n)) - set(where.tolist())
            if not np.take(want, left, axis).any():
                return ""
            return f"Only {one} {left}{along} is right; the other {many} differ."
        if (np.diff(where) == 1).all() and where[-1] == n - 1:
            return f"From {one} {where[0]} on they differ{along}; before it they are right."
    return ""


def _small(got: np.ndarray, want: np.ndarray) -> str:
    size = np.abs(want).max()
    off = np.abs(got - want).max() / size if size else np.inf
    if off > NEAR:
        return ""
    return f"All are within {100 * off:.1g} % of the largest: look for a constant that is slightly off."
