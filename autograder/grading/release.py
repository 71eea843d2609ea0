"""Make exercises/ from solutions/: `python -m autograder.grading.release`.

A notebook in exercises/ that somebody has worked in is left alone, unless --overwrite is given.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from hashlib import sha256
from pathlib import Path

from autograder.course import ASSIGNMENTS
from autograder.grading.nbgrader_api import StepFailed, run

FRESH = "autograder/released"  # where nbgrader writes: it empties its target first
RECORD = "autograder/released.json"  # the hash of each notebook as it was last released


def release(root: Path, overwrite: bool = False) -> dict[str, str]:
    """Generate every assignment; what became of each: "as it was", "written anew" or "kept".

    A notebook is replaced only if it is, to the byte, what an earlier release wrote.
    """
    fresh, record = root / FRESH, root / RECORD
    known = json.loads(record.read_text()) if record.exists() else {}
    outcome = {}
    try:
        for assignment in ASSIGNMENTS:
            run(
                root,
                "generate_assignment",
                assignment.name,
                directories={"release_directory": FRESH},
                force=True,
                create=True,
            )
            new, old = fresh / assignment.path, root / "exercises" / assignment.path
            digest = sha256(new.read_bytes()).hexdigest()
            before = sha256(old.read_bytes()).hexdigest() if old.exists() else None
            if before == digest:
                outcome[assignment.name] = "as it was"
            elif before in (None, known.get(assignment.name)) or overwrite:
                old.parent.mkdir(parents=True, exist_ok=True)
                os.replace(new, old)
                outcome[assignment.name] = "written anew"
            else:
                outcome[assignment.name] = "kept"
                continue
            known[assignment.name] = digest
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        record.write_text(json.dumps(known, indent=1) + "\n")
    return outcome


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m autograder.grading.release")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace notebooks that hold somebody's work too"
    )
    overwrite = parser.parse_args(argv).overwrite
    try:
        outcome = release(Path.cwd(), overwrite)
    except StepFailed as error:
        print(error, file=sys.stderr)
        return 1
    for name, what in outcome.items():
        note = ": it differs from the last release (--overwrite replaces it)"
        note = note if what == "kept" else ""
        print(f"  exercises/{name}: {what}{note}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
