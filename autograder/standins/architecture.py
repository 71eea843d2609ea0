"""Stand-ins for chapter 1."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def embed(ids: Tensor, E: Tensor, P: Tensor) -> Tensor:
    # ids (..., T), E (V, d), P (n_positions, d) -> (..., T, d)
    """Token vectors plus position vectors."""
    return F.embedding(ids, E) + P.narrow(0, 0, ids.shape[-1])


class Embedding(nn.Module):
    """The two tables and their sum: ids (..., T) -> (..., T, d)."""

    def __init__(self, vocab_size: int, n_positions: int, d_model: int):
        super().__init__()
        self.E = nn.Parameter(nn.init.normal_(torch.empty(vocab_size, d_model), std=0.02))
        self.P = nn.Parameter(nn.init.normal_(torch.empty(n_positions, d_model), std=0.02))

    def forward(self, ids: Tensor) -> Tensor:
        if ids.shape[-1] > len(self.P):
            raise ValueError(f"{ids.shape[-1]} tokens, and room for {len(self.P)}")
        return F.embedding(ids, self.E) + self.P.narrow(0, 0, ids.shape[-1])


@dataclass(frozen=True)
class GPT2Config:
    """Sizes of a GPT-2. The defaults are GPT-2 small."""

    vocab_size: int = 50257
    n_positions: int = 1024
    n_layer: int = 12
    n_head: int = 12
    d_model: int = 768
    dropout: float = 0.0
    tie_weights: bool = True

    def __post_init__(self):
        if divmod(self.d_model, self.n_head)[1]:
            raise ValueError(f"{self.n_head} heads cannot share a width of {self.d_model}")

    @classmethod
    def small(cls):
        return cls()

    @classmethod
    def medium(cls):
        return cls(50257, 1024, 24, 16, 1024)

    @classmethod
    def large(cls):
        return cls(50257, 1024, 36, 20, 1280)

    @classmethod
    def xl(cls):
        return cls(50257, 1024, 48, 25, 1600)


def count_parameters(config: GPT2Config) -> dict[str, int]:
    """Number of parameters by part, and their "total": layers of torch.nn, made and counted."""
    V, T, L, d = config.vocab_size, config.n_positions, config.n_layer, config.d_model
    with torch.device("meta"):  # shapes without memory
        up, down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        parts = {
            "token_embedding": (1, [nn.Embedding(V, d)]),
            "position_embedding": (1, [nn.Embedding(T, d)]),
            "attention": (L, [nn.MultiheadAttention(d, config.n_head)]),
            "feedforward": (L, [up, down]),
            "layer_norm": (2 * L + 1, [nn.LayerNorm(d)]),
            "unembedding": (1, [] if config.tie_weights else [nn.Linear(d, V, bias=False)]),
        }
    counts = {
        name: times * sum(p.numel() for m in modules for p in m.parameters())
        for name, (times, modules) in parts.items()
    }
    return counts | {"total": sum(counts.values())}
