"""From a folder of notebooks to one gpt2.py that reads as if it had been written by hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autograder.assemble.build import Build, Problem
from autograder.assemble.naming import Names
from autograder.assemble.trial import try_import
from autograder.assemble.write import write
from autograder.course import COMPONENTS
from autograder.notebooks import find
from autograder.survey import LIMIT

__all__ = ["Assembly", "Problem", "assemble"]


@dataclass(frozen=True)
class Assembly:
    """`text` is the file, or None if there are problems and they were not to be filled."""

    text: str | None
    problems: tuple[Problem, ...]  # in course order; with fill, those are stand-ins in the text
    remarks: tuple[str, ...]


def assemble(folder: str | Path, fill: bool = False, limit: float = LIMIT) -> Assembly:
    """One gpt2.py out of the notebooks in `folder` (or of one notebook).

    A component that is missing, not started or wrong is a problem; `fill` takes the course's
    stand-in for it. `limit`: seconds for a single definition or check.
    Raises CourseError if the folder holds no notebook, or two that claim the same assignment.
    """
    notebooks = find([Path(folder)])
    build = Build(notebooks, fill, limit)
    parts = build.parts()
    remarks = tuple(n.unreadable for n in notebooks if n.unreadable and not n.assignment)
    remarks += tuple(f"{n.path.name}: {r}" for n in notebooks for r in n.definitions.remarks)
    problems = tuple(build.problems[c] for c in COMPONENTS if c in build.problems)
    if problems and not fill:
        return Assembly(None, problems, remarks)
    filled = {p.component for p in parts if p.standin}
    problems = tuple(p for p in problems if p.component in filled)
    text = write(parts, Names(parts), {p.component: p.status for p in problems})
    try_import(text, limit)
    return Assembly(text, problems, remarks)
