"""GPT-2 whole: forward and backward by hand, and AdamW, in NumPy float64.

Parameters are a dict under the names of gpt2.py's state_dict: E (V, d), P (n_positions, d),
blocks.{l}.attn.W_Q (d, d) …; W_U (d, V) only when untied. A line that needs it for the way back
saves its inputs; each `*_back` takes dy, the gradient of the loss by its output.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy import ndarray

EPS = 1e-5  # LayerNorm
GELU_A, GELU_B = math.sqrt(2 / math.pi), 0.044715


# ---------------------------------------------------------------- parts, forward


def softmax(x: ndarray) -> ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gelu_tanh(x: ndarray) -> ndarray:
    return 0.5 * x * (1 + np.tanh(GELU_A * (x + GELU_B * x**3)))


def layer_norm(x: ndarray, gamma: ndarray, beta: ndarray) -> tuple[ndarray, tuple]:
    """x (B, T, d) -> the same; the variance is the biased one, eps inside the root."""
    rstd = 1 / np.sqrt(x.var(-1, keepdims=True) + EPS)  # (B, T, 1)
    unit = (x - x.mean(-1, keepdims=True)) * rstd
    return gamma * unit + beta, (unit, rstd)


def split_heads(x: ndarray, n_head: int) -> ndarray:
    B, T, d = x.shape
    return x.reshape(B, T, n_head, d // n_head).swapaxes(1, 2)  # (B, H, T, d_k)


def merge_heads(x: ndarray) -> ndarray:
    B, H, T, d_k = x.shape
    return x.swapaxes(1, 2).reshape(B, T, H * d_k)


def multi_head(x: ndarray, p: dict, n_head: int) -> tuple[ndarray, tuple]:
    """x (B, T, d) -> the same; p holds this layer's W_Q … b_O. Saves the weights A (B, H, T, T)."""
    T, d_k = x.shape[1], x.shape[2] // n_head
    Q, K, V = (split_heads(x @ p[f"W_{n}"] + p[f"b_{n}"], n_head) for n in "QKV")
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(d_k)
    A = softmax(np.where(np.tri(T, dtype=bool), scores, -np.inf))  # (B, H, T, T)
    heads = merge_heads(A @ V)
    return heads @ p["W_O"] + p["b_O"], (x, Q, K, V, A, heads)


def feed_forward(x: ndarray, p: dict) -> tuple[ndarray, tuple]:
    up = x @ p["W_up"] + p["b_up"]  # (B, T, 4d)
    act = gelu_tanh(up)
    return act @ p["W_down"] + p["b_down"], (x, up, act)


# ---------------------------------------------------------------- parts, backward


def softmax_back(dy: ndarray, y: ndarray) -> ndarray:
    return y * (dy - (dy * y).sum(-1, keepdims=True))


def gelu_tanh_back(dy: ndarray, x: ndarray) -> ndarray:
    t = np.tanh(GELU_A * (x + GELU_B * x**3))
    return dy * 0.5 * (1 + t + x * (1 - t * t) * GELU_A * (1 + 3 * GELU_B * x * x))


def linear_back(dy: ndarray, x: ndarray, W: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """y = x W + b: the gradients by x, W and b."""
    return dy @ W.T, np.einsum("bti,bto->io", x, dy), dy.sum((0, 1))


def layer_norm_back(dy: ndarray, gamma: ndarray, saved: tuple) -> tuple[ndarray, dict]:
    unit, rstd = saved
    dunit = dy * gamma
    dx = dunit - dunit.mean(-1, keepdims=True) - unit * (dunit * unit).mean(-1, keepdims=True)
    return dx * rstd, {"gamma": (dy * unit).sum((0, 1)), "beta": dy.sum((0, 1))}


def multi_head_back(dy: ndarray, p: dict, saved: tuple) -> tuple[ndarray, dict]:
    x, Q, K, V, A, heads = saved
    n_head, d_k = Q.shape[1], Q.shape[3]
    g = {}
    dheads, g["W_O"], g["b_O"] = linear_back(dy, heads, p["W_O"])
    dheads = split_heads(dheads, n_head)
    dscores = softmax_back(dheads @ V.swapaxes(-2, -1), A) / math.sqrt(d_k)  # 0 where masked
    into = {"Q": dscores @ K, "K": dscores.swapaxes(-2, -1) @ Q, "V": A.swapaxes(-2, -1) @ dheads}
    dx = 0
    for n, dn in into.items():
        part, g[f"W_{n}"], g[f"b_{n}"] = linear_back(merge_heads(dn), x, p[f"W_{n}"])
        dx = dx + part
    return dx, g


def feed_forward_back(dy: ndarray, p: dict, saved: tuple) -> tuple[ndarray, dict]:
    x, up, act = saved
    g = {}
    dact, g["W_down"], g["b_down"] = linear_back(dy, act, p["W_down"])
    dx, g["W_up"], g["b_up"] = linear_back(gelu_tanh_back(dact, up), x, p["W_up"])
    return dx, g


# ---------------------------------------------------------------- the whole


@dataclass
class Pass:
    """What one forward pass gives: every array (B, T, …) a check may want to compare."""

    embedding: ndarray  # (B, T, d)
    blocks: list[ndarray]  # the stream after each block, (B, T, d)
    final_norm: ndarray  # (B, T, d)
    logits: ndarray  # (B, T, V)
    saved: list[tuple] = field(repr=False)

    @property
    def attentions(self) -> list[ndarray]:
        return [attn[4] for _, attn, _, _ in self.saved[:-1]]  # (B, H, T, T) a layer


def within(params: dict, prefix: str) -> dict:
    return {k.removeprefix(prefix): a for k, a in params.items() if k.startswith(prefix)}


def n_layer(params: dict) -> int:
    return sum(name.endswith(".ln_1.gamma") for name in params)


def in_float64(params: dict) -> dict:
    return {name: np.asarray(array, np.float64) for name, array in params.items()}


def forward(params: dict, ids: ndarray, n_head: int) -> Pass:
    """ids (B, T) -> logits (B, T, V), and the stream on the way."""
    params = in_float64(params)
    x = embedding = params["E"][ids] + params["P"][: ids.shape[1]]
    blocks, saved = [], []
    for i in range(n_layer(params)):
        p = within(params, f"blocks.{i}.")
        read, ln_1 = layer_norm(x, p["ln_1.gamma"], p["ln_1.beta"])
        write, attn = multi_head(read, within(p, "attn."), n_head)
        x = x + write
        read, ln_2 = layer_norm(x, p["ln_2.gamma"], p["ln_2.beta"])
        write, ffn = feed_forward(read, within(p, "ffn."))
        x = x + write
        blocks.append(x)
        saved.append((ln_1, attn, ln_2, ffn))
    final_norm, ln_f = layer_norm(x, params["ln_f.gamma"], params["ln_f.beta"])
    logits = final_norm @ params.get("W_U", params["E"].T)
    return Pass(embedding, blocks, final_norm, logits, [*saved, ln_f])


def loss(logits: ndarray, targets: ndarray) -> float:
    """Mean of -log softmax(logits)[target], in nats."""
    top = logits.max(-1, keepdims=True)
    log_p = logits - top - np.log(np.exp(logits - top).sum(-1, keepdims=True))
    return -np.take_along_axis(log_p, targets[..., None], -1).mean()


def gradients(params: dict, ids: ndarray, targets: ndarray, n_head: int) -> tuple[float, dict]:
    """The loss of a batch, and its gradient by every parameter, under the parameters' names."""
    params = in_float64(params)
    run = forward(params, ids, n_head)
    dlogits = softmax(run.logits)
    np.put_along_axis(
        dlogits, targets[..., None], np.take_along_axis(dlogits, targets[..., None], -1) - 1, -1
    )
    dlogits /= targets.size
    g = {name: np.zeros_like(array) for name, array in params.items()}

    def add(prefix: str, part: dict):
        for name, array in part.items():
            g[prefix + name] += array

    head = np.einsum("btd,btv->dv", run.final_norm, dlogits)
    if "W_U" in params:
        g["W_U"] += head
    else:
        g["E"] += head.T  # the tied E is read at both ends
    dx = dlogits @ params.get("W_U", params["E"].T).T
    dx, part = layer_norm_back(dx, params["ln_f.gamma"], run.saved[-1])
    add("ln_f.", part)
    for i in reversed(range(n_layer(params))):
        at, (ln_1, attn, ln_2, ffn) = f"blocks.{i}.", run.saved[i]
        p = within(params, at)
        for name, ln, back, inner in (
            ("ffn.", ("ln_2.", ln_2), feed_forward_back, ffn),
            ("attn.", ("ln_1.", ln_1), multi_head_back, attn),
        ):
            dread, part = back(dx, within(p, name), inner)
            add(at + name, part)
            dread, part = layer_norm_back(dread, p[ln[0] + "gamma"], ln[1])
            add(at + ln[0], part)
            dx = dx + dread  # past the sub-layer, and through it
    np.add.at(g["E"], ids, dx)
    g["P"][: ids.shape[1]] += dx.sum(0)
    return loss(run.logits, targets), g


def train(
    params: dict,
    ids: ndarray,
    targets: ndarray,
    n_head: int,
    steps: int,
    lr: float,
    betas: tuple[float, float],
    eps: float,
    weight_decay: float,
    max_norm: float,
) -> tuple[list[float], list[float], dict]:
    """AdamW on one batch: losses, gradient norms before clipping, and the parameters at the end.

    Only tensors of two dimensions or more decay. Source: Loshchilov & Hutter, 1711.05101.
    """
    params = in_float64(params)
    m = {name: np.zeros_like(array) for name, array in params.items()}
    v = {name: np.zeros_like(array) for name, array in params.items()}
    losses, norms = [], []
    for step in range(1, steps + 1):
        value, g = gradients(params, ids, targets, n_head)
        norm = math.sqrt(sum((array**2).sum() for array in g.values()))
        scale = min(1.0, max_norm / (norm + 1e-6))
        for name, p in params.items():
            grad = scale * g[name]
            m[name] = betas[0] * m[name] + (1 - betas[0]) * grad
            v[name] = betas[1] * v[name] + (1 - betas[1]) * grad**2
            m_hat, v_hat = m[name] / (1 - betas[0] ** step), v[name] / (1 - betas[1] ** step)
            decay = lr * weight_decay if p.ndim >= 2 else 0.0
            params[name] = p - decay * p - lr * m_hat / (np.sqrt(v_hat) + eps)
        losses.append(value)
        norms.append(norm)
    return losses, norms, params


def greedy(params: dict, ids: ndarray, n_head: int, new_tokens: int) -> ndarray:
    """ids (B, T) -> (B, T + new_tokens); past n_positions only the last n_positions are seen."""
    for _ in range(new_tokens):
        logits = forward(params, ids[:, -len(params["P"]) :], n_head).logits[:, -1]
        ids = np.concatenate([ids, logits.argmax(-1)[:, None]], axis=1)
    return ids
