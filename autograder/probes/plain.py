"""Between tensors and plain data (NumPy arrays, numbers, strings, tuples, lists, dicts)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from autograder.probes.elsewhere import ELSEWHERE


@dataclass(frozen=True)
class OnOther:
    """A tensor on another device than the CPU; its numbers are left where they are."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class Foreign:
    """Something that no check compares; only the name of its type is kept."""

    type: str


class Listed(tuple):
    """A list, which is compared as a tuple is; only what is said of it differs."""


@dataclass(frozen=True)
class Seed:
    """Stands for a torch.Generator on the CPU with this seed, made anew for each call."""

    seed: int


def to_tensors(value: Any, device: str = "cpu") -> Any:
    """Arrays become tensors of the same dtype and order in memory, seeds generators, at any depth;
    the rest stays."""
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy(order="K")).to(device)
    if isinstance(value, Seed):
        return torch.Generator().manual_seed(value.seed)
    if isinstance(value, (tuple, list)):
        return type(value)(to_tensors(v, device) for v in value)
    if isinstance(value, dict):
        return {k: to_tensors(v, device) for k, v in value.items()}
    return value


def to_plain(value: Any) -> Any:
    """The inverse, for whatever a student's code may return."""
    if isinstance(value, torch.Tensor):
        if value.device.type in ("meta", ELSEWHERE):
            return OnOther(tuple(value.shape), str(value.dtype).removeprefix("torch."))
        value = value.detach().cpu()
        return (value.float() if value.dtype == torch.bfloat16 else value).numpy().copy()
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, (tuple, list)):
        plain = (to_plain(v) for v in value)
        return Listed(plain) if isinstance(value, list) else tuple(plain)
    if isinstance(value, dict):
        return {str(k): to_plain(v) for k, v in value.items()}
    return Foreign(f"{type(value).__module__}.{type(value).__name__}".removeprefix("builtins."))


def flat(value: Any) -> list[Any]:
    """The values in nested tuples and lists, in order; one value alone is a list of one."""
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in flat(item)]
    return [value]


def few(names: list[str], most: int = 6) -> str:
    """The names in a line, those beyond `most` as a number."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
