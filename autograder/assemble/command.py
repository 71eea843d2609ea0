"""`autograder assemble`: notebooks to gpt2.py, or what is in the way."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from autograder.assemble import Assembly, assemble
from autograder.output import file_name, replace, require_writable
from autograder.survey.command import add_limit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder",
        type=Path,
        metavar="FOLDER",
        help="a folder of notebooks: solutions, exercises, a student's own, a graded submission",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=file_name,
        default=Path("gpt2.py"),
        metavar="FILE",
        help="the file to write (default: %(default)s)",
    )
    parser.add_argument(
        "--fill",
        action="store_true",
        help="take the course's stand-ins for components that are missing or wrong, and mark them",
    )
    add_limit(parser)


def run(args: argparse.Namespace) -> int:
    """Write the file and return 0; without --fill, 1 if a component is missing or wrong."""
    require_writable(args.output)
    assembly = assemble(args.folder, args.fill, args.limit)
    for remark in assembly.remarks:
        print(f"Remark: {remark}", file=sys.stderr)
    if assembly.text is None:
        print("\n".join(refusal(assembly, args)), file=sys.stderr)
        return 1
    replace(args.output, assembly.text.encode())
    if assembly.problems:
        print(f"{args.output} has stand-ins of the course for these components:")
        print("\n".join(listed(assembly)))
    lines = assembly.text.count("\n")
    print(f"{args.output} is written: {lines} lines")
    return 0


def refusal(assembly: Assembly, args: argparse.Namespace) -> list[str]:
    """What is in the way, and what to do."""
    count = len(assembly.problems)
    said = "one component is" if count == 1 else f"{count} components are"
    return [
        f"{args.output} is not written: {said} not ready.",
        *listed(assembly),
        f"autograder check {args.folder} says more; --fill takes the course's stand-ins for these.",
    ]


def listed(assembly: Assembly) -> list[str]:
    """The problems by notebook, those of one cause on one line."""
    lines: list[str] = []
    by_place: dict[tuple[str, str], list[str]] = {}
    for problem in assembly.problems:
        by_place.setdefault((problem.notebook, problem.reason), []).append(problem.component)
    notebook = ""
    for (file, reason), components in by_place.items():
        if file != notebook:
            notebook = file
            lines += ["", notebook]
        lines.append(f"  {', '.join(components)}: {reason}")
    return lines + [""]
