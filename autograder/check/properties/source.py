"""What can be told from the source of a student's code alone."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any


def shortcuts(target: Any, names: frozenset[str], right: bool) -> tuple[str, ...]:
    """Remarks on library calls that do the exercise's work; `right`: the component passes."""
    used = sorted(names & called(target))
    advice = "It gives the right numbers; you will learn more by writing the steps out."
    return tuple(
        f"`{name}` of the library does what this exercise asks you to write. "
        + (advice if right else "Write the steps out instead.")
        for name in used
    )


def called(target: Any) -> set[str]:
    """The names of all functions called in the source, without what they are attributes of."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(target)))
    except (OSError, TypeError, SyntaxError):
        return set()
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = {f.attr for f in calls if isinstance(f, ast.Attribute)}
    own = {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    return names | {f.id for f in calls if isinstance(f, ast.Name)} - own
