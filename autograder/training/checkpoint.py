"""A checkpoint on disk: checkpoint.json, and the file of tensors that it names.

The tensors are written first, under the name of their step; then the record, which names them and
holds their hash, takes the place of the one before in one move; then the older tensors go. Killed
at any moment, the folder holds a record and the tensors that belong to it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import contextmanager
from pathlib import Path

import safetensors.torch
from torch import Tensor

from autograder.errors import CourseError

RECORD = "checkpoint.json"
FORMAT = 1


def exists(folder: Path) -> bool:
    return (folder / RECORD).is_file()


def save(folder: Path, record: dict, tensors: dict[str, Tensor]) -> None:
    """Replace the folder's checkpoint by this one; `record` has the "step"."""
    folder.mkdir(parents=True, exist_ok=True)
    data = safetensors.torch.save({name: t.contiguous().cpu() for name, t in tensors.items()})
    name = f"checkpoint-{record['step']:06d}.safetensors"
    files = {"file": name, "sha256": hashlib.sha256(data).hexdigest()}
    _write(folder / name, data)
    whole = {"format": FORMAT, "tensors": files} | record
    _write(folder / RECORD, json.dumps(whole, indent=1, allow_nan=False).encode())
    for old in _own_files(folder):
        if old.name not in (RECORD, name):
            old.unlink()


def read(folder: Path) -> tuple[dict, dict[str, Tensor]]:
    """The record and its tensors; CourseError: there is none, or it is damaged."""
    if not exists(folder):
        raise CourseError(f"{folder} holds no checkpoint ({RECORD}).")
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        version, files = record["format"], record["tensors"]
        path, digest = folder / files["file"], files["sha256"]
    except (ValueError, KeyError, TypeError) as error:
        raise damaged(folder, f"{RECORD} cannot be read ({type(error).__name__}: {error})")
    if version != FORMAT:
        raise CourseError(
            f"{folder / RECORD} has format {version}; this version of the course reads {FORMAT}."
        )
    if not path.is_file():
        raise damaged(folder, f"{path.name} is missing")
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        raise damaged(folder, f"{path.name} is not the file that was written")
    return record, safetensors.torch.load(data)


@contextmanager
def reading(folder: Path):
    """What the record lacks, or has of another kind, becomes an error that says so."""
    try:
        yield
    except (KeyError, TypeError, AttributeError) as error:
        why = f"{RECORD} lacks something ({type(error).__name__}: {error})"
        raise damaged(folder, why) from error


def remove(folder: Path) -> None:
    """Take the checkpoint away, the record first: nothing is left that looks whole."""
    (folder / RECORD).unlink(missing_ok=True)
    for file in _own_files(folder):
        file.unlink()


def damaged(folder: Path, why: str) -> CourseError:
    return CourseError(
        f"the checkpoint in {folder} is damaged: {why}. Put a copy of it back, or train anew with "
        "--overwrite."
    )


def _own_files(folder: Path) -> list[Path]:
    """What this module has written there, also what was left half-written."""
    own = re.compile(r"checkpoint(-\d+\.safetensors|\.json)(\.part)?")
    return [path for path in folder.iterdir() if own.fullmatch(path.name)]


def _write(path: Path, data: bytes) -> None:
    """All or nothing, and on the disk before this returns."""
    part = path.with_name(f"{path.name}.part")
    with open(part, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
