"""The options of `autograder train`, and the settings that they make."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

from autograder.errors import CourseError
from autograder.training.defaults import CHARACTERS, TALES, Settings
from autograder.training.device import DEVICES


def whole(text: str) -> int:
    """A whole number from 1 on."""
    return number(int, text, lambda n: n >= 1, "a whole number from 1 on")


def from_zero(text: str) -> int:
    return number(int, text, lambda n: n >= 0, "a whole number from 0 on")


def positive(text: str) -> float:
    return number(float, text, lambda x: 0 < x < float("inf"), "a number above 0")


def not_negative(text: str) -> float:
    return number(float, text, lambda x: 0 <= x < float("inf"), "a number from 0 on")


def share(text: str) -> float:
    return number(float, text, lambda x: 0 <= x < 1, "a number from 0 to below 1")


def number(kind, text: str, good, what: str):
    try:
        number = kind(text)
    except ValueError:
        number = None
    if number is None or not good(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return number


# field of Settings: how to read it, what it is
OPTIONS = {
    "seed": (from_zero, "of the first weights, the batches and dropout"),
    "steps": (whole, "batches to train on"),
    "batch_size": (whole, "windows in a batch"),
    "lr": (positive, "the largest learning rate, reached after the warm-up"),
    "min_lr": (not_negative, "the learning rate at the end"),
    "warmup": (from_zero, "steps in which the learning rate rises"),
    "weight_decay": (not_negative, "of matrices and embeddings"),
    "dropout": (share, "share of activations that a training step leaves out"),
    "n_layer": (whole, "blocks"),
    "n_head": (whole, "heads in each block"),
    "d_model": (whole, "width of the residual stream"),
    "context": (whole, "tokens in a window (n_positions)"),
    "eval_every": (whole, "steps between two evaluations"),
    "save_every": (whole, "steps between two checkpoints"),
}


def add_settings(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "settings", "defaults: for the tales; for a file of one's own"
    )
    for name, (kind, what) in OPTIONS.items():
        usual = " / ".join(f"{v:g}" for v in _defaults(name))
        group.add_argument(
            flag(name), type=kind, metavar=kind_name(kind), help=f"{what} (default: {usual})"
        )


def add_places(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="gpt2.py", help="the file whose model is trained")
    parser.add_argument(
        "--text",
        type=Path,
        metavar="FILE",
        help="a UTF-8 text to learn by characters (default: tales of the course's own, of which "
        "the least possible loss is known)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder of the run (default: runs/tales, or runs/NAME for a text NAME.txt)",
    )
    again = parser.add_mutually_exclusive_group()
    again.add_argument(
        "--resume", action="store_true", help="go on with the run in DIR from its checkpoint"
    )
    again.add_argument(
        "--overwrite", action="store_true", help="begin anew, in place of the run in DIR"
    )
    parser.add_argument(
        "--device", choices=DEVICES, help="where to compute (default: a GPU if there is one)"
    )
    parser.add_argument(
        "--threads", type=whole, metavar="N", help="of the CPU (default: 2 if it has 2 cores)"
    )


def settings_of(args: argparse.Namespace) -> Settings:
    """The defaults for this kind of text, with the options given in their place.

    With another --steps the warm-up, evaluations and checkpoints keep their share of the run; with
    another --lr, --min-lr keeps its share of it.
    """
    usual, given = CHARACTERS if args.text else TALES, _given(args)
    derived = {"min_lr": usual.min_lr * given.get("lr", usual.lr) / usual.lr}
    for name in ("warmup", "eval_every", "save_every"):
        share_of_run = getattr(usual, name) * given.get("steps", usual.steps) / usual.steps
        derived[name] = max(1, round(share_of_run))
    settings = dataclasses.replace(usual, **(derived | given))
    if settings.min_lr > settings.lr:
        raise CourseError(f"--min-lr {settings.min_lr:g} is above --lr {settings.lr:g}.")
    if settings.d_model % settings.n_head:
        raise CourseError(
            f"--d-model {settings.d_model} is not a multiple of --n-head {settings.n_head}."
        )
    return settings


def require_same(args: argparse.Namespace, settings: Settings, text: str | None) -> None:
    """CourseError where an option contradicts the run that is to be resumed."""
    differing = [
        f"{flag(name)} {value:g} (the run has {getattr(settings, name):g})"
        for name, value in _given(args).items()
        if value != getattr(settings, name)
    ]
    if args.text and str(args.text.resolve()) != text:
        differing.append(f"--text {args.text} (the run learns {text or 'the tales'})")
    if differing:
        raise CourseError(
            f"a resumed run keeps its settings; against them: {', '.join(differing)}. Leave that "
            "out, or begin a new run with --overwrite or another --out."
        )


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def kind_name(kind) -> str:
    return "N" if kind in (whole, from_zero) else "X"


def _given(args: argparse.Namespace) -> dict:
    return {name: v for name in OPTIONS if (v := getattr(args, name)) is not None}


def _defaults(name: str) -> list:
    """The default for the tales and, where it is another, that for a file."""
    return list(dict.fromkeys(getattr(usual, name) for usual in (TALES, CHARACTERS)))
