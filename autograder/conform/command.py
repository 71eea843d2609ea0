"""`autograder conform`: the table of a gpt2.py, and whether it conforms."""

import sys
from argparse import ArgumentParser, Namespace

import torch
from rich.console import Console

from autograder.conform.process import PUBLISHED, outcome_of
from autograder.conform.published import GROUP
from autograder.conform.table import as_json, show
from autograder.errors import CourseError
from autograder.output import file_name, replace, require_writable
from autograder.survey.command import add_limit


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="gpt2.py", help="the file to compare")
    parser.add_argument(
        "--weights",
        metavar="PATH",
        help="published GPT-2 small (a safetensors or .bin file, or a folder with one): compare "
        "with numbers that others have printed for it",
    )
    parser.add_argument("--json", type=file_name, metavar="FILE", help="write the rows to FILE")
    parser.add_argument("--device", choices=("cpu", "cuda", "mps"), default="cpu")
    add_limit(parser, f"the import or a single row (of --weights: {PUBLISHED} times as long)")


def run(args: Namespace) -> int:
    """0 when every row is within its tolerance, 1 when one is not; CourseError: nothing to say."""
    require_device(args.device)
    if args.json:
        require_writable(args.json)
    outcome = outcome_of(args.file, args.device, args.weights, args.limit, say)
    found = outcome.rows
    failed = any(row.failed for row in found)
    if args.weights and not any(row.group == GROUP for row in found):
        print("The published weights are not tried: the file has to conform without them first.")
    console = Console(width=None if sys.stdout.isatty() else 110, highlight=False)
    show(found, f"{args.file} against its references, {args.device}", console, outcome.diagnoses)
    if args.json:
        replace(args.json, as_json(found, str(args.file), args.device, outcome.diagnoses).encode())
        console.print(f"Rows written to {args.json}.")
    return int(failed)


def say(row: dict) -> None:
    """The rows that take minutes are told as they begin."""
    if row["group"] == GROUP:
        print(f"{row['name']} …", flush=True)


def require_device(device: str) -> None:
    there = {"cuda": torch.cuda.is_available, "mps": torch.backends.mps.is_available}
    if device in there and not there[device]():
        raise CourseError(f"this machine has no {device} device; leave --device out for the CPU.")
