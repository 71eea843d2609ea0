"""A text to train on: its tokens, held-out windows, and losses to compare a model with.

All losses are in nats per token, the mean over the same held-out targets.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import torch
from torch import Tensor

from autograder.training.vocabulary import Vocabulary


@dataclass(frozen=True)
class Floor:
    """What is known of each held-out target when the text's source is known."""

    nll: Tensor  # (W, T) float64: -log of its true probability, given all before it
    ability: Tensor  # (W, T): index into `abilities` of what it takes to predict it
    abilities: tuple[str, ...]
    without: dict[str, float]  # the least loss of a reader who lacks this ability

    @property
    def loss(self) -> float:
        """The least loss that any model can reach on these windows."""
        return self.nll.mean().item()

    def above(self, nll: Tensor) -> dict[str, float]:
        """How much of the loss above the floor each ability is to blame for; they add up to it."""
        excess = nll.double().cpu() - self.nll
        return {
            name: (excess * (self.ability == i)).mean().item()
            for i, name in enumerate(self.abilities)
        }


@dataclass(frozen=True)
class Text:
    """Tokens as int64. A window is T + 1 of them: T inputs, and as targets the T after the first."""

    title: str
    unit: str  # what a token is
    vocabulary: Vocabulary
    train: Tensor  # (N,)
    starts: Tensor | None  # where a training window may begin; None: anywhere
    sampled: Tensor  # (W, T + 1) windows of the training text, to measure the loss on it
    held_out: Tensor  # (W, T + 1) windows of text that is never trained on
    floor: Floor | None = None  # where the source of the text is known
    remark: str = ""

    def fingerprint(self) -> str:
        """Changes with any token or window."""
        digest = hashlib.sha256("\0".join(self.vocabulary.tokens).encode("utf-8"))
        for part in (self.train, self.sampled, self.held_out):
            digest.update(part.numpy().tobytes())
        return digest.hexdigest()

    def unigram(self) -> float:
        """Loss of a reader who knows only how often each token comes."""
        return -self._frequency().log()[self.held_out[:, 1:]].mean().item()

    def bigram(self) -> float:
        """Loss of one who also sees the token before; pairs are counted in the training text."""
        V, p = len(self.vocabulary), self._frequency()
        pairs, counts = (self.train[:-1] * V + self.train[1:]).unique(return_counts=True)
        before = torch.bincount(self.train[:-1], minlength=V)
        x, y = self.held_out[:, :-1], self.held_out[:, 1:]
        at = torch.searchsorted(pairs, x * V + y).clamp(max=len(pairs) - 1)
        seen = torch.where(pairs[at] == x * V + y, counts[at], 0)
        # one imagined count for each token before, shared out by frequency: no pair is impossible
        return -((seen + p[y]) / (before[x] + 1)).log().mean().item()

    def _frequency(self) -> Tensor:
        counts = torch.bincount(self.train, minlength=len(self.vocabulary)).double() + 1
        return counts / counts.sum()


def windows(tokens: Tensor, starts: Tensor, T: int) -> Tensor:
    # tokens (N,), starts (W,) -> (W, T + 1)
    """The T + 1 tokens from each start on."""
    return tokens[starts[:, None] + torch.arange(T + 1)]


def spread(starts: Tensor, at_most: int) -> Tensor:
    """At most so many of the starts, evenly spread over them."""
    if len(starts) <= at_most:
        return starts
    return starts[torch.linspace(0, len(starts) - 1, at_most).long()]
