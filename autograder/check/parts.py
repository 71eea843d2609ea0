"""What a component is looked at by: fixtures, whose numbers are known, and properties."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.judge import Trouble
from autograder.probes import Answer, Call

if TYPE_CHECKING:
    from autograder.check.component import Component

Inputs = dict[str, Any]


@dataclass(frozen=True)
class Fixture:
    """Inputs whose right result the oracle knows. `weight` is its share of the points."""

    name: str
    inputs: Inputs
    weight: float = 2.0


@dataclass(frozen=True)
class Property:
    """Something that must hold, apart from the numbers: the calls to make, and the verdict.

    One that is `exact` compares with the oracle too: it says nothing new while the numbers of the
    main fixture are wrong, and is then not looked at.
    """

    name: str
    calls: Callable[[Component, Inputs], list[Call]]
    verdict: Callable[[Component, Inputs, list[Answer]], Trouble | None]
    weight: float = 1.0
    evidence: bool = False
    exact: bool = False


def double(value: Any) -> Any:
    """Copies in float64, at any depth."""
    if isinstance(value, np.ndarray):
        return value.astype(np.float64) if value.dtype.kind == "f" else value.copy()
    if isinstance(value, tuple):
        return tuple(double(v) for v in value)
    if isinstance(value, dict):
        return {k: double(v) for k, v in value.items()}
    return value
