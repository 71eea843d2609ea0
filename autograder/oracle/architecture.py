"""Chapter 1: embedding, the sizes of the four models, and the parameters of a GPT-2."""

from __future__ import annotations

import math
import operator

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


def embed(
    ids,
    E,
    P,
    *,
    tokens=lambda ids, E: E[ids],
    places=lambda ids, P: P[: ids.shape[-1]],
    scale=lambda E: 1.0,
    join=operator.add,
    swap=False,
):
    """ids (..., T), E (V, d), P (n_positions, d) -> (..., T, d)."""
    if swap:
        E, P = P, E
    return join(tokens(ids, E) * scale(E), places(ids, P))


def config(
    make,
    values,
    *,
    named=lambda make: make,
    n_layer=lambda L, H, d: L,
    n_head=lambda L, H, d: H,
    d_model=lambda L, H, d: d,
    given=lambda sizes: sizes,
    **defaults,
):
    """The attributes of GPT2Config(*values), or of GPT2Config.small() … if `make` names one.

    named: constructor -> the one whose sizes it takes. given: what the constructors hand to cls.
    """
    fields = FIELDS | defaults | dict(zip(FIELDS, values))
    if not make:
        return fields
    sizes = SIZES[named(make)]
    rules = {"n_layer": n_layer, "n_head": n_head, "d_model": d_model}
    return fields | given({name: rule(*sizes) for name, rule in rules.items()})


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


def count_parameters(
    config, only=(), *, as_if=lambda config: config, total=sum, left_out=(), **shapes
):
    """The number of parameters in each part, and their total.

    only: the keys to keep, all by default. as_if: config -> the one that is counted. total:
    counts -> total, without those that are left out. shapes: part -> (config -> its shapes).
    """
    config = as_if(config)
    parts = tensors(config) | {part: shapes[part](config) for part in shapes}
    counts = {k: sum(math.prod(shape) for shape in parts[k]) for k in parts}
    counts["total"] = total([n for k, n in counts.items() if k not in left_out])
    return {k: counts[k] for k in only or counts}
