"""Stand-ins for chapter 2."""

import torch
import torch.nn.functional as F
from torch import Tensor


def residual_add(x: Tensor, sublayer) -> Tensor:
    # x (..., T, d) -> (..., T, d)
    """The stream after one sub-layer."""
    return torch.add(x, sublayer(x))


def run_stream(x: Tensor, sublayers) -> tuple[Tensor, list[Tensor]]:
    # x (..., T, d) -> final stream (..., T, d), one write (..., T, d) per sub-layer
    """The final stream and the ledger: each sub-layer reads the start plus all writes so far."""
    ledger = []
    for sublayer in sublayers:
        ledger.append(sublayer(sum(ledger, start=x)))
    return sum(ledger, start=x), ledger


def gradient_norms(x: Tensor, sublayers, residual: bool = True) -> list[float]:
    """Norm of d sum(x_L) / d x_l for l = 0 ... L: one pass through the rest of the stack each."""

    def rest(x: Tensor, first: int) -> Tensor:
        for sublayer in sublayers[first:]:
            x = x + sublayer(x) if residual else sublayer(x)
        return x.sum()

    norms = []
    for depth in range(len(sublayers) + 1):
        norms.append(torch.func.grad(rest)(x, depth).norm().item())
        if depth < len(sublayers):
            write = sublayers[depth](x).detach()
            x = x.detach() + write if residual else write
    return norms


def max_cosine(vectors: Tensor) -> float:
    # vectors (n, d)
    """The largest |cosine| of two rows; |u - v|^2 = 2 - 2 cos for vectors of length 1."""
    distances = F.pdist(F.normalize(vectors.double(), dim=-1))
    return (1 - distances**2 / 2).abs().max().item()
