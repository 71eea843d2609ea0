"""nbgrader's own steps, run with the configuration of a course folder."""

from __future__ import annotations

import os
import warnings
from contextlib import contextmanager
from pathlib import Path

from nbgrader.apps.api import NbGraderAPI
from sqlalchemy.exc import SAWarning
from traitlets.config import PyFileConfigLoader


class StepFailed(Exception):
    """A step of nbgrader did not go through; the message holds the end of its log."""


def course_api(root: Path, **directories: str) -> NbGraderAPI:
    """nbgrader's API for the course in `root`, the folder of its nbgrader_config.py.

    `directories` replaces some of the configured ones, e.g. release_directory="elsewhere".
    """
    if not (root / "nbgrader_config.py").is_file():
        raise StepFailed(f"{root} has no nbgrader_config.py: run this in the course's top folder.")
    config = PyFileConfigLoader("nbgrader_config.py", str(root)).load_config()
    config.CourseDirectory.update(directories)
    return NbGraderAPI(config=config)


def run(root: Path, step: str, *args: str, directories: dict | None = None, **kwargs) -> None:
    """One step, e.g. run(root, "autograde", "03_self_attention", "ada", force=True)."""
    with inside(root), warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # of nbgrader's own models
        result = getattr(course_api(root, **(directories or {})), step)(*args, **kwargs)
    if not result["success"]:
        said = (result.get("error") or "") + (result.get("log") or "")
        tail = "\n".join(said.strip().splitlines()[-15:])
        raise StepFailed(f"nbgrader's {step} failed for {' '.join(args)}:\n{tail}")


@contextmanager
def inside(folder: Path):
    """nbgrader resolves some paths against the working directory."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
