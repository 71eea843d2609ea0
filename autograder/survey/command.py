"""`autograder check`: how far each component is, and what to do next."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from autograder.course import COMPONENTS, where
from autograder.errors import CourseError
from autograder.notebooks import CourseNotebook, find
from autograder.output import file_name, replace, require_writable
from autograder.survey.run import LIMIT, Verdict, survey

LONGEST = 86_400  # seconds
COLOURS = {"done": "green", "wrong": "red", "not started": "dim", "missing": "yellow"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="NOTEBOOK|FOLDER",
        help="notebooks, or folders in which to look for them",
    )
    parser.add_argument(
        "--json", type=file_name, metavar="FILE", help="write the verdicts to FILE too"
    )
    add_limit(parser)


def add_limit(parser: argparse.ArgumentParser, what: str = "a single definition or check") -> None:
    """The option of every command that runs a student's code."""
    parser.add_argument(
        "--limit",
        type=seconds,
        default=LIMIT,
        metavar="SECONDS",
        help=f"how long {what} may take (default: %(default)g)",
    )


def seconds(text: str) -> float:
    """A time that a process may take."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= LONGEST:  # nor NaN
        what = f"a number of seconds above 0, at most {LONGEST:,} (a day)"
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return value


def run(args: argparse.Namespace) -> int:
    """Print the table; 0 if every component is done, else 1."""
    if args.json:
        require_writable(args.json)
    notebooks = find(args.paths)
    verdicts = survey(notebooks, args.limit)
    if not verdicts:
        raise CourseError(_nothing(notebooks))
    console = Console(highlight=False)
    console.print(table(verdicts))
    for line in remarks(notebooks, verdicts):
        console.print(f"[yellow]Remark:[/] {escape(line)}")
    undone = [v for v in verdicts if not v.done]
    console.print("\n" + "\n".join(advice(verdicts, undone)), soft_wrap=not console.is_terminal)
    if args.json:
        content = {
            "components": [asdict(v) for v in verdicts],
            "next": undone[0].component if undone else None,
            "remarks": list(remarks(notebooks, verdicts)),
        }
        replace(args.json, (json.dumps(content, indent=1) + "\n").encode())
    return 1 if undone else 0


def table(verdicts: list[Verdict]) -> Table:
    """A heading for each assignment, then a row for each of its components."""
    result = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for column in range(2):
        result.add_column(no_wrap=True)
    result.add_column(overflow="fold")
    for number, (assignment, group) in enumerate(groupby(verdicts, lambda v: v.assignment)):
        rows = list(group)
        if number:
            result.add_row()
        done = sum(v.done for v in rows)
        result.add_row(f"[bold]{assignment}[/]", f"[bold]{done} of {len(rows)}[/]")
        for v in rows:
            colour = COLOURS[v.status]
            result.add_row(f"  {v.component}", f"[{colour}]{v.status}[/]", escape(v.why))
    return result


def remarks(notebooks: list[CourseNotebook], verdicts: list[Verdict]) -> Iterator[str]:
    for notebook in notebooks:
        if notebook.unreadable:
            yield notebook.unreadable
        yield from (f"{notebook.path.name}: {r}" for r in notebook.definitions.remarks)
    for v in verdicts:
        yield from (f"{v.component}: {r}" for r in v.remarks)


def advice(verdicts: list[Verdict], undone: list[Verdict]) -> list[str]:
    """What to do next: the first component, in course order, that is not done."""
    if not undone:
        return [f"All {len(verdicts)} components are done."]
    v = undone[0]
    assignment = COMPONENTS[v.component]
    lines = [f"{len(verdicts) - len(undone)} of {len(verdicts)} components are done."]
    lines.append(f"Next: [bold]{v.component}[/], in {escape(v.notebook or assignment.path)}")
    if v.why:
        lines.append(f"  {escape(v.why)}")
    lines.append(f"  To read: {where(v.component)}")
    if v.mistakes:
        lines.append(f"  More on it: autograder explain {' '.join(v.mistakes)}")
    return lines


def _nothing(notebooks: list[CourseNotebook]) -> str:
    unreadable = [n.unreadable for n in notebooks if n.unreadable]
    names = ", ".join(str(n.path) for n in notebooks)
    return "\n".join(unreadable) or f"No component of the course is defined in {names}."
