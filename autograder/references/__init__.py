"""Outputs of Hugging Face transformers' GPT-2 on small models, stored once and loaded without it.

`references.json` tells the sizes, seeds, optimiser settings and library versions; each `<name>.npz`
holds one model's arrays, computed by transformers in float32 and again in float64:

    parameters/<published name>          float32, every tensor drawn at random
    ids, targets (B, T)   greedy (B, n_positions), the continuation of ids[:, :prompt]
    <dtype>/embedding (B, T, d)   <dtype>/blocks (L, B, T, d)   <dtype>/final_norm (B, T, d)
    <dtype>/attentions (L, B, H, T, T)   <dtype>/logits (B, T, V)   <dtype>/loss ()
    <dtype>/gradients/<published name>
    <dtype>/step_losses (10,)   <dtype>/step_norms (10,)      AdamW, norms before clipping
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from autograder.references.names import from_published

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Sizes:
    """All different within one reference, so that no two axes can be confused."""

    B: int
    T: int
    V: int
    n_positions: int
    d: int
    H: int
    L: int
    tied: bool


@dataclass(frozen=True)
class Reference:
    """One stored model: its sizes, its optimiser settings and its arrays."""

    name: str
    sizes: Sizes
    optimiser: dict
    arrays: dict[str, np.ndarray]

    def __getitem__(self, key: str) -> np.ndarray:
        return self.arrays[key]

    def under(self, prefix: str) -> dict[str, np.ndarray]:
        """The arrays whose key starts with `prefix`, without it."""
        return {k[len(prefix) :]: a for k, a in self.arrays.items() if k.startswith(prefix)}

    @property
    def published(self) -> dict[str, np.ndarray]:
        """Parameters under the names of a published GPT-2 file."""
        return self.under("parameters/")

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """Parameters under the names of gpt2.py's state_dict."""
        return from_published(self.published)

    def gradients(self, dtype: str) -> dict[str, np.ndarray]:
        """Gradients under the names of gpt2.py's state_dict."""
        return from_published(self.under(f"{dtype}/gradients/"))


def about() -> dict:
    """What references.json says: versions, and each reference's sizes, seed and optimiser."""
    return json.loads((FOLDER / "references.json").read_text(encoding="utf-8"))


@cache
def load(name: str) -> Reference:
    """The reference of this name; loaded once, its arrays read-only."""
    entry = about()["references"][name]
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files}
    for array in arrays.values():
        array.flags.writeable = False
    return Reference(name, Sizes(**entry["sizes"]), entry["optimiser"], arrays)
