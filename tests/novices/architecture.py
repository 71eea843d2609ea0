"""Wrong solutions of notebook 1, the architecture at a glance."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from novices.novice import Novice
from torch import Tensor, nn

from autograder.standins import GPT2Config, embed


def embed_length_from_axis_1(
    ids: Int[Tensor, "... T"], E: Float[Tensor, "V d"], P: Float[Tensor, "T_max d"]
) -> Float[Tensor, "... T d"]:
    """Takes T from axis 1 of a batch, so that it is wrong (mostly an error) for two or more
    leading axes."""
    if ids.dim() == 1:
        T = ids.shape[0]
    else:
        T = ids.shape[1]
    return E[ids] + P[:T]


class EmbeddingUniformAndStrict(nn.Module):
    """Two slips: the tables are uniform (rand for randn), and T equal to n_positions is refused."""

    def __init__(self, vocab_size: int, n_positions: int, d_model: int):
        super().__init__()
        self.n_positions = n_positions
        self.E = nn.Parameter(torch.rand(vocab_size, d_model) * 0.02)
        self.P = nn.Parameter(torch.rand(n_positions, d_model) * 0.02)

    def forward(self, ids: Int[Tensor, "... T"]) -> Float[Tensor, "... T d"]:
        T = ids.shape[-1]
        if T >= self.n_positions:
            raise ValueError(f"sequence of {T} tokens, but only {self.n_positions} positions")
        return embed(ids, self.E, self.P)


@dataclass(frozen=True)
class GPT2ConfigAssert:
    """Refuses sizes that do not fit with an assert, which is an AssertionError and no
    ValueError."""

    vocab_size: int = 50257
    n_positions: int = 1024
    n_layer: int = 12
    n_head: int = 12
    d_model: int = 768
    dropout: float = 0.0
    tie_weights: bool = True

    def __post_init__(self):
        assert (
            self.d_model % self.n_head == 0
        ), f"d_model={self.d_model} is not a multiple of n_head={self.n_head}"

    @classmethod
    def small(cls):
        return cls()

    @classmethod
    def medium(cls):
        return cls(n_layer=24, n_head=16, d_model=1024)

    @classmethod
    def large(cls):
        return cls(n_layer=36, n_head=20, d_model=1280)

    @classmethod
    def xl(cls):
        return cls(n_layer=48, n_head=25, d_model=1600)


def count_parameters_last_norm_and_wide_bias(config: GPT2Config) -> dict[str, int]:
    """Two slips: b_up is counted as d instead of 4d, and the LayerNorm after the last block is
    left out."""
    V, T, L, d = config.vocab_size, config.n_positions, config.n_layer, config.d_model
    parts = {
        "token_embedding": V * d,
        "position_embedding": T * d,
        "attention": L * 4 * (d * d + d),
        "feedforward": L * 2 * (4 * d * d + d),
        "layer_norm": L * 2 * (2 * d),
        "unembedding": 0 if config.tie_weights else d * V,
    }
    parts["total"] = sum(parts.values())
    return parts


NOVICES = {
    "embed": {
        "T from axis 1": Novice(
            embed_length_from_axis_1,
            points_at=("shape[-1]", "last axis", "last entry", "batch", "leading"),
        ),
    },
    "Embedding": {
        "uniform tables, full length refused": Novice(
            EmbeddingUniformAndStrict,
            points_at=("randn", "normal", "deviation", "n_positions", "allowed"),
        ),
    },
    "GPT2Config": {
        "assert for ValueError": Novice(
            GPT2ConfigAssert, points_at=("valueerror", "assert", "raise")
        ),
    },
    "count_parameters": {
        "last LayerNorm left out, b_up of length d": Novice(
            count_parameters_last_norm_and_wide_bias,
            points_at=("b_up", "bias", "after the last", "layer_norm", "feedforward"),
        ),
    },
}
