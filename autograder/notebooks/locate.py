"""Where each component is written: in its own notebook, or wherever a student has moved it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autograder.course import COMPONENTS
from autograder.notebooks.definitions import Definition
from autograder.notebooks.find import CourseNotebook


@dataclass(frozen=True)
class Place:
    """Where a component is defined; without a definition, why there is none."""

    component: str
    notebook: CourseNotebook | None
    definition: Definition | None = None
    why: str = ""
    stub: bool = False  # still as released


def locate(notebooks: list[CourseNotebook], component: str) -> Place:
    """Its own assignment's notebook wins, unless only another one has more than the stub."""
    own = [n for n in notebooks if n.assignment == COMPONENTS[component]]
    places = []
    for notebook in own + [n for n in notebooks if n not in own]:
        definition = notebook.definitions.found.get(component)
        if definition and definition.kind != "import":
            places.append(Place(component, notebook, definition, stub=is_stub(definition.source)))
    written = [p for p in places if not p.stub]
    if places:
        return (written or places)[0]
    if not own:
        return Place(component, None, why=f"there is no notebook of {COMPONENTS[component].name}")
    (notebook,) = own
    return Place(component, notebook, why=_why_missing(notebook, component))


def _why_missing(notebook: CourseNotebook, component: str) -> str:
    found = notebook.definitions
    if notebook.unreadable:
        return notebook.unreadable.replace(str(notebook.path), notebook.path.name)
    if component in found.broken:
        return found.broken[component]
    if component in found.found:
        return "the notebook imports it and does not define it"
    if component in found.computed:
        change = found.computed[component]
        return (
            f"cell {change.cell} makes it by running code (`{change.statement}`): define it at the "
            "top level of a cell"
        )
    return "the notebook does not define it"


def is_stub(source: str) -> bool:
    """Whether nothing has been written yet: every body is a docstring and NotImplementedError."""
    (node,) = ast.parse(source).body
    if isinstance(node, ast.ClassDef):
        methods = [n for n in node.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
        return bool(methods) and all(map(_raises_only, methods))
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _raises_only(node)


def _raises_only(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    if len(body) != 1 or not isinstance(body[0], ast.Raise) or body[0].exc is None:
        return False
    raised = body[0].exc
    return ast.unparse(raised.func if isinstance(raised, ast.Call) else raised) == (
        "NotImplementedError"
    )
