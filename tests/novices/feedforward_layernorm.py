"""Wrong solutions of notebook 5, feedforward layers and layer normalization."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from novices.novice import Novice
from torch import Tensor, nn

from autograder.standins import FeedForward, LayerNorm, MultiHeadAttention, gelu, matched_d_ff


def gelu_without_root_two(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """Takes erf(x) where Phi has erf(x / sqrt(2)); it is still 0 at 0 and 10 at 10."""
    return x * 0.5 * (1 + torch.erf(x))


def gelu_tanh_root_on_x_alone(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """Multiplies only x by sqrt(2/pi), not the cubic term."""
    c = math.sqrt(2 / math.pi)
    return 0.5 * x * (1 + torch.tanh(c * x + 0.044715 * x**3))


class FeedForwardExactGelu(nn.Module):
    """Two slips: it bends with the exact GELU, and the biases start from random numbers like
    the weights."""

    def __init__(self, d_model: int, d_ff: int | None = None):
        super().__init__()
        if d_ff is None:
            d_ff = 4 * d_model
        sizes = {
            "W_up": (d_model, d_ff),
            "b_up": (d_ff,),
            "W_down": (d_ff, d_model),
            "b_down": (d_model,),
        }
        for name, size in sizes.items():
            self.register_parameter(name, nn.Parameter(0.02 * torch.randn(*size)))

    def forward(self, x: Float[Tensor, "... d"]) -> Float[Tensor, "... d"]:
        hidden = gelu(x @ self.W_up + self.b_up)
        return hidden @ self.W_down + self.b_down


def matched_d_ff_one_too_many(d_model: int, multiple_of: int = 1) -> int:
    """Rounds up by adding one to the floor, which overshoots where 8/3 d is a multiple already."""
    return (8 * d_model // (3 * multiple_of) + 1) * multiple_of


class SwiGLULlamaWidth(nn.Module):
    """Rounds the default width up to a multiple of 256, as Llama does, instead of
    matched_d_ff(d_model)."""

    def __init__(self, d_model: int, d_ff: int | None = None):
        super().__init__()
        d_ff = d_ff or matched_d_ff(d_model, 256)
        self.W_up = nn.Parameter(torch.empty(d_model, d_ff).normal_(std=0.02))
        self.W_gate = nn.Parameter(torch.empty(d_model, d_ff).normal_(std=0.02))
        self.W_down = nn.Parameter(torch.empty(d_ff, d_model).normal_(std=0.02))

    def forward(self, x: Float[Tensor, "... d"]) -> Float[Tensor, "... d"]:
        return (x @ self.W_up * F.silu(x @ self.W_gate)) @ self.W_down


class LayerNormEpsilonOutside(nn.Module):
    """Adds eps to the standard deviation instead of to the variance under the root."""

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        self.eps = eps
        self.gamma = nn.Parameter(torch.ones(d_model))
        self.beta = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Float[Tensor, "... d"]) -> Float[Tensor, "... d"]:
        mean = x.mean(dim=-1, keepdim=True)
        std = x.std(dim=-1, keepdim=True, correction=0)
        return self.gamma * (x - mean) / (std + self.eps) + self.beta


class LayerNormFixedEpsilon(nn.Module):
    """Ignores the eps of the constructor and always takes layer_norm's default of 1e-5."""

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(d_model))
        self.beta = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Float[Tensor, "... d"]) -> Float[Tensor, "... d"]:
        return F.layer_norm(x, x.shape[-1:], self.gamma, self.beta)


class RMSNormByNormalize(nn.Module):
    """Scales F.normalize by sqrt(d), so that there is no eps under the root."""

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        self.scale = d_model**0.5
        self.eps = eps
        self.gamma = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Float[Tensor, "... d"]) -> Float[Tensor, "... d"]:
        return F.normalize(x, dim=-1, eps=self.eps) * self.scale * self.gamma


class PreNormBlockDropsTheStream(nn.Module):
    """Applies dropout to the sum of stream and write instead of to the write."""

    def __init__(self, d_model: int, n_head: int, dropout: float = 0.0):
        super().__init__()
        self.ln_1 = LayerNorm(d_model)
        self.attn = MultiHeadAttention(d_model, n_head, dropout)
        self.ln_2 = LayerNorm(d_model)
        self.ffn = FeedForward(d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x: Float[Tensor, "... T d"]) -> Float[Tensor, "... T d"]:
        x = self.drop(x + self.attn(self.ln_1(x)))
        x = self.drop(x + self.ffn(self.ln_2(x)))
        return x


class PostNormBlockNormsTheWrite(nn.Module):
    """Normalises what each sub-layer writes instead of the sum of stream and write."""

    def __init__(self, d_model: int, n_head: int, dropout: float = 0.0):
        super().__init__()
        self.ln_1, self.ln_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.attn = MultiHeadAttention(d_model, n_head, dropout)
        self.ffn = FeedForward(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Float[Tensor, "... T d"]) -> Float[Tensor, "... T d"]:
        x = x + self.ln_1(self.dropout(self.attn(x)))
        return x + self.ln_2(self.dropout(self.ffn(x)))


NOVICES = {
    "gelu": {
        "erf(x)": Novice(gelu_without_root_two, points_at=("sqrt(2)", "√2", "root of 2")),
    },
    "gelu_tanh": {
        "factor on x alone": Novice(
            gelu_tanh_root_on_x_alone, points_at=("sqrt(2/pi)", "sqrt(2 / pi)", "cub", "0.044715")
        ),
    },
    "FeedForward": {
        "exact GELU, random biases": Novice(
            FeedForwardExactGelu, points_at=("tanh", "exact", "bias", "zero")
        ),
    },
    "matched_d_ff": {
        "one multiple too many": Novice(
            matched_d_ff_one_too_many,
            points_at=("smallest", "already", "exact", "too large", "one too many"),
        ),
    },
    "SwiGLU": {
        "default width a multiple of 256": Novice(
            SwiGLULlamaWidth, points_at=("matched_d_ff", "d_ff", "hidden width", "8/3")
        ),
    },
    "LayerNorm": {
        "eps outside the root": Novice(
            LayerNormEpsilonOutside, points_at=("under the root", "eps", "inside")
        ),
        "eps of the constructor ignored": Novice(
            LayerNormFixedEpsilon, points_at=("eps", "constructor")
        ),
    },
    "RMSNorm": {
        "no eps under the root": Novice(
            RMSNormByNormalize, points_at=("eps", "under the root", "tiny")
        ),
    },
    "PreNormBlock": {
        "dropout on the sum": Novice(
            PreNormBlockDropsTheStream, points_at=("dropout", "dropped", "before it is added")
        ),
    },
    "PostNormBlock": {
        "norm on the write alone": Novice(
            PostNormBlockNormsTheWrite,
            points_at=("sum", "after the addition", "after each addition", "ln_1(x"),
        ),
    },
}
