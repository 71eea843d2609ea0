"""What a component is to a check, and how a check runs: ask the probe, then judge its answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from autograder.check import source
from autograder.course import where
from autograder.judge import Finding, Report, Trouble
from autograder.judge.compare import Tolerance, What, difference, finite, form
from autograder.probes import Answer, Call, ask

Inputs = dict[str, Any]


@dataclass(frozen=True)
class Fixture:
    """Inputs whose right result the oracle knows. `weight` is its share of the points."""

    name: str
    inputs: Inputs
    weight: float = 2.0


@dataclass(frozen=True)
class Property:
    """Something that must hold, apart from the numbers: the calls to make, and the verdict.

    One that is `exact` compares with the oracle too: it says nothing new while the numbers of the
    main fixture are wrong, and is then not looked at.
    """

    name: str
    calls: Callable[[Component, Inputs], list[Call]]
    verdict: Callable[[Component, Inputs, list[Answer]], Trouble | None]
    weight: float = 1.0
    evidence: bool = False
    exact: bool = False


@dataclass(frozen=True)
class Mistake:
    """A known mistake: the wrong function (called as the oracle is), and what to say of it."""

    name: str
    wrong: Callable[..., Any]
    says: str
    look: str = ""


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
    shortcuts: frozenset[str] = frozenset()
    constants: tuple[str, ...] = ()  # inputs that need no gradient
    outputs: What = "the result"
    tolerance: Tolerance = Tolerance()
    look: dict[str, str] = field(default_factory=dict)  # fixture name -> where to look
    raises: dict[str, str] = field(default_factory=dict)  # part of an error's message -> the same

    def check(self, target: Any, seed: int = 0) -> Report:
        """The report on a student's function or class; other seeds bring other numbers and sizes."""
        report = self._look(target, seed, self.needs)
        if self.needs and report.started and not report.passed:
            own = self._look(target, seed, ())
            report = max(report, own, key=lambda r: (r.passed, r.fraction))
        remarks = source.shortcuts(target, self.shortcuts, report.passed)
        return replace(report, remarks=remarks)

    def expected(self, inputs: Inputs) -> Any:
        """The oracle's result, on float64 copies of the inputs."""
        return self.oracle(**double(inputs))

    def reading(self, inputs: Inputs, answer: Answer) -> Answer:
        """The answer as it is compared with the oracle's."""
        if self.read is None or answer.failure:
            return answer
        return replace(answer, value=told(self.read, inputs, answer.value))

    def _look(self, target: Any, seed: int, needs: tuple[str, ...]) -> Report:
        fixtures = self.fixtures(np.random.default_rng(seed))
        main = fixtures[-1].inputs
        asks = [[self.call(f.inputs)] for f in fixtures]
        asks += [p.calls(self, main) for p in self.properties]
        flat = [replace(c, standins=needs) for calls in asks for c in calls]
        answers = iter(ask(target, flat))
        answers = [[next(answers) for _ in calls] for calls in asks]
        for i, fixture in enumerate(fixtures):
            answers[i] = [self.reading(fixture.inputs, answers[i][0])]

        numbers = [a for (a,) in answers[: len(fixtures)]]
        if all(a.failure and a.failure.unwritten for a in numbers):
            return Report(self.name, (), where(self.name), started=False)
        return Report(self.name, tuple(self._findings(fixtures, answers)), where(self.name))

    def _findings(self, fixtures, answers) -> list[Finding]:
        numbers = [a for (a,) in answers[: len(fixtures)]]
        wanted = [self.expected(f.inputs) for f in fixtures]
        cause = self.name_mistake(fixtures, numbers, wanted)
        seen = list(zip(fixtures, numbers, wanted))
        raised = [self._raised(f, a, cause) for f, a, _ in seen]
        shaped = [None if r else self._shape(a, w) for r, (_, a, w) in zip(raised, seen)]
        tried = [r or s for r, s in zip(raised, shaped)]
        whole = [None if t else self._finite(*each) for t, each in zip(tried, seen)]
        obstacles = [t or w for t, w in zip(tried, whole)]

        found, left = [], len(seen)
        stages = (("runs", raised), ("shapes and types", shaped), ("finite", whole))
        for name, troubles in stages:
            trouble = self._because(cause, next((t for t in troubles if t), None))
            found.append(Finding(name, trouble, weight=0.0, skipped=left == 0))
            left -= sum(t is not None for t in troubles)
        values = []
        for obstacle, (fixture, answer, want) in zip(obstacles, seen):
            trouble = obstacle
            if not obstacle:
                trouble = difference(answer.value, want, self.tolerance, self.outputs)
                if trouble and not cause:
                    trouble = replace(trouble, look=self.look.get(fixture.name, ""))
            trouble = self._because(cause, trouble)
            values.append(Finding(fixture.name, trouble, fixture.weight, evidence=True))
        main = fixtures[-1].inputs
        for prop, answer in zip(self.properties, answers[len(fixtures) :]):
            finding = Finding(prop.name, weight=prop.weight, evidence=prop.evidence)
            if obstacles[-1] or (prop.exact and values[-1].trouble):
                found.append(replace(finding, skipped=True))
            else:
                found.append(replace(finding, trouble=told(prop.verdict, self, main, answer)))
        return found + values

    def _raised(self, fixture: Fixture, answer: Answer, cause: Mistake | None) -> Trouble | None:
        if not answer.failure:
            return None
        looks = (look for part, look in self.raises.items() if part in answer.failure.message)
        trouble = replace(failure(answer, f"on {fixture.name}"), look=next(looks, ""))
        return replace(trouble, evidence="") if cause else trouble

    def _shape(self, answer: Answer, want: Any) -> Trouble | None:
        if isinstance(answer.value, Trouble):  # what `read` has to say
            return answer.value
        return form(answer.value, want, self.outputs)

    def _finite(self, fixture: Fixture, answer: Answer, want: Any) -> Trouble | None:
        trouble = finite(answer.value, want, self.outputs)
        return trouble and replace(trouble, look=self.look.get(fixture.name, ""))

    def _because(self, cause: Mistake | None, trouble: Trouble | None) -> Trouble | None:
        """The same evidence, told with its cause where that is known."""
        if cause is None or trouble is None:
            return trouble
        evidence = trouble.evidence or trouble.what
        if trouble.evidence and isinstance(self.outputs, tuple):  # say which of them
            evidence = f"{trouble.what} {trouble.evidence}"
        return Trouble(cause.says, evidence, cause.look, mistake=cause.name)

    def name_mistake(self, fixtures, answers, wanted) -> Mistake | None:
        """The known mistake that gives the student's very results on every fixture."""
        if all(a.failure for a in answers) or all(
            not a.failure and self._agree(a.value, w) for a, w in zip(answers, wanted)
        ):
            return None
        for mistake in self.mistakes:
            if all(self._same(mistake, f.inputs, a) for f, a in zip(fixtures, answers)):
                return mistake
        return None

    def _same(self, mistake: Mistake, inputs: Inputs, answer: Answer) -> bool:
        with np.errstate(all="ignore"):
            try:
                wrong = mistake.wrong(**double(inputs))
            except Exception:  # the mistake has no result here: then neither has the student
                return answer.failure is not None
        return answer.failure is None and self._agree(answer.value, wrong)

    def _agree(self, got: Any, want: Any) -> bool:
        return form(got, want) is None and difference(got, want, self.tolerance) is None


def told(reader: Callable[..., Any], *args: Any) -> Any:
    """What a `read` or a verdict says of a student's data; data of a form that it cannot take are
    a trouble, not a crash."""
    try:
        return reader(*args)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return Trouble("The result has another form than it should.", str(error)[:200])


def double(value: Any) -> Any:
    """Copies in float64, at any depth."""
    if isinstance(value, np.ndarray):
        return value.astype(np.float64) if value.dtype.kind == "f" else value.copy()
    if isinstance(value, tuple):
        return tuple(double(v) for v in value)
    if isinstance(value, dict):
        return {k: double(v) for k, v in value.items()}
    return value


def failure(answer: Answer, where: str) -> Trouble:
    """An exception of the student's code, told as a trouble."""
    f = answer.failure
    if f.type == "WrongParameters":
        return Trouble(f"The parameters are not those of the exercise: {f.message}.")
    line = f"In your code, {f.line}" if f.line else ""
    if f.unwritten and f.function:
        return Trouble(f"{f.function}() still raises NotImplementedError.", line)
    return Trouble(f"It raises {f.type} {where}: {f.message}", line)
