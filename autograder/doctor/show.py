"""The findings to read, or the table of what was looked at, and both as JSON."""

from __future__ import annotations

import json

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from autograder.doctor.examine import findings_of
from autograder.doctor.finding import Look
from autograder.doctor.follows import parents


def show(looks: list[Look], console: Console) -> None:
    """Findings, causes first; then remarks; the table where nothing is wrong."""
    findings = findings_of(looks)
    faults, follows = [f for f in findings if not f.remark], parents(findings)
    by_cause = {f.cause: f for f in faults}
    for finding in faults:
        if finding.cause not in follows:
            _print(console, "[bold red]FOUND[/]", finding.lines())
    if follows:
        console.print("\nThis follows from that, or may:")
        for cause, parent in follows.items():
            said, root = by_cause[cause], by_cause[parent]
            what = f"{said.lines()[0]} ({said.evidence.rstrip('.')})"
            console.print(Padding(escape(what), (0, 0, 0, 2), expand=False))
            console.print(Padding(f"follows from: {escape(root.what)}", (0, 0, 0, 6), expand=False))
    if not faults:
        _table(looks, console)
    for finding in findings:
        if finding.remark:
            _print(console, "[bold]REMARK[/]", finding.lines())
    roots = len(faults) - len(follows)
    console.print(f"\n{_verdict(roots, len(follows), len(looks))}")


def _print(console: Console, mark: str, lines: list[str]) -> None:
    what, *rest = lines
    console.print(f"\n{mark} {escape(what)}")
    for line in rest:
        console.print(Padding(escape(line), (0, 0, 0, 6), expand=False))


def _table(looks: list[Look], console: Console) -> None:
    table = Table(box=None, pad_edge=False)
    for column in ("looked at", "measured", "has to be"):
        table.add_column(column)
    for look in looks:
        table.add_row(escape(look.name), escape(look.measured), escape(look.bound))
    console.print(table)


def _verdict(roots: int, following: int, looks: int) -> str:
    if not roots:
        return f"Nothing found in {looks} looks. `autograder conform` compares every number."
    more = f", and {following} that follow{'s' * (following == 1)}" if following else ""
    return f"{roots} cause{'s' * (roots > 1)} found{more}, in {looks} looks."


def as_json(looks: list[Look], file: str, device: str) -> str:
    findings = findings_of(looks)
    follows = parents(findings)
    report = {
        "file": file,
        "device": device,
        "findings": [
            {**vars(finding), "follows_from": follows.get(finding.cause)} for finding in findings
        ],
        "looks": [
            {"name": look.name, "measured": look.measured, "bound": look.bound} for look in looks
        ],
    }
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"
