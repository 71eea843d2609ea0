"""Which components a gpt2.py is made of, where each comes from, and what stands in the way."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from autograder import notebooks as files
from autograder.assemble.naming import Names
from autograder.assemble.parts import Part, part
from autograder.course import ASSIGNMENTS, COMPONENTS
from autograder.errors import CourseError
from autograder.notebooks import CourseNotebook, Place, locate
from autograder.survey import verdicts

# What a gpt2.py offers; what these use comes along. Names that are not taught yet are passed over.
CONTRACT = (
    "GPT2Config",
    "embed",
    "count_parameters",
    "GPT2",
    "next_token_distribution",
    "get_batch",
    "lr_schedule",
    "decay_groups",
    "clip_grad_norm",
    "adamw_step",
    "train_step",
    "estimate_loss",
    "sample_next",
    "generate",
    "load_gpt2_weights",
)
ALONE = "cannot be taken along"
STANDINS = Path(__file__).resolve().parents[1] / "standins"


@dataclass(frozen=True)
class Problem:
    """Why a component cannot be taken from its notebook."""

    component: str
    notebook: str
    status: str  # "missing", "not started", "failed its check" or "cannot be taken along"
    why: str = ""

    @property
    def reason(self) -> str:
        return f"{self.status}: {self.why}" if self.why else self.status


class Build:
    """Gathers the parts; `problems` fills while it does."""

    def __init__(self, notebooks: list[CourseNotebook], fill: bool, limit: float):
        self.notebooks = notebooks
        self.fill = fill
        self.limit = limit
        self.problems: dict[str, Problem] = {}
        self.own: dict[str, Part | None] = {}
        self.checked: set[str] = set()

    def parts(self) -> list[Part]:
        """The parts of all components that are needed, in course order, each checked."""
        while True:
            parts = self._reach()
            new = [p for p in parts if not p.standin and p.component not in self.checked]
            self._check([p for p in new if p.component not in self.problems])
            self.checked |= {p.component for p in new}
            if not new and (self.problems and not self.fill or not self._clashes(parts)):
                return parts

    def _reach(self) -> list[Part]:
        found: dict[str, Part] = {}
        queue = [c for c in CONTRACT if c in COMPONENTS]
        while queue:
            component = queue.pop(0)
            if component not in found:
                found[component] = self._part(component)
                queue += found[component].components
                if component in self.problems:  # its own code may not yet name what it needs
                    queue += self._standin(component).components
        return [found[c] for c in COMPONENTS if c in found]

    def _part(self, component: str) -> Part:
        """The student's own part; the stand-in where that is asked for, or all there is."""
        if component not in self.own:
            self.own[component] = self._own(locate(self.notebooks, component))
        own = self.own[component]
        if own and not (self.fill and component in self.problems):
            return own
        return self._standin(component)

    def _standin(self, component: str) -> Part:
        """Of a component that cannot be taken; empty where the course has none and need not."""
        place = locate(standins(), component)
        if place.definition:
            return part(place, standin=True)
        if self.fill:
            reason = self.problems[component].reason
            raise CourseError(f"{component}: {reason}. The course has no stand-in for it.")
        return Part(component, place, standin=True)

    def _own(self, place: Place) -> Part | None:
        if place.definition is None or place.stub:
            self._problem(place, "not started" if place.stub else "missing", place.why)
            return None
        own = part(place)
        if own.faults:
            self._problem(place, ALONE, own.faults[0])
        return own

    def _check(self, parts: list[Part]) -> None:
        for p, verdict in zip(parts, verdicts([p.place for p in parts], self.limit)):
            if verdict.status == "not started":
                self._problem(p.place, "not started")
            elif not verdict.done:
                self._problem(p.place, "failed its check", verdict.why)

    def _clashes(self, parts: list[Part]) -> bool:
        names = Names(parts)
        found = {p.component: c for p in parts if not p.standin and (c := names.clashes(p))}
        for component, clashes in found.items():
            self._problem(self.own[component].place, ALONE, clashes[0])
        return bool(found)

    def _problem(self, place: Place, status: str, why: str = "") -> None:
        assignment = COMPONENTS[place.component]
        notebook = str(place.notebook.path) if place.notebook else assignment.path
        self.problems[place.component] = Problem(place.component, notebook, status, why.rstrip("."))


@cache
def standins() -> list[CourseNotebook]:
    """The course's stand-ins, a file a chapter, read as if each were a notebook of one cell."""
    found = []
    for assignment in ASSIGNMENTS:
        path = STANDINS / f"{assignment.notebook}.py"
        if path.exists():
            cell = {"cell_type": "code", "source": path.read_text(encoding="utf-8")}
            definitions = files.definitions({"cells": [cell]})
            found.append(CourseNotebook(path, assignment, definitions))
    return found
