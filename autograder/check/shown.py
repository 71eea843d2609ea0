"""The call of a fixture as a student could type it into a cell, where that is short enough."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

LONGEST = 160  # letters
WHOLE = r"\.0\b"  # 2.0 is typed as 2.
LONGEST_GIVEN = 110
ENTRIES = 12  # of an array


def shown(name: str, inputs: dict[str, Any]) -> str:
    """`softmax(torch.tensor([2., 1., 0.]))`, or "" where the inputs are too large for a line."""
    if inputs.get("state") is not None:
        return ""
    rest = {k: v for k, v in inputs.items() if k not in ("init", "state")}
    code = f"{name}{_arguments(inputs['init'])}" if "init" in inputs else name
    code += _arguments(tuple(rest.values()))
    return code if "?" not in code and len(code) <= LONGEST else ""


def given(inputs: dict[str, Any]) -> str:
    """The numbers among the inputs and the shapes of the arrays: ` (x (2, 5, 12), n_head 3)`."""
    said = [f"{k} {_brief(v)}" for k, v in inputs.items() if k != "state" and _brief(v)]
    text = f" ({', '.join(said)})" if said else ""
    return text if len(text) <= LONGEST_GIVEN else ""


def _brief(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return str(value.shape)
    if isinstance(value, float):
        return f"{value:.4g}"
    plain = isinstance(value, (int, str)) or (
        isinstance(value, tuple) and 0 < len(value) <= 4 and all(isinstance(v, int) for v in value)
    )
    return str(value) if plain else ""


def _arguments(values: tuple) -> str:
    return f"({', '.join(map(_code, values))})"


def _code(value: Any) -> str:
    """Python for a value; "?" for one that would be long or inexact."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if not isinstance(value, np.ndarray):
        return "?"
    named = _named(value)
    if named or value.size > ENTRIES:
        return named or "?"
    listed = value.astype(np.float64) if value.dtype.kind == "f" else value
    short = np.array_equal(np.round(listed, 2), np.round(listed, 5))
    if not (short and np.isfinite(listed).all()):
        return "?"
    if value.dtype.kind == "f":
        listed = np.round(listed, 2)
    return f"torch.tensor({re.sub(WHOLE, '.', str(listed.tolist()))})"


def _named(value: np.ndarray) -> str:
    """An array that torch has a short name for: 0, 1, 2 … in order, or an identity."""
    n = value.size
    if value.ndim > 1 and n > 6 and np.array_equal(value.ravel(), np.arange(n)):
        return f"torch.arange({n}{'.' if value.dtype.kind == 'f' else ''}).reshape{value.shape}"
    square = value.dtype.kind == "f" and value.ndim == 2 and n > 4
    if square and np.array_equal(value, np.eye(len(value))):
        return f"torch.eye({len(value)})"
    return ""
