"""What is wrong with a file that does not conform: its components, each through its own check."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from types import ModuleType

from autograder.check import find
from autograder.course import COMPONENTS
from autograder.judge import Report


@dataclass(frozen=True)
class Diagnosis:
    """A component that fails its check, and the known mistakes that give its results."""

    component: str
    says: str
    look: str = ""
    mistakes: tuple[str, ...] = ()  # their names; () where none is known
    sure: str = ""  # EXACT or CLOSE

    @property
    def explain(self) -> str:
        """The command that tells more, or ""."""
        names = " ".join(f"{self.component}.{m}" for m in self.mistakes)
        return f"autograder explain {names}" if names else ""


def diagnoses(
    module: ModuleType, only: Collection[str] = (), say: Callable[[str], None] = lambda name: None
) -> Iterator[Diagnosis]:
    """Those of the file's components that fail; `say` is told each before it is looked at."""
    for name in only or COMPONENTS:
        if hasattr(module, name):
            say(name)
            try:
                report = alone(name, module)
            except SystemExit:  # the file's code may raise anything
                yield Diagnosis(name, "It calls exit().")
                continue
            if report.started and not report.passed:
                yield diagnosis(report)


def alone(name: str, module: ModuleType) -> Report:
    """The check of one component while all others of the file are replaced by right ones."""
    others = tuple(c for c in COMPONENTS if c != name and hasattr(module, c))
    return replace(find(name), needs=others).check(getattr(module, name))


def diagnosis(report: Report) -> Diagnosis:
    first = report.first().trouble
    names = tuple(first.mistake.split(" + ")) if first.mistake else ()
    return Diagnosis(report.component, first.lines()[0], first.look, names, first.sure)
