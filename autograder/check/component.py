"""What a component is to a check, and how a check runs: ask the probe, then judge its answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from autograder.check.findings import findings, told
from autograder.check.mistake import Mistake
from autograder.check.parts import Fixture, Inputs, Property, double
from autograder.check.properties import source
from autograder.check.shown import shown
from autograder.course import where
from autograder.judge import Finding, Report, Trouble, difference
from autograder.judge.compare import Tolerance, What
from autograder.probes import Answer, Call, ask


def plain(inputs: Inputs) -> Call:
    """A function: its arguments are the inputs, in order."""
    return Call(args=tuple(inputs.values()))


def module(inputs: Inputs) -> Call:
    """A class: `init` and `state` make the instance, the other inputs go to its forward."""
    rest = tuple(v for k, v in inputs.items() if k not in ("init", "state"))
    return Call(init=inputs["init"], state=inputs["state"], args=rest)


@dataclass(frozen=True)
class Component:
    """One graded component.

    fixtures    rng -> fixtures, isolated parts first and the main one last
    oracle      takes the inputs of a fixture by name, returns the right result
    call        inputs -> Call
    needs       components of the same notebook that it calls: replaced while it is checked
    read        inputs, value -> what the oracle predicts of it (of random results, frequencies),
                or a Trouble when the value has the wrong form
    arise       of several outputs, the order in which they are computed: the first that is wrong is
                shown
    example     inputs small and round enough to be typed: tried first, for the evidence alone
    before      asked alone, before the rest: where it finds a trouble, nothing else is called
    shortcuts   library names that skip the exercise: remarked on, not punished
    """

    name: str
    fixtures: Callable[[np.random.Generator], list[Fixture]]
    oracle: Callable[..., Any]
    call: Callable[[Inputs], Call] = plain
    properties: tuple[Property, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    needs: tuple[str, ...] = ()
    read: Callable[[Inputs, Any], Any] | None = None
    example: Inputs | None = None
    before: Property | None = None
    shortcuts: frozenset[str] = frozenset()
    constants: tuple[str, ...] = ()  # inputs that need no gradient
    outputs: What = "the result"
    arise: tuple[int, ...] = ()
    tolerance: Tolerance = Tolerance()
    look: dict[str, str] = field(default_factory=dict)  # a fixture, or SHAPES -> where to look
    # the type of an error, that with the fixture before it, or a part of its message -> the same
    raises: dict[str, str] = field(default_factory=dict)

    def check(self, target: Any, seed: int = 0) -> Report:
        """The report on a student's function or class; other seeds bring other numbers and sizes."""
        report = self._look(target, seed, self.needs)
        if self.needs and report.started and not report.passed:
            own = self._look(target, seed, (), search=False)
            if (own.passed, own.fraction) > (report.passed, report.fraction):
                report = self._look(target, seed, ())
        remarks = source.shortcuts(target, self.shortcuts, report.passed)
        return replace(report, remarks=remarks)

    def cases(self, seed: int) -> list[Fixture]:
        """All fixtures of a seed, the example first."""
        fixtures = self.fixtures(np.random.default_rng(seed))
        if self.example is None:
            return fixtures
        return [Fixture("a small example", self.example, weight=0.0), *fixtures]

    def typed(self, fixture: Fixture) -> str:
        """The call as one could type it into a cell, or "" where that is not possible."""
        return "" if self.call(fixture.inputs).probe else shown(self.name, fixture.inputs)

    def expected(self, inputs: Inputs) -> Any:
        """The oracle's result, on float64 copies of the inputs."""
        return self.oracle(**double(inputs))

    def difference(self, got: Any, want: Any) -> Trouble | None:
        """What is off in values of the right form; of several outputs, in the order they arise."""
        what = self.outputs
        if self.arise:
            got, want, what = (tuple(each[i] for i in self.arise) for each in (got, want, what))
        return difference(got, want, self.tolerance, what)

    def reading(self, inputs: Inputs, answer: Answer) -> Answer:
        """The answer as it is compared with the oracle's."""
        if self.read is None or answer.failure:
            return answer
        return replace(answer, value=told(self.read, inputs, answer.value))

    def _look(self, target: Any, seed: int, needs: tuple[str, ...], search: bool = True) -> Report:
        """search: whether the mistakes are searched for those that explain the results."""
        fixtures = self.cases(seed)
        main = fixtures[-1].inputs
        stopped = self._stopped(target, main, needs)
        if stopped:
            parts = (*self.properties, *fixtures)
            unseen = (Finding(p.name, weight=p.weight, skipped=True) for p in parts)
            return Report(self.name, (stopped, *unseen), where(self.name))
        asks = [[self.call(f.inputs)] for f in fixtures]
        asks += [p.calls(self, main) for p in self.properties]
        flat = [replace(c, standins=needs) for calls in asks for c in calls]
        answers = iter(ask(target, flat))
        answers = [[next(answers) for _ in calls] for calls in asks]
        numbers = [self.reading(f.inputs, a) for f, (a,) in zip(fixtures, answers)]
        if all(a.failure and a.failure.unwritten for a in numbers):
            return Report(self.name, (), where(self.name), started=False)
        rest = answers[len(fixtures) :]
        found = findings(self, fixtures, numbers, rest, self.mistakes if search else ())
        return Report(self.name, tuple(found), where(self.name))

    def _stopped(self, target: Any, main: Inputs, needs: tuple[str, ...]) -> Finding | None:
        """The finding of what comes before the rest, if it is a trouble."""
        if self.before is None:
            return None
        calls = [replace(c, standins=needs) for c in self.before.calls(self, main)]
        trouble = told(self.before.verdict, self, main, ask(target, calls))
        return trouble and Finding(self.before.name, trouble, self.before.weight)
