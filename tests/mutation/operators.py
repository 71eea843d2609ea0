"""Small changes to a piece of Python: what each operator makes of one node of its tree.

An operator takes a Site and yields nodes to stand in its place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import copy

from mutation.sites import Site, number

ARITHMETIC = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Div, ast.Mult),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult, ast.Add),
}
ONE_WAY = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)  # a op b is not b op a
COMPARISONS = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
PAIRS = (
    "triu tril, amax amin, sum mean, max min, zeros ones, zeros_like ones_like, exp exp2, "
    "exp expm1, randn rand, cos sin, tanh sigmoid, erf tanh, rsqrt sqrt, ceil floor, "
    "argmax argmin, argsort sort, cumsum cumprod, logsumexp amax, mul_ add_, sub_ add_, "
    "endswith startswith, setdefault get, eval train, norm sum, reshape view, transpose movedim"
)
SIBLINGS: dict[str, set[str]] = {}
for a, b in (pair.split() for pair in PAIRS.split(", ")):
    SIBLINGS.setdefault(a, set()).add(b)
    SIBLINGS.setdefault(b, set()).add(a)
SIBLINGS["empty"] = {"zeros"}  # not the other way: what torch.empty holds differs from run to run
IN_PLACE = ("abs", "clamp", "exp", "masked_fill", "rsqrt", "sqrt", "triu")  # x.f(), not yet x.f_()
LIKE = ("gamma beta", "E P", "vocab_size n_positions", "n_layer n_head")
MODULES = {"math", "nn", "torch"}


def _with(node: ast.AST, **fields) -> ast.AST:
    """The node with other fields."""
    new = copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _swaps(items: list) -> Iterator[list]:
    """The list with two neighbours swapped, for each such pair."""
    for i in range(len(items) - 1):
        yield [*items[:i], items[i + 1], items[i], *items[i + 2 :]]


def _without(items: list) -> Iterator[list]:
    """The list without one of its items, for each."""
    for i in range(len(items)):
        yield [*items[:i], *items[i + 1 :]]


def _expression(text: str, **parts: ast.expr) -> ast.expr:
    """The tree of a text in which names stand for other trees."""

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return parts.get(node.id, node)

    return Fill().visit(ast.parse(text, mode="eval").body)


def arithmetic(site: Site) -> Iterator[ast.AST]:
    """a + b -> a - b, also in a += b; where it matters, b - a for a - b."""
    node = site.node
    if isinstance(node, (ast.BinOp, ast.AugAssign)):
        for op in ARITHMETIC.get(type(node.op), ()):
            yield _with(node, op=op())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ONE_WAY):
        yield _with(node, left=node.right, right=node.left)


def terms(site: Site) -> Iterator[ast.AST]:
    """a + b -> a, -> b."""
    if isinstance(site.node, ast.BinOp):
        yield from (site.node.left, site.node.right)


def comparison(site: Site) -> Iterator[ast.AST]:
    """a < b -> a <= b, -> a >= b."""
    if isinstance(site.node, ast.Compare):
        ops = site.node.ops
        for i, old in enumerate(ops):
            for new in COMPARISONS.get(type(old), ()):
                yield _with(site.node, ops=[*ops[:i], new(), *ops[i + 1 :]])


def boolean(site: Site) -> Iterator[ast.AST]:
    """a and b -> a or b, -> a, -> b; not a -> a; -a -> a."""
    node = site.node
    if isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        for values in _without(node.values):
            yield _with(node, values=values) if len(values) > 1 else values[0]
    elif isinstance(node, ast.UnaryOp) and number(node) is None:
        yield node.operand


def condition(site: Site) -> Iterator[ast.AST]:
    """if a -> if not a, -> if True, -> if False; in a comprehension too."""
    if site.field in ("test", "ifs"):
        yield ast.UnaryOp(ast.Not(), site.node)
        yield from (ast.Constant(True), ast.Constant(False))


def constant(site: Site) -> Iterator[ast.AST]:
    """n -> n + 1, n - 1, 0, -n; a float times 1.1, 0 and its negative; True -> False; "a" -> ""."""
    value = getattr(site.node, "value", None) if isinstance(site.node, ast.Constant) else None
    signed = number(site.node)
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, str):
        yield ast.Constant("")
    elif isinstance(signed, int):
        for new in sorted({signed + 1, signed - 1, 0, -signed} - {signed}):
            yield ast.Constant(new)
    elif isinstance(signed, float):
        larger = float(f"{signed * 1.1:.6g}") or 0.1
        for new in sorted({larger, 0.0, -signed} - {signed}):
            yield ast.Constant(new)


def default(site: Site) -> Iterator[ast.AST]:
    """def f(a=b) -> def f(a=None); a field of a dataclass too."""
    field = isinstance(site.parent, ast.AnnAssign) and site.field == "value"
    if field or site.field in ("defaults", "kw_defaults"):
        yield ast.Constant(None)


def arguments(site: Site) -> Iterator[ast.AST]:
    """f(a, b, c=d): two neighbours swapped, the last positional one or a named one left out."""
    node = site.node
    if isinstance(node, ast.Call):
        for args in _swaps(node.args):
            yield _with(node, args=args)
        if node.args:
            yield _with(node, args=node.args[:-1])
        for keywords in _without(node.keywords):
            yield _with(node, keywords=keywords)


def call(site: Site) -> Iterator[ast.AST]:
    """f(a, b) -> a, and x.f(a) -> x; max(a, b) -> b too; x.var() -> x.var(correction=0)."""
    node = site.node
    if not isinstance(node, ast.Call):
        return
    name = _name(node.func)
    if name in ("var", "std"):
        yield _with(node, keywords=[ast.keyword("correction", ast.Constant(0))])
    root = next(iter(_roots(node.func)), "")
    if isinstance(node.func, ast.Attribute) and root not in MODULES | {"self"}:
        yield node.func.value
    elif node.args:
        yield from node.args[: 2 if name in ("max", "min") else 1]


def sibling(site: Site) -> Iterator[ast.AST]:
    """x.triu() -> x.tril(), and other pairs; x.f_() -> x.f(), and for some x.f() -> x.f_()."""
    name = _name(site.node)
    if site.field != "func" or not name:
        return
    key = "attr" if isinstance(site.node, ast.Attribute) else "id"
    new = set(SIBLINGS.get(name, ()))
    if name.endswith("_") and not name.endswith("__"):
        new.add(name[:-1])
    if key == "attr" and name in IN_PLACE and next(iter(_roots(site.node)), "") not in MODULES:
        new.add(name + "_")
    for other in sorted(new):
        yield _with(site.node, **{key: other})


def like(site: Site) -> Iterator[ast.AST]:
    """self.W_Q -> self.W_K, where the definition has both: attributes of one kind."""
    if isinstance(site.node, ast.Attribute):
        kind = _kind(site.node.attr)
        for name in sorted(site.attributes - {site.node.attr}):
            if kind and _kind(name) == kind:
                yield _with(site.node, attr=name)


def _kind(name: str) -> str:
    prefix, _, rest = name.partition("_")
    if rest and prefix in ("W", "b", "ln"):
        return prefix
    return next((kind for kind in LIKE if name in kind.split()), "")


def variable(site: Site) -> Iterator[ast.AST]:
    """a -> the variable or parameter bound before it in the function, and the one after it."""
    node = site.node
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in site.names:
        at = site.names.index(node.id)
        for other in (*site.names[max(0, at - 1) : at], *site.names[at + 1 : at + 2]):
            yield ast.Name(other)


def loop(site: Site) -> Iterator[ast.AST]:
    """for a in b: without the first, without the last, backwards; enumerate from 1."""
    node = site.node
    if site.field != "iter":
        return
    yield from (_expression(f"list(b)[{s}]", b=node) for s in ("1:", ":-1", "::-1"))
    if isinstance(node, ast.Call) and _name(node.func) == "range" and len(node.args) == 1:
        for text in ("range(n - 1)", "range(1, n)", "range(n + 1)"):
            yield _expression(text, n=node.args[0])
    if isinstance(node, ast.Call) and _name(node.func) == "enumerate" and len(node.args) == 1:
        yield _with(node, args=[*node.args, ast.Constant(1)])


def subscript(site: Site) -> Iterator[ast.AST]:
    """a[b] -> a; a[b:c] -> a[:c], -> a[b:]; a.T -> a."""
    node = site.node
    if isinstance(node, ast.Subscript):
        yield node.value
    elif isinstance(node, ast.Slice):
        for part in ("lower", "upper", "step"):
            if getattr(node, part):
                yield _with(node, **{part: None})
    elif isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        yield node.value


def order(site: Site) -> Iterator[ast.AST]:
    """(a, b) -> (b, a): in results, in assignments, in loops."""
    if isinstance(site.node, ast.Tuple):
        for elements in _swaps(site.node.elts):
            yield _with(site.node, elts=elements)


def statement(site: Site) -> Iterator[ast.AST]:
    """An assignment, call, raise, return, break or continue -> pass; a raise of another error."""
    node = site.node
    short = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Raise, ast.Return)
    if isinstance(node, (*short, ast.Break, ast.Continue)):
        yield ast.Pass()
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        yield _with(node, exc=_with(node.exc, func=ast.Name("RuntimeError")))


def assignment(site: Site) -> Iterator[ast.AST]:
    """a += b -> a = b; a = a + b -> a += b, which changes the caller's tensor."""
    node = site.node
    if isinstance(node, ast.AugAssign):
        yield ast.Assign([node.target], node.value, lineno=node.lineno)
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
        (target, *_), value = node.targets, node.value
        if ast.unparse(target) == ast.unparse(value.left):
            yield ast.AugAssign(target, value.op, value.right)


def no_grad(site: Site) -> Iterator[ast.AST]:
    """@torch.no_grad() or `with torch.no_grad():` -> without it."""
    node = site.node
    if isinstance(node, ast.FunctionDef):
        kept = [d for d in node.decorator_list if "no_grad" not in ast.unparse(d)]
        if len(kept) < len(node.decorator_list):
            yield _with(node, decorator_list=kept)
    if isinstance(node, ast.With) and "no_grad" in ast.unparse(node.items[0]):
        yield ast.If(ast.Constant(True), node.body, [])


def _name(node: ast.AST) -> str:
    return getattr(node, "attr", "") or getattr(node, "id", "")


def _roots(node: ast.AST) -> Iterator[str]:
    """The name that a chain of attributes starts at: torch of torch.nn.Linear."""
    while isinstance(node, ast.Attribute):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


OPERATORS = (
    arithmetic,
    terms,
    comparison,
    boolean,
    condition,
    constant,
    default,
    arguments,
    call,
    sibling,
    like,
    variable,
    loop,
    subscript,
    order,
    statement,
    assignment,
    no_grad,
)
