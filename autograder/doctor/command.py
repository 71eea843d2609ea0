"""`autograder doctor`: what is wrong with the training of a gpt2.py, and where to look."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from rich.console import Console

from autograder.doctor.examine import findings_of
from autograder.doctor.process import looks_at
from autograder.doctor.show import as_json, show
from autograder.output import file_name, replace, require_writable
from autograder.survey.command import add_limit
from autograder.training.device import DEVICES, pick
from autograder.training.options import from_zero, positive, whole


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="gpt2.py", help="the file to examine")
    parser.add_argument(
        "--text",
        metavar="FILE",
        help="a UTF-8 text to learn by characters (default: the course's tales)",
    )
    parser.add_argument(
        "--seconds",
        type=positive,
        default=60.0,
        metavar="S",
        help="how long to train (default: %(default)g)",
    )
    parser.add_argument("--seed", type=from_zero, default=0, metavar="N", help="default: 0")
    parser.add_argument("--device", choices=DEVICES, default="cpu", help="default: cpu")
    parser.add_argument(
        "--threads", type=whole, default=1, metavar="N", help="of the CPU (default: 1)"
    )
    parser.add_argument("--json", type=file_name, metavar="FILE", help="write all to FILE too")
    add_limit(parser, "a single look or training step")


def run(args: Namespace) -> int:
    """0: nothing is wrong; 1: something is; CourseError: the file or the text is of no use."""
    device = pick(args.device).type
    if args.json:
        require_writable(args.json)
    looks = looks_at(
        args.file,
        args.text,
        device,
        args.seed,
        args.seconds,
        args.threads,
        args.limit,
        heard=lambda event: told(event, args.seconds),
    )
    console = Console(width=None if sys.stdout.isatty() else 110, highlight=False)
    show(looks, console)
    if args.json:
        replace(args.json, as_json(looks, args.file, device).encode())
        console.print(f"Written to {args.json}.")
    return int(any(not finding.remark for finding in findings_of(looks)))


def told(event: dict, seconds: float) -> None:
    """The one part that takes long is told as it begins."""
    if event["event"] == "begin" and event["part"] == "training":
        print(f"Training for about {seconds:g} seconds …", flush=True)
