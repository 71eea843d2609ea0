"""Where a piece of Python may be changed: every node of its tree but what a run does not see.

Annotations, docstrings, decorators (but for no_grad), dict keys and the texts of errors are left
alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

SKIPPED = {"annotation", "returns", "decorator_list", "bases", "type_params", "keys", "ctx", "op"}


@dataclass(frozen=True)
class Site:
    """A node and where it stands; `attributes` are the names of all attributes in the tree, `names`
    the parameters and variables of the function around it."""

    parent: ast.AST
    field: str
    index: int | None  # in a list
    node: ast.AST
    attributes: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def sites(tree: ast.AST) -> Iterator[Site]:
    """Every node that may be changed, in the order of the text."""
    attributes = frozenset(n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute))

    def below(parent: ast.AST, names: tuple[str, ...]) -> Iterator[Site]:
        if isinstance(parent, ast.FunctionDef):
            names = _variables(parent)
        for field, value in ast.iter_fields(parent):
            for i, node in enumerate(value if isinstance(value, list) else [value]):
                index = i if isinstance(value, list) else None
                if isinstance(node, ast.AST) and not _left_alone(parent, field, node):
                    yield Site(parent, field, index, node, attributes, names)
                    if number(node) is None:  # -1 is one number, not a minus and a 1
                        yield from below(node, names)

    yield from below(tree, ())


def _variables(function: ast.FunctionDef) -> tuple[str, ...]:
    """Parameters and assigned names, in the order of the text."""
    inner = [n for n in ast.walk(function) if isinstance(n, (ast.arg, ast.Name))]
    bound = [n for n in inner if isinstance(getattr(n, "ctx", None), (ast.Store, type(None)))]
    bound.sort(key=lambda n: (n.lineno, n.col_offset))
    return tuple(dict.fromkeys(getattr(n, "arg", "") or n.id for n in bound))


def _left_alone(parent: ast.AST, field: str, node: ast.AST) -> bool:
    text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    key = text and isinstance(parent, ast.Subscript)
    said = isinstance(parent, ast.Raise)
    return field in SKIPPED or docstring or key or said or isinstance(node, ast.JoinedStr)


def number(node: ast.AST) -> int | float | None:
    """The value of a literal number, its sign included."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = number(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    return None
