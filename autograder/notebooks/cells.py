"""The Python of a code cell: magics blanked out, syntax errors told instead of raised."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

PYTHON_MAGICS = ("time", "capture", "prun")  # %%magics that run their cell as Python
MAGIC_LINE = re.compile(r"\s*(?:[%!?]|[\w.\[\], ]+=\s*[%!]|.*\?\s*$)")


@dataclass(frozen=True)
class Code:
    """One code cell: its text as Python, and the tree of it; None where that is no Python."""

    number: int  # among all cells, from 1
    text: str
    tree: ast.Module | None
    error: str = ""
    dropped: tuple[str, ...] = ()  # magics that stood inside a block


def code_cells(nb: dict) -> list[Code]:
    """All code cells in order. A cell of another language (`%%bash`, say) is empty."""
    return [
        _parse(number, cell["source"])
        for number, cell in enumerate(nb["cells"], 1)
        if cell["cell_type"] == "code"
    ]


def _parse(number: int, source: str) -> Code:
    lines = source.split("\n")
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    magic = re.match(r"%%(\w+)", lines[first])
    if magic:
        lines[first] = ""
        if magic[1] not in PYTHON_MAGICS:
            return Code(number, "", ast.Module([], []))
    dropped: list[str] = []
    while True:
        text = "\n".join(lines)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a backslash in a student's string
                return Code(number, text, ast.parse(text), dropped=tuple(dropped))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None)
            if not line or not _blank(lines, line - 1, dropped):
                where = f"line {line}: " if line else ""
                return Code(number, text, None, f"{where}{getattr(error, 'msg', error)}")


def _blank(lines: list[str], i: int, dropped: list[str]) -> bool:
    """Replace the magic on line i, and the lines that continue it; False if there is none."""
    if i >= len(lines) or not MAGIC_LINE.match(lines[i]):
        return False
    indent = lines[i][: len(lines[i]) - len(lines[i].lstrip())]
    if indent:
        dropped.append(lines[i].strip())
    continued, lines[i] = lines[i].endswith("\\"), f"{indent}pass" if indent else ""
    while continued and i + 1 < len(lines):
        i += 1
        continued, lines[i] = lines[i].endswith("\\"), ""
    return True
