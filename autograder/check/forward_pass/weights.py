"""init_weights: judged by statistics, however the numbers are drawn."""

from __future__ import annotations

from dataclasses import replace

from autograder.check.component import Component
from autograder.check.findings import failure
from autograder.check.forward_pass.weights_inputs import DRAWN, call, expected, fixtures
from autograder.check.forward_pass.weights_mistakes import MISTAKES, STREAM
from autograder.check.parts import Property
from autograder.check.properties.initial import SAMPLING
from autograder.check.properties.randomness import generator_decides
from autograder.judge import Trouble
from autograder.judge.report import NUMBERS
from autograder.probes import Call
from autograder.probes.forward_pass import UNTOUCHED

NOT_DRAWN = Trouble(f"{NUMBERS} the matrices: some are not drawn.", look="Draw every matrix.")


def _in_place(c, inputs):
    return [Call(init=(), init_kwargs=inputs["sizes"], probe="forward_pass:init_in_place")]


def _kept(c, inputs, answers):
    (answer,) = answers
    if answer.failure:
        return failure(answer, "on a model")
    look = "Fill what is there: p.normal_(…) or p.fill_(…), under torch.no_grad()."
    for key, says in (
        ("kept", "is another tensor than before: an optimiser would still hold the old one"),
        ("trainable", "can no longer be trained"),
    ):
        wrong = [name for name, good in answer.value[key].items() if not good]
        if wrong:
            return Trouble(f"{wrong[0]} {says}.", look=look)
    return None


def _distinct(c, inputs, answers):
    (answer,) = answers
    if answer.failure:
        return failure(answer, "on a model")
    seen: dict[tuple, str] = {}
    for name, first in answer.value["first"].items():
        if (first == UNTOUCHED).all():
            return NOT_DRAWN
        unit = tuple((first / (abs(first).max() or 1)).round(4))
        if unit in seen:
            return Trouble(
                f"{name} starts with the same numbers as {seen[unit]}, but for a factor.",
                look="Every matrix needs draws of its own: set no seed inside.",
            )
        seen[unit] = name
    return None


def _once_drawn(prop):
    """Where some matrix is not drawn at all, no more is said than that."""

    def verdict(c, inputs, answers):
        value = answers[0].value
        if isinstance(value, dict) and any(
            key.startswith("the root mean square") and v == UNTOUCHED for key, v in value.items()
        ):
            return NOT_DRAWN
        return prop.verdict(c, inputs, answers)

    return replace(prop, verdict=verdict)


INIT_WEIGHTS = Component(
    "init_weights",
    fixtures,
    expected,
    call=call,
    properties=(
        _once_drawn(generator_decides(names=DRAWN)),
        Property("fills the parameters that are there", _in_place, _kept, weight=0.5),
        Property("every matrix has numbers of its own", _in_place, _distinct, weight=0.5),
    ),
    mistakes=MISTAKES,
    tolerance=SAMPLING,
    look={
        "the tables E and P": "Both have deviation 0.02.",
        "W_U of an untied model": "Deviation 0.02, as all that does not write to the stream.",
        "gamma, beta and the biases": "1 for names that end in gamma, 0 for all other vectors.",
        "W_Q, W_K, W_V and W_up": "Deviation 0.02, whatever L is.",
        "W_O and W_down, L = 8": STREAM,
        "W_O and W_down, L = 1": STREAM,
        "W_O and W_down, L from 2 to 4": STREAM,
    },
    raises={
        "leaf Variable": "Setting a parameter is no step to be differentiated: @torch.no_grad().",
        "has no attribute 'n_layer'": "model.config.n_layer is L.",
    },
)
