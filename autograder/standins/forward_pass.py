"""Stand-ins for chapter 6."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.standins.architecture import GPT2Config, embed
from autograder.standins.feedforward_layernorm import LayerNorm, PreNormBlock


def init_weights(model: nn.Module, generator: torch.Generator | None = None) -> None:
    """Matrices of deviation 0.02, W_O and W_down narrower by sqrt(2 L); gamma 1; all others 0."""
    for name, parameter in model.named_parameters():
        kind = name.rpartition(".")[2]
        if kind in ("W_O", "W_down"):
            std = 0.02 * (2 * model.config.n_layer) ** -0.5
            nn.init.normal_(parameter, std=std, generator=generator)
        elif parameter.ndim > 1:
            nn.init.normal_(parameter, std=0.02, generator=generator)
        else:
            nn.init.constant_(parameter, float(kind == "gamma"))


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    # logits (..., V), targets (...) -> ()
    """Mean surprise at the targets, in nats."""
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))


class GPT2(nn.Module):
    """GPT-2: token ids (B, T) -> logits (B, T, V)."""

    def __init__(self, config: GPT2Config):
        super().__init__()
        self.config = config
        V, d = config.vocab_size, config.d_model
        self.E = nn.Parameter(torch.empty(V, d))
        self.P = nn.Parameter(torch.empty(config.n_positions, d))
        blocks = [PreNormBlock(d, config.n_head, config.dropout) for _ in range(config.n_layer)]
        self.blocks = nn.ModuleList(blocks)
        self.ln_f = LayerNorm(d)
        self.register_parameter("W_U", None)
        if not config.tie_weights:
            self.W_U = nn.Parameter(torch.empty(d, V))
        init_weights(self)

    def forward(self, ids: Tensor) -> Tensor:
        # (B, T) -> (B, T, V)
        V, longest = self.config.vocab_size, self.config.n_positions
        if ids.shape[-1] not in range(1, longest + 1):
            raise ValueError(f"{ids.shape[-1]} tokens; the model takes 1 to {longest}")
        if not ids.is_meta and (ids.amin() < 0 or ids.amax() >= V):
            raise ValueError(f"a token id is not in 0 ... {V - 1}")
        x = F.dropout(embed(ids, self.E, self.P), self.config.dropout, self.training)
        for block in self.blocks:
            x = block(x)
        return F.linear(self.ln_f(x), self.E if self.W_U is None else self.W_U.T)

    def loss(self, ids: Tensor, targets: Tensor) -> Tensor:
        # ids (B, T), targets (B, T), already shifted -> ()
        """Mean cross-entropy over all positions."""
        return cross_entropy(self(ids), targets)


def next_token_distribution(logits: Tensor) -> Tensor:
    # (..., T, V) -> (..., V)
    """Softmax of the logits at the last position."""
    return F.softmax(logits.select(-2, -1), -1)
