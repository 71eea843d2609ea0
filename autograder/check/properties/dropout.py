"""Dropout: never in eval mode, and in training mode at the right place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from autograder.check.component import Component
from autograder.check.findings import failure
from autograder.check.parts import Inputs, Property
from autograder.check.properties.varied import property_of
from autograder.judge import Trouble
from autograder.judge.compare import close, difference, form
from autograder.probes import Answer, Call

ALMOST_ONE = 1 - 2**-20  # at 1 itself, what is left would be divided by zero
RATE, MANY = 0.25, 800  # of so many rows, the share that is dropped has a deviation of 0.015


def dropout(
    at_rate: Callable[[Inputs, float], Inputs],
    left: Callable[[Inputs], np.ndarray],
    says: str,
    look: str,
) -> tuple[Property, ...]:
    """at_rate sets a module's dropout; `left` is its output when everything is dropped."""

    def calls(c: Component, inputs: Inputs) -> list[Call]:
        return [replace(c.call(at_rate(inputs, ALMOST_ONE)), training=True)]

    def verdict(c: Component, inputs: Inputs, answers: list[Answer]) -> Trouble | None:
        (answer,) = answers
        if answer.failure:
            return failure(answer, "with dropout, in training mode")
        want = left(inputs)
        trouble = form(answer.value, want) or difference(answer.value, want, c.tolerance)
        if trouble:
            return Trouble(says, trouble.evidence or trouble.what, look)
        return None

    usual = property_of(
        lambda c, inputs: inputs,
        "no dropout unless it is asked for",
        "Leave the default, dropout = 0.0, as it is in the exercise.",
        weight=0.5,
    )
    trained = lambda c, inputs: [replace(c.call(inputs), training=True)]  # noqa: E731
    return (
        replace(usual, calls=trained),
        property_of(
            lambda c, inputs: at_rate(inputs, 0.4),
            "no dropout in eval mode",
            "Drop only while self.training.",
            weight=0.5,
        ),
        Property("dropout in training mode", calls, verdict, weight=0.5, exact=True),
    )


def rescaled(
    parts: dict[str, Callable[[Inputs, float], Inputs]],
    at_rate: Callable[[Inputs, float], Inputs],
    rows: str,
    look: str,
) -> Property:
    """What is dropped, how much of it, and that what is kept is divided by 1 - rate.

    Each of the parts makes inputs in which one single number can be dropped in each row of the
    result, and is so many times as large. Then a row has one of two values.

    rows  the input whose first axis makes as many rows as there should be
    """

    def one(make: Callable[[Inputs, float], Inputs], inputs: Inputs, size: float) -> Inputs:
        made = make(inputs, size)
        times = -(-MANY // max(1, made[rows].shape[0] * made[rows].shape[1]))
        return made | {rows: np.tile(made[rows], (times, *[1] * (made[rows].ndim - 1)))}

    def calls(c: Component, inputs: Inputs) -> list[Call]:
        made = (at_rate(one(make, inputs, 1.0), RATE) for make in parts.values())
        return [replace(c.call(m), training=True) for m in made]

    def verdict(c: Component, inputs: Inputs, answers: list[Answer]) -> Trouble | None:
        for (what, make), answer in zip(parts.items(), answers):
            if answer.failure:
                return failure(answer, "with dropout, in training mode")
            none, unscaled, whole = (
                c.expected(one(make, inputs, size)) for size in (0.0, 1.0, 1 / (1 - RATE))
            )
            trouble = form(answer.value, whole)
            if trouble:
                return replace(trouble, what=f"With dropout, {trouble.what}")
            trouble = _share(what, *(_rows(answer.value, w, c) for w in (none, unscaled, whole)))
            if trouble:
                return replace(trouble, look=look)
        return None

    return Property("what is kept is divided by 1 - p", calls, verdict, weight=0.5, exact=True)


def _rows(got: np.ndarray, want: np.ndarray, c: Component) -> np.ndarray:
    """Which rows agree."""
    return close(got, want, c.tolerance).all(-1)


def _share(what: str, none, unscaled, whole) -> Trouble | None:
    """none, unscaled, whole: which rows are as they should be with nothing left, and so on."""
    if abs(none.mean() - RATE) > 0.1:
        return Trouble(
            f"With dropout = {RATE} in training mode, that share of the {what} should be dropped.",
            f"It drops {none.mean():.0%} of them.",
        )
    if unscaled.any():
        return Trouble(
            f"In training mode, the {what} that are kept are not divided by 1 - p.",
            f"With dropout = {RATE} they should be {1 / (1 - RATE):.3f} times as large.",
        )
    other = ~(none | whole)
    if other.any():
        return Trouble(
            f"In training mode, the {what} are neither 0 nor their value divided by 1 - p.",
            f"That is so in {other.mean():.0%} of the rows.",
        )
    return None
