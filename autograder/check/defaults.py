"""The defaults of a signature, which a call without these arguments takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from autograder.check.component import Component
from autograder.check.parts import Inputs, Property
from autograder.check.varied import property_of
from autograder.probes import Call


def defaults(make: Callable[[Inputs], Inputs], *names: str) -> Property:
    """The last arguments are left out; `make` puts their defaults into the inputs."""
    look = f"Leave the defaults of {', '.join(names)} as they are in the exercise."
    prop = property_of(lambda c, i: make(i), "the defaults of the signature", look, weight=0.5)

    def calls(c: Component, inputs: Inputs):
        return [without(call, names) for call in prop.calls(c, inputs)]

    return replace(prop, calls=calls)


def without(call: Call, names: tuple[str, ...]) -> Call:
    """The call without these arguments: by name, or else the last ones."""
    if call.kwargs:
        return replace(call, kwargs={k: v for k, v in call.kwargs.items() if k not in names})
    return replace(call, args=call.args[: -len(names)])
