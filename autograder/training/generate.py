"""`autograder generate gpt2.py`: let a trained model write, with the file's own generate."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from autograder.errors import CourseError
from autograder.training import device as devices
from autograder.training.load import newest_run, open_run
from autograder.training.options import number, from_zero, not_negative, whole
from autograder.training.sample import write


def probability(text: str) -> float:
    return number(float, text, lambda p: 0 < p <= 1, "a number above 0, at most 1")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="gpt2.py", help="the file that the run was trained with")
    parser.add_argument(
        "--run",
        dest="run_dir",
        type=Path,
        metavar="DIR",
        help="folder of the run (default: the newest below runs/)",
    )
    parser.add_argument("--prompt", default="", metavar="TEXT", help="how the text begins")
    parser.add_argument(
        "--max-new-tokens",
        type=whole,
        default=300,
        metavar="N",
        help="words or characters to add at most; a tale ends earlier, and is cut off (...) where "
        "the model would no longer see its beginning (default: %(default)s)",
    )
    parser.add_argument(
        "--temperature",
        type=not_negative,
        default=1.0,
        metavar="X",
        help="below 1 safer, above 1 wilder; 0 always takes the likeliest token (default: 1)",
    )
    parser.add_argument("--top-k", type=whole, metavar="K", help="only the K likeliest tokens")
    parser.add_argument(
        "--top-p",
        type=probability,
        metavar="P",
        help="only the likeliest tokens that together have probability P",
    )
    parser.add_argument(
        "--seed", type=from_zero, default=0, help="another seed, another text (default: 0)"
    )
    parser.add_argument("--num", type=whole, default=1, metavar="N", help="how many (default: 1)")
    parser.add_argument("--device", choices=devices.DEVICES, default="cpu", help="default: cpu")
    parser.add_argument(
        "--vocabulary", action="store_true", help="show all tokens that the model knows, and end"
    )


def run(args: argparse.Namespace) -> int:
    """Print the texts; CourseError: no such run, or a prompt that the model cannot read."""
    folder = args.run_dir or newest_run()
    opened = open_run(args.file, folder, devices.pick(args.device))
    if args.vocabulary:
        print(opened.vocabulary.listing())
        return 0
    if not callable(getattr(opened.module, "generate", None)):
        raise CourseError(f"{args.file} does not define generate.")
    print(f"{folder}, step {opened.record['step']:,}\n", file=sys.stderr)
    texts = write(
        opened.module,
        opened.model,
        opened.vocabulary,
        args.prompt,
        args.max_new_tokens,
        args.num,
        args.seed,
        temperature=args.temperature,
        top_k=args.top_k,
        top_p=args.top_p,
    )
    print("\n\n".join(texts))
    return 0
