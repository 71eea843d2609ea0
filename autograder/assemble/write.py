"""Write the parts down as one file, in the order of the chapters."""

from __future__ import annotations

import textwrap

import black

from autograder.assemble.imports import block
from autograder.assemble.naming import Names
from autograder.assemble.parts import Part, Unit
from autograder.assemble.shapes import WIDTH
from autograder.course import ASSIGNMENTS
from autograder.notebooks.needs import uses

HEADER = """GPT-2 in one file, in the order of the course's chapters.

Put together by `autograder assemble` from the exercise notebooks; it needs torch and nothing else.
"""
MODE = black.Mode(line_length=WIDTH, magic_trailing_comma=False)


def write(parts: list[Part], names: Names, reasons: dict[str, str]) -> str:
    """The text of gpt2.py. `reasons` says in a word why a stand-in is there."""
    order = _Order(parts, names)
    pieces = [f'"""{_header(parts)}"""']
    if any(p.place.notebook.definitions.future for p in parts):
        pieces.append("from __future__ import annotations")
    pieces.append(block((i, names.final[thing]) for thing, i in names.imports.items()))
    for assignment in ASSIGNMENTS:
        heading = f"# {'-' * 40} {assignment.chapter}"
        for component in assignment.components:
            for unit in order.place(component):
                if heading:
                    pieces.append(heading)
                    heading = ""
                pieces.append(_marked(unit, names, reasons))
    text = "\n\n\n".join(pieces) + "\n"
    try:
        return black.format_str(text, mode=MODE)
    except black.InvalidInput:  # Python newer than this black: right all the same
        return text


class _Order:
    """Each unit once: before a component what it uses of its notebook, before all what they read
    at once."""

    def __init__(self, parts: list[Part], names: Names):
        self.parts = {p.component: p for p in parts}
        self.names = names
        self.seen: set[tuple] = set()
        self.defined = {}
        for part in parts:
            for unit in part.units:
                group = names.groups[unit.key]
                for name in unit.names:
                    self.defined[names.thing(unit, name)] = group

    def place(self, component: str) -> list[Unit]:
        if component not in self.parts:
            return []
        out: list[Unit] = []
        for unit in self.parts[component].units:
            self._visit(self.names.groups[unit.key], False, out)
        return out

    def _visit(self, unit: Unit, early: bool, out: list[Unit]) -> None:
        """`early`: the unit may be called while the file is imported, so all it uses goes first."""
        if unit.key in self.seen:
            return
        self.seen.add(unit.key)
        for r in uses(unit.source):
            other = self.defined.get(self.names.thing(unit, r.name))
            if other and (r.early or early):
                self._visit(other, True, out)
        out.append(unit)


def _marked(unit: Unit, names: Names, reasons: dict[str, str]) -> str:
    source = names.source(unit)
    component = names.component.get(unit.key)
    if component not in reasons:
        return source
    return f"# Stand-in of the course for {component} ({reasons[component]}).\n{source}"


def _header(parts: list[Part]) -> str:
    standins = [p.component for p in parts if p.standin]
    if not standins:
        return HEADER
    said = (
        f"Stand-ins of the course, in place of components that are not done: {', '.join(standins)}."
    )
    return HEADER + "\n" + textwrap.fill(said, WIDTH) + "\n"
