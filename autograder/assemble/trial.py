"""Import an assembled file once, alone, before it is handed over."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from autograder.errors import CourseError


def try_import(text: str, limit: float) -> None:
    """CourseError if the file cannot be imported by itself."""
    with tempfile.TemporaryDirectory(prefix="autograder-") as folder:
        Path(folder, "gpt2.py").write_text(text, encoding="utf-8")
        try:
            done = subprocess.run(
                [sys.executable, "-c", "import gpt2"],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=limit,
            )
        except subprocess.TimeoutExpired:
            raise CourseError(
                f"The assembled file takes longer than {limit:g} seconds to import."
            ) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise CourseError(
            f"The assembled file cannot be imported: {said[-1] if said else 'no reason given'}"
        )
