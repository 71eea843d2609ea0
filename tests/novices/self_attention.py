"""Wrong solutions of notebook 3, self-attention."""

import math

import torch
from jaxtyping import Float
from novices.novice import Novice
from torch import Tensor, nn

from autograder.standins import attention, causal_mask, softmax


def softmax_global_maximum(x: Float[Tensor, "... n"], dim: int = -1) -> Float[Tensor, "... n"]:
    """Subtracts the maximum of the whole tensor, so a row far below another one underflows to 0
    / 0."""
    e = torch.exp(x - x.max())
    return e / e.sum(dim=dim, keepdim=True)


def causal_mask_finite(T: int, device: torch.device | str | None = None) -> Float[Tensor, "T T"]:
    """Puts the lowest finite float where -inf belongs."""
    lowest = torch.finfo(torch.float32).min
    return torch.full((T, T), lowest, device=device).triu(1)


def attention_scaled_by_the_values(
    Q: Float[Tensor, "... T d_k"],
    K: Float[Tensor, "... S d_k"],
    V: Float[Tensor, "... S d_v"],
    mask: Float[Tensor, "T S"] | None = None,
    dropout: float = 0.0,
) -> tuple[Float[Tensor, "... T d_v"], Float[Tensor, "... T S"]]:
    """Divides by the root of the values' width d_v instead of d_k, the keys' width."""
    d_k = V.shape[-1]
    S = Q @ K.transpose(-2, -1) / math.sqrt(d_k)
    if mask is not None:
        S = S + mask
    A = softmax(S, dim=-1)
    return torch.dropout(A, dropout, train=True) @ V, A


def attention_returns_dropped_weights(
    Q: Float[Tensor, "... T d_k"],
    K: Float[Tensor, "... S d_k"],
    V: Float[Tensor, "... S d_v"],
    mask: Float[Tensor, "T S"] | None = None,
    dropout: float = 0.0,
) -> tuple[Float[Tensor, "... T d_v"], Float[Tensor, "... T S"]]:
    """Returns the weights as they are after dropout instead of before it."""
    scores = torch.einsum("...td,...sd->...ts", Q, K) / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + mask
    A = softmax(scores)
    if dropout > 0:
        A = torch.dropout(A, dropout, train=True)
    return A @ V, A


class AttentionHeadScaledTwice(nn.Module):
    """Divides the scores by sqrt(d_k) although attention does so already."""

    def __init__(self, d_model: int, d_k: int):
        super().__init__()
        for name in "QKV":
            setattr(self, f"W_{name}", nn.Parameter(0.02 * torch.randn(d_model, d_k)))
            setattr(self, f"b_{name}", nn.Parameter(torch.zeros(d_k)))
        self.scale = 1 / math.sqrt(d_k)

    def forward(self, x: Float[Tensor, "... T d"]) -> Float[Tensor, "... T d_k"]:
        Q = (x @ self.W_Q + self.b_Q) * self.scale
        K = x @ self.W_K + self.b_K
        V = x @ self.W_V + self.b_V
        output, _ = attention(Q, K, V, causal_mask(x.shape[-2], x.device))
        return output


def score_variance_scaled_afterwards(d_k: int, n: int = 10_000, scaled: bool = True) -> float:
    """Divides the variance by sqrt(d_k), not the scores."""
    q, k = torch.randn(n, d_k), torch.randn(n, d_k)
    variance = (q * k).sum(dim=-1).var()
    if scaled:
        variance = variance / math.sqrt(d_k)
    return variance.item()


NOVICES = {
    "softmax": {
        "one maximum for the whole tensor": Novice(
            softmax_global_maximum,
            points_at=("maximum", "along dim", "each row", "every row", "underflow"),
        ),
    },
    "causal_mask": {
        "finite instead of -inf": Novice(causal_mask_finite, points_at=("-inf", "infin", "finite")),
    },
    "attention": {
        "sqrt(d_v)": Novice(
            attention_scaled_by_the_values, points_at=("sqrt(d_k)", "d_v", "scal", "divided")
        ),
        "weights returned after dropout": Novice(
            attention_returns_dropped_weights, points_at=("dropout", "before", "dropped")
        ),
    },
    "AttentionHead": {
        "scaled twice": Novice(
            AttentionHeadScaledTwice, points_at=("sqrt(d_k)", "scal", "twice", "divide")
        ),
    },
    "score_variance": {
        "variance divided instead of the scores": Novice(
            score_variance_scaled_afterwards,
            points_at=("sqrt(d_k)", "divide", "before", "scores"),
        ),
    },
}
