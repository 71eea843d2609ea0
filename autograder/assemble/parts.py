"""A component with all that it takes along from its notebook."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cache

from autograder.assemble.edits import without_debris
from autograder.assemble.imports import Import, allowed, inner_roots, parse
from autograder.assemble.shapes import DTYPES, plain
from autograder.course import COMPONENTS
from autograder.notebooks import CourseNotebook, Definition, Place, needs
from autograder.notebooks.needs import uses

EARLIER = ("autograder.standins", "autograder.own")  # where a notebook imports components from


@dataclass(eq=False)
class Unit:
    """One definition that is to be written: one or more names, and plain source."""

    notebook: CourseNotebook
    definition: Definition
    source: str

    @property
    def key(self) -> tuple:
        return self.notebook.path, self.definition.cell, self.definition.line, self.source

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    @property
    def names(self) -> list[str]:
        if self.definition.kind != "constant":
            return [self.definition.name]
        named = [r for r in uses(self.source) if isinstance(r.node, ast.Name)]
        return [r.name for r in named if isinstance(r.node.ctx, ast.Store)]


@dataclass
class Part:
    """A component's own definition, those that it uses in its notebook, and what lies beyond."""

    component: str
    place: Place
    units: list[Unit] = field(default_factory=list)  # the component's own one last
    components: list[str] = field(default_factory=list)  # other components that it uses
    faults: list[str] = field(default_factory=list)  # why it cannot stand in gpt2.py
    standin: bool = False


def part(place: Place, standin: bool = False) -> Part:
    """Follow a component through its notebook, up to other components."""
    source = source_of(place.notebook)
    result = Part(place.component, place, standin=standin)
    stop = source.stop - {place.component}
    need = needs(place.notebook.definitions, [place.component], stop, source.text)
    result.faults += need.faults
    units: dict[tuple, Unit] = {}
    result.components += need.outside
    for name, definition in need.definitions.items():
        if definition.kind == "import":
            source.imports.setdefault(name, parse(definition.source))  # one that a * stood for
            meaning = source.meaning(name)
            if isinstance(meaning, str):
                result.components.append(meaning)
            elif not meaning.allowed:
                result.faults.append(_foreign(meaning.path, meaning.root))
        else:
            unit = Unit(place.notebook, definition, source.text(definition))
            result.faults += [
                _foreign(r, r) for r in sorted(inner_roots(unit.tree)) if not allowed(r)
            ]
            units[unit.key] = unit  # once, though it may bind two names
    result.units = sorted(
        units.values(),
        key=lambda u: (
            u.definition.name == place.component,
            u.definition.cell,
            u.definition.line,
            u.definition.name,
        ),
    )
    return result


class Source:
    """What the names of one notebook mean, seen from the assembled file."""

    def __init__(self, notebook: CourseNotebook):
        self.notebook = notebook
        self.found = notebook.definitions.found
        self.imports = {n: parse(d.source) for n, d in self.found.items() if d.kind == "import"}
        jaxtyping = {n for n, i in self.imports.items() if i.root == "jaxtyping"}
        self.annotators = frozenset(jaxtyping | (DTYPES - self.found.keys()))
        self.stop = {c for c in COMPONENTS if self._is_component(c)}
        self.text = cache(self._text)

    def meaning(self, name: str) -> str | Import | Definition | None:
        """The component (its name), the import or the definition that a global name stands for."""
        if name in self.stop:
            return name
        if name not in self.imports:
            return self.found.get(name)
        imported = self.imports[name]
        module, _, attribute = imported.path.rpartition(".")
        if imported.root == "autograder" and module.startswith(EARLIER) and attribute in COMPONENTS:
            return attribute
        return imported

    def _is_component(self, name: str) -> bool:
        """A component's name means the component, unless it is imported from a library, for use
        in another chapter."""
        imported = self.imports.get(name)
        if COMPONENTS[name] == self.notebook.assignment:
            return True
        return imported is None or imported.root == "autograder" or imported.path.startswith(".")

    def _text(self, definition: Definition) -> str:
        return plain(without_debris(definition.source), self.annotators)


@cache
def source_of(notebook: CourseNotebook) -> Source:
    return Source(notebook)


def _foreign(path: str, root: str) -> str:
    if root == "autograder":
        return f"it uses `{path}`: gpt2.py must stand without the course's package"
    return f"it imports `{path}`: gpt2.py may import only torch and the standard library"
