"""Stand-ins for chapter 3."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def softmax(x: Tensor, dim: int = -1) -> Tensor:
    # x (..., n) -> (..., n)
    """Softmax along dim."""
    return F.softmax(x, dim)


def causal_mask(T: int, device: torch.device | str | None = None) -> Tensor:
    # -> (T, T)
    """0 at and below the diagonal, -inf above it."""
    return nn.Transformer.generate_square_subsequent_mask(T, device=device)


def attention(
    Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None, dropout: float = 0.0
) -> tuple[Tensor, Tensor]:
    # Q (..., T, d_k), K (..., S, d_k), V (..., S, d_v) -> output (..., T, d_v), weights (..., T, S)
    """Scaled dot-product attention; the weights are what it does to a one-hot V."""
    mask = None if mask is None else mask.to(Q.dtype)
    one_hot = V.new_ones(K.shape[-2]).diag_embed().expand(*V.shape[:-1], -1)
    weights = F.scaled_dot_product_attention(Q, K, one_hot, attn_mask=mask)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=mask, dropout_p=dropout), weights


class AttentionHead(nn.Module):
    """One causal head: x (..., T, d) -> (..., T, d_k)."""

    def __init__(self, d_model: int, d_k: int):
        super().__init__()
        for name in ("Q", "K", "V"):
            self.register_parameter(f"W_{name}", nn.Parameter(0.02 * torch.randn(d_model, d_k)))
            self.register_parameter(f"b_{name}", nn.Parameter(torch.zeros(d_k)))

    def forward(self, x: Tensor) -> Tensor:
        Q = F.linear(x, self.W_Q.T, self.b_Q)
        K = F.linear(x, self.W_K.T, self.b_K)
        V = F.linear(x, self.W_V.T, self.b_V)
        return F.scaled_dot_product_attention(Q, K, V, is_causal=True)


def score_variance(d_k: int, n: int = 10_000, scaled: bool = True) -> float:
    """Variance over n pairs of q . k, whose entries are standard normal."""
    q, k = torch.randn(n, d_k), torch.randn(n, d_k)
    scores = F.cosine_similarity(q, k) * q.norm(dim=-1) * k.norm(dim=-1)
    return float((scores / d_k**0.5 if scaled else scores).var())
