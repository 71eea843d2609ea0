"""A trained run, opened again."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import torch
from torch import nn

from autograder.conform.load import load_module
from autograder.conform.row import describe
from autograder.errors import CourseError
from autograder.training import checkpoint
from autograder.training.loop import build
from autograder.training.snapshot import put_weights, source
from autograder.training.vocabulary import KINDS, Vocabulary

RUNS = Path("runs")


@dataclass(frozen=True)
class Run:
    """A model with its trained weights, in eval mode, and what belongs to it."""

    module: ModuleType
    model: nn.Module
    vocabulary: Vocabulary
    record: dict


def load_run(gpt2_path: str | Path, run_dir: str | Path) -> tuple[nn.Module, Vocabulary]:
    """The model of this gpt2.py with the run's weights, on the CPU, and the run's vocabulary."""
    run = open_run(gpt2_path, run_dir)
    return run.model, run.vocabulary


def open_run(gpt2_path: str | Path, run_dir: str | Path, device: torch.device | str = "cpu") -> Run:
    """CourseError: no such file or run, a damaged checkpoint, another model."""
    folder, module = Path(run_dir), load_module(gpt2_path)
    record, tensors = checkpoint.read(folder)
    with checkpoint.reading(folder):
        config, vocabulary = record["config"], vocabulary_of(record)
        warn_if_changed(record, gpt2_path)
    try:
        model = build(module, config)
    except Exception as error:  # a student's code may raise anything
        why = describe(error, module.__file__)
        raise CourseError(f"{gpt2_path} cannot make the run's model: {why}") from error
    put_weights(model, tensors)
    return Run(module, model.to(device).eval(), vocabulary, record)


def vocabulary_of(record: dict) -> Vocabulary:
    known = record["vocabulary"]
    return KINDS[known["kind"]](tuple(known["tokens"]), known["start"])


def warn_if_changed(record: dict, gpt2_path: str | Path) -> None:
    if source(gpt2_path)["sha256"] != record["gpt2"]["sha256"]:
        print(
            f"Warning: {gpt2_path} is not the file that this run was trained with "
            f"({record['gpt2']['path']}), or has changed since.",
            file=sys.stderr,
        )


def newest_run() -> Path:
    """The folder below runs/ whose checkpoint is the newest."""
    found = sorted(RUNS.glob(f"**/{checkpoint.RECORD}"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise CourseError(
            f"there is no trained run below {RUNS}/. Make one with `autograder train`, or name its "
            "folder with --run."
        )
    return found[-1].parent
