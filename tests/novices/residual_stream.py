"""Wrong solutions of notebook 2, the residual stream."""

import torch
from jaxtyping import Float
from novices.novice import Novice
from torch import Tensor

from autograder.standins import residual_add


def residual_add_into_the_write(x: Float[Tensor, "... T d"], sublayer) -> Float[Tensor, "... T d"]:
    """Adds x in place to what the sub-layer returned: breaks autograd, and x where the two are
    one."""
    out = sublayer(x)
    out += x
    return out


def run_stream_in_place_on_a_clone(
    x: Float[Tensor, "... T d"], sublayers
) -> tuple[Float[Tensor, "... T d"], list[Float[Tensor, "... T d"]]]:
    """Clones x once and then adds in place, which spoils a ledger entry that is the stream
    itself, and autograd."""
    stream = x.clone()  # so that the caller's x is not touched
    ledger = []
    for f in sublayers:
        write = f(stream)
        ledger.append(write)
        stream += write
    return stream, ledger


def run_stream_calls_twice(
    x: Float[Tensor, "... T d"], sublayers
) -> tuple[Float[Tensor, "... T d"], list[Float[Tensor, "... T d"]]]:
    """Calls each sub-layer twice, once for the ledger and once within residual_add."""
    ledger = []
    for sublayer in sublayers:
        ledger.append(sublayer(x))
        x = residual_add(x, sublayer)
    return x, ledger


def gradient_norms_on_x_itself(
    x: Float[Tensor, "... T d"], sublayers, residual: bool = True
) -> list[float]:
    """Tracks the caller's x instead of a detached copy, so that gradients pile up in x.grad
    from call to call."""
    x.requires_grad_()
    streams = [x]
    for f in sublayers:
        last = streams[-1]
        streams.append(last + f(last) if residual else f(last))
    for s in streams:
        s.retain_grad()
    streams[-1].sum().backward()
    return [s.grad.norm().item() for s in streams]


def max_cosine_drops_all_ones(vectors: Float[Tensor, "n d"]) -> float:
    """Drops every cosine near 1 instead of the diagonal, so two different rows that are
    parallel go unseen."""
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    cosines = (unit @ unit.T).abs()
    different = cosines < 1 - 1e-6  # a row with itself has cosine 1
    return torch.where(different, cosines, torch.zeros_like(cosines)).max().item()


NOVICES = {
    "residual_add": {
        "added into the write": Novice(
            residual_add_into_the_write, points_at=("in place", "in-place", "+=", "new tensor")
        ),
    },
    "run_stream": {
        "in place on a clone": Novice(
            run_stream_in_place_on_a_clone,
            points_at=("in place", "in-place", "+=", "very tensor", "new tensor"),
        ),
        "each sub-layer called twice": Novice(
            run_stream_calls_twice, points_at=("twice", "once", "calls", "called")
        ),
    },
    "gradient_norms": {
        "gradients pile up in x": Novice(
            gradient_norms_on_x_itself, points_at=("detach", "copy", "accumul", "twice", ".grad")
        ),
    },
    "max_cosine": {
        "parallel rows dropped": Novice(
            max_cosine_drops_all_ones, points_at=("diagonal", "parallel", "same direction", "equal")
        ),
    },
}
