"""Where the names inside an f-string lie. Before Python 3.12 its tree does not say so reliably."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field

from autograder.assemble.edits import Places

OPENING = re.compile(r"([A-Za-z]*)('''|\"\"\"|'|\")")
NAMED = re.compile(r"\\N\{[^}]*\}")  # "\N{DASH}": its braces hold no code


@dataclass
class Field:
    """{code!r:spec} in a string: from where to where the code goes, and the fields of the spec."""

    start: int
    end: int
    inner: list[Field] = field(default_factory=list)


def places_in(string: ast.JoinedStr, places: Places) -> Iterator[tuple[ast.Name, int, int]]:
    """Each name in the f-string with its first and last byte."""
    if sys.version_info >= (3, 12):
        for node in ast.walk(string):
            if isinstance(node, ast.Name):
                yield node, *places.span(node)
        return
    start, text = places.span(string)[0], places.text(string)
    for node, first, last in _names(string, text):
        yield node, start + len(text[:first].encode()), start + len(text[:last].encode())


def _names(string: ast.JoinedStr, text: str) -> Iterator[tuple[ast.Name, int, int]]:
    """In characters of the text: of each expression a tree of its own says what lies where."""
    yield from _paired(string, list(_fields(text)), text)


def _paired(string: ast.JoinedStr, fields: list[Field], text: str):
    values = [value for value in string.values if isinstance(value, ast.FormattedValue)]
    for value, found in zip(values, fields, strict=True):
        code = f"({text[found.start:found.end]})"  # as Python itself reads it: it may be a tuple
        places = Places(code)
        for node, twin in zip(_outer(value.value), _outer(ast.parse(code, mode="eval").body)):
            if not isinstance(node, (ast.Name, ast.JoinedStr)):
                continue
            start, end = (len(places.raw[:at].decode()) for at in places.span(twin))
            shift = found.start - 1
            if isinstance(node, ast.Name):
                yield node, start + shift, end + shift
            else:
                for inner, first, last in _names(node, code[start:end]):
                    yield inner, first + start + shift, last + start + shift
        if value.format_spec:
            yield from _paired(value.format_spec, found.inner, text)


def _outer(tree: ast.AST) -> Iterator[ast.AST]:
    """As ast.walk, but not into f-strings."""
    queue = [tree]
    for node in queue:
        yield node
        if not isinstance(node, ast.JoinedStr):
            queue += ast.iter_child_nodes(node)


def _fields(text: str) -> Iterator[Field]:
    """The fields of all f-strings that the text consists of, one after the other."""
    lines = [0, *(m.end() for m in re.finditer("\n", text))]
    for token in tokenize.generate_tokens(io.StringIO(f"({text})").readline):
        opening = OPENING.match(token.string)
        if token.type == tokenize.STRING and "f" in opening[1].lower():
            row, column = token.start
            at = lines[row - 1] + column - (row == 1)  # 1: the bracket
            raw, quotes = "r" in opening[1].lower(), len(opening[2])
            end = at + len(token.string) - quotes
            yield from _literal(text, at + opening.end(), end, raw)


def _literal(text: str, i: int, end: int, raw: bool) -> Iterator[Field]:
    while i < end:
        named = None if raw else NAMED.match(text, i, end)
        if named:
            i = named.end()
        elif text[i : i + 2] in ("{{", "}}"):
            i += 2
        elif text[i] == "\\" and not raw and text[i + 1] not in "{}":
            i += 2
        elif text[i] == "{":
            found, i = _field(text, i)
            yield found
        else:
            i += 1


def _field(text: str, i: int) -> tuple[Field, int]:
    """The field that opens at i, and where the text goes on after it."""
    i, start, depth, quote = i + 1, i + 1, 0, ""
    while quote or depth or not _ends(text, i):
        if quote:
            if text.startswith(quote, i):
                i, quote = i + len(quote) - 1, ""
        elif text[i] in "'\"":
            quote = text[i] * 3 if text.startswith(text[i] * 3, i) else text[i]
            i += len(quote) - 1
        else:
            depth += (text[i] in "([{") - (text[i] in ")]}")
            i += 2 if text[i : i + 2] in ("!=", "==", "<=", ">=") else 1
            continue
        i += 1
    found = Field(start, i)
    while text[i] not in ":}":  # `=` and `!r`
        i += 1
    if text[i] == ":":
        i += 1
        while text[i] != "}":
            if text[i] == "{":
                inner, i = _field(text, i)
                found.inner.append(inner)
            else:
                i += 1
    return found, i + 1


def _ends(text: str, i: int) -> bool:
    return text[i] in "!:}=" and text[i : i + 2] not in ("!=", "==")
