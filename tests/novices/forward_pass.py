"""Wrong solutions of notebook 6, the full forward pass."""

import math

import torch
from jaxtyping import Float, Int
from novices.novice import Novice
from torch import Tensor, nn

from autograder.standins import (
    GPT2Config,
    LayerNorm,
    PreNormBlock,
    cross_entropy,
    embed,
    init_weights,
    softmax,
)


@torch.no_grad()
def init_weights_one_write_a_block(
    model: nn.Module, generator: torch.Generator | None = None
) -> None:
    """Two slips: sqrt(L) for sqrt(2 L), and the matrices that write are drawn without the
    generator."""
    L = model.config.n_layer
    for name, p in model.named_parameters():
        if name.endswith(("W_O", "W_down")):
            nn.init.normal_(p, mean=0.0, std=0.02 / math.sqrt(L))
        elif p.dim() == 2:
            p.normal_(0.0, 0.02, generator=generator)
        elif name.endswith("gamma"):
            p.fill_(1.0)
        else:
            p.zero_()


def cross_entropy_with_a_small_number(
    logits: Float[Tensor, "... V"], targets: Int[Tensor, "..."]
) -> Float[Tensor, ""]:
    """Takes the logarithm of the probability plus 1e-9, so that no position's loss can exceed
    20.7."""
    p = softmax(logits, dim=-1)
    p_target = p.gather(-1, targets[..., None])[..., 0]
    return -torch.log(p_target + 1e-9).mean()


class GPT2ShiftsAgain(nn.Module):
    """Shifts in loss, as other libraries do, although the targets are shifted already."""

    def __init__(self, config: GPT2Config):
        super().__init__()
        self.config = config
        V, d = config.vocab_size, config.d_model
        self.E = nn.Parameter(torch.empty(V, d))
        self.P = nn.Parameter(torch.empty(config.n_positions, d))
        self.blocks = nn.ModuleList(
            PreNormBlock(d, config.n_head, config.dropout) for _ in range(config.n_layer)
        )
        self.ln_f = LayerNorm(d)
        if not config.tie_weights:
            self.W_U = nn.Parameter(torch.empty(d, V))
        self.drop = nn.Dropout(config.dropout)
        init_weights(self)

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        self.check_ids(ids)
        x = self.drop(embed(ids, self.E, self.P))
        for block in self.blocks:
            x = block(x)
        x = self.ln_f(x)
        return x @ (self.E.T if self.config.tie_weights else self.W_U)

    def loss(self, ids: Int[Tensor, "B T"], targets: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
        logits = self(ids)
        # position t predicts token t + 1
        return cross_entropy(logits[:, :-1], targets[:, 1:])

    def check_ids(self, ids: Int[Tensor, "B T"]) -> None:
        T, V = ids.shape[-1], self.config.vocab_size
        if not 1 <= T <= self.config.n_positions:
            raise ValueError(f"T = {T} tokens; the model takes 1 to {self.config.n_positions}")
        if ids.device.type != "meta" and not (0 <= ids.min() and ids.max() < V):
            raise ValueError(f"token ids must lie in 0 ... {V - 1}")


class GPT2KeepsATransposedCopy(nn.Module):
    """Stores E.T once, in the constructor, so it goes stale as soon as E's storage is exchanged."""

    def __init__(self, config: GPT2Config):
        super().__init__()
        self.config = config
        self.E = nn.Parameter(torch.empty(config.vocab_size, config.d_model))
        self.P = nn.Parameter(torch.empty(config.n_positions, config.d_model))
        self.drop = nn.Dropout(config.dropout)
        blocks = []
        for _ in range(config.n_layer):
            blocks.append(PreNormBlock(config.d_model, config.n_head, config.dropout))
        self.blocks = nn.ModuleList(blocks)
        self.ln_f = LayerNorm(config.d_model)
        if config.tie_weights:
            self.unembedding = self.E.T
        else:
            self.W_U = nn.Parameter(torch.empty(config.d_model, config.vocab_size))
            self.unembedding = self.W_U
        init_weights(self)

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        self.check_ids(ids)
        stream = self.drop(embed(ids, self.E, self.P))
        for block in self.blocks:
            stream = block(stream)
        return self.ln_f(stream) @ self.unembedding

    def loss(self, ids: Int[Tensor, "B T"], targets: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
        return cross_entropy(self(ids), targets)

    def check_ids(self, ids: Int[Tensor, "B T"]) -> None:
        T, V = ids.shape[-1], self.config.vocab_size
        if not 1 <= T <= self.config.n_positions:
            raise ValueError(f"T = {T} tokens; the model takes 1 to {self.config.n_positions}")
        if ids.device.type != "meta" and not (0 <= ids.min() and ids.max() < V):
            raise ValueError(f"token ids must lie in 0 ... {V - 1}")


def next_token_distribution_axis_1(logits: Float[Tensor, "... T V"]) -> Float[Tensor, "... V"]:
    """Takes the last entry of axis 1, which are the positions only if there is exactly one
    batch dimension."""
    return softmax(logits[:, -1], dim=-1)


NOVICES = {
    "init_weights": {
        "sqrt(L), and no generator for the writers": Novice(
            init_weights_one_write_a_block,
            points_at=("sqrt(2", "2l", "2 l", "generator", "narrow"),
        ),
    },
    "cross_entropy": {
        "log(p + 1e-9)": Novice(
            cross_entropy_with_a_small_number,
            points_at=("logsumexp", "right-hand", "rounded", "large", "several hundred"),
        ),
    },
    "GPT2": {
        "targets shifted twice": Novice(
            GPT2ShiftsAgain, points_at=("shift", "drops the last", "all positions")
        ),
        "E.T kept from the constructor": Novice(
            GPT2KeepsATransposedCopy,
            points_at=("anew", "very tensor", "tied", "copy", "same tensor"),
        ),
    },
    "next_token_distribution": {
        "logits[:, -1]": Novice(
            next_token_distribution_axis_1,
            points_at=("leading", "batch", "[..., -1", "second axis from the end", "last position"),
        ),
    },
}
