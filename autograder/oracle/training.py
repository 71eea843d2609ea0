"""Chapter 7: windows of a text, the learning rate, decay, clipping, AdamW, and a small model to train.

The switches (after the *) are the mistakes.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
from array_api_compat import array_namespace

# ---------------------------------------------------------------- data and learning rate


def windows(data, T, starts=None, *, lag=1, shift=0, beyond=0, every=1, whole=True):
    """All equally likely windows of data (N,), in order of their start: x (n, T), y (n, T)."""
    if starts is None or not whole:
        starts = np.arange(0, len(data) - T + beyond, every)
    rows = np.asarray(starts)[:, None] + shift + np.arange(T)
    if min(rows.min(), rows.min() + lag) < 0:
        raise IndexError("a window starts before the text")
    return data[rows], data[rows + lag]


def lr_schedule(
    step,
    max_lr,
    min_lr,
    warmup_steps,
    max_steps,
    *,
    ahead=1,
    rise_from=0.0,
    warm=True,
    start=None,
    shape="cosine",
    floor="added",
    clamp=True,
):
    """Learning rate of step 0, 1, …: linear warm-up, then half a cosine from max_lr to min_lr."""
    if warm and step < warmup_steps:
        return rise_from + (max_lr - rise_from) * (step + ahead) / warmup_steps
    start = warmup_steps if start is None else start
    progress = (step - start) / (max_steps - start)
    if clamp:
        progress = min(1.0, progress)
    fall = {
        "cosine": 0.5 * (1 + math.cos(math.pi * progress)),
        "line": 1 - progress,
        "constant": 1.0,
        "whole wave": 0.5 * (1 + math.cos(2 * math.pi * progress)),
        "degrees": 0.5 * (1 + math.cos(math.radians(math.pi * progress))),
        "bare cosine": math.cos(math.pi * progress),
    }[shape]
    if floor == "added":
        return min_lr + (max_lr - min_lr) * fall
    return max(min_lr, max_lr * fall) if floor == "cut off" else max_lr * fall


# ---------------------------------------------------------------- the optimiser


def clip_grad_norm(grads, max_norm, *, norm="joint", report="before", capped=True, scale=True):
    """grads: name -> array or None; the joint norm before, and the gradients after."""
    there = {k: g for k, g in grads.items() if g is not None}
    each = {k: math.sqrt(float((g * g).sum())) for k, g in there.items()}
    joint = math.sqrt(sum(n * n for n in each.values()))
    n = {
        "joint": joint,
        "sum": sum(each.values()),
        "squared": joint**2,
        "entries": sum(float(abs(g).sum()) for g in there.values()),
        "largest": max(each.values(), default=0.0),
        "largest entry": max((float(abs(g).max()) for g in there.values()), default=0.0),
        "each alone": joint,
    }[norm]

    def factor(k):
        own = each[k] if norm == "each alone" else n
        ratio = max_norm / (own + 1e-6)
        return (min(1.0, ratio) if capped else ratio) if scale else 1.0

    clipped = {k: None if g is None else g * factor(k) for k, g in grads.items()}
    return (n if report == "before" else min(n, max_norm)), clipped


def clip_entries(grads, max_norm):
    """The mistake: each entry is cut to -max_norm … max_norm."""
    norm, _ = clip_grad_norm(grads, max_norm)
    return norm, {
        k: None if g is None else np.clip(g, -max_norm, max_norm) for k, g in grads.items()
    }


def adamw_step(
    param,
    grad,
    state,
    lr,
    betas=(0.9, 0.95),
    eps=1e-8,
    weight_decay=0.0,
    *,
    correct=("m", "v"),
    steps_from=1,
    decay="parameter",
    eps_at="outside",
    root=True,
    square=True,
    rest=True,
    swap=False,
    sign=1.0,
    forget=False,
    stored=("step", "m", "v"),
):
    """One update, not in place: the new parameter. `state` is changed."""
    xp = array_namespace(param)
    beta1, beta2 = betas[::-1] if swap else betas
    if forget or not state:
        state.update(step=steps_from - 1, m=xp.zeros_like(param), v=xp.zeros_like(param))
    before = dict(state)
    state["step"] += 1
    t = state["step"]
    if decay == "gradient":
        grad = grad + weight_decay * param
    state["m"] = beta1 * state["m"] + (1 - beta1 if rest else 1.0) * grad
    state["v"] = beta2 * state["v"] + (1 - beta2) * (grad * grad if square else abs(grad))
    m_hat = state["m"] / (1 - beta1**t) if "m" in correct else state["m"]
    v_hat = state["v"] / (1 - beta2**t) if "v" in correct else state["v"]
    state |= {k: v for k, v in before.items() if k not in stored}
    if not root:
        below = v_hat + eps
    elif eps_at == "outside":
        below = v_hat**0.5 + eps
    else:
        below = (v_hat + (eps if eps_at == "inside" else 0.0)) ** 0.5
    update = sign * lr * m_hat / below
    if decay == "parameter":
        return param * (1 - lr * weight_decay) - update
    if decay == "after the update":
        return (param - update) * (1 - lr * weight_decay)
    return param * (1 - weight_decay) - update if decay == "without lr" else param - update


def adamw(param, grads, lrs, betas, eps, weight_decay, *, in_place=True, **switches):
    """grads (S, …), lrs (S,) -> the parameter after each of the S steps, and the last state."""
    xp = array_namespace(param)
    state, after = {}, []
    for grad, lr in zip(grads, lrs):
        new = adamw_step(param, grad, state, float(lr), betas, eps, weight_decay, **switches)
        param = new if in_place else param
        after.append(param)
    return xp.stack(after), state


# ---------------------------------------------------------------- a small model, trained


def logits(params, x, keep=None):
    """The small model of the probes: E (V, d), W (d, V), b (V,); keep (d,) is its dropout."""
    h = params["E"][x] if keep is None else params["E"][x] * keep
    return SimpleNamespace(h=h, z=h @ params["W"] + params["b"])


def loss(params, x, y, keep=None, *, total=False):
    """Mean cross-entropy of the small model, in nats."""
    z = logits(params, x, keep).z
    z = z - z.max(-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    nats = -np.take_along_axis(log_p, y[..., None], -1)
    return float(nats.sum() if total else nats.mean())


def gradients(params, x, y, keep):
    """Of the mean loss, by hand; None for a parameter that the model does not use."""
    run = logits(params, x, keep)
    p = np.exp(run.z - run.z.max(-1, keepdims=True))
    p = p / p.sum(-1, keepdims=True)
    dz = (p - np.eye(p.shape[-1])[y]) / y.size
    grads = dict.fromkeys(params)
    grads["W"] = np.einsum("btd,btv->dv", run.h, dz)
    grads["b"] = dz.sum((0, 1))
    grads["E"] = np.zeros_like(params["E"])
    np.add.at(grads["E"], x, (dz @ params["W"].T) * keep)
    return grads


def train(
    params,
    xs,
    ys,
    keep,
    decay,
    lrs,
    betas,
    eps,
    max_norm,
    *,
    clear=True,
    clip=True,
    report_norm="before",
    report_loss="before",
    decays="by group",
    forget=False,
    eval_mode=False,
    minus=1.0,
):
    """train_step on S batches xs (S, B, T): losses (S,), norms (S,), the parameters at the end.

    `decay` is the weight decay of the tensors with two axes; the others do not decay.
    """
    keep_used = None if eval_mode else keep
    ones = np.ones_like(keep)
    states = {k: {} for k in params}
    held = dict.fromkeys(params)
    losses, norms = [], []
    for x, y, lr in zip(xs, ys, lrs):
        found = gradients(params, x, y, ones if eval_mode else keep)
        for k, g in found.items():
            held[k] = g if clear or held[k] is None or g is None else held[k] + g
            if clear == "too late":
                held[k] = None
        losses.append(loss(params, x, y, keep_used))
        norm, clipped = clip_grad_norm(held, max_norm)
        each = [
            clip_grad_norm(
                {k: g for k, g in held.items() if (params[k].ndim >= 2) == high}, max_norm
            )
            for high in (True, False)
        ]
        norms.append(
            {
                "before": norm,
                "after": min(norm, max_norm),
                "first group": each[0][0],
                "last group": each[1][0],
                "zero": 0.0,
            }[report_norm]
        )
        if clip:
            of_groups = {"by group": each[0][1] | each[1][1], "first group": held | each[0][1]}
            held = of_groups.get(clip, clipped)
        for k, g in held.items():
            if g is None:
                continue
            wd = {"by group": decay if params[k].ndim >= 2 else 0.0, "all": decay, "none": 0.0}
            params = params | {
                k: adamw_step(
                    params[k],
                    minus * g,
                    states[k],
                    float(lr),
                    betas,
                    eps,
                    wd[decays],
                    forget=forget,
                )
            }
        if report_loss == "after":
            losses[-1] = loss(params, x, y, keep_used)
    return np.array(losses), np.array(norms), params


def estimate_loss(
    params, batches, keep, training, *, weigh="tokens", dropout=False, use=slice(None)
):
    """Mean loss per token over the batches, with dropout off whatever the mode is."""
    mask = keep if dropout and training else None
    each = [loss(params, x, y, mask) for x, y in batches[use]]
    sizes = [y.size for _, y in batches[use]]
    weights = {
        "tokens": np.array(sizes) / sum(sizes),
        "batches": np.ones(len(sizes)) / len(sizes),
        "rows": np.array([len(y) for _, y in batches[use]]) / sum(len(y) for _, y in batches[use]),
        "none": np.ones(len(sizes)),
        "divided by tokens": np.ones(len(sizes)) / sum(sizes),
        "total": np.array(sizes, float),
    }[weigh]
    return float(np.array(each) @ weights)
