"""Read a notebook file, whatever editor, converter or download it went through."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from autograder.errors import CourseError

LARGEST = 64 << 20  # bytes
CELL_TYPES = ("code", "markdown", "raw")


class NotebookError(CourseError):
    """A file or folder that holds no notebook that can be used."""


def read(path: str | Path) -> dict:
    """The notebook in the file as a plain dict of format 4, each source one string.

    Takes UTF-8 with or without a mark, UTF-16 and UTF-32, cells without ids or metadata, format 3
    with its worksheets. Raises NotebookError where there is no notebook.
    """
    path = Path(path)
    content = _json(path)
    cells = _cells(content)
    if cells is None:
        raise NotebookError(f"{path} is JSON, but no notebook: it has no list of cells.")
    metadata = content.get("metadata")
    return {
        "cells": [_cell(c) for c in cells if isinstance(c, dict)],
        "metadata": metadata if isinstance(metadata, dict) else {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _bytes(path: Path) -> bytes:
    try:
        if path.is_symlink() and not path.exists():
            target = os.readlink(path)
            raise NotebookError(f"{path} is a link to {target}, which does not exist.")
        if not path.exists():
            raise NotebookError(f"{path} does not exist.")
        if path.is_dir():
            os.scandir(path).close()  # one that may not be looked into says so
        if not path.is_file():
            raise NotebookError(f"{path} is not a file, but a folder or device.")
        if path.stat().st_size > LARGEST:
            size = f"{LARGEST >> 20} MB"
            raise NotebookError(f"{path} is larger than {size}: clear its outputs first.")
        return path.read_bytes()
    except OSError as error:
        why = error.strerror or error
        raise NotebookError(f"{path} cannot be read: {why}. Is it yours to read?") from None


def _json(path: Path) -> Any:
    raw = _bytes(path)
    if not raw.strip():
        raise NotebookError(f"{path} is empty.")
    try:
        try:
            return json.loads(raw)  # finds out by itself which UTF it is
        except UnicodeDecodeError:
            return json.loads(raw.decode("latin-1"))
    except RecursionError:
        raise NotebookError(f"{path} is no notebook: it is nested too deeply.") from None
    except ValueError as error:
        start = raw.lstrip(b"\xef\xbb\xbf \t\r\n")[:9].lower()
        if start.startswith((b"<!doctype", b"<html")):
            raise NotebookError(
                f"{path} is a web page, not a notebook: download the notebook itself (Raw)."
            ) from None
        raise NotebookError(
            f"{path} is no notebook: {error}. Was it cut off? Save it again."
        ) from None


def _cells(content: Any) -> list | None:
    if not isinstance(content, dict):
        return None
    cells = content.get("cells")
    if isinstance(cells, list):
        return cells
    sheets = content.get("worksheets")
    if not isinstance(sheets, list):
        return None
    found = [s["cells"] for s in sheets if isinstance(s, dict) and isinstance(s.get("cells"), list)]
    return [cell for cells in found for cell in cells] if found else None


def _cell(raw: dict) -> dict:
    kind = raw.get("cell_type")
    source = _text(raw.get("source", raw.get("input")))
    if kind == "heading":  # format 3
        level = raw.get("level")
        kind, source = "markdown", f"{'#' * (level if isinstance(level, int) else 1)} {source}"
    if kind not in CELL_TYPES:
        kind = "code" if raw.keys() & {"outputs", "execution_count", "input"} else "markdown"
    metadata = raw.get("metadata")
    cell = {
        "cell_type": kind,
        "metadata": metadata if isinstance(metadata, dict) else {},
        "source": source,
    }
    if isinstance(raw.get("id"), str):
        cell["id"] = raw["id"]
    if kind == "code":
        outputs = raw.get("outputs")
        current = isinstance(outputs, list) and "input" not in raw  # outputs of format 3 differ
        cell["outputs"] = outputs if current else []
        count = raw.get("execution_count")
        cell["execution_count"] = count if isinstance(count, int) else None
    elif isinstance(raw.get("attachments"), dict):
        cell["attachments"] = raw["attachments"]
    return cell


def _text(source: Any) -> str:
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        return ""
    # a lone surrogate could not be written again
    source = source.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return source.replace("\r\n", "\n").replace("\r", "\n")
