"""Chapter 1: embedding, the sizes of the four models, and the parameters of a GPT-2."""

from __future__ import annotations

import math

FIELDS = {
    "vocab_size": 50257,
    "n_positions": 1024,
    "n_layer": 12,
    "n_head": 12,
    "d_model": 768,
    "dropout": 0.0,
    "tie_weights": True,
}
SIZES = {  # n_layer, n_head, d_model; source: Radford et al. 2019, and the published weights
    "small": (12, 12, 768),
    "medium": (24, 16, 1024),
    "large": (36, 20, 1280),
    "xl": (48, 25, 1600),
}


def embed(ids, E, P, *, scale=1.0, first=0, T=None):
    """ids (..., T), E (V, d), P (n_positions, d) -> (..., T, d). first: row of P for position 0."""
    T = ids.shape[-1] if T is None else T(ids)
    return E[ids] * scale + P[first : first + T]


def config(make, values, *, sizes=SIZES, fields=FIELDS):
    """The attributes of GPT2Config(*values), or of GPT2Config.small() … if `make` names one."""
    given = sizes[make] if make else ()
    named = dict(zip(("n_layer", "n_head", "d_model"), given))
    return fields | named | dict(zip(FIELDS, values))


def tensors(config):
    """The shape of every parameter, by part of the model."""
    V, T, L, d = (config[k] for k in ("vocab_size", "n_positions", "n_layer", "d_model"))
    return {
        "token_embedding": [(V, d)],
        "position_embedding": [(T, d)],
        "attention": [(d, d), (d,)] * 4 * L,
        "feedforward": [(d, 4 * d), (4 * d,), (4 * d, d), (d,)] * L,
        "layer_norm": [(d,), (d,)] * (2 * L + 1),
        "unembedding": [] if config["tie_weights"] else [(d, V)],
    }


def count(parts):
    """The number of parameters in each part, and their total."""
    counts = {k: sum(math.prod(shape) for shape in shapes) for k, shapes in parts.items()}
    return counts | {"total": sum(counts.values())}


def count_parameters(config, only=()):
    """`only` keeps some of the keys; all by default."""
    counts = count(tensors(config))
    return {k: counts[k] for k in only or counts}
