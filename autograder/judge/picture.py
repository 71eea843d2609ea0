"""A small window on two arrays, expected and given, around the first entry that differs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SIDE = 3  # rows and columns that are shown at most
LONG = 6  # entries of a vector, and columns where there are no more
VISIBLE = 0.01
PLACES = (3, 4, 5, 6)  # behind the decimal point


@dataclass(frozen=True)
class Picture:
    """Entries of both arrays at the same places; plain data, as all that a judge hands on."""

    place: str  # which part of the array it is, as an index: "[0, 1:4, 0:3]"
    rows: tuple[int, ...]  # their indices in the array; () for a vector
    columns: tuple[int, ...]
    want: tuple[tuple[float, ...], ...]
    got: tuple[tuple[float, ...], ...]
    wrong: tuple[tuple[bool, ...], ...]
    first: tuple[int, int]  # where the first differing entry stands in the window

    @property
    def hidden(self) -> tuple[tuple[bool, ...], ...]:
        """Entries that a mask has taken out: -inf in the scores, and beside others exactly 0."""
        some = any(0 < abs(x) < float("inf") for row in self.want for x in row)
        return tuple(tuple(x == -float("inf") or (some and x == 0) for x in r) for r in self.want)

    @property
    def slight(self) -> bool:
        """Whether the largest difference is below a hundredth of the largest number."""
        got, want = np.asarray(self.got), np.asarray(self.want)
        if not (np.isfinite(got).all() and np.isfinite(want).all()):
            return False
        return bool(np.abs(got - want).max() < VISIBLE * np.abs(want).max())

    def written(self) -> tuple[list[list[str]], list[list[str]]]:
        """Both as text, with as many digits as it takes to tell what differs."""
        pairs = [
            (w, g)
            for want, got, wrong in zip(self.want, self.got, self.wrong)
            for w, g, off in zip(want, got, wrong)
            if off
        ]
        places = next(
            (p for p in PLACES if all(digits(w, p) != digits(g, p) for w, g in pairs)), PLACES[-1]
        )
        return tuple([[digits(x, places) for x in row] for row in a] for a in (self.want, self.got))

    def lines(self, right: str = "yours") -> list[str]:
        """As text, both side by side; what differs stands in > <. `right`: what to call it."""
        want, got = self.written()
        want = _aligned([[f" {x} " for x in row] for row in want])
        marked = zip(got, self.wrong)
        got = _aligned([[f">{x}<" if w else f" {x} " for x, w in zip(*m)] for m in marked])
        labels = [f"{r}" for r in self.rows] or [""]
        wide = max(map(len, labels))
        left = f"expected {self.place}"
        width = max(len(want[0]), len(left))
        head = f"{'':{wide}} {left:{width}}   {right}"
        return [head.rstrip()] + [
            f"{label:>{wide}} {w:{width}}   {g}".rstrip() for label, w, g in zip(labels, want, got)
        ]


def window(got: np.ndarray, want: np.ndarray, wrong: np.ndarray) -> Picture | None:
    """None where there is nothing to set side by side: single numbers."""
    if want.ndim == 0 or want.size == 1:
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    if want.ndim == 1:
        (columns,) = (_around(at[0], len(want), LONG),)
        cut, rows = (slice(columns[0], columns[-1] + 1),), ()
        first = (0, at[0] - columns[0])
    else:
        r = _around(at[-2], want.shape[-2], SIDE)
        c = _around(at[-1], want.shape[-1], LONG if want.shape[-1] <= LONG else SIDE)
        cut = (*at[:-2], slice(r[0], r[-1] + 1), slice(c[0], c[-1] + 1))
        rows, columns, first = r, c, (at[-2] - r[0], at[-1] - c[0])
    two = [np.atleast_2d(a[cut]).tolist() for a in (want, got, wrong)]
    return Picture(_index(cut), rows, columns, *(tuple(map(tuple, a)) for a in two), first)


def _around(i: int, n: int, most: int) -> tuple[int, ...]:
    """At most `most` neighbouring indices of n, i among them, with one before it if there is one."""
    start = max(0, min(i - 1, n - most))
    return tuple(range(start, min(n, start + most)))


def _index(cut: tuple) -> str:
    parts = (f"{c.start}:{c.stop}" if isinstance(c, slice) else str(c) for c in cut)
    return f"[{', '.join(parts)}]"


def digits(x: float, places: int = PLACES[0]) -> str:
    if float(x).is_integer() and abs(x) < 1e6:
        return f"{x if x else 0:.0f}"  # no -0
    if abs(x) < 10.0 ** -places or abs(x) >= 1e4:
        return f"{x:.{places + 1}g}"
    return f"{x:.{places}f}"


def _aligned(cells: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*cells)]
    return [" ".join(f"{c:>{w}}" for c, w in zip(row, widths)) for row in cells]
