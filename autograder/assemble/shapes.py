"""Turn jaxtyping annotations into plain types and one short comment that keeps the shapes."""

from __future__ import annotations

import ast
import textwrap

from autograder.assemble.edits import Edit, Places, apply

WIDTH = 100  # columns
DTYPES = frozenset(
    """Shaped Num Inexact Float Float16 Float32 Float64 BFloat16 Complex Real Int Int8 Int16 Int32
    Int64 Integer UInt UInt8 Bool Key Scalar""".split()
)


def plain(source: str, annotators: frozenset[str]) -> str:
    """`x: Float[Tensor, "T d"]` becomes `x: Tensor`, and the body starts with `# x (T, d)`.

    `annotators` are the names and modules that jaxtyping is imported as.
    """
    tree, places = ast.parse(source), Places(source)
    found = {node: _shape(node) for node in ast.walk(tree) if _is_shaped(node, annotators)}
    edits = [Edit(*places.span(node), places.text(node.slice.elts[0])) for node in found]
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            comment = _comment(node, found)
            if comment:
                edits.append(_insert(places, node, comment))
    return apply(source, edits)


def _is_shaped(node: ast.AST, annotators: frozenset[str]) -> bool:
    if not (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple)):
        return False
    kind = node.value
    known = (
        isinstance(kind, ast.Name)
        and kind.id in annotators
        or isinstance(kind, ast.Attribute)
        and isinstance(kind.value, ast.Name)
        and kind.value.id in annotators
    )
    parts = node.slice.elts
    return known and len(parts) == 2 and isinstance(getattr(parts[1], "value", None), str)


def _shape(node: ast.Subscript) -> str:
    """ "... T d" as (..., T, d); marks for broadcasting and the like are left out."""
    sizes = [s.lstrip("#?_").split("=")[-1] for s in node.slice.elts[1].value.split()]
    comma = "," if len(sizes) == 1 and sizes[0] != "..." else ""
    return f"({', '.join(sizes)}{comma})"


def _said(annotation: ast.expr | None, found: dict[ast.AST, str]) -> str:
    """The shapes in an annotation: of a tensor, of each of a tuple, of those in a list."""
    if annotation in found:
        return found[annotation]
    if isinstance(annotation, ast.BinOp):
        return _said(annotation.left, found) or _said(annotation.right, found)
    if not isinstance(annotation, ast.Subscript):
        return ""
    inner = annotation.slice
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    shapes = [s for s in (_said(part, found) for part in parts) if s]
    kind = ast.unparse(annotation.value).split(".")[-1].lower()
    if not shapes or kind in ("tuple", "optional", "union"):
        return ", ".join(shapes if kind == "tuple" else shapes[:1])
    return f"{kind} of {', '.join(shapes)}"


def _comment(node: ast.FunctionDef | ast.AsyncFunctionDef, found: dict[ast.AST, str]) -> str:
    a = node.args
    every = [*a.posonlyargs, *a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs]
    shapes = {arg.arg: _said(arg.annotation, found) for arg in every}
    shapes = {name: shape for name, shape in shapes.items() if shape}
    result = _said(node.returns, found)
    if {*shapes.values(), result} <= {"(...)", ""}:
        return ""  # any shape, the same shape: nothing to say
    takes = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
    if len(shapes) == 1 and result:
        (takes,) = shapes.values()
    return f"{takes} -> {result}".strip() if result else takes


def _insert(places: Places, function: ast.FunctionDef, comment: str) -> Edit:
    """The comment as the first lines of the body."""
    first = function.body[0]
    line = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", []))])
    start = places.offset(line, 0)
    at = places.offset(first.lineno, first.col_offset)
    if line == first.lineno and places.raw[start:at].strip():  # `def f(x): return x`
        indent = _indent(places, function.lineno) + "    "
        return Edit(at, at, f"\n{_lines(comment, indent)}{indent}")
    blank = places.raw.index(b"\n", len(places.raw[:start].rstrip())) + 1  # goes
    return Edit(blank, start, _lines(comment, _indent(places, line)))


def _indent(places: Places, line: int) -> str:
    text = places.raw[places.offset(line, 0) :].decode()
    return text[: len(text) - len(text.lstrip())]


def _lines(comment: str, indent: str) -> str:
    parts = _wrapped(comment, WIDTH - len(indent) - 2)
    return "".join(f"{indent}# {part}\n" for part in parts)


def _wrapped(comment: str, width: int) -> list[str]:
    if len(comment) <= width or " -> " not in comment:
        return textwrap.wrap(comment, width)
    takes, result = comment.split(" -> ")
    return textwrap.wrap(takes, width) + textwrap.wrap(f"-> {result}", width)
