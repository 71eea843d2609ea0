"""What a module's parameters start with: drawn with a given deviation, or all of one value."""

from __future__ import annotations

from dataclasses import replace

from autograder.check.component import Component
from autograder.check.findings import failure
from autograder.check.parts import Inputs, Property
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance, difference, form
from autograder.probes import Answer, Call

Rules = dict[str, tuple[tuple[str, ...], float]]  # group -> endings of names, deviation or value
SAMPLING = Tolerance(0.06, 1e-7)  # five deviations of the statistics of 5,000 entries
WITHIN = 0.6827  # of a normal distribution lies within one deviation of its mean


def each(*names: str, value: float) -> Rules:
    """A group for each name by itself: what is off in one alone is not averaged away."""
    return {name: ((name,), value) for name in names}


def groups(drawn: Rules, constant: Rules) -> dict[str, dict]:
    """The arguments of the probe: which parameters belong together."""
    return {
        "drawn": {group: endings for group, (endings, _) in drawn.items()},
        "constant": {group: endings for group, (endings, _) in constant.items()},
    }


def statistics(drawn: Rules, constant: Rules, within: float = WITHIN) -> dict[str, float]:
    """What the probe should find."""
    want = {}
    for group, (_, deviation) in drawn.items():
        want[f"the root mean square of {group}"] = deviation
        want[f"the share of {group} within one standard deviation"] = within
    for group, (_, value) in constant.items():
        want[f"the smallest entry of {group}"] = value
        want[f"the largest entry of {group}"] = value
    return want


def initial_values(
    init: tuple | dict,
    drawn: Rules,
    constant: Rules,
    probe: str = "initial:values",
    weight: float = 0.5,
    look: str = "",
) -> Property:
    """A fresh instance, made with the arguments `init`, starts as the exercise says."""
    want = statistics(drawn, constant)
    made = {"init": (), "init_kwargs": init} if isinstance(init, dict) else {"init": init}

    def calls(c: Component, inputs: Inputs) -> list[Call]:
        return [Call(**made, kwargs=groups(drawn, constant), probe=probe)]

    def verdict(c: Component, inputs: Inputs, answers: list[Answer]) -> Trouble | None:
        (answer,) = answers
        if answer.failure:
            return failure(answer, "when it is made")
        trouble = form(answer.value, want) or difference(answer.value, want, SAMPLING)
        return trouble and replace(trouble, look=look)

    return Property("initial values", calls, verdict, weight)
