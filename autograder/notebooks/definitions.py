"""What a notebook defines at the top level of its cells: imports, functions, classes, constants."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from autograder.notebooks import effects
from autograder.notebooks.cells import Code, code_cells
from autograder.notebooks.scope import Reference, references

LONGEST = 60  # characters of a statement

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


@dataclass(frozen=True)
class Change:
    """A statement, outside of definitions, that binds or changes what a name stands for."""

    cell: int
    statement: str  # its first line
    again: bool = False  # it gives another thing the name of a definition

    def __str__(self) -> str:
        return f"cell {self.cell} (`{self.statement}`)"


@dataclass
class Definitions:
    """All that a notebook defines, by name; where a name comes twice, the later one."""

    found: dict[str, Definition] = field(default_factory=dict)
    computed: dict[str, Change] = field(default_factory=dict)  # what fills or changes a name
    # name -> {definition or function: the statement that fills it by running that}
    filled: dict[str, dict[str, Change]] = field(default_factory=dict)
    replaced: dict[str, Change] = field(default_factory=dict)  # a constant's second, other value
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
            try:
                _take(result, code, statement, references(statement))
            except RecursionError:  # a sum of a thousand terms, say
                why = f"line {statement.lineno} is nested too deeply to be read"
                result.remarks.append(f"cell {code.number}: {why}")
                for name in _bound(statement):
                    result.found.pop(name, None)
                    result.broken[name] = f"cell {code.number}, {why}"
    return result


def _bound(statement: ast.stmt) -> list[str]:
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return sorted(_names(*_targets(statement)))
    return [statement.name] if hasattr(statement, "name") else []


def _take(result: Definitions, code: Code, statement: ast.stmt, used: list[Reference]) -> None:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        kind = "class" if isinstance(statement, ast.ClassDef) else "function"
        _add(result, code, statement, statement.name, kind)
        if any(statement.name in _names(base) for base in getattr(statement, "bases", ())):
            change = _change(code, statement)  # `class GPT2(GPT2)` adds to an older one
            result.computed[statement.name] = change
        for name, how in effects.of_definition(statement, result.found):
            if _may_change(result, name):
                change = _change(code, statement)
                if how in statement.decorator_list:
                    said = f"@{ast.get_source_segment(code.text, how)}` on `{statement.name}"
                    change = Change(code.number, said)
                result.filled.setdefault(name, {})[statement.name] = change
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        _take_import(result, code, statement)
    elif _constant(statement) and not _from_itself(result, statement, used):
        for name in sorted(_names(*_targets(statement))):
            _add(result, code, statement, name, "constant")
    else:
        for inner in ast.walk(statement):
            if isinstance(inner, (ast.Import, ast.ImportFrom)):
                _take_import(result, code, inner)
        _note_computed(result, code, statement, used)


def _add(result: Definitions, code: Code, statement: ast.stmt, name: str, kind: str) -> None:
    old = result.found.get(name)
    if kind == "constant" and old and old.kind in ("function", "class"):
        if not isinstance(statement.value, (ast.Name, ast.Attribute, ast.Lambda)):
            return  # a trial that reuses the name for a value does not take the function away
    result.replaced.pop(name, None)
    if kind == "constant" and old and old.kind == kind:
        if ast.dump(ast.parse(old.source)) != ast.dump(ast.Module([statement], [])):
            result.replaced[name] = _change(code, statement)
    start = min([statement.lineno, *(d.lineno for d in _decorators(statement))])
    result.found[name] = Definition(name, kind, _source(code, statement, start), code.number, start)
    for told in (result.broken, result.computed, result.filled):
        told.pop(name, None)


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


def _note_computed(
    result: Definitions, code: Code, statement: ast.stmt, used: list[Reference]
) -> None:
    """Remember names that running code binds or changes: their definition alone is not enough."""
    for node in ast.walk(statement):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            result.computed.setdefault(node.name, _change(code, node))
    for r in used:
        if r.early and isinstance(r.node, ast.Name) and not isinstance(r.node.ctx, ast.Load):
            old = result.found.get(r.name)
            if isinstance(statement, ast.AugAssign):
                result.computed[r.name] = _change(code, statement)
            elif not old or old.kind == "constant" or _wraps(statement, r.name):
                result.computed[r.name] = _change(code, statement, again=bool(old))
    for effect in effects.of_statement(statement, result.found):
        change = _change(code, effect.statement)
        if effect.certain or not effect.by and _may_change(result, effect.name):
            result.computed[effect.name] = change
        elif _may_change(result, effect.name):
            result.filled.setdefault(effect.name, {})[effect.by] = change


def _may_change(result: Definitions, name: str) -> bool:
    """Whether a call may be said to change it: a module's `update` and the like may do anything."""
    return name in result.found and result.found[name].kind != "import"


def _wraps(statement: ast.stmt, name: str) -> bool:
    """`f = wrap(f)`, in which the name is handed over; not `f = f(x)`, a trial."""
    calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call)]
    return any(isinstance(a, ast.Name) and a.id == name for c in calls for a in c.args)


def _from_itself(result: Definitions, statement: ast.stmt, used: list[Reference]) -> bool:
    """`N = N + 1`: the older definition is needed too."""
    names = {r.name for r in used if isinstance(r.node, ast.Name)} & result.found.keys()
    loaded = {r.name for r in used if isinstance(getattr(r.node, "ctx", None), ast.Load)}
    return bool(names & loaded & _names(*_targets(statement)))


def _change(code: Code, statement: ast.stmt, again: bool = False) -> Change:
    line = (ast.get_source_segment(code.text, statement) or "").split("\n")[0].strip()
    line = line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
    return Change(code.number, line, again)


def _constant(statement: ast.stmt) -> bool:
    """Whether it gives plain names the value of a simple expression."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return False
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
