"""Chapter 5: GELU, the feed-forward networks, the norms and the two kinds of block."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from array_api_compat import array_namespace

from autograder.oracle.model import within
from autograder.oracle.multi_head_attention import multi_head_attention

# ------------------------------------------------------------------ activations


def erf(x):
    """Not part of the array API: torch's own, or math.erf entry by entry."""
    return x.erf() if hasattr(x, "erf") else np.vectorize(math.erf, otypes=[np.float64])(x)


def sigmoid(x):
    return 1 / (1 + array_namespace(x).exp(-x))


def silu(x, *, slope=1.0):
    return x * sigmoid(slope * x)


def relu(x):
    return x * array_namespace(x).astype(x > 0, x.dtype)


def gelu(x, *, root=math.sqrt(2), half=0.5, one=1.0, times_x=True):
    """x Phi(x), with Phi(x) = (1 + erf(x / sqrt 2)) / 2."""
    phi = half * (one + erf(x / root))
    return x * phi if times_x else phi


def gelu_tanh(
    x, *, factor=math.sqrt(2 / math.pi), cubic=0.044715, power=3, outside=0.0, half=0.5, one=1.0
):
    """The form of GPT-2. `outside`: a cubic term that the factor does not reach."""
    inner = factor * (x + cubic * x**power) + outside * x**3
    return half * x * (one + array_namespace(x).tanh(inner))


# ------------------------------------------------------------------ feed-forward networks


def feed_forward(x, W_up, b_up, W_down, b_down, *, activation=gelu_tanh):
    """x (..., d), W_up (d, d_ff), W_down (d_ff, d) -> (..., d)."""
    return activation(x @ W_up + b_up) @ W_down + b_down


def swiglu(x, W_up, W_gate, W_down, *, up=lambda z: z, gate=silu):
    """x (..., d), W_up and W_gate (d, d_ff), W_down (d_ff, d) -> (..., d)."""
    return (up(x @ W_up) * gate(x @ W_gate)) @ W_down


def matched_d_ff(d_model, multiple_of=1):
    """The smallest multiple that is at least 8 d / 3, in whole numbers throughout."""
    return -(-8 * d_model // (3 * multiple_of)) * multiple_of


# ------------------------------------------------------------------ norms


def standardise(x, eps, *, axis=-1, centre=True, about_mean=True, correction=0, divide="root"):
    """(x - mean) / sqrt(var + eps) over the axis.

    centre      subtract the mean from x
    about_mean  measure the size of x - mean, rather than that of x
    correction  1 for the unbiased variance, None for the sum of squares
    divide      by the "root"; with eps "outside" of it; by the "variance"; or "not" at all
    """
    xp = array_namespace(x)
    mean = xp.mean(x, axis=axis, keepdims=True)
    squares = (x - mean) ** 2 if about_mean else x**2
    var = xp.mean(squares, axis=axis, keepdims=True)
    n = math.prod(x.shape[a] for a in (axis if isinstance(axis, tuple) else (axis,)))
    var = var * (n if correction is None else n / (n - correction))
    by = {
        "root": lambda: (var + eps) ** 0.5,
        "outside": lambda: var**0.5 + eps,
        "variance": lambda: var + eps,
        "not": lambda: 1.0,
    }[divide]()
    return (x - mean if centre else x) / by


def layer_norm(x, gamma, beta, eps=1e-5, **switches):
    """x (..., d), gamma and beta (d,) -> (..., d)."""
    return gamma * standardise(x, eps, **switches) + beta


def rms_norm(x, gamma, eps=1e-5, **switches):
    """x (..., d), gamma (d,) -> (..., d): the root of the mean square, no mean, no beta."""
    return gamma * standardise(x, eps, **{"centre": False, "about_mean": False} | switches)


# ------------------------------------------------------------------ blocks


def sublayers(p, n_head):
    """The four parts of a block as functions of x; p holds "ln_1.gamma" ... "ffn.b_down"."""
    return {
        "ln_1": partial(layer_norm, **within(p, "ln_1.")),
        "attn": partial(multi_head_attention, p=within(p, "attn."), n_head=n_head),
        "ln_2": partial(layer_norm, **within(p, "ln_2.")),
        "ffn": partial(feed_forward, **within(p, "ffn.")),
    }


def pre_norm(x, ln_1, attn, ln_2, ffn):
    """Each sub-layer reads a normalised copy of the stream."""
    x = x + attn(ln_1(x))
    return x + ffn(ln_2(x))


def post_norm(x, ln_1, attn, ln_2, ffn):
    """The stream itself is normalised after each addition."""
    x = ln_1(x + attn(x))
    return ln_2(x + ffn(x))


def block(x, p, n_head, *, order=pre_norm):
    """x (..., T, d) -> the same."""
    return order(x, **sublayers(p, n_head))
