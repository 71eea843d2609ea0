"""The rows as a table to read and as JSON."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict

import torch
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from autograder.conform.causes import causes
from autograder.conform.diagnosis import Diagnosis
from autograder.conform.row import FAIL, OK, SKIPPED, UNSEEN, Row

FEW = 5  # names that are listed
STYLE = {OK: "green", FAIL: "bold red", UNSEEN: "yellow", SKIPPED: "dim"}


def show(
    rows: list[Row], title: str, console: Console, diagnoses: Sequence[Diagnosis] = ()
) -> None:
    """A table, group by group; beneath it, a paragraph for each row that is not ok, and the
    mistakes that explain them."""
    table = Table(title=escape(title), title_justify="left", box=None, pad_edge=False)
    for column, justify in (("property", "left"), ("compared", "left"), ("error", "right")):
        table.add_column(column, justify=justify)
    table.add_column("tolerance", justify="right")
    table.add_column("", no_wrap=True)
    group = None
    for row in rows:
        if row.group != group:
            group = row.group
            table.add_row(f"[bold]{escape(group)}[/]")
        cells = [f"  {escape(row.name)}", escape(row.compared), number(row.error)]
        style = STYLE[row.status]
        table.add_row(*cells, number(row.tolerance), f"[{style}]{row.status}[/]")
    console.print(table)
    follows = causes(rows)
    for row in rows:
        if row.status == FAIL and row.name not in follows:
            console.print(f"\n[bold red]FAIL[/] [bold]{escape(row.name)}[/]: {escape(row.detail)}")
            console.print(f"     Look at: {escape(row.look)}.")
    named(diagnoses, console)
    if follows:
        console.print(f"\nWhat failed besides may follow from that: {escape('; '.join(follows))}.")
    skipped: dict[str, list[str]] = {}
    for row in rows:
        if row.status == UNSEEN:
            console.print(f"\n{escape(row.name)}, {row.status}: {escape(row.detail)}.")
        elif row.status == SKIPPED:
            skipped.setdefault(row.detail, []).append(row.name)
    for why, names in skipped.items():
        said = "; ".join(names) if len(names) <= FEW else f"{len(names)} rows"
        console.print(f"\n{escape(said)}, {SKIPPED}: {escape(why)}.")
    console.print(f"\n{verdict(rows)}")


def named(diagnoses: Sequence[Diagnosis], console: Console) -> None:
    """The components that are wrong by themselves, the others being right."""
    if diagnoses:
        console.print("\n[bold]What its components say, each checked by itself:[/]")
    for d in diagnoses:
        look = f" Look: {d.look}" if d.look else ""
        console.print(f"  [bold]{escape(d.component)}[/]: {escape(d.says + look)}")
        if d.explain:
            console.print(f"     More on it: {escape(d.explain)}")


def number(value: float | None) -> str:
    """Counts as they are, errors to two digits."""
    if value is None:
        return "-"
    if not math.isfinite(value):
        return "not finite"
    return f"{value:,.0f}" if value == int(value) else f"{value:.1e}"


def verdict(rows: list[Row]) -> str:
    failed = sum(row.failed for row in rows)
    ok = sum(row.status == OK for row in rows)
    aside = "".join(
        f", {n} {status}"
        for status in (UNSEEN, SKIPPED)
        if (n := sum(r.status == status for r in rows))
    )
    if failed:
        return f"[bold red]Does not conform[/]: {ok} ok, {failed} failed{aside}."
    return f"[bold green]Conforms[/]: {ok} ok{aside}."


def as_json(rows: list[Row], file: str, device: str, diagnoses: Sequence[Diagnosis] = ()) -> str:
    """JSON has no infinity: an error that is not finite is written as a string."""
    listed, follows = [], causes(rows)
    for row in rows:
        error = row.error if row.error is None or math.isfinite(row.error) else str(row.error)
        entry = {**vars(row), "error": error, "follows_from": follows.get(row.name)}
        del entry["stage"]
        listed.append(entry)
    conforms = not any(row.failed for row in rows)
    report = {"file": file, "device": device, "torch": torch.__version__, "conforms": conforms}
    report |= {"rows": listed, "diagnoses": [asdict(d) for d in diagnoses]}
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"
