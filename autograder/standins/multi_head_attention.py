"""Stand-ins for chapter 4."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.standins.self_attention import causal_mask


def split_heads(x: Tensor, n_head: int) -> Tensor:
    # (..., T, d) -> (..., H, T, d_k)
    """Equal pieces of the last axis, on an axis of their own before the positions."""
    return torch.stack(x.chunk(n_head, -1), -3)


def merge_heads(x: Tensor) -> Tensor:
    # (..., H, T, d_k) -> (..., T, d)
    """The inverse of split_heads."""
    return torch.cat(x.unbind(-3), -1)


class MultiHeadAttention(nn.Module):
    """Causal self-attention of H heads: x (..., T, d) -> (..., T, d)."""

    def __init__(self, d_model: int, n_head: int, dropout: float = 0.0):
        super().__init__()
        self.n_head = n_head
        self.dropout = dropout
        for name in ("Q", "K", "V", "O"):
            matrix = nn.init.normal_(torch.empty(d_model, d_model), std=0.02)
            self.register_parameter(f"W_{name}", nn.Parameter(matrix))
            self.register_parameter(f"b_{name}", nn.Parameter(torch.zeros(d_model)))

    def forward(self, x: Tensor) -> Tensor:
        # (..., T, d) -> (..., T, d)
        T, d = x.shape[-2:]
        rows = x.reshape(-1, T, d).transpose(0, 1)  # (T, B, d), as the library wants it
        output, _ = F.multi_head_attention_forward(
            *(rows, rows, rows),
            embed_dim_to_check=d,
            num_heads=self.n_head,
            in_proj_weight=torch.cat([self.W_Q, self.W_K, self.W_V], dim=1).T,
            in_proj_bias=torch.cat([self.b_Q, self.b_K, self.b_V]),
            bias_k=None,
            bias_v=None,
            add_zero_attn=False,
            dropout_p=self.dropout,
            out_proj_weight=self.W_O.T,
            out_proj_bias=self.b_O,
            training=self.training,
            need_weights=False,
            attn_mask=causal_mask(T, x.device).to(x.dtype),
        )
        return output.transpose(0, 1).reshape(x.shape)


def head_writes(attn: nn.Module, x: Tensor) -> Tensor:
    # x (..., T, d) -> (..., H, T, d)
    """What each head adds to the stream: the layer's output with the other heads' rows of W_O at 0."""
    owner = torch.arange(attn.n_head, device=x.device).repeat_interleave(x.shape[-1] // attn.n_head)
    writes = []
    for head in range(attn.n_head):
        alone = {"W_O": attn.W_O * (owner == head)[:, None], "b_O": torch.zeros_like(attn.b_O)}
        writes.append(torch.func.functional_call(attn, alone, x))
    return torch.stack(writes, -3)


def ablate_head(attn: nn.Module, x: Tensor, head: int) -> Tensor:
    # x (..., T, d) -> (..., T, d)
    """The layer's output with one head's rows of W_O at 0."""
    owner = torch.arange(attn.n_head, device=x.device).repeat_interleave(x.shape[-1] // attn.n_head)
    without = {"W_O": attn.W_O * (owner != head)[:, None]}
    return torch.func.functional_call(attn, without, x)
