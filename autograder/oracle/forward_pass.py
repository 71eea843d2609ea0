"""Chapter 6: initial weights, cross-entropy, the whole model, and the next-token distribution.

The model is put together from the components of the earlier chapters; `model` holds a second one,
written out in NumPy with its way back.
"""

from __future__ import annotations

from array_api_compat import array_namespace

from autograder.oracle.feedforward_layernorm import block, layer_norm
from autograder.oracle.model import n_layer, within
from autograder.oracle.self_attention import softmax

# ------------------------------------------------------------------ initial weights


def narrow(L):
    """The factor on what writes to the stream: a model of L blocks adds 2 L writes."""
    return (2 * L) ** -0.5


def deviations(
    L, *, std=0.02, E=None, P=None, W_U=None, qkv=None, W_up=None, W_O=narrow, W_down=None
):
    """The deviation of every random parameter: std, or a value of its own, a number or from L.
    W_O, W_down: factors on std, from L."""
    own = {"E": E, "P": P, "W_U": W_U, "W_Q, W_K and W_V": qkv, "W_up": W_up}
    plain = {n: std if v is None else (v(L) if callable(v) else v) for n, v in own.items()}
    return plain | {"W_O": std * W_O(L), "W_down": std * (W_down or W_O)(L)}


def constants(*, gamma=1.0, beta=0.0, biases=0.0):
    """The value of all others."""
    return {"gamma": gamma, "beta": beta, "the biases": biases}


# ------------------------------------------------------------------ cross-entropy


def log_sum_exp(x):
    xp = array_namespace(x)
    top = xp.max(x, axis=-1, keepdims=True)
    return xp.log(xp.sum(xp.exp(x - top), axis=-1)) + top[..., 0]


def picked(x, targets):
    """x[..., target]: (..., V) -> (...)."""
    xp = array_namespace(x)
    here = xp.arange(x.shape[-1]) == targets[..., None]
    return xp.sum(xp.where(here, x, xp.zeros_like(x)), axis=-1)


def surprise(logits, targets, *, norm=log_sum_exp, pick=picked):
    """-log softmax(logits)[target] at each place, in nats: logits (..., V), targets (...).

    norm: logits -> the logarithm of the sum. pick: the logit of the target.
    """
    return norm(logits) - pick(logits, targets)


def mean(x):
    return array_namespace(x).mean(x)


def cross_entropy(logits, targets, *, score=surprise, reduce=mean, **switches):
    """score: what is taken at each place. reduce: all places -> the loss."""
    return reduce(score(logits, targets, **switches))


# ------------------------------------------------------------------ the whole model


def shapes(config, *, tied=None):
    """The shape of every parameter, by its name in the state_dict."""
    V, T, L, d = (config[k] for k in ("vocab_size", "n_positions", "n_layer", "d_model"))
    part = {"ln_1.gamma": (d,), "ln_1.beta": (d,)}
    for n in "QKVO":
        part |= {f"attn.W_{n}": (d, d), f"attn.b_{n}": (d,)}
    part |= {"ln_2.gamma": (d,), "ln_2.beta": (d,)}
    part |= {"ffn.W_up": (d, 4 * d), "ffn.b_up": (4 * d,)}
    part |= {"ffn.W_down": (4 * d, d), "ffn.b_down": (d,)}
    blocks = {f"blocks.{i}.{k}": s for i in range(L) for k, s in part.items()}
    whole = {"E": (V, d), "P": (T, d)} | blocks | {"ln_f.gamma": (d,), "ln_f.beta": (d,)}
    return whole if (config["tie_weights"] if tied is None else tied) else whole | {"W_U": (d, V)}


def embed(ids, p, *, scale=1.0, first=0):
    """ids (..., T) -> (..., T, d). first: the row of P for position 0."""
    return scale * p["E"][ids] + p["P"][first : first + ids.shape[-1]]


def unembed(x, p):
    """x (..., T, d) -> (..., T, V): by W_U if there is one, else by E."""
    return x @ (p["W_U"] if "W_U" in p else p["E"].T)


def last_norm(x, p):
    return layer_norm(x, **within(p, "ln_f."))


def gpt2(
    ids,
    p,
    n_head,
    *,
    embed=embed,
    order=range,
    step=lambda x, write, start, p: x + write,
    norm=last_norm,
    unembed=unembed,
):
    """ids (..., T) -> logits (..., T, V); p holds E, P, blocks.0.ln_1.gamma …

    order  L -> the blocks to go through
    step   the stream, what a block adds to it, the embedded tokens, p -> the new stream
    """
    start = x = embed(ids, p)
    for i in order(n_layer(p)):
        x = step(x, block(x, within(p, f"blocks.{i}."), n_head) - x, start, p)
    return unembed(norm(x, p), p)


# ------------------------------------------------------------------ next token


def last_position(logits):
    """(..., T, V) -> (..., V)"""
    return logits[..., -1, :]


def next_token_distribution(logits, *, pick=last_position, softmax=softmax, **switches):
    """(..., T, V) -> (..., V). pick: the rows to take the softmax of; switches: those of softmax."""
    return softmax(pick(logits), **switches)
