"""Chapter 3: softmax, the causal mask, attention and one head."""

from __future__ import annotations

import math

from array_api_compat import array_namespace, device


def softmax(
    x, dim=-1, *, shift=True, shift_dim="dim", sum_dim="dim", base=math.e, power=1.0, log=False
):
    """shift_dim, sum_dim: the axis of the maximum and of the sum, where it is another than dim."""
    xp = array_namespace(x)
    if shift:
        x = x - xp.max(x, axis=dim if shift_dim == "dim" else shift_dim, keepdims=True)
    e = xp.exp(x * math.log(base))
    total = xp.sum(e, axis=dim if sum_dim == "dim" else sum_dim, keepdims=True)
    return x - xp.log(total) if log else e / total**power


def causal_mask(T, *, xp, diagonal=1, fill=-math.inf, open=0.0, direction="future"):
    """(T, T): `fill` where column - row >= diagonal (or row - column, for direction "past"), and
    `open` elsewhere."""
    t = xp.arange(T)
    ahead = t[None, :] - t[:, None] if direction == "future" else t[:, None] - t[None, :]
    masked, free = (xp.full((T, T), v, dtype=xp.float64) for v in (fill, open))
    return xp.where(ahead >= diagonal, masked, free)


def attention(
    Q,
    K,
    V,
    mask=None,
    *,
    scale=None,
    width="d_k",
    scale_when="before",
    softmax_dim=-1,
    mask_when="before",
    hides_zeros=None,
    swap=False,
    transpose=True,
    returns="weights",
):
    """-> output (..., T, d_v), weights (..., T, S).

    scale: Q -> factor on the scores, in place of 1 / sqrt(width), where the width is "d_k", "d_v" or
    the number of "keys"; scale_when "after": on the weights. softmax_dim None: none.
    mask_when: "before" the softmax, "after" it, "never", "multiplied", or "always": the causal one.
    hides_zeros: what scores become where the mask is 0, for a mask that is read as 1 and 0.
    """
    xp = array_namespace(Q)
    if swap:
        Q, K = K, Q
    usual = {"d_k": Q.shape[-1], "d_v": V.shape[-1], "keys": K.shape[-2]}[width] ** -0.5
    scale = usual if scale is None else scale(Q)
    turned = (*K.shape[:-2], K.shape[-1], K.shape[-2])
    S = Q @ (xp.matrix_transpose(K) if transpose else xp.reshape(K, turned))
    S = S * scale if scale_when == "before" else S
    if mask_when == "always":
        t, s = xp.arange(S.shape[-2]), xp.arange(S.shape[-1])
        S = xp.where(s[None, :] > t[:, None], xp.full_like(S, -math.inf), S)
    elif mask is not None:
        mask = xp.astype(mask, S.dtype)
        if hides_zeros is not None:
            S = xp.where(mask == 0, xp.full_like(S, hides_zeros), S)
        elif mask_when in ("before", "multiplied"):
            S = S + mask if mask_when == "before" else S * mask
    A = S if softmax_dim is None else softmax(S, softmax_dim)
    A = A * scale if scale_when == "after" else A
    if mask is not None and mask_when == "after":
        A = xp.where(mask == 0, A, xp.zeros_like(A))
    return A @ V, A if returns == "weights" else S


def attention_head(x, W_Q, b_Q, W_K, b_K, W_V, b_V, *, mask=causal_mask, **switches):
    """x (..., T, d), W (d, d_k) -> (..., T, d_k), under the causal mask."""
    xp = array_namespace(x)
    m = None if mask is None else mask(x.shape[-2], xp=xp)
    if m is not None and hasattr(m, "to"):
        m = m.to(device(x))
    return attention(x @ W_Q + b_Q, x @ W_K + b_K, x @ W_V + b_V, m, **switches)[0]
