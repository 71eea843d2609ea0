"""Edit a gpt2.py by named places: `edit(source, ("attention", "/ math.sqrt(d_k)", ""))`.

The text of a definition is taken as `ast.unparse` writes it, so that line breaks, comments and
quotes of the source do not matter.
"""

import ast


def edit(source: str, *edits: tuple[str, str, str]) -> str:
    """Apply (place, old, new) in turn. A place is a path such as "GPT2.loss"; with an empty `old`
    the whole definition becomes `new`. Raises LookupError when the place or the text is not there.
    """
    tree = ast.parse(source)
    for place, old, new in edits:
        holder, index = find(tree, place)
        node = holder.body[index]
        text = ast.unparse(without_docstrings(node))
        if old and old not in text:
            raise LookupError(f"{old!r} is not in {place}:\n{text}")
        holder.body[index : index + 1] = ast.parse(text.replace(old, new) if old else new).body
    changed = ast.unparse(ast.fix_missing_locations(tree))
    if changed == ast.unparse(ast.parse(source)):
        raise LookupError("the edits change nothing")
    return changed


def find(tree: ast.Module, place: str) -> tuple[ast.AST, int]:
    holder = tree
    *outer, last = place.split(".")
    for name in outer:
        holder = holder.body[position(holder, name)]
    return holder, position(holder, last)


def position(holder: ast.AST, name: str) -> int:
    for i, node in enumerate(holder.body):
        if getattr(node, "name", None) == name:
            return i
    raise LookupError(f"no definition of {name}")


def without_docstrings(node: ast.AST) -> ast.AST:
    for inner in ast.walk(node):
        if isinstance(inner, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(inner):
            inner.body[:1] = [] if len(inner.body) > 1 else [ast.Pass()]
    return node
