"""Every mutant of a definition: the operators applied to each node in turn."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass

from mutation.operators import OPERATORS
from mutation.sites import sites


@dataclass(frozen=True)
class Mutant:
    """A definition with one change, told by its line and its text before and after."""

    component: str
    line: int  # of the definition
    before: str
    after: str
    source: str  # the whole definition, changed
    operator: str
    number: int = 1  # among those that read the same, in one line

    @property
    def id(self) -> str:
        again = f" ({self.number})" if self.number > 1 else ""
        return f"{self.component}:{self.line}: {self.before} -> {self.after}{again}"


def mutants(component: str, source: str) -> list[Mutant]:
    """All mutants of a function or class, none twice, none the same as the source, each of them
    valid Python."""
    tree = ast.parse(source)
    seen, alike, found = {ast.unparse(tree)}, Counter(), []
    for site in sites(tree):
        for operator in OPERATORS:
            for new in operator(site):
                site.put(new)
                text = ast.unparse(tree)
                site.put(site.node)
                if text not in seen and _valid(text):
                    seen.add(text)
                    key = (site.node.lineno, *_difference(site.node, new))
                    alike[key] += 1
                    found.append(Mutant(component, *key, text, operator.__name__, alike[key]))
    return found


def _valid(text: str) -> bool:
    try:
        compile(text, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _difference(old: ast.AST, new: ast.AST) -> tuple[str, str]:
    """Both as text, without the lines that they share: a decorator is told without its function."""
    a, b = ast.unparse(old).splitlines(), ast.unparse(new).splitlines()
    while a and b and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    return "; ".join(map(str.strip, a)) or "nothing", "; ".join(map(str.strip, b)) or "nothing"
