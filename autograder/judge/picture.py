"""A small window on two arrays, expected and given, around the first entry that differs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SIDE = 3  # rows and columns that are shown at most
LONG = 6  # entries of a vector


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

    def lines(self, right: str = "yours") -> list[str]:
        """As text, both side by side; what differs stands in > <. `right`: what to call it."""
        want = _aligned([[f" {digits(x)} " for x in row] for row in self.want])
        marked = zip(self.got, self.wrong)
        got = _aligned(
            [[f">{digits(x)}<" if w else f" {digits(x)} " for x, w in zip(*m)] for m in marked]
        )
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
        r, c = (_around(at[a], want.shape[a], SIDE) for a in (-2, -1))
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


def digits(x: float) -> str:
    if float(x).is_integer() and abs(x) < 1e6:
        return f"{x:.0f}"
    return f"{x:.4g}" if abs(x) < 1e-3 or abs(x) >= 1e4 else f"{x:.3f}"


def _aligned(cells: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*cells)]
    return [" ".join(f"{c:>{w}}" for c, w in zip(row, widths)) for row in cells]
