"""`python -m autograder.training.gpu_check gpt2.py`: the same file on a GPU.

It conforms there (within 1e-4 in float32), trains and writes. Exit
status 1 if one of these fails; without a GPU it says so and returns 0.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch

from autograder import conform
from autograder.errors import CourseError
from autograder.training import generate, train

SETTINGS = ("--steps", "60")
LEARNT = 1.0  # nats that the loss must fall by in so few steps


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="gpu_check", description=__doc__)
    parser.add_argument("file", metavar="gpt2.py")
    file = parser.parse_args(argv).file
    device = gpu()
    if device is None:
        print("no GPU here: skipped")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        results = {
            "conforms": attempt(lambda: conforms(file, device)),
            "trains": attempt(lambda: trains(file, device, Path(folder) / "run")),
            "writes": attempt(lambda: writes(file, device, Path(folder) / "run")),
        }
    print(f"\n{file} on {device}:")
    for what, good in results.items():
        print(f"  {what:10} {'ok' if good else 'FAILED'}")
    return 0 if all(results.values()) else 1


def gpu() -> str | None:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else None


def attempt(part: Callable[[], bool]) -> bool:
    """Whether it went well; an error is told, and the next part still runs."""
    try:
        return part()
    except CourseError as error:
        print(error, file=sys.stderr)
        return False


def conforms(file: str, device: str) -> bool:
    return command(conform, file, "--device", device) == 0


def trains(file: str, device: str, folder: Path) -> bool:
    status = command(train, file, "--device", device, "--out", str(folder), *SETTINGS)
    history = json.loads((folder / "checkpoint.json").read_text())["history"]
    return status == 0 and history[-1]["val"] < history[0]["val"] - LEARNT


def writes(file: str, device: str, folder: Path) -> bool:
    return command(generate, file, "--device", device, "--run", str(folder)) == 0


def command(module, *argv: str) -> int:
    """What `autograder` does with these arguments."""
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    return module.run(parser.parse_args(argv))


if __name__ == "__main__":
    sys.exit(main())
