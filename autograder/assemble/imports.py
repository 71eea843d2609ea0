"""The imports of the assembled file: torch and the standard library, one block, sorted."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Import:
    """One name bound by an import. `path` is the full name of what it stands for."""

    name: str
    path: str
    attribute: bool  # written `from ... import ...`
    lines: tuple[str, ...] = ()  # all of `import a.b`, `import a.c` that bind a

    @property
    def root(self) -> str:
        return self.path.split(".")[0]

    @property
    def allowed(self) -> bool:
        return allowed(self.root)


def allowed(root: str) -> bool:
    """Whether gpt2.py may import this package."""
    return root == "torch" or root in sys.stdlib_module_names


def parse(source: str) -> Import:
    """From the source of an import definition, which binds one name."""
    statements = ast.parse(source).body
    first = statements[0]
    (alias,) = first.names
    if isinstance(first, ast.ImportFrom):
        module = "." * first.level + (first.module or "")
        return Import(alias.asname or alias.name, f"{module}.{alias.name}", True)
    if alias.asname:
        return Import(alias.asname, alias.name, False)
    root = alias.name.split(".")[0]
    return Import(root, root, False, tuple(sorted(s.names[0].name for s in statements)))


def inner_roots(tree: ast.AST) -> set[str]:
    """The packages that are imported inside functions."""
    roots: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            roots |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            roots.add("." if node.level else node.module.split(".")[0])
    return roots


def block(imports: Iterable[tuple[Import, str]]) -> str:
    """The lines for imports under their final names, the standard library first."""
    plain: dict[str, set[str]] = {}
    grouped: dict[str, dict[str, set[str]]] = {}
    for imported, name in imports:
        if imported.attribute:
            module, _, attribute = imported.path.rpartition(".")
            grouped.setdefault(imported.root, {}).setdefault(module, set()).add(
                attribute if attribute == name else f"{attribute} as {name}"
            )
        elif imported.lines and imported.path == name:
            plain.setdefault(imported.root, set()).update(imported.lines)
        else:
            plain.setdefault(imported.root, set()).add(f"{imported.path} as {name}")
    sections: dict[bool, list[str]] = {False: [], True: []}
    roots = plain.keys() | grouped.keys()
    for is_torch in sections:
        chosen = sorted(r for r in roots if (r == "torch") == is_torch)
        lines = [f"import {m}" for m in sorted(m for r in chosen for m in plain.get(r, ()))]
        modules = {m: names for r in chosen for m, names in grouped.get(r, {}).items()}
        for module in sorted(modules):
            lines.append(f"from {module} import {', '.join(sorted(modules[module], key=_rank))}")
        sections[is_torch] = lines
    return "\n\n".join("\n".join(lines) for lines in sections.values() if lines)


def _rank(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, as usual."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2, name)
