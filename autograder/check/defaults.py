"""The defaults of a signature, which a call without these arguments takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from autograder.check.component import Component
from autograder.check.parts import Inputs, Property
from autograder.check.properties.varied import property_of
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance, difference, form
from autograder.probes import Answer, Call


def defaults(make: Callable[[Inputs], Inputs], *names: str, sharp: bool = True) -> Property:
    """The last arguments are left out; `make` puts their defaults into the inputs.

    The result must be right, and the very same as where the defaults are handed in: chance starts
    from the same seed both times. Where it is not `sharp` enough to be called right or wrong, only
    the latter is asked for.
    """
    look = f"Leave the defaults of {', '.join(names)} as they are in the exercise."
    prop = property_of(lambda c, i: make(i), "the defaults of the signature", look, weight=0.5)

    def calls(c: Component, inputs: Inputs) -> list[Call]:
        (handed_in,) = prop.calls(c, inputs)
        return [without(handed_in, names), handed_in]

    def verdict(c: Component, inputs: Inputs, answers: list[Answer]) -> Trouble | None:
        left_out, handed_in = answers
        if sharp or left_out.failure:
            trouble = prop.verdict(c, inputs, [left_out])
            if trouble:
                return trouble
        if handed_in.failure:  # of which the fixtures tell
            return None
        got, want = left_out.value, handed_in.value
        if not (form(got, want) or difference(got, want, Tolerance(0.0, 0.0))):
            return None
        return Trouble(
            f"It gives another result where {', '.join(names)} are left out than where their "
            "defaults are handed in.",
            look=look,
        )

    return replace(prop, calls=calls, verdict=verdict)


def without(call: Call, names: tuple[str, ...]) -> Call:
    """The call without these arguments: by name, or else the last ones."""
    if call.kwargs:
        return replace(call, kwargs={k: v for k, v in call.kwargs.items() if k not in names})
    return replace(call, args=call.args[: -len(names)])
