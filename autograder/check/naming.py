"""Which known mistake gives a student's results: one, two at once, or one that comes close."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from autograder.check.mistake import Mistake, together
from autograder.check.parts import double
from autograder.judge.compare import Tolerance, close, form, leaves
from autograder.judge.finding import CLOSE, EXACT
from autograder.probes import Answer
from autograder.probes.call import Failure

NEAR = 0.05  # of the way from the right numbers: what a close mistake may leave unexplained
FEW = 20  # numbers, over all fixtures, that could come close to something by chance
SHARP = 1e-3  # a tolerance above this (sampled frequencies) leaves no room for "close"


@dataclass(frozen=True)
class Cause:
    """A mistake, or two, and how well it agrees with the student's results."""

    mistake: Mistake
    sure: str  # EXACT or CLOSE
    explains: float = 1.0  # share of the difference from the right numbers


@dataclass(frozen=True)
class Case:
    """A fixture as the search sees it: its inputs, what came, and what should have come."""

    inputs: dict[str, Any]
    answer: Answer
    want: Any

    def given_by(self, mistake: Mistake, tolerance: Tolerance) -> bool:
        """Whether the mistake gives the answer: in float64, or where numbers overflow in float32."""
        if self._is(result(mistake, double(self.inputs)), tolerance):
            return True
        overflows = not self.answer.failure and not finite_all(self.answer.value)
        return overflows and self._is(result(mistake, self.inputs), tolerance)

    def _is(self, wrong: Any, tolerance: Tolerance) -> bool:
        if isinstance(wrong, Exception):  # it has no result here: then neither has the student
            return self.answer.failure is not None and alike(self.answer.failure, wrong)
        return self.answer.failure is None and agree(self.answer.value, wrong, tolerance)


def alike(failure: Failure, error: Exception) -> bool:
    """Whether both failed for a reason of one kind. NumPy and torch do not raise the same types for
    sizes and indices that do not fit."""
    if isinstance(error, (ValueError, IndexError, RuntimeError)):
        return failure.of_sizes or failure.type == "WrongParameters"
    return failure.is_a(type(error).__name__)


def cause_of(mistakes: Iterable[Mistake], cases: list[Case], tolerance: Tolerance) -> Cause | None:
    """None where everything is right, where nothing came, and where no mistake fits."""
    if all(c.answer.failure for c in cases) or all(right(c, tolerance) for c in cases):
        return None
    mistakes = tuple(mistakes)
    # The last fixture is the main one and tells most mistakes apart: asked first, it saves time.
    order = cases[::-1]
    for candidates in (iter(mistakes), pairs(mistakes) if telling(cases) else ()):
        for mistake in candidates:
            if all(case.given_by(mistake, tolerance) for case in order):
                return Cause(mistake, EXACT)
    sharp = tolerance.rtol + tolerance.atol <= SHARP
    many = sum(fractions(c.want) for c in cases) >= FEW
    return closest(mistakes, cases, tolerance) if sharp and many else None


def telling(cases: list[Case]) -> bool:
    """Whether some number came that is finite: NaN everywhere has too many causes for two."""
    return any(
        np.isfinite(v).any() for c in cases if not c.answer.failure for v in numbers(c.answer.value)
    )


def fractions(value: Any) -> int:
    """How many numbers are not whole by kind: counts are right or wrong, and never close."""
    kinds = (np.asarray(v) for _, v, _ in leaves(value, value, ""))
    return sum(v.size for v in kinds if v.dtype.kind == "f")


def right(case: Case, tolerance: Tolerance) -> bool:
    return not case.answer.failure and agree(case.answer.value, case.want, tolerance)


def agree(got: Any, want: Any, tolerance: Tolerance) -> bool:
    return form(got, want) is None and all(
        g == w if isinstance(w, (bool, str)) or w is None else close(g, w, tolerance).all()
        for _, g, w in leaves(got, want, "")
    )


def finite_all(value: Any) -> bool:
    return all(np.isfinite(v).all() for v in numbers(value))


def numbers(value: Any) -> Iterator[Any]:
    """All arrays and numbers in a result, at any depth."""
    if isinstance(value, (tuple, list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from numbers(item)
    elif isinstance(value, (np.ndarray, float, int)):
        yield value


def result(mistake: Mistake, inputs: dict[str, Any]) -> Any:
    """What the mistake gives, or the exception that it raises."""
    with np.errstate(all="ignore"):
        try:
            return mistake.wrong(**inputs)
        except Exception as error:  # as a student's code would
            return error


def pairs(mistakes: tuple[Mistake, ...]) -> Iterator[Mistake]:
    """Every two that change different places of the oracle."""
    for one, other in combinations(mistakes, 2):
        both = together(one, other)
        if both:
            yield both


def closest(mistakes: tuple[Mistake, ...], cases: list[Case], tolerance: Tolerance) -> Cause | None:
    """The mistake that explains nearly all of the difference, on every fixture."""
    found = [(rest(m, cases, tolerance), i) for i, m in enumerate(mistakes)]
    left, i = min(found, default=(np.inf, 0))
    return Cause(mistakes[i], CLOSE, 1 - left) if left <= NEAR else None


def rest(mistake: Mistake, cases: list[Case], tolerance: Tolerance) -> float:
    """The largest share, over the fixtures, that the mistake leaves unexplained.

    Measured against the larger of two distances, of the student's numbers and of the mistake's from
    the right ones: so a fixture that only one of them changes speaks against the mistake.
    """
    worst = 0.0
    for case in cases:
        wrong = result(mistake, double(case.inputs))
        if isinstance(wrong, Exception) or case.answer.failure:
            if isinstance(wrong, Exception) and case.answer.failure:
                continue
            return np.inf
        got, want = case.answer.value, case.want
        if form(got, want) or form(wrong, want):
            return np.inf
        if agree(got, want, tolerance) and agree(wrong, want, tolerance):
            continue  # what is left is rounding
        off = max(distance(got, want), distance(wrong, want))
        worst = max(worst, distance(got, wrong) / off if np.isfinite(off) else np.inf)
    return worst


def distance(one: Any, other: Any) -> float:
    """Root of the summed squares over all numbers; infinite where one of them is not finite, or
    where words differ."""
    total = 0.0
    for _, a, b in leaves(one, other, ""):
        if isinstance(b, (bool, str)) or b is None:
            total += 0.0 if a == b else np.inf
            continue
        a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
        with np.errstate(invalid="ignore"):
            gap = np.where(a == b, 0.0, a - b)  # equal infinities are no distance apart
        total += float((gap**2).sum()) if np.isfinite(gap).all() else np.inf
    return float(np.sqrt(total))
