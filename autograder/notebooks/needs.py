"""What a definition needs of its notebook, directly and through what it uses."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module

from autograder.notebooks.definitions import Definition, Definitions
from autograder.notebooks.scope import Reference, references

BUILTINS = {*dir(builtins), "__name__", "__file__", "__doc__"}


@dataclass
class Needs:
    """The definitions that some names stand on, themselves included."""

    definitions: dict[str, Definition] = field(default_factory=dict)
    outside: list[str] = field(default_factory=list)  # names at which the search was to stop
    faults: list[str] = field(default_factory=list)  # names that no definition explains
    doubts: list[str] = field(default_factory=list)  # what to know where a check fails


def needs(
    found: Definitions,
    names: Iterable[str],
    stop: Collection[str] = (),
    text: Callable[[Definition], str] = lambda d: d.source,
) -> Needs:
    """Follow `names` through the notebook's definitions; `text` gives the source to look at."""
    result = Needs()
    queue = [(name, "") for name in names]
    while queue:
        name, user = queue.pop(0)
        if name in result.definitions or name in result.outside:
            continue
        if user and name in stop:
            result.outside.append(name)
            continue
        definition = found.found.get(name)
        if definition is None and name in BUILTINS:
            continue
        definition = definition or _from_star(found, name)
        fault = _fault(found, name, user, definition)
        if fault and fault not in result.faults:
            result.faults.append(fault)
        if definition:
            result.definitions[name] = definition
            if definition.kind != "import":
                queue += [(r.name, name) for r in uses(text(definition))]
    for name in result.definitions:
        result.faults += _unfilled(found, name, {*result.definitions, *result.outside})
        if name in found.replaced:
            change = found.replaced[name]
            result.doubts.append(f"`{name}` is set again by {change}, and that value counts")
    return result


def ordered(definitions: Iterable[Definition]) -> list[Definition]:
    """In an order in which they can be executed: the notebook's, what is read at once first."""
    queue = sorted(set(definitions), key=lambda d: (d.kind != "import", d.cell, d.line, d.name))
    by_name = {d.name: d for d in queue}
    done: dict[Definition, None] = {}
    open_: set[Definition] = set()

    def place(d: Definition, early: bool) -> None:
        """With what `d` reads when executed; for a base or decorator all that it may call."""
        if d in done or d in open_:
            return
        open_.add(d)
        if d.kind != "import":
            for r in uses(d.source):
                if (r.early or early) and r.name in by_name:
                    place(by_name[r.name], True)
        done[d] = None

    for d in queue:
        place(d, False)
    return list(done)


@lru_cache(maxsize=None)
def uses(source: str) -> list[Reference]:
    return references(ast.parse(source))


def _fault(found: Definitions, name: str, user: str, definition: Definition | None) -> str:
    change = found.computed.get(name)
    if definition and change and change.again:
        other = {"constant": "give one of the two another name"}
        advice = other.get(definition.kind, "write that into the definition, as a decorator say")
        return f"`{name}` is bound anew by {change}: {advice}"
    if definition and change:
        return f"`{name}` is changed by {change}, outside of its definition: {_advice(definition)}"
    if definition:
        return ""
    start = f"`{user}` uses `{name}`" if user else f"`{name}` is needed"
    if name in found.broken:
        return f"{start}, but {found.broken[name]}"
    if change:
        return (
            f"{start}, which is no definition but a value that cell {change.cell} computes "
            f"(`{change.statement}`): hand it over as an argument"
        )
    return f"{start}, which the notebook does not define"


def _advice(definition: Definition) -> str:
    return {
        "constant": "write the value that it has in the end where it is defined",
        "import": "take that out, for definitions alone come along",
    }.get(definition.kind, f"write that into the {definition.kind}")


def _unfilled(found: Definitions, name: str, along: set[str]) -> list[str]:
    """What fills it in the notebook and does not come along with it."""
    return [
        f"`{name}` is filled by {change}, and `{by}` does not come along, for nothing here uses it "
        f"by its name: write what `{name}` holds where it is defined"
        for by, change in found.filled.get(name, {}).items()
        if by not in along
    ]


def _from_star(found: Definitions, name: str) -> Definition | None:
    """The import that `from module import *` stands for."""
    for module in reversed(found.stars):
        root = module.split(".")[0]
        if root in ("torch", "jaxtyping") or root in sys.stdlib_module_names:
            if hasattr(import_module(module), name):
                return Definition(name, "import", f"from {module} import {name}", 0, 0)
    return None
