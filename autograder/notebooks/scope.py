"""Which global names a piece of code uses: what must exist before it can run."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
Comprehension = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Reference:
    """One place where a global name is read or bound."""

    name: str
    node: ast.Name | ast.Global
    early: bool  # read when the definition itself is executed: a decorator, base, default value
    string: ast.JoinedStr | None  # the f-string that it stands in


@dataclass
class _Scope:
    names: set[str]
    to_global: set[str]
    is_class: bool = False


def references(tree: ast.AST) -> list[Reference]:
    """Every use of a global name in top-level code."""
    visitor = _Visitor()
    visitor.visit(tree)
    return visitor.found


def local_names(tree: ast.AST) -> set[str]:
    """Every name that is local to some scope inside the code."""
    visitor = _Visitor()
    visitor.visit(tree)
    return visitor.locals


class _Visitor(ast.NodeVisitor):
    def __init__(self):
        self.found: list[Reference] = []
        self.locals: set[str] = set()
        self.scopes: list[_Scope] = []
        self.early = True
        self.string: ast.JoinedStr | None = None

    def visit_Name(self, node: ast.Name) -> None:
        if self.is_global(node.id):
            self.found.append(Reference(node.id, node, self.early, self.string))

    def visit_Global(self, node: ast.Global) -> None:
        self.found += [Reference(name, node, False, None) for name in node.names]

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        outer, self.string = self.string, self.string or node
        self.generic_visit(node)
        self.string = outer

    def visit_FunctionDef(self, node) -> None:
        self.each(node.decorator_list)
        self.generic(node, self.function)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.function(node)

    def function(self, node) -> None:
        a = node.args
        every = [*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg]
        arguments = [arg for arg in every if arg]
        self.each([*a.defaults, *a.kw_defaults, *(arg.annotation for arg in arguments)])
        self.each([getattr(node, "returns", None)])
        body = node.body if isinstance(node.body, list) else [node.body]
        early, self.early = self.early, False
        scope = _scope(body)
        scope.names |= {arg.arg for arg in arguments}
        self.inside(scope, self.each, body)
        self.early = early

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.each(node.decorator_list)
        self.generic(node, self.class_body)

    def class_body(self, node: ast.ClassDef) -> None:
        self.each([*node.bases, *node.keywords])
        scope = _scope(node.body)
        scope.is_class = True
        self.inside(scope, self.each, node.body)

    def comprehension(self, node) -> None:
        self.visit(node.generators[0].iter)
        targets = _scope([g.target for g in node.generators])
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        rest = [part for g in node.generators for part in (g.target, *g.ifs)]
        rest += [g.iter for g in node.generators[1:]]
        self.inside(targets, self.each, rest + results)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension

    def each(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def inside(self, scope: _Scope, visit, argument) -> None:
        self.scopes.append(scope)
        self.locals |= scope.names
        visit(argument)
        self.scopes.pop()

    def generic(self, node, visit) -> None:
        """A definition, in the scope of its type parameters if it has some: `def f[T](x: T)`."""
        parameters = {p.name for p in getattr(node, "type_params", [])}
        if parameters:
            self.inside(_Scope(parameters, set()), visit, node)
        else:
            visit(node)

    def is_global(self, name: str) -> bool:
        for depth, scope in enumerate(reversed(self.scopes)):
            if name in scope.to_global:
                return True
            if name in scope.names and not (scope.is_class and depth):
                return False
        return True


def _scope(body: list[ast.AST]) -> _Scope:
    """What the statements bind in their own scope."""
    names: set[str] = set()
    to_global: set[str] = set()
    elsewhere: set[str] = set()
    queue: list[ast.AST] = list(body)
    while queue:
        node = queue.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(a.asname or a.name).split(".")[0] for a in node.names}
        elif isinstance(node, ast.Global):
            to_global |= set(node.names)
        elif isinstance(node, ast.Nonlocal):
            elsewhere |= set(node.names)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
        if isinstance(node, (*Function, ast.ClassDef)):
            if not isinstance(node, ast.Lambda):
                names.add(node.name)
        elif isinstance(node, Comprehension):  # only := binds outside of it
            queue += [n.target for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
        else:
            queue += ast.iter_child_nodes(node)
    return _Scope(names - to_global - elsewhere, to_global)
