"""Dropout: never in eval mode, and in training mode at the right place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from autograder.check.component import Component, Inputs, Property, failure
from autograder.check.properties import property_of
from autograder.judge import Trouble
from autograder.judge.compare import difference, form
from autograder.probes import Answer, Call

ALMOST_ONE = 1 - 2**-20  # at 1 itself, what is left would be divided by zero


def dropout(
    at_rate: Callable[[Inputs, float], Inputs],
    left: Callable[[Inputs], np.ndarray],
    says: str,
    look: str,
) -> tuple[Property, Property]:
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

    return (
        property_of(
            lambda c, inputs: at_rate(inputs, 0.4),
            "no dropout in eval mode",
            "Drop only while self.training.",
            weight=0.5,
        ),
        Property("dropout in training mode", calls, verdict, weight=0.5, exact=True),
    )
