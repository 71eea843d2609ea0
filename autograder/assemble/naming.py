"""One name for each thing in the assembled file, though notebooks may use a name twice."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from autograder.assemble.imports import Import
from autograder.assemble.parts import Part, Unit, source_of
from autograder.assemble.rename import renamed
from autograder.course import COMPONENTS
from autograder.notebooks.needs import uses
from autograder.notebooks.scope import local_names

Thing = tuple  # ("component", name), ("import", name, path) or ("unit", group, name)


class Names:
    """What every global name in every unit stands for, and what it is called in the end."""

    def __init__(self, parts: list[Part]):
        """`parts` in course order."""
        self.groups: dict[tuple, Unit] = {}  # key of a unit -> the one that is written for it
        self.final: dict[Thing, str] = {}
        self.imports: dict[Thing, Import] = {}
        self.units = {u.key: u for p in parts for u in p.units}
        self.component = {p.units[-1].key: p.component for p in parts}
        self._group()
        self._name()

    def thing(self, unit: Unit, name: str) -> Thing | None:
        """What a global name in a unit stands for; None for a builtin."""
        meaning = source_of(unit.notebook).meaning(name)
        if meaning is None:
            return None
        if isinstance(meaning, str):
            return ("component", meaning)
        if isinstance(meaning, Import):
            return ("import", meaning.name, meaning.path)
        key = Unit(unit.notebook, meaning, source_of(unit.notebook).text(meaning)).key
        return ("unit", self.groups[key].key, name)

    def source(self, unit: Unit) -> str:
        """The unit's source under the final names."""
        names = {r.name: self._called(unit, r.name) for r in uses(unit.source)}
        return renamed(unit.source, names | {n: self._called(unit, n) for n in unit.names})

    def _called(self, unit: Unit, name: str) -> str:
        thing = self.thing(unit, name)
        return self.final[thing] if thing else name

    def clashes(self, part: Part) -> list[str]:
        """Where a stand-in's alias would become the name of a local variable."""
        found = []
        for unit in part.units:
            for r in uses(unit.source):
                thing = self.thing(unit, r.name)
                if thing and self.final[thing] != r.name:
                    if self.final[thing] in local_names(unit.tree):
                        found.append(
                            f"`{r.name}` stands for the component {self.final[thing]}, which is also "
                            f"the name of a variable in `{unit.definition.name}`: rename the variable"
                        )
        return list(dict.fromkeys(found))

    def _group(self) -> None:
        """Units of several notebooks that say the same, of the same things, are written once."""
        self.groups = dict(self.units)
        colour = {
            key: (self.component.get(key), u.definition.kind, ast.dump(u.tree))
            for key, u in self.units.items()
        }
        while True:
            refined = {
                key: (colour[key], tuple(self._seen(u, r.name, colour) for r in uses(u.source)))
                for key, u in self.units.items()
            }
            number = {c: i for i, c in enumerate(dict.fromkeys(refined.values()))}
            if len(number) == len(set(colour.values())):
                break
            colour = {key: number[c] for key, c in refined.items()}
        first: dict[object, Unit] = {}
        for key, unit in self.units.items():
            self.groups[key] = first.setdefault(colour[key], unit)

    def _seen(self, unit: Unit, name: str, colour: dict) -> object:
        thing = self.thing(unit, name)
        return colour.get(thing[1]) if thing and thing[0] == "unit" else thing

    def _name(self) -> None:
        """Components keep their names; then the first in the course keeps its own."""
        written = {w for u in self.units.values() for w in re.findall(r"\w+", u.source)}
        taken = set(COMPONENTS)
        things: list[tuple[Thing, str]] = []
        for unit in self.units.values():
            for r in uses(unit.source):
                thing = self.thing(unit, r.name)
                if thing and thing[0] == "import":
                    imported = source_of(unit.notebook).imports[r.name]
                    known = self.imports.get(thing, imported)
                    self.imports[thing] = replace(
                        known, lines=tuple(sorted({*known.lines, *imported.lines}))
                    )
                if thing:
                    things.append((thing, r.name))
                else:
                    taken.add(r.name)  # a builtin that must stay one
        for unit in self.units.values():
            things += [(self.thing(unit, name), name) for name in unit.names]
        for thing, name in sorted(things, key=lambda t: t[0][0] != "import"):
            if thing[0] == "component":
                self.final[thing] = thing[1]
            elif thing not in self.final:
                new, n = name, 1
                while new in taken or n > 1 and new in written:
                    n += 1
                    new = f"{name}_{n}"
                taken.add(new)
                self.final[thing] = new
