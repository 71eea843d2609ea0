"""The settings of a training run, and the tuned ones for the two kinds of text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """All that decides what a run computes, apart from the text and the gpt2.py.

    Losses are measured on `held_out` windows of the held-out text and as many of the training text.
    """

    context: int  # tokens in a window, and n_positions of the model
    n_layer: int
    n_head: int
    d_model: int
    steps: int
    batch_size: int  # windows
    lr: float  # the largest learning rate, after the warm-up
    min_lr: float  # the one at the end
    warmup: int  # steps
    eval_every: int  # steps
    save_every: int  # steps
    beta1: float = 0.9
    beta2: float = 0.95
    weight_decay: float = 0.1
    max_norm: float = 1.0  # gradients are clipped to this norm
    dropout: float = 0.0
    held_out: int = 256  # windows at most
    tales: int = 12_000  # to train on; of no effect with --text
    seed: int = 0


# ---------------------------------------- tuned on the tales (autograder/training/tales.py)
TALES = Settings(
    context=64,
    n_layer=2,
    n_head=4,
    d_model=128,
    steps=900,
    batch_size=50,
    lr=1.8e-3,
    min_lr=2e-4,
    warmup=200,
    eval_every=100,
    save_every=200,
    beta2=0.995,
    weight_decay=0.01,
)

# ---------------------------------------- any file, by characters
CHARACTERS = Settings(
    context=128,
    n_layer=3,
    n_head=4,
    d_model=128,
    steps=1000,
    batch_size=16,
    lr=3e-3,
    min_lr=3e-4,
    warmup=100,
    eval_every=100,
    save_every=100,
    held_out=128,
)
