"""What a notebook defines at the top level of its cells: imports, functions, classes, constants."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from autograder.notebooks.cells import Code, code_cells

BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try)

# What a constant may call: it computes a value and does nothing else.
CALLABLE = re.compile(
    r"(c?math|operator)\.\w+|torch\.(tensor|finfo|iinfo|sqrt|device|arange|full|zeros|ones)"
    r"|(functools\.)?partial|(collections\.)?namedtuple|(typing\.)?TypeVar"
    r"|float|int|bool|str|complex|tuple|list|dict|set|frozenset|range|len|min|max|sum|abs|round"
    r"|pow|sorted|slice|sqrt|log|exp"
)


@dataclass(frozen=True)
class Definition:
    """One definition, its source kept exactly, with the comments that stand directly above it."""

    name: str
    kind: str  # "import", "function", "class" or "constant"
    source: str
    cell: int  # the number of its cell, from 1
    line: int  # where it starts in its cell, from 1


@dataclass
class Definitions:
    """All that a notebook defines, by name; where a name comes twice, the later one."""

    found: dict[str, Definition] = field(default_factory=dict)
    computed: dict[str, int] = field(default_factory=dict)  # name -> cell that fills or changes it
    broken: dict[str, str] = field(default_factory=dict)  # name in a cell that is no Python -> why
    stars: list[str] = field(default_factory=list)  # modules of `from ... import *`
    future: bool = False  # `from __future__ import annotations`
    remarks: list[str] = field(default_factory=list)


def definitions(nb: dict) -> Definitions:
    """Everything defined at the top level of the code cells. Nothing is run.

    A cell that is no valid Python is left out, with a remark.
    """
    result = Definitions()
    for code in code_cells(nb):
        for magic in code.dropped:
            result.remarks.append(f"cell {code.number}: `{magic}` is left out")
        if code.tree is None:
            result.remarks.append(f"cell {code.number} is left out: {code.error}")
            for name in re.findall(r"^(?:def|class)\s+(\w+)", code.text, re.M):
                if name not in result.found:
                    result.broken[name] = f"cell {code.number} is not valid Python: {code.error}"
            continue
        for statement in code.tree.body:
            _take(result, code, statement)
    return result


def _take(result: Definitions, code: Code, statement: ast.stmt) -> None:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        _add(result, code, statement, statement.name, "function")
    elif isinstance(statement, ast.ClassDef):
        _add(result, code, statement, statement.name, "class")
        if any(statement.name in _names(base) for base in statement.bases):
            result.computed[statement.name] = code.number  # `class GPT2(GPT2)` adds to an older one
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        _take_import(result, code, statement)
    elif isinstance(statement, (ast.Assign, ast.AnnAssign)) and _constant(statement):
        for name in sorted(_names(*_targets(statement))):
            _add(result, code, statement, name, "constant")
    elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Delete, *BLOCKS)):
        for inner in ast.walk(statement):
            if isinstance(inner, (ast.Import, ast.ImportFrom)):
                _take_import(result, code, inner)
        _note_computed(result, code, statement)


def _add(result: Definitions, code: Code, statement: ast.stmt, name: str, kind: str) -> None:
    old = result.found.get(name)
    if kind == "constant" and old and old.kind in ("function", "class"):
        if not isinstance(statement.value, (ast.Name, ast.Attribute, ast.Lambda)):
            return  # a trial that reuses the name for a value does not take the function away
    start = min([statement.lineno, *(d.lineno for d in _decorators(statement))])
    result.found[name] = Definition(name, kind, _source(code, statement, start), code.number, start)
    result.broken.pop(name, None)
    result.computed.pop(name, None)


def _take_import(result: Definitions, code: Code, statement: ast.Import | ast.ImportFrom) -> None:
    """One definition for each name that it binds, in a statement of its own."""
    module = "." * getattr(statement, "level", 0) + (getattr(statement, "module", None) or "")
    for alias in statement.names:
        if module == "__future__":
            result.future |= alias.name == "annotations"
            continue
        if alias.name == "*":
            result.stars.append(module)
            continue
        said = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
        source = f"from {module} import {said}" if module else f"import {said}"
        name = alias.asname or (alias.name if module else alias.name.split(".")[0])
        old = result.found.get(name)
        if old and old.kind in ("function", "class"):
            continue  # a later import, for a comparison, does not take the function away
        if old and old.kind == "import" and not (module or alias.asname):
            both = [*old.source.split("\n"), source]  # `import a.b` and `import a.c` bind `a` alike
            if all(s.startswith("import ") and " as " not in s for s in both):
                source = "\n".join(dict.fromkeys(both))
        result.found[name] = Definition(name, "import", source, code.number, statement.lineno)
        result.computed.pop(name, None)


def _note_computed(result: Definitions, code: Code, statement: ast.stmt) -> None:
    """Remember names that running code binds or changes: their definition alone is not enough."""
    for node in ast.walk(statement):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            result.computed.setdefault(node.name, code.number)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            if isinstance(statement, ast.AugAssign) or node.id not in result.found:
                result.computed[node.id] = code.number
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            if not isinstance(node.ctx, ast.Load):
                result.computed.update(dict.fromkeys(_root(node), code.number))


def _constant(statement: ast.Assign | ast.AnnAssign) -> bool:
    """Whether it gives plain names the value of a simple expression."""
    plain = (ast.Name, ast.Tuple, ast.List, ast.Store)
    targets = _targets(statement)
    if statement.value is None or not all(
        isinstance(n, plain) for t in targets for n in ast.walk(t)
    ):
        return False
    if isinstance(statement.value, ast.Lambda):
        return True
    for node in ast.walk(statement.value):
        if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
            return False
        if isinstance(node, ast.Call) and not CALLABLE.fullmatch(ast.unparse(node.func)):
            return False
    return True


def _source(code: Code, statement: ast.stmt, start: int) -> str:
    lines, end = code.text.split("\n"), statement.end_lineno
    for other in code.tree.body:
        if other is not statement and other.lineno <= end and start <= other.end_lineno:
            return ast.get_source_segment(code.text, statement)  # two statements on one line
    while start > 1 and lines[start - 2].startswith("#"):
        start -= 1
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        for i in range(end, len(lines)):  # comments that end its body
            if re.match(r"\s+#", lines[i]):
                end = i + 1
            elif lines[i].strip():
                break
    return "\n".join(lines[start - 1 : end])


def _decorators(statement: ast.stmt) -> list[ast.expr]:
    return getattr(statement, "decorator_list", [])


def _targets(statement: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return statement.targets if isinstance(statement, ast.Assign) else [statement.target]


def _names(*nodes: ast.AST) -> set[str]:
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)}


def _root(node: ast.expr) -> Iterator[str]:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id
