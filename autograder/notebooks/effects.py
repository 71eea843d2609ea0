"""What code changes besides the names that it binds: lists that grow, classes that are patched.

Only definitions come into gpt2.py and before a check. What a cell does to them afterwards is lost,
so it has to be seen, though nothing is run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from autograder.notebooks.scope import references

METHODS = frozenset(  # they change what they are called on
    "append extend insert remove pop clear sort reverse add discard update setdefault popitem "
    "difference_update intersection_update symmetric_difference_update appendleft popleft "
    "extendleft rotate register __setitem__ __delitem__ __setattr__ __delattr__".split()
)
IN_PLACE = re.compile(r".*[^_]_")  # torch's name for the same: `fill_`, `nn.init.zeros_`
FUNCTIONS = re.compile(  # they change their first argument
    r"(set|del)attr|(object|type)\.__(set|del)attr__|operator\.(set|del)item|(list|dict|set)\.\w+"
    r"|(random\.)?shuffle|(heapq\.)?heap\w+|(bisect\.)?insort\w*|(functools\.)?update_wrapper"
)
MAKERS = ("__init__", "__new__", "__call__", "__init_subclass__")  # run when a class is used
Function = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Effect:
    """A global name that a statement changes."""

    name: str
    statement: ast.stmt  # the inner one, of a loop
    by: str = ""  # the function whose code does it, if it is not the statement's own
    certain: bool = False  # by an assignment; what a method of a module does cannot be known


def of_statement(statement: ast.stmt, found: Mapping) -> Iterator[Effect]:
    """What is changed when it is run. `found`: the definitions so far, by name."""
    for node, inner in _running(statement):
        for root in _changed(node):
            yield Effect(root.id, inner, certain=not isinstance(node, ast.Call))
        if isinstance(node, ast.Call):
            for name, by in _of_call(node, found):
                yield Effect(name, inner, by)


def of_definition(
    definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, found: Mapping
) -> Iterator[tuple[str, ast.expr]]:
    """(name, decorator or base): a global name that is changed when the definition is run."""
    for decorator in definition.decorator_list:
        call = ast.Call(decorator, [ast.Name(definition.name, ast.Load())], [])
        for name in [root.id for root in _changed(call)] + [n for n, _ in _of_call(call, found)]:
            if name != definition.name:
                yield name, decorator
    for base in getattr(definition, "bases", ()):
        if isinstance(base, ast.Name) and base.id in found:
            for name in _inside(found[base.id].source, makers=("__init_subclass__",))[0]:
                yield name, base


def _running(statement: ast.stmt) -> Iterator[tuple[ast.AST, ast.stmt]]:
    """What is executed with the statement, each with its innermost statement; no function's body."""
    queue: list[tuple[ast.AST, ast.stmt]] = [(statement, statement)]
    for node, inner in queue:
        yield node, inner
        body = node.body if isinstance(node, (*Function, ast.Lambda)) else []
        left_out = body if isinstance(body, list) else [body]
        for child in ast.iter_child_nodes(node):
            if child not in left_out:
                queue.append((child, child if isinstance(child, ast.stmt) else inner))


def _changed(node: ast.AST) -> list[ast.Name]:
    """The names whose things this node changes by itself."""
    if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
        return _root(node)
    if not isinstance(node, ast.Call):
        return []
    function, first = node.func, node.args[:1]
    name = ast.unparse(function) if isinstance(function, (ast.Name, ast.Attribute)) else ""
    in_place = IN_PLACE.fullmatch(name)
    roots = _root(first[0]) if first and (in_place or FUNCTIONS.fullmatch(name)) else []
    if isinstance(function, ast.Attribute) and (in_place or function.attr in METHODS):
        roots = roots + _root(function.value)
    return roots


def _root(node: ast.expr) -> list[ast.Name]:
    """`NAMES` of `NAMES[0].x`, and of `vars(NAMES)`."""
    while not isinstance(node, ast.Name):
        if isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
            node = node.value
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("vars", "getattr"):
            node = node.args[0] if node.args else node.func
        else:
            return []
    return [node]


def _of_call(call: ast.Call, found: Mapping) -> Iterator[tuple[str, str]]:
    """(name, by) of a call of a function of the notebook, or of what such a call returns."""
    made = isinstance(call.func, ast.Call)  # `register("gelu")(f)`
    outer = call.func if made else call
    if not isinstance(outer.func, ast.Name) or outer.func.id not in found:
        return
    by = outer.func.id
    changed, arguments = _reach(by, found, made)
    for name in changed:
        yield name, by
    for i, argument in enumerate(outer.args):
        if i in arguments:
            yield from ((root.id, "") for root in _root(argument))
    for keyword in outer.keywords:
        if keyword.arg in arguments:
            yield from ((root.id, "") for root in _root(keyword.value))


def _reach(name: str, found: Mapping, made: bool) -> tuple[set[str], set]:
    """The global names that a call changes, through others that it calls too, and its arguments
    (each by place and by name) that it changes itself."""
    changed, arguments, called = _inside(found[name].source, made)
    changed, queue = set(changed), [name, *called]
    for other in queue:
        if other in found and other != name:
            more, _, further = _inside(found[other].source)
            changed |= more
            queue += [f for f in further if f not in queue]
    return changed, arguments


@lru_cache(maxsize=None)
def _inside(
    source: str, made: bool = False, makers: tuple[str, ...] = MAKERS
) -> tuple[frozenset[str], frozenset, tuple[str, ...]]:
    """What a definition's code changes when called: global names, arguments; and what it calls.

    `made`: also that of the functions that it makes, as a decorator with arguments does. `makers`:
    the methods to look at, if it is a class.
    """
    tree = ast.parse(source)
    outside = {r.node for r in references(tree)}
    changed, arguments, called = set(), set(), []
    for function in _functions(tree.body[0], makers):
        parameters = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
        body = function.body if isinstance(function.body, list) else [function.body]
        bodies = [*body, *(s for f in body if made and isinstance(f, Function) for s in f.body)]
        for node in (node for statement in bodies for node, _ in _running(statement)):
            stored = isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
            for root in [node] if stored else _changed(node):
                if root in outside:
                    changed.add(root.id)
                elif root.id in parameters and not stored:
                    arguments |= {root.id, parameters.index(root.id)}
            if isinstance(node, ast.Call) and node.func in outside:
                called.append(node.func.id)
    return frozenset(changed), frozenset(arguments), tuple(called)


def _functions(definition: ast.stmt, makers: tuple[str, ...]) -> list[ast.FunctionDef | ast.Lambda]:
    if isinstance(definition, Function):
        return [definition]
    if isinstance(definition, ast.ClassDef):
        return [f for f in definition.body if isinstance(f, Function) and f.name in makers]
    value = getattr(definition, "value", None)
    return [value] if isinstance(value, ast.Lambda) else []
