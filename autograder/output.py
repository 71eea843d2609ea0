"""Write a file that a command was asked for, whole or not at all, or say why that cannot be done."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.errors import CourseError


def file_name(text: str) -> Path:
    """The type of an option that names a file to write."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name of the file is empty")
    if text.endswith(("/", os.sep)):
        raise argparse.ArgumentTypeError(f"{text!r} names a folder: name a file in it")
    return Path(text)


def require_writable(path: Path) -> None:
    """CourseError where no file can be written: said before a command works for minutes."""
    with _told(path):
        if path.is_dir():
            raise CourseError(f"{path} is a folder, not a file: name a file in it.")
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(0, "it is protected against writing")
        above = next(p for p in path.absolute().parents if p.exists())
        if not above.is_dir():
            raise NotADirectoryError(0, f"{above} is a file, not a folder")
        if not _is_device(path) and not os.access(above, os.W_OK):
            raise PermissionError(0, f"the folder {above} is protected against writing")


def replace(path: Path, content: bytes) -> None:
    """Write the file in one step, so that a full disk or a crash leaves the old one.

    A missing folder is made, a link is followed, and a device or pipe is written to as it stands.
    """
    require_writable(path)
    with _told(path):
        if _is_device(path):
            path.write_bytes(content)
            return
        real = Path(os.path.realpath(path))
        real.parent.mkdir(parents=True, exist_ok=True)
        new = real.with_name(f".autograder-{os.getpid()}.new")
        try:
            new.write_bytes(content)
            if real.exists():
                new.chmod(real.stat().st_mode & 0o7777)
            os.replace(new, real)
        finally:
            new.unlink(missing_ok=True)


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file()


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """An OSError inside becomes a CourseError that names the file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        why = error.strerror or error
        raise CourseError(f"{path} cannot be written: {why}. Name another file.") from None
