"""Any UTF-8 file as a text, by characters: the first nine tenths to train on, the rest held out."""

from __future__ import annotations

from pathlib import Path

import torch

from autograder.errors import CourseError
from autograder.training.defaults import Settings
from autograder.training.text import Text, spread, windows
from autograder.training.vocabulary import Characters


def file_text(path: str | Path, settings: Settings) -> Text:
    """CourseError: no such file, not UTF-8, empty, too short for the context."""
    path, T = Path(path), settings.context
    text = _read(path)
    cut = len(text) - len(text) // 10
    if len(text) - cut < T + 1:
        raise CourseError(
            f"{path} has {len(text):,} characters. A tenth is held out and must hold a window of "
            f"--context + 1 = {T + 1}: take a text of {10 * (T + 1):,} or more, or a smaller "
            "--context."
        )
    vocabulary = Characters(tuple(sorted(set(text))))
    known = vocabulary.ids
    tokens = torch.tensor([known[character] for character in text])
    train, held_out = tokens[:cut], tokens[cut:]
    return Text(
        title=path.name,
        unit="character",
        vocabulary=vocabulary,
        train=train,
        starts=None,
        sampled=_windows(train, settings),
        held_out=_windows(held_out, settings),
        remark=_unseen(text[:cut], text[cut:]),
    )


def _read(path: Path) -> str:
    if not path.is_file():
        raise CourseError(f"{path}: no such file. --text takes a plain text file.")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CourseError(
            f"{path} is not UTF-8: the byte at {error.start:,} is {error.object[error.start]:#04x}."
            " Save it as UTF-8 in an editor, or convert it with iconv."
        ) from None
    if not text.strip():
        raise CourseError(f"{path} is empty.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _windows(tokens: torch.Tensor, settings: Settings) -> torch.Tensor:
    """Windows that do not overlap in their targets, spread evenly."""
    starts = torch.arange(0, len(tokens) - settings.context, settings.context)
    return windows(tokens, spread(starts, settings.held_out), settings.context)


def _unseen(train: str, held_out: str) -> str:
    unseen = sorted(set(held_out) - set(train))
    if not unseen:
        return ""
    some = ", ".join(map(repr, unseen[:8])) + (", ..." if len(unseen) > 8 else "")
    return f"only in the held-out tenth, so the model cannot learn them: {some}"
