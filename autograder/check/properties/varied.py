"""The numbers must also be right on inputs that are made from the main ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from autograder.check.component import Component
from autograder.check.findings import failure
from autograder.check.parts import Inputs, Property
from autograder.check.raised import RESHAPE
from autograder.judge import Trouble
from autograder.judge.compare import difference, form
from autograder.judge.finding import lower
from autograder.probes import Answer, Call

SQUEEZE = "squeeze() takes away every axis of size 1: name the one that you mean, squeeze(-1)."


def property_of(
    make: Callable[[Component, Inputs], Inputs], name: str, look: str, **kw
) -> Property:
    """The numbers must also be right on inputs made from the main ones by `make`."""

    def calls(c: Component, inputs: Inputs) -> list[Call]:
        return [c.call(make(c, inputs))]

    def verdict(c: Component, inputs: Inputs, answers: list[Answer]) -> Trouble | None:
        (answer,) = answers
        if answer.failure:
            trouble = failure(answer, f"on {name}")
            plain = trouble.look == RESHAPE or not answer.failure.of_sizes
            return replace(trouble, look=(plain and trouble.look) or look or trouble.look)
        changed = make(c, inputs)
        want, answer = c.expected(changed), c.reading(changed, answer)
        if isinstance(answer.value, Trouble):
            return replace(answer.value, look=answer.value.look or look)
        trouble = form(answer.value, want, c.outputs)
        trouble = trouble or difference(answer.value, want, c.tolerance, c.outputs)
        if trouble is None:
            return None
        return replace(trouble, what=f'In the part "{name}": {lower(trouble.what)}', look=look)

    return Property(name, calls, verdict, exact=True, **kw)


def batch_dims(*names: str, look: str = "") -> list[Property]:
    """Leading dimensions are free: none, one of size 1, or two. `names`: the inputs that have them."""
    look = look or (
        "Count axes from the end (-1, -2), so that any number may stand before them, "
        "and loop over none of these."
    )

    def without(c: Component, inputs: Inputs) -> Inputs:
        return inputs | {n: inputs[n][0] for n in names}

    def more(c: Component, inputs: Inputs) -> Inputs:
        """As heads are after a transpose: not contiguous, so that x.view(-1, …) fails."""
        stacked = {n: np.stack([inputs[n], inputs[n][::-1]] * 2)[:3] for n in names}
        return inputs | {n: np.asfortranarray(x) for n, x in stacked.items()}

    return [
        property_of(without, "no batch dimension", look, weight=0.5),
        first_only("a batch of one", *names),
        property_of(more, "two batch dimensions", look, weight=0.5),
    ]


def first_only(name: str, *inputs: str, axis: int = 0) -> Property:
    """An axis of size 1: of each of these inputs, the first along it is left."""

    def cut(c: Component, given: Inputs) -> Inputs:
        return given | {n: np.take(given[n], [0], axis) for n in inputs}

    return property_of(cut, name, SQUEEZE, weight=0.5)
