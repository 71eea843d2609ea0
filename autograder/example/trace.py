"""Every number between the ids and the logits of a small GPT-2, by the names of the book."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor


def run(weights: dict[str, Tensor], n_head: int, ids: Tensor, causal=True) -> dict[str, Tensor]:
    """All stages for one sentence, ids (T,), with one entry each, in the order of computing.

    `tokens`, `places`, `X0` (T, d); for each block l, under names that end in `_l`: `ln_1`, `Q`, `K`,
    `V` (H, T, d_k), `S`, `A` (H, T, T), `heads` (H, T, d_k), `writes` (H, T, d), `attn`, `mid`, `ln_2`
    (T, d), `up`, `act` (T, 4d), `ffn` (T, d), and the stream after it, `X1`, …; at the end `ln_f`,
    `logits` and `probs` (T, V). Without `causal` every position sees all others.
    """
    T, d = len(ids), weights["E"].shape[1]
    out = {"tokens": F.embedding(ids, weights["E"]), "places": weights["P"].narrow(0, 0, T)}
    x = out["X0"] = out["tokens"] + out["places"]
    future = torch.full((T, T), causal).triu(1)
    for l in range(sum(name.endswith("ln_1.gamma") for name in weights)):
        p = {name.split(".", 2)[2]: w for name, w in weights.items() if f"blocks.{l}." in name}
        a = f"_{l}"

        def norm(x, name):
            return F.layer_norm(x, (d,), p[f"{name}.gamma"], p[f"{name}.beta"])

        def linear(x, layer, name):
            return F.linear(x, p[f"{layer}.W_{name}"].T, p[f"{layer}.b_{name}"])

        out["ln_1" + a] = read = norm(x, "ln_1")
        Q, K, V = (
            linear(read, "attn", n).unflatten(-1, (n_head, -1)).movedim(-2, 0) for n in "QKV"
        )
        S = (Q @ K.mT / math.sqrt(d // n_head)).masked_fill(future, -math.inf)
        A = S.softmax(-1)
        writes = (A @ V) @ p["attn.W_O"].unflatten(0, (n_head, -1))
        attn = writes.sum(0) + p["attn.b_O"]
        mid = x + attn
        out |= {"Q" + a: Q, "K" + a: K, "V" + a: V, "S" + a: S, "A" + a: A, "heads" + a: A @ V}
        out |= {"writes" + a: writes, "attn" + a: attn, "mid" + a: mid}
        out["ln_2" + a] = read = norm(mid, "ln_2")
        out["up" + a] = up = linear(read, "ffn", "up")
        out["act" + a] = act = F.gelu(up, approximate="tanh")
        out["ffn" + a] = ffn = linear(act, "ffn", "down")
        x = out[f"X{l + 1}"] = mid + ffn
    out["ln_f"] = F.layer_norm(x, (d,), weights["ln_f.gamma"], weights["ln_f.beta"])
    out["logits"] = F.linear(out["ln_f"], weights["E"])
    out["probs"] = out["logits"].softmax(-1)
    return out
