"""The running example of the book: a sentence, and a trained GPT-2 small enough to follow by hand.

`weights` has the names and shapes of GPT2's state_dict, for the sizes in `config`. They were learnt
(see make.py) and then rounded to one decimal; most are 0.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from torch import Tensor

from autograder.example.trace import run

_STORED = json.loads(Path(__file__).with_name("weights.json").read_text(encoding="utf-8"))

words: list[str] = _STORED["words"]  # V = 8; the id of a word is its place
config: dict[str, int] = _STORED["config"]  # arguments of GPT2Config
weights: dict[str, Tensor] = {name: torch.tensor(w) for name, w in _STORED["weights"].items()}
sentence: list[str] = "the owl saw the mouse".split()  # T = 5


def encode(text: str | list[str]) -> Tensor:
    """Ids (T,) of words; KeyError for a word that is not in the vocabulary."""
    text = text.split() if isinstance(text, str) else text
    unknown = [word for word in text if word not in words]
    if unknown:
        raise KeyError(f"no such word: {', '.join(unknown)}; the vocabulary is {' '.join(words)}")
    return torch.tensor([words.index(word) for word in text])


ids: Tensor = encode(sentence)


def stages(text: str | list[str] | None = None) -> dict[str, Tensor]:
    """What the model computes for a text, the sentence unless given: see trace.py for the names."""
    return run(weights, config["n_head"], ids if text is None else encode(text))


def show(matrix: Tensor, rows: list[str] | None = None, columns: list[str] | None = None, digits=2):
    """Print a matrix with a word before each row; a vector is one row, and -inf prints as a dash."""
    matrix = torch.as_tensor(matrix)
    matrix = matrix[None] if matrix.dim() == 1 else matrix
    rows = rows or (sentence if len(matrix) == len(sentence) else [""] * len(matrix))
    width, name = digits + 5, max(map(len, rows))

    def cell(value: float) -> str:
        number = "-" if value == -torch.inf else f"{round(value, digits) + 0.0:.{digits}f}"
        return number.rjust(width)

    if columns:
        print(" " * name + "".join(column.rjust(width) for column in columns))
    for row, values in zip(rows, matrix.tolist()):
        print(row.rjust(name) + "".join(map(cell, values)))
