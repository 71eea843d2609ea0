"""Chapter 5: GELU, the feedforward networks, the norms and the two kinds of block."""

from __future__ import annotations

import math
from fractions import Fraction
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


def tanh(x):
    return array_namespace(x).tanh(x)


def as_is(x):
    """No function where one belongs."""
    return x


def gelu(x, *, bend=erf, root=math.sqrt(2), outside=1.0, half=0.5, one=1.0, times_x=True):
    """x Phi(x), with Phi(x) = (1 + erf(x / sqrt 2)) / 2. `outside`: a factor on erf."""
    phi = half * (one + outside * bend(x / root))
    return x * phi if times_x else phi


def gelu_tanh(
    x,
    *,
    bend=tanh,
    factor=math.sqrt(2 / math.pi),
    cubic=0.044715,
    power=3,
    cubic_outside=0.0,
    whole_power=1,
    outside=1.0,
    half=0.5,
    one=1.0,
    times_x=True,
):
    """The form of GPT-2.

    cubic_outside  a cubic term that the factor does not reach
    whole_power    a power of the whole parenthesis, x included
    outside        a factor on tanh
    """
    inner = factor * (x + cubic * x**power) ** whole_power + cubic_outside * x**power
    phi = half * (one + outside * bend(inner))
    return x * phi if times_x else phi


# ------------------------------------------------------------------ feedforward networks


def feed_forward(
    x, W_up, b_up, W_down, b_down, *, activation=gelu_tanh, last=as_is, b_up_after=False
):
    """x (..., d), W_up (d, d_ff), W_down (d_ff, d) -> (..., d).

    last        what is done to the result
    b_up_after  b_up is added to what the activation gives, rather than to what it gets
    """
    hidden = x @ W_up
    hidden = activation(hidden) + b_up if b_up_after else activation(hidden + b_up)
    return last(hidden @ W_down + b_down)


def product(up, gate):
    return up * gate


def swiglu(x, W_up, W_gate, W_down, *, up=as_is, gate=silu, join=product):
    """x (..., d), W_up and W_gate (d, d_ff), W_down (d_ff, d) -> (..., d)."""
    return join(up(x @ W_up), gate(x @ W_gate)) @ W_down


def matched_d_ff(d_model, multiple_of=1, *, share=Fraction(8, 3), cut=as_is, to_whole=math.ceil):
    """The smallest multiple that is at least 8 d / 3, in exact fractions.

    cut       a first rounding, of 8 d / 3 itself
    to_whole  the rounding of the number of multiples
    """
    return to_whole(Fraction(cut(share * d_model), multiple_of)) * multiple_of


# ------------------------------------------------------------------ norms


def standardise(
    x,
    eps,
    *,
    axis=-1,
    var_axis="same",
    pool_axis="same",
    centre=True,
    about="mean",
    correction=0,
    divide="root",
    squared="entries",
):
    """(x - mean) / sqrt(var + eps) over the axis (None: over all).

    var_axis    another axis for the variance, and for the mean in it, than for the mean
    pool_axis   another axis for the mean of the squares than for the mean in them
    centre      subtract the mean from x
    about       measure the size of x - "mean", or of x - "zero", that is of x itself
    correction  1 for the unbiased variance, None for the sum of squares
    divide      by the "root"; with eps "outside" of it; by the "variance"; by a root of the root,
                with eps between the two ("root twice") or under both ("fourth root"); multiply by
                the root instead ("multiply"); or do "nothing" at all
    squared     the "entries", before their mean is taken, or the "mean" itself
    """
    xp = array_namespace(x)
    mean = xp.mean(x, axis=axis, keepdims=True)
    axis = axis if var_axis == "same" else var_axis
    part = x - xp.mean(x, axis=axis, keepdims=True) if about == "mean" else x
    axis = axis if pool_axis == "same" else pool_axis
    if squared == "entries":
        var = xp.mean(part**2, axis=axis, keepdims=True)
    else:
        var = xp.mean(part, axis=axis, keepdims=True) ** 2
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    n = math.prod(x.shape[a] for a in axes)
    var = var * (n if correction is None else n / (n - correction))
    by = {
        "root": lambda: (var + eps) ** 0.5,
        "outside": lambda: var**0.5 + eps,
        "variance": lambda: var + eps,
        "root twice": lambda: (var**0.5 + eps) ** 0.5,
        "fourth root": lambda: (var + eps) ** 0.25,
        "multiply": lambda: (var + eps) ** -0.5,
        "nothing": lambda: 1.0,
    }[divide]()
    return (x - mean if centre else x) / by


def layer_norm(x, gamma, beta, eps=1e-5, *, beta_first=False, **switches):
    """x (..., d), gamma and beta (d,) -> (..., d). beta_first: added before gamma multiplies."""
    unit = standardise(x, eps, **switches)
    return gamma * (unit + beta) if beta_first else gamma * unit + beta


def rms_norm(x, gamma, eps=1e-5, **switches):
    """x (..., d), gamma (d,) -> (..., d): the root of the mean square, no mean, no beta."""
    return gamma * standardise(x, eps, **{"centre": False, "about": "zero"} | switches)


# ------------------------------------------------------------------ blocks


def sublayers(p, n_head):
    """The four parts of a block as functions of x; p holds "ln_1.gamma" ... "ffn.b_down"."""
    return {
        "ln_1": partial(layer_norm, **within(p, "ln_1.")),
        "attn": partial(multi_head_attention, p=within(p, "attn."), n_head=n_head),
        "ln_2": partial(layer_norm, **within(p, "ln_2.")),
        "ffn": partial(feed_forward, **within(p, "ffn.")),
    }


def half_block(x, norm, sublayer, *, normed="read", reads=None, base=None):
    """One sub-layer on the stream x -> the new stream, what was written, and their plain sum.

    normed  what goes through the norm: what is "read" (pre-norm), the "sum" (post-norm), both
            ("read and sum"), what is written ("write"), the stream before all else ("stream"), or
            "nothing"
    reads   what the sub-layer reads, and
    base    what its write is added to, where that is not x
    """
    if normed == "stream":
        x = norm(x)
    read = x if reads is None else reads
    write = sublayer(norm(read) if normed.startswith("read") else read)
    if normed == "write":
        write = norm(write)
    total = (x if base is None else base) + write
    return (norm(total) if normed.endswith("sum") else total), write, total


def block(
    x,
    p,
    n_head,
    *,
    normed_1="read",
    normed_2="read",
    base_1="stream",
    base_2="stream",
    reads_2="stream",
    parts=("attn", "ffn"),
    norms=("ln_1", "ln_2"),
):
    """x (..., T, d) -> the same, by two sub-layers; as a rule one of GPT-2, pre-norm.

    normed_1, normed_2  what goes through the norm of each, as half_block has it
    base_1, base_2      what their writes are added to: the "stream", "nothing", and for the second
                        also the input "x" of the block or the "sum" that the first norm has got
    reads_2             what the second reads: the "stream", the input "x", or the first's "write"
    parts, norms        which stand first and second; a part may be left out ("nothing")
    """
    part = sublayers(p, n_head) | {"nothing": lambda z: 0 * z}
    halves = [(part[norm], part[name]) for norm, name in zip(norms, parts)]
    base = None if base_1 == "stream" else 0 * x
    stream, write, total = half_block(x, *halves[0], normed=normed_1, base=base)
    made = {"stream": None, "nothing": 0 * x, "x": x, "write": write, "sum": total}
    reads, base = made[reads_2], made[base_2]
    return half_block(stream, *halves[1], normed=normed_2, reads=reads, base=base)[0]
