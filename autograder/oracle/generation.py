"""Chapter 8: the distribution that the next token is drawn from, and the tokens of a small model.

The switches (after the *) are the mistakes.
"""

from __future__ import annotations

import numpy as np

from autograder.oracle.self_attention import softmax


def next_distribution(
    logits,
    temperature=1.0,
    top_k=None,
    top_p=None,
    *,
    heat="divide",
    more=0,
    shared=False,
    fill=-np.inf,
    crossing="kept",
    tail=False,
    scattered=True,
    order="k first",
    nucleus_of="tempered",
    flat=False,
    twice=False,
):
    """logits (B, V) -> (B, V): the probability with which each token is drawn."""
    V = logits.shape[-1]
    if temperature == 0:
        return np.eye(V)[logits.argmax(-1)]
    raw = logits
    if heat != "ignored":
        logits = logits / temperature if heat == "divide" else logits * temperature

    def cut_k(z):
        if top_k is None:
            return z
        k = min(top_k + more, V)
        kth = np.sort(z, axis=-1)[:, V - k, None]
        return np.where(z < (kth.max() if shared else kth), fill, z)

    def cut_p(z):
        if top_p is None:
            return z
        p = softmax(raw if nucleus_of == "raw" else z)
        order_of = np.argsort(p if tail else -p, axis=-1, kind="stable")
        ranked = np.take_along_axis(p, order_of, -1)
        before = np.cumsum(ranked, -1) - ranked
        beyond = {
            "kept": before >= top_p,
            "dropped": before + ranked > top_p,
            "one more": np.concatenate([np.zeros_like(before[:, :1]), before[:, :-1]], -1) >= top_p,
        }[crossing]
        if scattered == "forwards":
            beyond = np.take_along_axis(beyond, order_of, -1)
        elif scattered:
            beyond = np.take_along_axis(beyond, np.argsort(order_of, -1), -1)
        return np.where(beyond, fill, z)

    logits = cut_p(cut_k(logits)) if order == "k first" else cut_k(cut_p(logits))
    if flat:
        logits = np.where(np.isfinite(logits), 0.0, -np.inf)
    p = softmax(logits)
    return softmax(p) if twice else p


def window_logits(table, ids):
    """The small model of the probes: table (n_positions, V, V), ids (B, T) -> (B, T, V).

    Position s adds table[s, id_s] to the logits of itself and of all later positions.
    """
    T = ids.shape[1]
    if not 1 <= T <= len(table):
        raise ValueError(f"{T} tokens for {len(table)} positions")
    return np.cumsum(table[np.arange(T), ids], axis=1)


def seen(ids, n, *, crop="last", shorter=0):
    """What of the ids (B, T) the model is given."""
    n = n - shorter
    return {"last": ids[:, -n:], "first": ids[:, :n], "all": ids, "newest": ids[:, -1:]}[crop]


def greedy(table, ids, new, *, row=-1, once=False, keep="all", **crop):
    """ids (B, T) -> (B, T + new): always the largest logit."""
    T, n = ids.shape[1], len(table)
    logits = None
    for _ in range(new):
        visible = seen(ids, n, **crop)
        if logits is None or not once:
            logits = window_logits(table, visible)[:, row]
        kept = visible if keep == "seen" else ids
        ids = np.concatenate([kept, logits.argmax(-1)[:, None]], axis=1)
    return ids[:, T:] if keep == "new" else ids


def joint(table, ids, new, draw, *, row=-1, once=False, **crop):
    """ids (1, T) -> (V ** new,): the probability of each continuation, in lexical order.

    `draw` turns logits (B, V) into the distribution of the next token.
    """
    V, n = table.shape[-1], len(table)
    paths, p = ids, np.ones(1)
    first = None
    for _ in range(new):
        logits = window_logits(table, seen(paths, n, **crop))[:, row]
        first = logits if first is None else first
        q = draw(np.repeat(first, len(paths), 0) if once else logits)
        paths = np.concatenate(
            [np.repeat(paths, V, 0), np.tile(np.arange(V), len(paths))[:, None]], 1
        )
        p = (p[:, None] * q).ravel()
    return p
