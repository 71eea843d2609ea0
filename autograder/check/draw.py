"""Random inputs for fixtures: float32, sizes that differ, nothing at its initial value."""

from __future__ import annotations

import numpy as np


def normal(
    rng: np.random.Generator, *shape: int, std: float = 1.0, mean: float = 0.0
) -> np.ndarray:
    return (mean + std * rng.standard_normal(shape)).astype(np.float32)


def choice(rng: np.random.Generator, *options: tuple[int, ...]) -> tuple[int, ...]:
    """One of several sets of sizes, so that a hidden seed brings other sizes too."""
    return options[rng.integers(len(options))]
