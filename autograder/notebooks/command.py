"""`autograder normalise`: notebooks in the form in which the project keeps them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from autograder.notebooks.find import files
from autograder.notebooks.normalise import dumps, normalise
from autograder.notebooks.read import NotebookError, read
from autograder.output import replace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="NOTEBOOK|FOLDER",
        help="notebooks, or folders in which to look for them",
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit 1 if a notebook would change"
    )


def run(args: argparse.Namespace) -> int:
    """Rewrite the notebooks that are not normalised yet; with --check, only name them."""
    paths = files(args.paths)
    if not paths:
        raise NotebookError(f"There is no notebook in {', '.join(map(str, args.paths))}.")
    texts = {path: dumps(normalise(read(path))).encode() for path in paths}  # before any is written
    changed = [path for path, text in texts.items() if path.read_bytes() != text]
    for path in changed:
        if args.check:
            print(f"{path} is not normalised", file=sys.stderr)
        else:
            replace(path, texts[path])
            print(f"{path} normalised")
    if args.check and changed:
        print(f"Run: autograder normalise {' '.join(map(str, changed))}", file=sys.stderr)
        return 1
    print(f"{len(paths) - len(changed)} of {len(paths)} notebooks were normalised already")
    return 0
