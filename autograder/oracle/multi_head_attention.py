"""Chapter 4: splitting and merging heads, multi-head attention, and what each head writes."""

from __future__ import annotations

from array_api_compat import array_namespace, device

from autograder.oracle.self_attention import attention, causal_mask


def split_heads(x, n_head, *, layout="columns"):
    """(..., T, d) -> (..., H, T, d_k). layout: "columns", or "rows" or "interleaved" by mistake."""
    xp = array_namespace(x)
    *batch, T, d = x.shape
    d_k = d // n_head
    if layout == "rows":
        return xp.reshape(x, (*batch, n_head, T, d_k))
    if layout == "interleaved":
        return xp.moveaxis(xp.reshape(x, (*batch, T, d_k, n_head)), -1, -3)
    return xp.moveaxis(xp.reshape(x, (*batch, T, n_head, d_k)), -2, -3)


def merge_heads(x, *, layout="columns"):
    """(..., H, T, d_k) -> (..., T, d), the inverse of split_heads."""
    xp = array_namespace(x)
    *batch, H, T, d_k = x.shape
    if layout == "interleaved":
        x = xp.moveaxis(x, -3, -1)
    elif layout == "columns":
        x = xp.moveaxis(x, -3, -2)
    return xp.reshape(x, (*batch, T, H * d_k))


def heads(x, p, n_head, *, mask=causal_mask, layout="columns", sliced=False, **switches):
    """Outputs of all heads, (..., H, T, d_k); p holds W_Q … b_O.

    sliced: each head reads, by mistake, its own d_k columns of x only.
    """
    xp = array_namespace(x)

    def project(n):
        W = _own_blocks(p[f"W_{n}"], n_head) if sliced else p[f"W_{n}"]
        return split_heads(x @ W + p[f"b_{n}"], n_head, layout=layout)

    Q, K, V = map(project, "QKV")
    m = None if mask is None else mask(x.shape[-2], xp=xp)
    if m is not None and hasattr(m, "to"):
        m = m.to(device(x))
    return attention(Q, K, V, m, **switches)[0]


def _own_blocks(W, n_head):
    """W with zeros where a row and a column belong to different heads."""
    xp = array_namespace(W)
    owner = xp.arange(W.shape[0]) // (W.shape[0] // n_head)
    return xp.where(owner[:, None] == owner, W, xp.zeros_like(W))


def multi_head_attention(x, p, n_head, *, merge="columns", b_O=1.0, out=True, **switches):
    """x (..., T, d) -> (..., T, d). b_O: how many times it is added. out: whether W_O is used."""
    joined = merge_heads(heads(x, p, n_head, **switches), layout=merge)
    return joined @ p["W_O"] + b_O * p["b_O"] if out else joined


def head_writes(x, p, n_head, *, rows=None, **switches):
    """What each head adds to the stream, (..., H, T, d). rows: W_O -> (H, d_k, d)."""
    xp = array_namespace(x)
    d = x.shape[-1]
    W_O = xp.reshape(p["W_O"], (n_head, d // n_head, d)) if rows is None else rows(p["W_O"])
    return heads(x, p, n_head, **switches) @ W_O


def ablate_head(x, p, n_head, head, **switches):
    """The layer without the write of one head: the sum over the others, and b_O."""
    xp = array_namespace(x)
    writes = head_writes(x, p, n_head, **switches)
    return xp.sum(writes, axis=-3) - writes[..., head, :, :] + p["b_O"]
