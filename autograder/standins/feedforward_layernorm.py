"""Stand-ins for chapter 5."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.standins.multi_head_attention import MultiHeadAttention


def gelu(x: Tensor) -> Tensor:
    # (...) -> (...)
    """GELU, the exact form."""
    return F.gelu(x)


def gelu_tanh(x: Tensor) -> Tensor:
    # (...) -> (...)
    """GELU, the tanh form of GPT-2."""
    return F.gelu(x, approximate="tanh")


class FeedForward(nn.Module):
    """The feedforward network of GPT-2: x (..., d) -> (..., d)."""

    def __init__(self, d_model: int, d_ff: int | None = None):
        super().__init__()
        d_ff = d_ff or 4 * d_model
        self.W_up = nn.Parameter(0.02 * torch.randn(d_model, d_ff))
        self.b_up = nn.Parameter(torch.zeros(d_ff))
        self.W_down = nn.Parameter(0.02 * torch.randn(d_ff, d_model))
        self.b_down = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        # (..., d) -> (..., d)
        hidden = F.gelu(F.linear(x, self.W_up.T, self.b_up), approximate="tanh")
        return F.linear(hidden, self.W_down.T, self.b_down)


def matched_d_ff(d_model: int, multiple_of: int = 1) -> int:
    """The smallest multiple that is at least 8 d / 3."""
    widths = range(multiple_of, 3 * d_model + multiple_of, multiple_of)
    return next(d_ff for d_ff in widths if 3 * d_ff >= 8 * d_model)


class SwiGLU(nn.Module):
    """The gated feedforward network: x (..., d) -> (..., d)."""

    def __init__(self, d_model: int, d_ff: int | None = None):
        super().__init__()
        d_ff = d_ff or matched_d_ff(d_model)
        self.W_up = nn.Parameter(0.02 * torch.randn(d_model, d_ff))
        self.W_gate = nn.Parameter(0.02 * torch.randn(d_model, d_ff))
        self.W_down = nn.Parameter(0.02 * torch.randn(d_ff, d_model))

    def forward(self, x: Tensor) -> Tensor:
        # (..., d) -> (..., d)
        gate = F.silu(F.linear(x, self.W_gate.T))
        return F.linear(gate * F.linear(x, self.W_up.T), self.W_down.T)


class LayerNorm(nn.Module):
    """Layer normalisation over the last axis: x (..., d) -> (..., d)."""

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        self.eps = eps
        self.gamma = nn.Parameter(torch.ones(d_model))
        self.beta = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        # (..., d) -> (..., d)
        return F.layer_norm(x, self.gamma.shape, self.gamma, self.beta, self.eps)


class RMSNorm(nn.Module):
    """Division by the root of the mean square over the last axis: x (..., d) -> (..., d)."""

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        self.eps = eps
        self.gamma = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        # (..., d) -> (..., d)
        return F.rms_norm(x, self.gamma.shape, self.gamma, self.eps)


class PreNormBlock(nn.Module):
    """A block of GPT-2, each sub-layer reading a normalised copy: x (..., T, d) -> (..., T, d)."""

    def __init__(self, d_model: int, n_head: int, dropout: float = 0.0):
        super().__init__()
        self.dropout = dropout
        self.ln_1 = LayerNorm(d_model)
        self.attn = MultiHeadAttention(d_model, n_head, dropout)
        self.ln_2 = LayerNorm(d_model)
        self.ffn = FeedForward(d_model)

    def forward(self, x: Tensor) -> Tensor:
        # (..., T, d) -> (..., T, d)
        for norm, sublayer in ((self.ln_1, self.attn), (self.ln_2, self.ffn)):
            x = x + F.dropout(sublayer(norm(x)), self.dropout, self.training)
        return x


class PostNormBlock(nn.Module):
    """A block of the first transformer, the stream itself normalised: x (..., T, d) -> (..., T, d)."""

    def __init__(self, d_model: int, n_head: int, dropout: float = 0.0):
        super().__init__()
        self.dropout = dropout
        self.ln_1 = LayerNorm(d_model)
        self.attn = MultiHeadAttention(d_model, n_head, dropout)
        self.ln_2 = LayerNorm(d_model)
        self.ffn = FeedForward(d_model)

    def forward(self, x: Tensor) -> Tensor:
        # (..., T, d) -> (..., T, d)
        for norm, sublayer in ((self.ln_1, self.attn), (self.ln_2, self.ffn)):
            x = norm(x + F.dropout(sublayer(x), self.dropout, self.training))
        return x
