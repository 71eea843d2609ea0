"""Wrong solutions of notebook 4, multi-head attention."""

import torch
from jaxtyping import Float
from novices.novice import Novice
from torch import Tensor, nn

from autograder.standins import attention, causal_mask, head_writes, merge_heads, split_heads


def split_heads_transpose_1_2(
    x: Float[Tensor, "... T d"], n_head: int
) -> Float[Tensor, "... n_head T d_k"]:
    """Swaps axes 1 and 2, counted from the front, which is right for exactly one batch
    dimension."""
    d_k = x.shape[-1] // n_head
    return x.reshape(*x.shape[:-1], n_head, d_k).transpose(1, 2)


def merge_heads_concatenates_axis_0(
    x: Float[Tensor, "... n_head T d_k"],
) -> Float[Tensor, "... T d"]:
    """Concatenates along the first axis's entries, which are the heads only if there is no
    batch dimension."""
    return torch.cat([head for head in x], dim=-1)


class MultiHeadAttentionDropsInEval(nn.Module):
    """Hands the dropout on in eval mode too."""

    def __init__(self, d_model: int, n_head: int, dropout: float = 0.0):
        super().__init__()
        self.n_head, self.dropout = n_head, dropout

        def matrix():
            return nn.Parameter(torch.randn(d_model, d_model) * 0.02)

        self.W_Q, self.W_K, self.W_V, self.W_O = matrix(), matrix(), matrix(), matrix()
        self.b_Q = nn.Parameter(torch.zeros(d_model))
        self.b_K = nn.Parameter(torch.zeros(d_model))
        self.b_V = nn.Parameter(torch.zeros(d_model))
        self.b_O = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Float[Tensor, "... T d"]) -> Float[Tensor, "... T d"]:
        Q = split_heads(x @ self.W_Q + self.b_Q, self.n_head)
        K = split_heads(x @ self.W_K + self.b_K, self.n_head)
        V = split_heads(x @ self.W_V + self.b_V, self.n_head)
        mask = causal_mask(x.shape[-2], device=x.device)
        heads, _ = attention(Q, K, V, mask=mask, dropout=self.dropout)
        return merge_heads(heads) @ self.W_O + self.b_O


class MultiHeadAttentionOfLinears(nn.Module):
    """Keeps nn.Linear layers, so that the parameters are called W_Q.weight and W_Q.bias, and
    are transposed."""

    def __init__(self, d_model: int, n_head: int, dropout: float = 0.0):
        super().__init__()
        self.n_head = n_head
        self.dropout = dropout
        self.W_Q = nn.Linear(d_model, d_model)
        self.W_K = nn.Linear(d_model, d_model)
        self.W_V = nn.Linear(d_model, d_model)
        self.W_O = nn.Linear(d_model, d_model)
        for layer in (self.W_Q, self.W_K, self.W_V, self.W_O):
            nn.init.normal_(layer.weight, std=0.02)
            nn.init.zeros_(layer.bias)

    def forward(self, x: Float[Tensor, "... T d"]) -> Float[Tensor, "... T d"]:
        Q, K, V = (split_heads(f(x), self.n_head) for f in (self.W_Q, self.W_K, self.W_V))
        p = self.dropout if self.training else 0.0
        out, _ = attention(Q, K, V, causal_mask(x.shape[-2], x.device), p)
        return self.W_O(merge_heads(out))


def head_writes_columns_of_W_O(
    attn: nn.Module, x: Float[Tensor, "... T d"]
) -> Float[Tensor, "... n_head T d"]:
    """Gives head h the columns of W_O (transposed, so that the shapes fit) instead of its rows."""
    H = attn.n_head
    Q = split_heads(x @ attn.W_Q + attn.b_Q, H)
    K = split_heads(x @ attn.W_K + attn.b_K, H)
    V = split_heads(x @ attn.W_V + attn.b_V, H)
    heads, _ = attention(Q, K, V, causal_mask(x.shape[-2], x.device))
    W_O = split_heads(attn.W_O, H)  # (H, d, d_k)
    return heads @ W_O.transpose(-2, -1)


def ablate_head_zeroes_and_restores(
    attn: nn.Module, x: Float[Tensor, "... T d"], head: int
) -> Float[Tensor, "... T d"]:
    """Zeroes rows of W_O.data and restores them: the output is right, but backward uses the
    restored matrix."""
    d_k = attn.W_O.shape[0] // attn.n_head
    rows = slice(head * d_k, (head + 1) * d_k)
    backup = attn.W_O.data[rows].clone()
    attn.W_O.data[rows] = 0
    output = attn(x)
    attn.W_O.data[rows] = backup
    return output


def ablate_head_sum_of_the_others(
    attn: nn.Module, x: Float[Tensor, "... T d"], head: int
) -> Float[Tensor, "... T d"]:
    """Sums the other heads' writes and forgets the bias b_O."""
    writes = head_writes(attn, x)
    others = [h for h in range(attn.n_head) if h != head]
    return writes[..., others, :, :].sum(dim=-3)


NOVICES = {
    "split_heads": {
        "transpose(1, 2)": Novice(
            split_heads_transpose_1_2,
            points_at=("leading", "batch", "from the end", "transpose(-", "any number"),
        ),
    },
    "merge_heads": {
        "heads sought on axis 0": Novice(
            merge_heads_concatenates_axis_0,
            points_at=("leading", "batch", "from the end", "transpose(-", "any number"),
        ),
    },
    "MultiHeadAttention": {
        "dropout in eval mode": Novice(
            MultiHeadAttentionDropsInEval, points_at=("self.training", "eval", "dropout")
        ),
        "nn.Linear layers": Novice(
            MultiHeadAttentionOfLinears,
            points_at=("nn.linear", "nn.parameter", "named", "names", "b_q"),
        ),
    },
    "head_writes": {
        "columns of W_O": Novice(
            head_writes_columns_of_W_O, points_at=("rows", "columns", "transpose")
        ),
    },
    "ablate_head": {
        "W_O zeroed and restored": Novice(
            ablate_head_zeroes_and_restores, points_at=("gradient", "backward", "graph", "in place")
        ),
        "b_O lost": Novice(ablate_head_sum_of_the_others, points_at=("b_o", "bias")),
    },
}
