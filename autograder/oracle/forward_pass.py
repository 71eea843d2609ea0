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


def deviations(
    L, *, E=0.02, P=0.02, W_U=0.02, read=0.02, W_O=lambda L: (2 * L) ** -0.5, W_down=None
):
    """The deviation of every random parameter. W_O, W_down: factors on 0.02, from L."""
    W_down = W_O if W_down is None else W_down
    return {
        "E": E,
        "P": P,
        "W_U": W_U,
        "W_Q, W_K, W_V and W_up": read,
        "W_O": 0.02 * W_O(L),
        "W_down": 0.02 * W_down(L),
    }


def constants(*, gamma=1.0, rest=0.0):
    """The value of all others."""
    return {"gamma": gamma, "beta": rest, "the biases": rest}


# ------------------------------------------------------------------ cross-entropy


def surprise(logits, targets):
    """-log softmax(logits)[target] at each place, in nats: logits (..., V), targets (...)."""
    return log_sum_exp(logits) - picked(logits, targets)


def log_sum_exp(x):
    xp = array_namespace(x)
    top = xp.max(x, axis=-1, keepdims=True)
    return xp.log(xp.sum(xp.exp(x - top), axis=-1)) + top[..., 0]


def picked(x, targets):
    """x[..., target]: (..., V) -> (...)."""
    xp = array_namespace(x)
    here = xp.arange(x.shape[-1]) == targets[..., None]
    return xp.sum(xp.where(here, x, xp.zeros_like(x)), axis=-1)


def cross_entropy(logits, targets):
    return array_namespace(logits).mean(surprise(logits, targets))


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


def next_token_distribution(logits):
    """(..., T, V) -> (..., V)"""
    return softmax(logits[..., -1, :])
