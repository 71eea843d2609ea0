"""Chapter 2: the residual update, the ledger, gradients along depth, near-orthogonality.

Sub-layers are data here: `kinds` names each one, `state` holds its weights as "0.W", "0.b", "1.W" …
A "tanh" writes tanh(x W + b); "itself" returns its very input.
"""

from __future__ import annotations

import math
import operator

import numpy as np
from array_api_compat import array_namespace


def sublayer(x, kinds, state, index):
    """x (..., T, d) -> what sub-layer `index` writes, (..., T, d)."""
    if kinds[index] == "itself":
        return x
    return array_namespace(x).tanh(x @ state[f"{index}.W"] + state[f"{index}.b"])


def layer_norm(x, eps=1e-5):
    """Without gamma and beta."""
    xp = array_namespace(x)
    x = x - xp.mean(x, axis=-1, keepdims=True)
    return x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + eps)


def residual_add(x, kinds, state, *, keep=1.0, factor=1.0, reads=lambda x, f: x, join=operator.add):
    """reads: the stream and the sub-layer -> what the sub-layer is given."""

    def f(x):
        return sublayer(x, kinds, state, 0)

    return join(keep * x, factor * f(reads(x, f)))


def run_stream(
    x, kinds, state, *, keep=1.0, order=range, reads="stream", onto="stream", records="write"
):
    """-> final stream (..., T, d), the writes.

    reads: "stream", "start" or "write" (the last one). onto: to what a write is added, "stream" or
    "start". records: what goes into the ledger, "write", "stream" (after it), "input" (before it),
    "sum" (of all writes so far), "both" (input and write) or "next" (the write of the new stream).
    """
    start = write = x
    total, ledger = 0.0, []
    for i in order(len(kinds)):
        read = {"stream": x, "start": start, "write": write}[reads]
        write = sublayer(read, kinds, state, i)
        before, x = x, keep * {"stream": x, "start": start}[onto] + write
        total = total + write
        entry = {"write": write, "stream": x, "input": before, "sum": total, "both": before + write}
        after = records == "next"
        ledger.append(sublayer(x, kinds, state, i) if after else entry[records])
    return x, tuple(ledger)


def streams(x, kinds, state, residual=True):
    """The stream at each depth, x_0 … x_L."""
    found = [x]
    for i in range(len(kinds)):
        write = sublayer(found[-1], kinds, state, i)
        found.append(found[-1] + write if residual else write)
    return found


def back(g, x, kinds, state, index):
    """The gradient g at what sub-layer `index` writes -> that at the x which it reads."""
    if kinds[index] == "itself":
        return g
    write = sublayer(x, kinds, state, index)
    return (g * (1 - write**2)) @ array_namespace(x).matrix_transpose(state[f"{index}.W"])


def stream_gradients(
    x, kinds, state, residual=True, *, top=None, through=True, skip=True, all_streams=False
):
    """d sum(x_L) / d x_l for l = 0 … L, by hand.

    top: x_L -> the gradient there. through: False starts anew at each sub-layer, d sum(x_{l+1}) /
    d x_l. skip: False sends nothing back past the sub-layers. all_streams: of the sum of all x_l.
    """
    xp = array_namespace(x)
    found = streams(x, kinds, state, residual)
    gradients = [xp.ones_like(x) if top is None else top(found[-1])]
    for i in reversed(range(len(kinds))):
        g = gradients[0] if through else xp.ones_like(x)
        below = back(g, found[i], kinds, state, i)
        below = g + below if residual and skip else below
        gradients.insert(0, below + 1 if all_streams else below)
    return gradients


def norm(g):
    xp = array_namespace(g)
    return math.sqrt(float(xp.sum(g * g)))


def gradient_norms(
    x,
    kinds,
    state,
    residual=True,
    *,
    of=norm,
    where=stream_gradients,
    listed=lambda norms, residual: norms,
    **switches,
):
    """L + 1 numbers, from the embedding to the final stream.

    of: a gradient -> its number. where: what gives the gradients, with the switches. listed: the
    numbers, and `residual` -> the result.
    """
    return listed(tuple(of(g) for g in where(x, kinds, state, residual, **switches)), residual)


def cosines(vectors, *, power=0.5, axis=-1, length=None, sides=2):
    """(n, d) -> (n, n). Both vectors of a pair (or, with one side, the first alone) are divided by
    their length: (the sum of their squares along axis) ** power, or whatever `length` says."""
    xp = array_namespace(vectors)
    if length is None:
        by = xp.sum(vectors * vectors, axis=axis, keepdims=True) ** power
    else:
        by = length(vectors)
    unit = vectors / by
    return unit @ xp.matrix_transpose(unit if sides == 2 else vectors)


def different(n):
    """(n, n): True for the pairs of two different rows."""
    return ~np.eye(n, dtype=bool)


def largest(c):
    return max(map(abs, c), default=0.0)


def max_cosine(vectors, *, among=different, of=largest, **switches):
    """among: n -> which of the (n, n) pairs count. of: their cosines -> the result."""
    C = cosines(vectors, **switches)
    chosen = np.asarray(among(len(C)))
    return float(of([float(C[i, j]) for i, j in np.argwhere(chosen)]))
