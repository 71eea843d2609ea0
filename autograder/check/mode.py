"""The mode of a model, which each of its parts has for itself."""

from __future__ import annotations

from collections.abc import Callable

from autograder.check.component import Component, Inputs, Property, failure
from autograder.judge import Trouble
from autograder.probes import Answer, Call

RESTORE = "Note which of model.modules() are training, and at the end set their `training` to True."


def parts_restored(changes: Inputs | None = None) -> list[Property]:
    """After the call, every part of the model is in the mode in which it was before.

    The last item of the answer names those that are not; the part called "frozen" was in evaluation
    mode. `changes` of the main inputs make a call with a model in training mode.
    """

    def calls(c: Component, inputs: Inputs) -> list[Call]:
        return [c.call(inputs | (changes or {}))]

    def verdict(judge: Callable[[tuple[str, ...]], Trouble | None]):
        def judged(c: Component, inputs: Inputs, answers: list[Answer]) -> Trouble | None:
            if answers[0].failure:
                return failure(answers[0], "on a model in training mode")
            return judge(answers[0].value[-1])

        return judged

    return [
        Property("the parts of the model are in their old mode", calls, verdict(_left), weight=0.5),
        Property("a part in evaluation mode stays there", calls, verdict(_woken), weight=0.5),
    ]


def _left(other: tuple[str, ...]) -> Trouble | None:
    inner = [name for name in other if name not in ("", "frozen")]
    if not inner or "" in other:  # of the whole model, the numbers of the fixtures tell
        return None
    return Trouble(
        "The model is in its old mode again, but its parts are not.",
        f"model.eval() reached model.{inner[0]} too; model.training = … reaches no part.",
        RESTORE,
    )


def _woken(other: tuple[str, ...]) -> Trouble | None:
    if "frozen" not in other:
        return None
    return Trouble(
        "A part of the model that was in evaluation mode is in training mode afterwards.",
        "model.train(True) puts every part into training mode, also one that had been frozen.",
        RESTORE,
    )
