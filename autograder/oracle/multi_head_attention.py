"""Chapter 4: splitting and merging heads, multi-head attention, and what each head writes."""

from __future__ import annotations

from array_api_compat import array_namespace, device

from autograder.oracle.self_attention import attention, causal_mask


def split_heads(x, n_head, *, layout="columns"):
    """(..., T, d) -> (..., H, T, d_k).

    layout: "columns", or by mistake "rows", "interleaved", or "unmoved", which is (..., T, H, d_k).
    """
    xp = array_namespace(x)
    *batch, T, d = x.shape
    d_k = d // n_head
    if layout == "rows":
        return xp.reshape(x, (*batch, n_head, T, d_k))
    if layout == "interleaved":
        return xp.moveaxis(xp.reshape(x, (*batch, T, d_k, n_head)), -1, -3)
    cut = xp.reshape(x, (*batch, T, n_head, d_k))
    return cut if layout == "unmoved" else xp.moveaxis(cut, -2, -3)


def merge_heads(x, *, layout="columns"):
    """(..., H, T, d_k) -> (..., T, d), the inverse of split_heads with the same layout.

    layout: by mistake "crossed", which swaps T and d_k.
    """
    xp = array_namespace(x)
    *batch, H, T, d_k = x.shape
    if layout == "unmoved":  # what stands there as H are the positions
        return xp.reshape(x, (*batch, H, T * d_k))
    if layout == "interleaved":
        x = xp.moveaxis(x, -3, -1)
    elif layout == "crossed":
        x = xp.matrix_transpose(x)
    elif layout == "columns":
        x = xp.moveaxis(x, -3, -2)
    return xp.reshape(x, (*batch, T, H * d_k))


def heads(
    x, p, n_head, *, mask=causal_mask, layout="columns", sliced=False, unseen=None, **switches
):
    """Outputs of all heads, (..., H, T, d_k); p holds W_Q … b_O.

    sliced  each head reads, by mistake, its own d_k columns of x only
    unseen  what a position gives that sees nothing; by default NaN, which its softmax is
    """
    xp = array_namespace(x)

    def project(n):
        W = _own_blocks(p[f"W_{n}"], n_head) if sliced else p[f"W_{n}"]
        return split_heads(x @ W + p[f"b_{n}"], n_head, layout=layout)

    Q, K, V = map(project, "QKV")
    m = None if mask is None else mask(x.shape[-2], xp=xp)
    if m is not None and hasattr(m, "to"):
        m = m.to(device(x))
    out = attention(Q, K, V, m, **switches)[0]
    return out if unseen is None else xp.where(xp.isnan(out), unseen * xp.ones_like(out), out)


def _own_blocks(W, n_head):
    """W with zeros where a row and a column belong to different heads."""
    xp = array_namespace(W)
    owner = xp.arange(W.shape[0]) // (W.shape[0] // n_head)
    return xp.where(owner[:, None] == owner, W, xp.zeros_like(W))


def multi_head_attention(x, p, n_head, *, merge="columns", b_O=1.0, out=True, **switches):
    """x (..., T, d) -> (..., T, d). b_O: how many times it is added. out: whether W_O is used."""
    joined = merge_heads(heads(x, p, n_head, **switches), layout=merge)
    return joined @ p["W_O"] + b_O * p["b_O"] if out else joined


def rows_of(W_O, n_head):
    """(d, d) -> (H, d_k, d): rows h d_k to (h+1) d_k - 1 belong to head h."""
    return W_O.reshape(n_head, -1, W_O.shape[-1])


def head_writes(x, p, n_head, *, rows=rows_of, **switches):
    """What each head adds to the stream, (..., H, T, d). rows: W_O, H -> (H, d_k, d), or None."""
    each = heads(x, p, n_head, **switches)
    return each @ rows(p["W_O"], n_head) if rows else each


def others(each, head):
    """How much of each head's write is left without `head`. each: 0 ... H-1."""
    return each != head


def ablate_head(x, p, n_head, head, *, left=others, b_O=1.0, **switches):
    """The layer without the write of one head: the sum over the others, and b_O.

    left  the heads' numbers and `head` -> how much of each head's write is left
    b_O   how many times it is added
    """
    xp = array_namespace(x)
    writes = head_writes(x, p, n_head, **switches)
    share = xp.astype(left(xp.arange(n_head), head % n_head), x.dtype)
    return xp.sum(share[:, None, None] * writes, axis=-3) + b_O * p["b_O"]
