"""What a tensor is besides its numbers: where it lies, in which order, and of which type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.check.component import Component
from autograder.check.findings import failure
from autograder.check.parts import Inputs, Property, double
from autograder.check.properties.varied import property_of
from autograder.check.raised import RESHAPE
from autograder.judge import Trouble
from autograder.judge.compare import form, kind, leaves
from autograder.probes import Answer, Call
from autograder.probes.elsewhere import ELSEWHERE
from autograder.probes.plain import OnOther, flat

# ------------------------------------------------------------------ the device

ELSE_LOOK = (
    "Make new tensors with device=x.device, and in each call anew: a plain attribute of a module "
    "does not move with it."
)


def _away(c: Component, inputs: Inputs) -> list[Call]:
    return [replace(c.call(inputs), device=ELSEWHERE)]


def _away_failure(c: Component, inputs: Inputs, answers: list[Answer]) -> Trouble | None:
    if answers[0].failure is None:
        return None
    return replace(failure(answers[0], "on a device other than the CPU"), look=ELSE_LOOK)


def _away_verdict(c: Component, inputs: Inputs, answers: list[Answer]) -> Trouble | None:
    trouble = _away_failure(c, inputs, answers)
    if trouble:
        return trouble
    (answer,) = answers
    for got, want in zip(flat(answer.value), flat(c.expected(inputs))):
        if not isinstance(want, np.ndarray):
            continue
        if not isinstance(got, OnOther):
            return Trouble(f"On another device it returns {kind(got)} on the CPU.", look=ELSE_LOOK)
        if c.read is None and got.shape != want.shape:
            return Trouble(f"On another device it has shape {got.shape}, not {want.shape}.")
    return None


any_device = Property("runs on any device", _away, _away_verdict, weight=0.5)

# The same, where the result is a number or is changed in place.
works_away = Property("runs on any device", _away, _away_failure, weight=0.5)

# ------------------------------------------------------------------ the order in memory


def in_other_order(inputs: Inputs) -> Inputs:
    """The same numbers, the last axis being the one whose entries lie farthest apart."""
    own = {k: v for k, v in inputs.items() if k not in ("init", "state")}
    return inputs | {k: np.asfortranarray(v) for k, v in own.items() if isinstance(v, np.ndarray)}


any_order = property_of(
    lambda c, inputs: in_other_order(inputs),
    "inputs that are not contiguous",
    RESHAPE,
    weight=0.5,
)

# ------------------------------------------------------------------ the type

# Each of the two, and why the other may come out of it.
WIDTHS = {
    "float32": "A single tensor of float64 makes all that it meets float64: "
    "make new ones with dtype=x.dtype.",
    "float64": "Leave the type open: make new tensors with dtype=x.dtype, and go back to x.dtype "
    "after .float().",
}


def _both_widths(c: Component, inputs: Inputs) -> list[Call]:
    return [c.call(inputs), c.call(double(inputs))]


def _width_verdict(c: Component, inputs: Inputs, answers: list[Answer]) -> Trouble | None:
    want = c.expected(inputs)
    for (width, look), answer in zip(WIDTHS.items(), answers):
        if answer.failure:
            return replace(failure(answer, f"where everything is {width}"), look=look)
        trouble = form(answer.value, want, c.outputs)
        if trouble:
            return replace(trouble, what=f"Where everything is {width}, {trouble.what}")
        for name, dtype in _floats(answer.value, want, c.outputs):
            if dtype != width:
                return Trouble(f"Where everything is {width}, {name} is {dtype}.", look=look)
    return None


def _floats(got: Any, want: Any, what: Any) -> Iterator[tuple[str, str]]:
    """Names and types of the tensors of floats."""
    for name, g, _ in leaves(got, want, what):
        if isinstance(g, np.ndarray) and g.dtype.kind == "f":
            yield name, str(g.dtype)


keeps_dtype = Property("keeps the type of its input", _both_widths, _width_verdict, weight=0.5)
