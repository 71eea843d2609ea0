"""The reference's components as solutions/ has them, each with what it uses of its notebook."""

from __future__ import annotations

import __future__
import linecache
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.course import COMPONENTS
from autograder.notebooks import find, locate, needs, ordered

SOLUTIONS = Path(__file__).parents[2] / "solutions"


@dataclass(frozen=True)
class Reference:
    """One component's source, and the definitions that stand around it, in order."""

    component: str
    source: str
    around: tuple[tuple[str, str], ...]  # name, source; its own one is replaced
    future: bool

    def define(self, source: str) -> Any:
        """The component with another source, in a module of its own."""
        texts = [source if name == self.component else text for name, text in self.around]
        text = "\n\n\n".join(texts) + "\n"
        module = sys.modules["mutant"] = ModuleType("mutant")
        module.__file__ = "<mutant>"
        # so that checks can show the line at fault, as they do in a notebook
        linecache.cache["<mutant>"] = (len(text), None, text.splitlines(True), "<mutant>")
        flags = __future__.annotations.compiler_flag if self.future else 0
        exec(compile(text, "<mutant>", "exec", flags, dont_inherit=True), vars(module))
        return vars(module)[self.component]


@cache
def references() -> dict[str, Reference]:
    """All components of the course, in its order."""
    notebooks = find([SOLUTIONS])
    return {name: _reference(locate(notebooks, name)) for name in COMPONENTS}


def _reference(place) -> Reference:
    found = place.notebook.definitions
    used = ordered(needs(found, [place.component]).definitions.values())
    around = tuple((d.name, d.source) for d in used)
    return Reference(place.component, place.definition.source, around, found.future)
