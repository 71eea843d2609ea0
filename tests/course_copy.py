"""A course folder of its own for a test: the sources, and no state of anyone's."""

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def course_copy(target: Path, *assignments: str) -> Path:
    """nbgrader_config.py and solutions/<assignment> for each named one."""
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "nbgrader_config.py", target)
    (target / "autograder").mkdir()
    for name in assignments:
        shutil.copytree(
            ROOT / "solutions" / name,
            target / "solutions" / name,
            ignore=shutil.ignore_patterns(".ipynb_checkpoints"),
        )
    return target
