"""Small models that the probes hand to a student's training and generating code."""

from __future__ import annotations

from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.probes.plain import to_tensors


def modes(model: nn.Module) -> dict[str, bool]:
    """Whether each part of the model is in training mode; the whole has the name ""."""
    return {name: part.training for name, part in model.named_modules()}


class Named(nn.Module):
    """Holds parameters under given names; a dot in a name makes a module within."""

    def __init__(self, values: dict, aliases: dict[str, str] | None = None):
        super().__init__()
        made = {name: nn.Parameter(to_tensors(value)) for name, value in values.items()}
        made |= {alias: made[name] for alias, name in (aliases or {}).items()}
        for name, parameter in made.items():
            *path, last = name.split(".")
            at = self
            for step in path:
                if step not in at._modules:
                    at.add_module(step, nn.Module())
                at = at._modules[step]
            at.register_parameter(last, parameter)


class Small(Named):
    """A token's logits are (E[id] * keep) W + b: `keep` (d,) is its dropout, always the same one.
    `drop` is a part of its own, as nn.Dropout is: it is its mode that decides.

    It writes down each call of `loss`: (in training mode, gradients on).
    """

    def __init__(self, values: dict, keep):
        super().__init__(values)
        self.drop = nn.Module()
        self.register_buffer("keep", to_tensors(keep))
        self.log: list[tuple[bool, bool]] = []

    def forward(self, ids: Tensor) -> Tensor:
        # (B, T) -> (B, T, V)
        h = self.E[ids] * self.keep if self.drop.training else self.E[ids]
        return h @ self.W + self.b

    def loss(self, ids: Tensor, targets: Tensor) -> Tensor:
        self.log.append((self.training, torch.is_grad_enabled()))
        return F.cross_entropy(self(ids).flatten(0, -2), targets.flatten())


class Window(nn.Module):
    """Position s adds table[s, id_s] to the logits of itself and of every later position.

    So every logit depends on all tokens that are seen, and on where they stand. While `drop`, a
    part of its own, is in training mode, it reads another table. It writes down each call:
    (number of tokens, in training mode, gradients on).
    """

    def __init__(self, table, other):
        super().__init__()
        self.table = nn.Parameter(to_tensors(table))
        self.other = nn.Parameter(to_tensors(other))
        self.drop = nn.Module()
        n_positions, vocab_size = table.shape[:2]
        self.config = SimpleNamespace(n_positions=n_positions, vocab_size=vocab_size)
        self.log: list[tuple[int, bool, bool]] = []

    def forward(self, ids: Tensor) -> Tensor:
        # (B, T) -> (B, T, V)
        T, n = ids.shape[-1], self.config.n_positions
        if not 1 <= T <= n:
            raise ValueError(f"T = {T} tokens; the model takes 1 to {n}")
        self.log.append((T, self.training, torch.is_grad_enabled()))
        table = self.other if self.drop.training else self.table
        return table[torch.arange(T, device=ids.device), ids].cumsum(-2)
