"""Write a notebook so that the same content is the same bytes, whoever saved it last."""

from __future__ import annotations

import hashlib
import json
import re

KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
KEPT_OF_NOTEBOOK = ("authors", "mystnb", "title")
KEPT_OF_CELL = ("deletable", "editable", "mystnb", "nbgrader", "slideshow", "tags")
VALID_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def normalise(nb: dict) -> dict:
    """The notebook without outputs, counts and what editors leave behind, each cell with an id.

    A valid id that no earlier cell has is kept; else a cell is called after its grade_id, else
    after its text.
    """
    ids = _ids(nb["cells"])
    cells = []
    for cell, cell_id in zip(nb["cells"], ids):
        new = {
            "cell_type": cell["cell_type"],
            "id": cell_id,
            "metadata": {k: v for k, v in cell["metadata"].items() if k in KEPT_OF_CELL},
            "source": cell["source"],
        }
        if cell["cell_type"] == "code":
            new |= {"execution_count": None, "outputs": []}
        elif cell.get("attachments"):
            new["attachments"] = cell["attachments"]
        cells.append(new)
    metadata = {k: v for k, v in nb["metadata"].items() if k in KEPT_OF_NOTEBOOK}
    metadata |= {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def dumps(nb: dict) -> str:
    """The text of the file: as nbformat writes it, keys sorted, one newline at the end."""
    split = [cell | {"source": cell["source"].splitlines(True)} for cell in nb["cells"]]
    return json.dumps(nb | {"cells": split}, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def grade_id(cell: dict) -> str | None:
    """The name that nbgrader knows the cell by, if it does."""
    nbgrader = cell["metadata"].get("nbgrader")
    name = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return name if isinstance(name, str) else None


def _ids(cells: list[dict]) -> list[str]:
    ids: list[str | None] = []
    for cell in cells:
        own = cell.get("id", "")
        ids.append(own if VALID_ID.fullmatch(own) and own not in ids else None)
    for i, cell in enumerate(cells):
        if ids[i] is None:
            ids[i] = _free(_name(cell), ids)
    return ids


def _name(cell: dict) -> str:
    name = grade_id(cell)
    if name and VALID_ID.fullmatch(name):
        return name
    return hashlib.sha256(f"{cell['cell_type']}\n{cell['source']}".encode()).hexdigest()[:8]


def _free(name: str, taken: list[str | None]) -> str:
    candidate, n = name, 1
    while candidate in taken:
        n += 1
        candidate = f"{name[:60]}-{n}"
    return candidate
