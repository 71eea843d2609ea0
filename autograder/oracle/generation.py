"""Chapter 8: the distribution that the next token is drawn from, and the tokens of a small model.

The switches (after the *) are the mistakes.
"""

from __future__ import annotations

import numpy as np

from autograder.oracle.self_attention import softmax

# ------------------------------------------------------------------ one token


def next_distribution(
    logits,
    temperature=1.0,
    top_k=None,
    top_p=None,
    *,
    zero="greedy",
    heat="divide",
    fill_k=-np.inf,
    fill_p=-np.inf,
    order="k first",
    nucleus_of="tempered",
    flat=False,
    twice=False,
    over=-1,
    ranks=False,
    ranks_with_k=False,
    ranks_with_p=False,
    **cuts,
):
    """logits (B, V) -> (B, V): the probability with which each token is drawn.

    cuts: the switches of `beyond_k` and of `beyond_p`.
    """
    if temperature == 0 and zero == "greedy":
        return np.eye(logits.shape[-1])[logits.argmax(-1)]
    if temperature == 0 and zero == "skipped":
        temperature = 1.0
    powers = {"divide": -1, "multiply": 1, "ignored": 0, "twice": -2}
    factor = np.asarray(temperature, float) ** powers[heat]
    z = logits * factor
    of_k = {k: cuts[k] for k in ("more", "keeps", "shared") if k in cuts}
    of_p = {k: v for k, v in cuts.items() if k not in of_k}

    def cut_k(z):
        return z if top_k is None else np.where(beyond_k(z, top_k, **of_k), fill_k, z)

    def cut_p(z):
        if top_p is None:
            return z
        seen = z / factor if nucleus_of == "raw" else z
        if of_p.get("put_back") == "values":
            order = np.argsort(-z, axis=-1, kind="stable")
            ranked = np.take_along_axis(z, order, -1)
            return np.take_along_axis(np.where(beyond_p(ranked, top_p), fill_p, ranked), order, -1)
        return np.where(beyond_p(seen, top_p, **of_p), fill_p, z)

    z = cut_p(cut_k(z)) if order == "k first" else cut_k(cut_p(z))
    if flat:
        z = np.where(np.isfinite(z), 0.0, -np.inf)
    p = softmax(z, over)
    p = softmax(p / p.sum(-1, keepdims=True)) if twice else p / p.sum(-1, keepdims=True)
    if ranks or (ranks_with_k and top_k is not None) or (ranks_with_p and top_p is not None):
        p = -np.sort(-p, axis=-1)
    return p


def beyond_k(z, k, *, more=0, keeps="largest", shared=False):
    """Which logits top-k cuts. keeps: the "largest" k, the "smallest", or "all but k".

    shared: whose bound all rows have, the "lowest" or that of the "first" row.
    """
    V = z.shape[-1]
    k = min(k + more, V)
    ascending = np.sort(z, axis=-1)
    if keeps == "smallest":
        return z > ascending[:, k - 1, None]
    lowest = ascending[:, k if keeps == "all but k" else V - k, None]
    return z < {False: lowest, "lowest": lowest.min(), "first": lowest[0]}[shared]


def beyond_p(
    z, top_p, *, crossing="kept", by="likeliest first", put_back=True, summed="probabilities"
):
    """Which logits top-p cuts. crossing: what becomes of the token whose sum crosses top_p.

    by: "likeliest first", "likeliest last" or "id", the order in which they are summed.
    put_back: whether what is found in this order is brought back, or brought there "again"; of
    "values", next_distribution does the same with the sorted logits.
    """
    p = softmax(z)
    ranks = {"likeliest first": -p, "likeliest last": p, "id": np.zeros_like(p)}[by]
    order = np.argsort(ranks, axis=-1, kind="stable")
    ranked = np.take_along_axis(p if summed == "probabilities" else z, order, -1)
    with np.errstate(invalid="ignore"):  # -inf - -inf
        reached = np.cumsum(ranked, -1)
        before = reached - ranked
    first = np.zeros_like(before[:, :1])
    beyond = {
        "kept": before >= top_p,
        "dropped": reached > top_p,
        "dropped, but not the first": np.where(np.arange(z.shape[-1]) > 0, reached > top_p, False),
        "one more": np.concatenate([first, before[:, :-1]], -1) >= top_p,
    }[crossing]
    if put_back == "again":
        return np.take_along_axis(beyond, order, -1)
    return np.take_along_axis(beyond, np.argsort(order, -1), -1) if put_back else beyond


# ------------------------------------------------------------------ many tokens


def window_logits(table, ids):
    """The small model of the probes: table (n_positions, V, V), ids (B, T) -> (B, T, V).

    Position s adds table[s, id_s] to the logits of itself and of all later positions.
    """
    T = ids.shape[1]
    if not 1 <= T <= len(table):
        raise ValueError(f"{T} tokens for {len(table)} positions")
    return np.cumsum(table[np.arange(T), ids], axis=1)


def seen(ids, n, prompt, step, *, crop="last", shorter=0):
    """What of the ids (B, T) the model is given in a step, after a prompt of so many tokens."""
    last = ids[:, -(n - shorter) :]
    return {
        "last": last,
        "first": ids[:, : n - shorter],
        "all": ids,
        "all but the newest": ids[:, :-1][:, -n:],
        "the last but the newest": last[:, :-1],
        "newest": ids[:, -1:],
        "newest, after the first pass": ids[:, -1:] if step else last,
        "as many as the prompt": ids[:, -prompt:],
    }[crop]


def last_row(prompt, row):
    return prompt - 1 if row == "of the prompt" else row


def greedy(table, ids, new, *, row=-1, once=False, keep="all", **crop):
    """ids (B, T) -> (B, T + new): always the largest logit."""
    T, n = ids.shape[1], len(table)
    logits = None
    for step in range(new):
        visible = seen(ids, n, T, step, **crop)
        if logits is None or not once:
            logits = window_logits(table, visible)[:, last_row(T, row)]
        kept = visible if keep == "seen" else ids
        ids = np.concatenate([kept, logits.argmax(-1)[:, None]], axis=1)
    return ids[:, T:] if keep == "new" else ids


def joint(table, ids, new, draw, *, row=-1, once=False, **crop):
    """ids (1, T) -> (V, …, V), an axis for each new token: the probability of each continuation.

    `draw` turns logits (B, V) into the distribution of the next token.
    """
    T, V, n = ids.shape[1], table.shape[-1], len(table)
    paths, p = ids, np.ones(1)
    first = None
    for step in range(new):
        logits = window_logits(table, seen(paths, n, T, step, **crop))[:, last_row(T, row)]
        first = logits if first is None else first
        q = draw(np.repeat(first, len(paths), 0) if once else logits)
        paths = np.concatenate(
            [np.repeat(paths, V, 0), np.tile(np.arange(V), len(paths))[:, None]], 1
        )
        p = (p[:, None] * q).ravel()
    return p.reshape((V,) * new)
