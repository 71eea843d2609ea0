"""The values that a module's parameters start with, in a few numbers."""

from __future__ import annotations

from contextlib import contextmanager

import torch
from torch import nn

from autograder.probes.call import Answer, Call, build

Groups = dict[str, tuple[str, ...]]  # name of a group -> endings of its parameters' names


def values(target, call: Call) -> Answer:
    """Statistics of a fresh instance. kwargs: `drawn` and `constant`, both Groups."""
    with torch_empty_is_nan():
        module = build(target, call)
    return Answer(value=statistics(module, **call.kwargs))


@contextmanager
def torch_empty_is_nan():
    """Memory that nobody has filled holds 0 by chance, and a check would pass by chance."""
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


def statistics(module: nn.Module, drawn: Groups, constant: Groups) -> dict[str, float]:
    """Of groups of random values, their root mean square and the share of entries that lie within
    it (0.683 for a normal distribution around 0); of constant ones, the smallest and the largest.
    """
    result = {}
    for name, endings in drawn.items():
        x = _together(module, endings)
        rms = x.square().mean().sqrt()
        share = (x.abs() <= rms * (1 + 1e-6)).float().mean()
        result[f"the root mean square of {name}"] = rms.item()
        result[f"the share of {name} within one standard deviation"] = share.item()
    for name, endings in constant.items():
        x = _together(module, endings)
        result[f"the smallest entry of {name}"] = x.min().item()
        result[f"the largest entry of {name}"] = x.max().item()
    return result


def _together(module: nn.Module, endings: tuple[str, ...]) -> torch.Tensor:
    found = [p.detach().flatten() for k, p in module.named_parameters() if k.endswith(endings)]
    return torch.cat(found).double() if found else torch.full((1,), torch.nan)
