"""Make exercises/ from solutions/: `python -m autograder.grading.release`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from autograder.course import ASSIGNMENTS
from autograder.grading.nbgrader_api import StepFailed, run


def release(root: Path) -> dict[str, bool]:
    """Generate every assignment; {name: whether its files changed}.

    nbgrader removes the old release before it makes the new one, so a copy is kept meanwhile and
    put back if a step fails.
    """
    exercises = root / "exercises"
    with tempfile.TemporaryDirectory() as keep:
        kept = Path(keep) / "exercises"
        if exercises.exists():
            shutil.copytree(exercises, kept)
        changed = {}
        try:
            for assignment in ASSIGNMENTS:
                run(root, "generate_assignment", assignment.name, force=True, create=True)
                new, old = exercises / assignment.path, kept / assignment.path
                changed[assignment.name] = not (
                    old.exists() and old.read_bytes() == new.read_bytes()
                )
        except StepFailed:
            if kept.exists():
                shutil.rmtree(exercises, ignore_errors=True)
                shutil.copytree(kept, exercises)
            raise
    return changed


def main() -> int:
    try:
        for name, changed in release(Path.cwd()).items():
            print(f"  exercises/{name}: {'written anew' if changed else 'as it was'}")
    except StepFailed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
