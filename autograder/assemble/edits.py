"""Change a piece of source by places, so that everything else stays as it was written."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass

DEBRIS = re.compile(  # comments that steer a tool of the notebook and say nothing of the code
    r"#+\s*((BEGIN|END) (SOLUTION|HIDDEN TESTS|MARK SCHEME)|YOUR CODE HERE|@(title|param|markdown)\b"
    r"|%%|\|)",
    re.I,
)


@dataclass(frozen=True)
class Edit:
    """Replace the bytes from start to end of the UTF-8 text."""

    start: int
    end: int
    text: str


class Places:
    """Where the nodes of a piece of source lie in it."""

    def __init__(self, source: str):
        self.raw = source.encode()
        self.lines = [0]
        for line in self.raw.split(b"\n"):
            self.lines.append(self.lines[-1] + len(line) + 1)

    def offset(self, line: int, column: int) -> int:
        return self.lines[line - 1] + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        return (
            self.offset(node.lineno, node.col_offset),
            self.offset(node.end_lineno, node.end_col_offset),
        )

    def text(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.raw[start:end].decode()


def apply(source: str, edits: list[Edit]) -> str:
    """The source with all edits made; they must not overlap."""
    raw = source.encode()
    for edit in sorted(edits, key=lambda e: (e.start, e.end), reverse=True):
        raw = raw[: edit.start] + edit.text.encode() + raw[edit.end :]
    return raw.decode()


def without_debris(source: str) -> str:
    """The source without the comments that only a notebook needs."""
    lines = source.split("\n")
    drop = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and DEBRIS.match(token.string):
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
            if not lines[row - 1]:
                drop.add(row - 1)
    return "\n".join(line for i, line in enumerate(lines) if i not in drop)
