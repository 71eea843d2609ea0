"""Chapter 3: softmax, the causal mask, attention and one head."""

from __future__ import annotations

import math

from array_api_compat import array_namespace, device


def softmax(x, dim=-1, *, shift=True, base=math.e, power=1.0):
    xp = array_namespace(x)
    if shift:
        x = x - xp.max(x, axis=dim, keepdims=True)
    e = xp.exp(x * math.log(base))
    return e / xp.sum(e, axis=dim, keepdims=True) ** power


def causal_mask(T, *, xp, diagonal=1, fill=-math.inf, direction="future"):
    """(T, T): `fill` where column - row >= diagonal (or row - column, for direction "past")."""
    t = xp.arange(T)
    ahead = t[None, :] - t[:, None] if direction == "future" else t[:, None] - t[None, :]
    zero = xp.zeros((T, T), dtype=xp.float64)
    return xp.where(ahead >= diagonal, xp.full((T, T), fill, dtype=xp.float64), zero)


def attention(Q, K, V, mask=None, *, scale=None, softmax_dim=-1, mask_when="before", swap=False):
    """-> output (..., T, d_v), weights (..., T, S).

    scale: Q -> factor on the scores. mask_when: "before" the softmax, "after" it, or "never".
    """
    xp = array_namespace(Q)
    if swap:
        Q, K = K, Q
    scale = Q.shape[-1] ** -0.5 if scale is None else scale(Q)
    S = (Q @ xp.matrix_transpose(K)) * scale
    if mask is not None and mask_when == "before":
        S = S + xp.astype(mask, S.dtype)
    A = softmax(S, softmax_dim)
    if mask is not None and mask_when == "after":
        A = xp.where(mask == 0, A, xp.zeros_like(A))
    return A @ V, A


def attention_head(x, W_Q, b_Q, W_K, b_K, W_V, b_V, *, mask=causal_mask, **switches):
    """x (..., T, d), W (d, d_k) -> (..., T, d_k), under the causal mask."""
    xp = array_namespace(x)
    m = None if mask is None else mask(x.shape[-2], xp=xp)
    if m is not None and hasattr(m, "to"):
        m = m.to(device(x))
    return attention(x @ W_Q + b_Q, x @ W_K + b_K, x @ W_V + b_V, m, **switches)[0]
