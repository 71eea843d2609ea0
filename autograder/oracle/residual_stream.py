"""Chapter 2: the residual update, the ledger, gradients along depth, near-orthogonality.

Sub-layers are data here: `kinds` names each one, `state` holds its weights as "0.W", "0.b", "1.W" …
A "tanh" writes tanh(x W + b); "itself" returns its very input.
"""

from __future__ import annotations

import math

from array_api_compat import array_namespace


def sublayer(x, kinds, state, index):
    """x (..., T, d) -> what sub-layer `index` writes, (..., T, d)."""
    if kinds[index] == "itself":
        return x
    return array_namespace(x).tanh(x @ state[f"{index}.W"] + state[f"{index}.b"])


def residual_add(x, kinds, state, *, keep=1.0, factor=1.0):
    return keep * x + factor * sublayer(x, kinds, state, 0)


def run_stream(x, kinds, state, *, keep=1.0, order=None, reads="stream"):
    """-> final stream (..., T, d), the writes. reads: "stream", "start" or "write" (the last one)."""
    start = read = x
    writes = []
    for i in order(len(kinds)) if order else range(len(kinds)):
        writes.append(sublayer(read, kinds, state, i))
        x = keep * x + writes[-1]
        read = {"stream": x, "start": start, "write": writes[-1]}[reads]
    return x, tuple(writes)


def streams(x, kinds, state, residual=True):
    """The stream at each depth, x_0 … x_L."""
    found = [x]
    for i in range(len(kinds)):
        write = sublayer(found[-1], kinds, state, i)
        found.append(found[-1] + write if residual else write)
    return found


def stream_gradients(x, kinds, state, residual=True, *, top=None, through=True):
    """d sum(x_L) / d x_l for l = 0 … L, by hand. top: the gradient at x_L; `through` False starts
    anew at each sub-layer, d sum(x_{l+1}) / d x_l."""
    xp = array_namespace(x)
    found = streams(x, kinds, state, residual)
    gradients = [xp.ones_like(x) if top is None else top(found[-1])]
    for i in reversed(range(len(kinds))):
        g = gradients[0] if through else xp.ones_like(x)
        back = g
        if kinds[i] != "itself":
            write = sublayer(found[i], kinds, state, i)
            back = (g * (1 - write**2)) @ xp.matrix_transpose(state[f"{i}.W"])
        gradients.insert(0, g + back if residual else back)
    return gradients


def norm(g):
    xp = array_namespace(g)
    return math.sqrt(float(xp.sum(g * g)))


def gradient_norms(x, kinds, state, residual=True, *, of=norm, **switches):
    """L + 1 numbers, from the embedding to the final stream."""
    return tuple(of(g) for g in stream_gradients(x, kinds, state, residual, **switches))


def cosines(vectors, *, power=0.5):
    """(n, d) -> (n, n); each row is divided by (its squared length) ** power."""
    xp = array_namespace(vectors)
    unit = vectors / xp.sum(vectors * vectors, axis=-1, keepdims=True) ** power
    return unit @ xp.matrix_transpose(unit)


def pairs(vectors, **switches):
    """The cosines of different rows, each pair once: (n (n - 1) / 2,)."""
    C = cosines(vectors, **switches)
    xp = array_namespace(C)
    return xp.concat([C[i, i + 1 :] for i in range(C.shape[0] - 1)])


def max_cosine(vectors, **switches):
    xp = array_namespace(vectors)
    return float(xp.max(xp.abs(pairs(vectors, **switches))))
