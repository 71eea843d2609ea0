"""Small notebooks for tests: chapters 3 and 4 as a student hands them in, and ways to spoil them."""

import json
from pathlib import Path

SETUP = """\
# Run this cell first: what the notebook needs. It is not graded.
import math

import matplotlib.pyplot as plt
import torch
from jaxtyping import Float
from torch import Tensor, nn

from autograder import check

torch.manual_seed(0)"""

SOFTMAX = '''\
def softmax(x: Float[Tensor, "... n"], dim: int = -1) -> Float[Tensor, "... n"]:
    """e^x / sum e^x along dim."""
    ### BEGIN SOLUTION
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)  # rows sum to one
    ### END SOLUTION'''

CAUSAL_MASK = '''\
def causal_mask(T: int, device=None) -> Float[Tensor, "T T"]:
    """0 where position t may look at s, -inf elsewhere."""
    return torch.full((T, T), -math.inf, device=device).triu(1)'''

ATTENTION = '''\
def attention(
    Q: Float[Tensor, "... T d_k"],
    K: Float[Tensor, "... S d_k"],
    V: Float[Tensor, "... S d_v"],
    mask: Float[Tensor, "T S"] | None = None,
    dropout: float = 0.0,
) -> tuple[Float[Tensor, "... T d_v"], Float[Tensor, "... T S"]]:
    """softmax(Q K^T / sqrt(d_k) + mask) V, and the weights themselves."""
    S = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
    A = softmax(S if mask is None else S + mask)
    return torch.dropout(A, dropout, train=dropout > 0) @ V, A'''

CHAPTER_3 = {
    "setup": SETUP,
    "softmax": SOFTMAX,
    "check-softmax": "check.softmax(softmax)",
    "causal_mask": CAUSAL_MASK,
    "attention": ATTENTION,
    "trial": "Q = torch.randn(3, 4)\nout, weights = attention(Q, Q, Q)\nprint(weights)",
}

CHAPTER_4 = {
    "setup": SETUP + "\nfrom autograder.standins import attention, causal_mask",
    "split_heads": '''\
def split_heads(x: Tensor, n_head: int) -> Tensor:
    """Head h takes columns h*d_k to (h+1)*d_k - 1."""
    *batch, T, d = x.shape
    return x.reshape(*batch, T, n_head, d // n_head).transpose(-3, -2)''',
    "merge_heads": '''\
def merge_heads(x: Tensor) -> Tensor:
    """The inverse of split_heads."""
    *batch, H, T, d_k = x.shape
    return x.transpose(-3, -2).reshape(*batch, T, H * d_k)''',
    "MultiHeadAttention": '''\
class MultiHeadAttention(nn.Module):
    """Causal self-attention of H heads."""

    def __init__(self, d_model: int, n_head: int, dropout: float = 0.0):
        super().__init__()
        self.n_head, self.dropout = n_head, dropout
        for name in "QKVO":
            setattr(self, f"W_{name}", nn.Parameter(0.02 * torch.randn(d_model, d_model)))
            setattr(self, f"b_{name}", nn.Parameter(torch.zeros(d_model)))

    def forward(self, x: Float[Tensor, "... T d"]) -> Float[Tensor, "... T d"]:
        Q = split_heads(x @ self.W_Q + self.b_Q, self.n_head)
        K = split_heads(x @ self.W_K + self.b_K, self.n_head)
        V = split_heads(x @ self.W_V + self.b_V, self.n_head)
        heads, _ = attention(Q, K, V, causal_mask(x.shape[-2], x.device))
        return merge_heads(heads) @ self.W_O + self.b_O''',
}


def cell(source: str, grade_id: str = "", kind: str = "code", **more) -> dict:
    metadata = {}
    if grade_id:
        metadata["nbgrader"] = {
            "grade": False,
            "grade_id": grade_id,
            "locked": False,
            "schema_version": 3,
            "solution": True,
            "task": False,
        }
    return {"cell_type": kind, "metadata": metadata, "source": source} | more


def notebook(cells: dict[str, str] | list) -> dict:
    """Of {grade_id: source}, or of cells."""
    if isinstance(cells, dict):
        cells = [cell(source, name) for name, source in cells.items()]
    cells = [cell(c) if isinstance(c, str) else c for c in cells]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def save(path: Path, cells: dict[str, str] | list) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook(cells)), encoding="utf-8")
    return path


def stub(source: str) -> str:
    """A function as it is released."""
    header, _, rest = source.partition('"""')
    return (
        f'{header}"""{rest.partition(chr(34) * 3)[0]}"""\n    raise NotImplementedError("write it")'
    )
