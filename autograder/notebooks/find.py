"""The course's notebooks in a folder: which file belongs to which assignment."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from autograder.course import ASSIGNMENTS, Assignment
from autograder.notebooks.definitions import Definitions, definitions
from autograder.notebooks.normalise import grade_id
from autograder.notebooks.read import NotebookError, read

DEPTH = 4  # folders below the given one
COPY = re.compile(r"[\s_-]*(\(\d+\)|copy\s*\d*|kopie|\d+)$", re.I)  # "attention (1)", "x-Copy1"


@dataclass(eq=False)
class CourseNotebook:
    """A notebook file with what it defines; `assignment` is None for one that is not the course's."""

    path: Path
    assignment: Assignment | None
    definitions: Definitions = field(default_factory=Definitions)
    unreadable: str = ""  # why it could not be read

    @property
    def index(self) -> int:
        """Its place in the course; notebooks of no assignment come last."""
        return ASSIGNMENTS.index(self.assignment) if self.assignment else len(ASSIGNMENTS)


def files(paths: list[Path]) -> list[Path]:
    """The notebook files that are given or lie below the given folders; no checkpoints."""
    found: list[Path] = []
    for path in map(Path, paths):
        if not os.path.lexists(path):
            raise NotebookError(f"{path} does not exist.")
        found += _below(path) if os.path.isdir(path) else [path]
    return list(dict.fromkeys(found))


def find(paths: list[Path]) -> list[CourseNotebook]:
    """The notebooks in course order, at most one for each assignment, then those of none.

    A notebook belongs to the assignment of its file name; a renamed one to the assignment of its
    grade ids, else of what it defines. Raises NotebookError where two differ and claim the same.
    """
    candidates = [_Candidate(path) for path in files(paths)]
    if not candidates:
        raise NotebookError(f"There is no notebook (.ipynb) in {', '.join(map(str, paths))}.")
    for candidate in candidates:
        candidate.by_name()
    taken = {c.assignment for c in candidates}
    for candidate in candidates:
        if candidate.assignment is None:
            candidate.by_content(taken)
    found: list[CourseNotebook] = []
    for assignment in (*ASSIGNMENTS, None):
        claims = [c for c in candidates if c.assignment == assignment]
        if assignment and any(not c.error for c in claims):  # one that can be read, before the rest
            for claim in claims:
                claim.assignment = assignment if not claim.error else None
            claims = [c for c in claims if c.assignment]
        if assignment and len({c.text for c in claims}) > 1:
            raise NotebookError(
                f"There are several different notebooks of {assignment.name}: "
                f"{', '.join(str(c.path) for c in claims)}. Keep one of them in the folder, "
                "or name the notebooks to use."
            )
        for claim in claims[:1] if assignment else claims:
            found.append(CourseNotebook(claim.path, assignment, claim.definitions, claim.error))
    return found


class _Candidate:
    def __init__(self, path: Path):
        self.path = path
        self.assignment: Assignment | None = None
        self.error = ""
        try:
            self.nb = read(path)
            self.definitions = definitions(self.nb)
        except NotebookError as error:
            self.nb, self.error = {"cells": []}, str(error)
            self.definitions = Definitions()

    @property
    def text(self) -> tuple[str, ...]:
        """What makes it the same notebook as another: its code, outputs aside."""
        return tuple(c["source"].strip() for c in self.nb["cells"] if c["cell_type"] == "code")

    def by_name(self) -> None:
        stem, old = self.path.stem, None
        while stem != old:
            old, stem = stem, COPY.sub("", stem)
        same = [a for a in ASSIGNMENTS if a.notebook == _plain(stem) or a.name == _plain(stem)]
        self.assignment = same[0] if same else None

    def by_content(self, taken: set[Assignment | None]) -> None:
        """The assignment, not taken by a file of its name, of which it has most components."""
        ids = {grade_id(c) for c in self.nb["cells"]}
        found = self.definitions.found
        own = {n for n, d in found.items() if d.kind in ("function", "class")}

        def score(a: Assignment) -> int:
            return len(ids & set(a.components)) * 2 + len(own & set(a.components))

        best = max(ASSIGNMENTS, key=score)
        if score(best) and best not in taken:
            self.assignment = best


def _plain(stem: str) -> str:
    return re.sub(r"[\s-]+", "_", stem.strip()).lower()


def _below(folder: Path) -> list[Path]:
    """The notebooks, and what should be one or hold some but cannot be read: it is told later."""
    found: list[Path] = []
    for where, folders, names in os.walk(folder, onerror=lambda e: found.append(Path(e.filename))):
        depth = len(Path(where).relative_to(folder).parts)
        folders[:] = sorted(f for f in folders if f[0] not in "._" and depth < DEPTH)
        found += [
            Path(where, name)
            for name in sorted(names)
            if name.endswith(".ipynb") and not name.startswith(".") and "-checkpoint." not in name
        ]
        named = [Path(where, f) for f in folders if f.endswith(".ipynb")]
        found += [path for path in named if not any(path.rglob("*.ipynb"))]
    return found
