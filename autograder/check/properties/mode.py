"""The mode of a model, which each of its parts has for itself."""

from __future__ import annotations

from autograder.check.component import Component
from autograder.check.findings import failure
from autograder.check.parts import Inputs, Property
from autograder.judge import Trouble
from autograder.probes import Answer, Call


def parts_restored(changes: Inputs | None = None) -> Property:
    """After the call, every part of the model is in the mode in which it was before.

    The last item of the answer names those that are not. `changes` of the main inputs make a call
    with a model in training mode.
    """

    def calls(c: Component, inputs: Inputs) -> list[Call]:
        return [c.call(inputs | (changes or {}))]

    def verdict(c: Component, inputs: Inputs, answers: list[Answer]) -> Trouble | None:
        if answers[0].failure:
            return failure(answers[0], "on a model in training mode")
        other = answers[0].value[-1]
        inner = [name for name in other if name]
        if not inner or "" in other:  # of the whole model, the numbers of the fixtures tell
            return None
        return Trouble(
            "The model is in its old mode again, but its parts are not.",
            f"model.eval() reached model.{inner[0]} too, and there it is still on.",
            "Call model.train(...): to set the attribute model.training changes no part of it.",
        )

    return Property("the parts of the model are in their old mode", calls, verdict, weight=1.0)
