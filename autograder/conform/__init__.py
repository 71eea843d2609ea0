"""`autograder conform gpt2.py`: every number of a gpt2.py against independent references.

The error of a row is max|a - b| / max(1, max|b|), where b is the reference: absolute for small
numbers, relative to the largest entry of the array for large ones.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Collection
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import torch
from rich.console import Console

# the order of these imports is the order of the table
from autograder.conform import structure, numbers, behaviour, training, generation  # noqa: F401
from autograder.conform.load import load_module, require_names
from autograder.conform.published import load_file, published_rows
from autograder.conform.row import PROPERTIES, Row, measure
from autograder.conform.subject import Subject
from autograder.conform.table import as_json, show
from autograder.errors import CourseError


def rows(
    module_or_path: ModuleType | str | Path, device: str = "cpu", only: Collection[str] = ()
) -> list[Row]:
    """Every row of the table, or those named. CourseError: cannot be imported, lacks names."""
    subject = open_subject(module_or_path, device)
    wanted = [p for p in PROPERTIES if not only or p.name in only]
    with quiet_torch():
        return [measure(p, subject) for p in wanted]


def open_subject(module_or_path: ModuleType | str | Path, device: str) -> Subject:
    module = module_or_path
    if not isinstance(module, ModuleType):
        module = load_module(module_or_path)
    require_names(module)
    return Subject(module, device)


@contextmanager
def quiet_torch():
    """Own random state, and one thread: on models this small more threads only cost time."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng():
            yield
    finally:
        torch.set_num_threads(threads)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="gpt2.py", help="the file to compare")
    parser.add_argument(
        "--weights",
        metavar="PATH",
        help="published GPT-2 small (a safetensors or .bin file, or a folder with one): compare "
        "with numbers that others have printed for it",
    )
    parser.add_argument("--json", metavar="FILE", help="write the rows to FILE")
    parser.add_argument("--device", choices=("cpu", "cuda", "mps"), default="cpu")


def run(args: Namespace) -> int:
    """0 when every row is within its tolerance, 1 when one is not; CourseError: nothing to say."""
    require_device(args.device)
    parameters = load_file(args.weights) if args.weights else None
    module = load_module(args.file)
    found = rows(module, args.device)
    failed = any(row.failed for row in found)
    if parameters is not None and failed:
        print("The published weights are not tried: the file has to conform without them first.")
    elif parameters is not None:
        print("The published weights: ten training steps, twice, take some minutes on a CPU.")
        found += published_rows(open_subject(module, args.device), parameters)
    console = Console(width=None if sys.stdout.isatty() else 110, highlight=False)
    show(found, f"{args.file} against its references, {args.device}", console)
    if args.json:
        text = as_json(found, str(args.file), args.device)
        Path(args.json).write_text(text, encoding="utf-8")
        console.print(f"Rows written to {args.json}.")
    return int(any(row.failed for row in found))


def require_device(device: str) -> None:
    there = {"cuda": torch.cuda.is_available, "mps": torch.backends.mps.is_available}
    if device in there and not there[device]():
        raise CourseError(f"this machine has no {device} device; leave --device out for the CPU.")
