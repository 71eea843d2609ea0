"""Give the global names of a definition other names, and leave every other word as it is."""

from __future__ import annotations

import ast
import re

from autograder.assemble.edits import Edit, Places, apply
from autograder.assemble.strings import places_in
from autograder.errors import CourseError
from autograder.notebooks.scope import Reference, references

# `def name` in bytes: the name may hold any letter, the space before it a line continuation.
HEADER = re.compile(rb"(?:async(?:\s|\\\r?\n)+)?(?:def|class)(?:\s|\\\r?\n)+([^\s(:\[\\]+)")
WORD = re.compile(rb"[^\s,;\\]+")
Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def renamed(source: str, names: dict[str, str]) -> str:
    """The source in which each global name is what `names` says; CourseError where Python reads
    the result as anything else."""
    if all(old == new for old, new in names.items()):
        return source
    tree, places = ast.parse(source), Places(source)
    edits, strings = [], {}
    for r in references(tree):
        if names[r.name] != r.name:
            edits.append(Edit(*_span(r, places, strings), names[r.name]))
    for node in tree.body:
        if isinstance(node, Definition) and names[node.name] != node.name:
            header = HEADER.match(places.raw, places.offset(node.lineno, node.col_offset))
            edits.append(Edit(*header.span(1), names[node.name]))
    text = apply(source, edits)
    if _meaning(text) != _meaning(source, names):
        changed = ", ".join(f"`{old}`" for old, new in names.items() if old != new)
        raise CourseError(
            f"two notebooks use {changed} for different things, and here one of them cannot be "
            f"renamed: `{source.strip().splitlines()[0]}`. Rename it yourself."
        )
    return text


def _span(r: Reference, places: Places, strings: dict) -> tuple[int, int]:
    if isinstance(r.node, ast.Global):
        start, end = places.span(r.node)
        words = list(WORD.finditer(places.raw, start, end))[1:]  # after `global`
        return words[r.node.names.index(r.name)].span()
    if r.string is None:
        return places.span(r.node)
    if r.string not in strings:
        found = places_in(r.string, places)
        strings[r.string] = {node: (start, end) for node, start, end in found}
    return strings[r.string][r.node]


def _meaning(source: str, names: dict[str, str] | None = None) -> str:
    """What Python reads, with `names` in place of the global names."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ""
    for r in references(tree) if names else ():
        if isinstance(r.node, ast.Global):
            r.node.names = [names.get(name, name) for name in r.node.names]
        else:
            r.node.id = names[r.name]
    for node in tree.body if names else ():
        if isinstance(node, Definition):
            node.name = names[node.name]
    for node in ast.walk(tree):  # f"{x=}" shows its own code, which may change
        for part in node.values if isinstance(node, ast.JoinedStr) else ():
            if isinstance(part, ast.Constant) and part.value.rstrip().endswith("="):
                part.value = "="
    return ast.dump(tree)
