"""Grade the reference notebooks as if a student had handed them in: `python -m autograder.grading.reference`.

Shows that the whole grading path works on this machine: every cell must earn full marks.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from rich.console import Console
from rich.table import Table

from autograder.course import ASSIGNMENTS
from autograder.grading.nbgrader_api import StepFailed, course_api, run

STUDENT = "reference"
Scores = dict[str, tuple[float, float]]  # cell -> (earned, possible)


def submit(root: Path, student: str, source: Path) -> None:
    """Put a folder of assignments where nbgrader looks for a student's submissions."""
    for assignment in ASSIGNMENTS:
        target = root / "autograder" / "submitted" / student / assignment.name
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        shutil.copy(source / assignment.path, target)


def grade(root: Path, student: str, feedback: bool = True) -> dict[str, Scores]:
    """Autograde every assignment of a student; the scores by assignment and graded cell."""
    found = {}
    for assignment in ASSIGNMENTS:
        run(root, "autograde", assignment.name, student, force=True, create=True)
        if feedback:
            run(root, "generate_feedback", assignment.name, student, force=True)
        found[assignment.name] = scores(root, assignment.name, student)
    return found


def scores(root: Path, assignment: str, student: str) -> Scores:
    """What the gradebook holds; a cell without a score counts as 0."""
    with Gradebook(course_api(root).coursedir.db_url) as book:
        try:
            submission = book.find_submission(assignment, student)
        except MissingEntry:
            raise StepFailed(f"the gradebook has no {assignment} of {student}") from None
        return {
            g.name: (g.score or 0.0, g.max_score) for n in submission.notebooks for g in n.grades
        }


def table(found: dict[str, Scores]) -> Table:
    view = Table("assignment", "cells", "points", "of", box=None, pad_edge=False)
    for name, cells in found.items():
        earned, possible = (sum(column) for column in zip(*cells.values(), strict=True))
        view.add_row(name, str(len(cells)), f"{earned:g}", f"{possible:g}")
    return view


def main() -> int:
    root = Path.cwd()
    try:
        submit(root, STUDENT, root / "solutions")
        found = grade(root, STUDENT)
    except StepFailed as error:
        print(error, file=sys.stderr)
        return 1
    Console().print(table(found))
    short = [
        f"{name}: {cell} earned {earned:g} of {possible:g}"
        for name, cells in found.items()
        for cell, (earned, possible) in cells.items()
        if earned != possible
    ]
    print("\n".join(short), file=sys.stderr, end="\n" if short else "")
    return 1 if short else 0


if __name__ == "__main__":
    raise SystemExit(main())
