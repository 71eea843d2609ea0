"""Compare an answer with what was expected, and say in words how they differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.judge.finding import Trouble
from autograder.judge.picture import window
from autograder.judge.relation import relation
from autograder.probes.plain import Foreign, Listed, OnOther, few

What = str | tuple[str, ...]  # what to call the result, or each of its items


@dataclass(frozen=True)
class Tolerance:
    """|got - expected| <= atol + rtol |expected|, as float32 arithmetic needs it."""

    rtol: float = 1e-4
    atol: float = 1e-5


def form(got: Any, want: Any, what: What = "the result") -> Trouble | None:
    """Type, length, shape and dtype: everything but the values."""
    want = want.item() if isinstance(want, np.generic) else want
    if isinstance(want, tuple):
        if not isinstance(got, tuple) or len(got) != len(want):
            whole = what if isinstance(what, str) else "the result"
            if isinstance(got, Listed):
                return Trouble(
                    f"{whole} has {count(len(got), 'entry')}; it should have {len(want)}."
                )
            return Trouble(f"{whole} should be {kind(want)}, and is {kind(got)}.")
        parts = (form(g, w, item(what, i)) for i, (g, w) in enumerate(zip(got, want)))
        return next((t for t in parts if t), None)
    if isinstance(want, dict):
        if not isinstance(got, dict):
            return Trouble(f"{what} should be a dict, and is {kind(got)}.")
        if set(got) != set(want):
            return Trouble(
                f"{what} does not have the names that it should have.", _names(got, want)
            )
        parts = (form(got[k], want[k], entry(what, k)) for k in want)
        return next((t for t in parts if t), None)
    if got is None and want is not None:
        return Trouble(f"{what} is None.", look="Is a `return` missing?")
    if isinstance(want, np.ndarray):
        got = np.asarray(got) if isinstance(got, np.generic) else got
        if not isinstance(got, np.ndarray):
            return Trouble(_should(what, want, got))
        if got.shape != want.shape:
            return Trouble(f"{what} has shape {got.shape}; it should be {want.shape}.")
        if np.issubdtype(want.dtype, np.floating) != np.issubdtype(got.dtype, np.floating):
            numbers = "floats" if np.issubdtype(want.dtype, np.floating) else "integers"
            numbers = "True and False" if want.dtype == bool else numbers
            return Trouble(f"{what} has dtype {got.dtype}; it should be a tensor of {numbers}.")
        return None
    if isinstance(want, bool) or isinstance(want, str) or want is None:
        return None if type(got) is type(want) else Trouble(_should(what, want, got))
    if isinstance(want, (int, float)):
        number = isinstance(got, (int, float)) and not isinstance(got, bool)
        scalar = isinstance(got, np.ndarray) and got.ndim == 0
        return None if number or scalar else Trouble(_should(what, want, got))
    raise TypeError(f"no comparison for an expected {type(want).__name__}")


def _names(got: dict, want: dict) -> str:
    """What is missing in the keys of `got`, and what is too much."""
    missing, extra = [k for k in want if k not in got], [k for k in got if k not in want]
    said = [f"missing: {few(missing)}"] * bool(missing)
    said += [f"not expected: {few(extra)}"] * bool(extra)
    return "; ".join(said) + "."


def _should(what: str, want: Any, got: Any) -> str:
    return f"{what} should be {kind(want)}, and is {kind(got)}."


def kind(value: Any) -> str:
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return "a tensor without axes"
    if isinstance(value, np.ndarray):
        return f"a tensor of shape {value.shape}"
    if isinstance(value, OnOther):
        return f"a tensor of shape {value.shape} on another device"
    if isinstance(value, Foreign):
        return f"a {value.type}"
    if isinstance(value, tuple):
        if len(value) > 1 and not isinstance(value, Listed):
            return f"{len(value)} values"  # as `return a, b` gives
        tensors = bool(value) and all(isinstance(v, np.ndarray) for v in value)
        inside = count(len(value), "tensor" if tensors else "value")
        return f"a {'list' if isinstance(value, Listed) else 'tuple'} of {inside}"
    names = {
        bool: "True or False",
        int: "an int",
        float: "a single number",
        str: "a str",
        dict: "a dict",
    }
    return "None" if value is None else names.get(type(value), f"a {type(value).__name__}")


def finite(got: Any, want: Any, what: What = "the result") -> Trouble | None:
    """Infinity and NaN where none is expected."""
    for name, g, w in leaves(got, want, what):
        g, w = np.asarray(g), np.asarray(w)
        if g.dtype.kind != "f":
            continue
        bad = ~np.isfinite(g) & np.isfinite(w)
        if bad.any():
            if g.ndim == 0:
                return Trouble(f"{name} is {g}, where {number(w)} is expected.")
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            verb = "is" if bad.sum() == 1 else "are"
            some = f"{int(bad.sum())} of {bad.size} entries {verb} not finite{_whole_row(bad, at)}"
            return Trouble(
                f"Numbers in {name} are not finite.",
                f"At {index(at)}{_of(name)}: expected {number(w[at])}, got {g[at]} ({some}).",
                picture=window(g, w, ~np.isclose(g, w, equal_nan=True)),
            )
    return None


def _whole_row(bad: np.ndarray, at: tuple[int, ...]) -> str:
    """Where the entry at `at` is one of a row that is bad from end to end, and other rows are not."""
    row = at[:-1]
    if not row or not bad[row].all() or bad.shape[-1] == 1 or bad.all():
        return ""
    return f", the whole of row {index(row)}"


def difference(
    got: Any, want: Any, tolerance: Tolerance = Tolerance(), what: What = "the result"
) -> Trouble | None:
    """None if all values agree within the tolerance; the form must have been compared before."""
    for name, g, w in leaves(got, want, what):
        if isinstance(w, (bool, str)) or w is None:
            if g != w:
                g, w = (v if isinstance(v, str) else repr(v) for v in (g, w))
                return Trouble(f"{name} is {g}; it should be {w}.")
            continue
        g, w = np.asarray(g, dtype=np.float64), np.asarray(w, dtype=np.float64)
        wrong = ~close(g, w, tolerance)
        if wrong.any() and w.ndim == 0:
            return Trouble(f"{name} is {number(g)}; it should be {number(w)}.")
        if wrong.any():
            return wrong_values(name, g, w, wrong)
    return None


def close(got: np.ndarray, want: np.ndarray, tolerance: Tolerance) -> np.ndarray:
    return np.isclose(got, want, rtol=tolerance.rtol, atol=tolerance.atol, equal_nan=True)


def wrong_values(name: str, got: np.ndarray, want: np.ndarray, wrong: np.ndarray) -> Trouble:
    """Where they differ first and by how much, how they relate, and a picture of it."""
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    evidence = (
        f"At {index(first)}{_of(name)}: expected {number(want[first])}, got {number(got[first])}"
    )
    said = ""
    if wrong.size > 1:
        said = relation(got, want, wrong) if wrong.sum() > 1 else ""
        verb = "differs" if wrong.sum() == 1 else "differ"
        many = f"{int(wrong.sum())} of {wrong.size} entries {verb}"
        evidence += f" ({many}{_largest(got, want, wrong) if wrong.sum() > 1 else ''})"
    return Trouble(
        f"Wrong values in {name}.", f"{evidence}.", relation=said, picture=window(got, want, wrong)
    )


def _of(name: str) -> str:
    return "" if name == "the result" else f" of {name}"


def _largest(got: np.ndarray, want: np.ndarray, wrong: np.ndarray) -> str:
    both = wrong & np.isfinite(got) & np.isfinite(want)
    gap = np.abs(got[both] - want[both])
    return f", the largest difference {gap.max():.2g}" if gap.size else ""


def count(n: int, thing: str) -> str:
    """1 entry, 2 entries."""
    many = thing[:-1] + "ies" if thing.endswith("y") else thing + "s"
    return f"{n} {thing if n == 1 else many}"


def index(at: tuple[int, ...]) -> str:
    return "[" + ", ".join(map(str, at)) + "]"


def number(x: Any) -> str:
    x = float(x)
    whole = x.is_integer() and 1e5 <= abs(x) < 1e15  # a count: every digit matters
    return f"{x:,.0f}" if whole else f"{x:.5g}"


def item(what: What, i: int) -> str:
    return what[i] if isinstance(what, tuple) else f"{what}, item {i}"


def entry(what: What, key: str) -> str:
    """A key of several words is a name by itself."""
    return key if " " in key else f'{what}["{key}"]'


def leaves(got: Any, want: Any, what: What):
    """Pairs of values that can be compared, each with a name for it."""
    if isinstance(want, tuple):
        for i, (g, w) in enumerate(zip(got, want)):
            yield from leaves(g, w, item(what, i))
    elif isinstance(want, dict):
        for k in want:
            yield from leaves(got[k], want[k], entry(what, k))
    else:
        yield what, got, want
