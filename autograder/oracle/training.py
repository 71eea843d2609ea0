"""Chapter 7: windows of a text, the learning rate, decay, clipping, AdamW, and a small model to train.

The switches (after the *) are the mistakes.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
from array_api_compat import array_namespace

# ---------------------------------------------------------------- data and learning rate


def windows(
    data,
    T,
    starts=None,
    *,
    lag=1,
    shift=0,
    first=0,
    beyond=0,
    every=1,
    drawn="entries of starts",
    wrap=False,
):
    """All equally likely windows of data (N,), in order of their start: x (n, T), y (n, T).

    `lag` is the lead of y over x, `every` the distance of places to start, `beyond` how many more
    there are; "T" stands for T.
    """
    lag, every, beyond = ({"T": T, "1 - T": 1 - T}.get(n, n) for n in (lag, every, beyond))
    if starts is None or drawn == "anywhere":
        starts = np.arange(first, len(data) - T + beyond, every)
    elif drawn == "numbers of starts":
        starts = np.arange(len(starts))
    rows = np.asarray(starts)[:, None] + shift + np.arange(T)
    if min(rows.min(), rows.min() + lag) < 0:
        raise IndexError("a window starts before the text")
    x = data[rows]
    return x, np.roll(x, -1, 1) if wrap else data[rows + lag]


def lr_schedule(
    step,
    max_lr,
    min_lr,
    warmup_steps,
    max_steps,
    *,
    ahead=1,
    rise_from="0",
    rise_to="max",
    rise_over=0,
    warm=True,
    longer=0,
    guarded=False,
    count_from=None,
    span_from=None,
    later=0,
    early=0,
    guard=False,
    shape="cosine",
    floor="added",
    end="held",
):
    """Learning rate of step 0, 1, …: linear warm-up, then half a cosine from max_lr to min_lr."""
    if guarded and warmup_steps == 0:
        longer = 0
    if warm and step < warmup_steps + longer:
        low = {"0": 0.0, "min": min_lr, "max": max_lr}[rise_from]
        high = min_lr if rise_to == "min" else max_lr
        return low + (high - low) * (step + ahead) / (warmup_steps + rise_over)
    if end == "zero" and step > max_steps:
        return 0.0
    if end == "min" and step > max_steps or end == "min at once" and step >= max_steps:
        return min_lr
    count_from = warmup_steps if count_from is None else count_from
    span_from = warmup_steps if span_from is None else span_from
    span = max_steps - span_from - early
    progress = (step - count_from + later) / (max(1, span) if guard else span)
    if end != "open":
        progress = min(1.0, progress)
    cosine = math.cos(math.pi * progress)
    fall = {
        "cosine": 0.5 * (1 + cosine),
        "line": 1 - progress,
        "constant": 1.0,
        "whole wave": 0.5 * (1 + math.cos(2 * math.pi * progress)),
        "degrees": 0.5 * (1 + math.cos(180 * progress)),
        "no pi": 0.5 * (1 + math.cos(progress)),
        "bare cosine": cosine,
        "not halved": 1 + cosine,
        "rising": 0.5 * (1 - cosine),
    }[shape]
    return {
        "added": min_lr + (max_lr - min_lr) * fall,
        "not subtracted": min_lr + max_lr * fall,
        "cut off": max(min_lr, max_lr * fall),
        "none": max_lr * fall,
        "not added": (max_lr - min_lr) * fall,
    }[floor]


# ---------------------------------------------------------------- the optimiser


def clip_grad_norm(
    grads, max_norm, values=None, *, norm="joint", report="before", scale="shortened"
):
    """grads: name -> array or None; the joint norm before, and the gradients after.

    `values`, the parameters themselves by name, matter to a mistake only.
    """
    there = {k: g for k, g in grads.items() if g is not None}
    measured = {
        "parameters": lambda: {k: values[k] for k in there},
        "all parameters": lambda: values,
    }
    measured = measured.get(norm, lambda: there)()
    each = {k: math.sqrt(float((g * g).sum())) for k, g in measured.items()}
    joint = math.sqrt(sum(n * n for n in each.values()))
    n = {
        "joint": lambda: joint,
        "parameters": lambda: joint,
        "all parameters": lambda: joint,
        "sum": lambda: sum(each.values()),
        "average": lambda: sum(each.values()) / len(each),
        "squared": lambda: joint**2,
        "mean": lambda: joint / math.sqrt(sum(g.size for g in there.values())),
        "entries": lambda: sum(float(abs(g).sum()) for g in there.values()),
        "largest": lambda: max(each.values(), default=0.0),
        "largest entry": lambda: max((float(abs(g).max()) for g in there.values()), default=0.0),
        "last": lambda: [0.0, *each.values()][-1],
    }[norm]()
    ratio = max_norm / (n + 1e-6)

    def scaled(k, g):
        if scale == "by value":
            return np.clip(g, -max_norm, max_norm)
        factor = {
            "shortened": min(1.0, ratio),
            "any length": ratio,
            "lengthened": max(1.0, ratio),
            "inverted": max(1.0, 1 / ratio),
            "inverted and capped": min(1.0, 1 / ratio),
            "each alone": min(1.0, max_norm / (each[k] + 1e-6)),
            "not at all": 1.0,
        }[scale]
        return g * factor

    clipped = {k: None if g is None else scaled(k, g) for k, g in grads.items()}
    said = {"before": n, "after": min(n, max_norm), "factor": min(1.0, ratio)}[report]
    return said, clipped


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
    multiply=False,
    powers=("m", "v"),
    steps_from=1,
    start="0",
    decay="parameter",
    eps_at="outside",
    root="of v_hat",
    square=True,
    share="1 - beta",
    use="both betas",
    paced=True,
    sign=1.0,
    forget=False,
    stored=("step", "m", "v"),
):
    """One update, not in place: the new parameter. `state` is changed."""
    beta1, beta2 = {
        "both betas": betas,
        "swapped": betas[::-1],
        "the first for both": (betas[0], betas[0]),
    }[use]
    if forget or not state:
        xp = array_namespace(param)
        m, v = (grad, grad * grad) if start == "gradient" else (xp.zeros_like(param),) * 2
        state.update(step=steps_from - 1, m=m, v=v)
    before = dict(state)
    state["step"] += 1
    if decay == "gradient":
        grad = grad + weight_decay * param

    keep1, keep2 = (1 - beta1, 1 - beta2) if share == "swapped" else (beta1, beta2)
    state["m"] = keep1 * state["m"] + (1.0 if share == "1" else 1 - keep1) * grad
    state["v"] = keep2 * state["v"] + (1 - keep2) * (grad * grad if square else grad)
    m, v, t = state["m"], state["v"], state["step"]
    state |= {k: x for k, x in before.items() if k not in stored}

    by_m = 1 - beta1 ** (t if "m" in powers else 1)
    by_v = 1 - beta2 ** (t if "v" in powers else 1)
    if multiply:
        by_m, by_v = 1 / by_m, 1 / by_v
    by_m, by_v = by_m if "m" in correct else 1.0, by_v if "v" in correct else 1.0
    eps_inside, eps_outside = {
        "outside": (0.0, eps),
        "inside": (eps, 0.0),
        "nowhere": (0.0, 0.0),
        "before the correction": (0.0, eps / by_v**0.5 if by_v else math.inf),
    }[eps_at]
    below = {
        "of v_hat": lambda: (v / by_v + eps_inside) ** 0.5,
        "of v": lambda: (v + eps_inside) ** 0.5 / by_v,
        "of m_hat": lambda: (m / by_m + eps_inside) ** 0.5,
        "none": lambda: v / by_v + eps_inside,
    }[root]()
    update = sign * (lr if paced else 1.0) * (m / by_m) / (below + eps_outside)

    if decay == "after the update":
        return (param - update) * (1 - lr * weight_decay)
    if decay == "constant":
        return param - lr * weight_decay - update
    rate = {"parameter": lr, "without lr": 1.0, "uphill": -lr}.get(decay, 0.0)
    return param * (1 - rate * weight_decay) - update


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
    old=None,
    *,
    clear="before",
    clip="all together",
    report_norm="before",
    report_loss="before",
    decays="by group",
    updated="all",
    forget=False,
    eval_mode=False,
):
    """train_step on S batches xs (S, B, T): losses (S,), norms (S,), the parameters at the end.

    `decay` is the weight decay of the tensors with two axes, the first group; the others, the last
    group, do not decay. `old`, by name, are gradients that are there before the first step.
    """
    keep_used = None if eval_mode else keep
    groups = {
        "first group": [k for k, p in params.items() if p.ndim >= 2],
        "last group": [k for k, p in params.items() if p.ndim < 2],
    }
    states = {k: {} for k in params}
    held = dict.fromkeys(params) | (old or {})
    losses, norms = [], []
    for x, y, lr in zip(xs, ys, lrs):
        found = gradients(params, x, y, np.ones_like(keep) if eval_mode else keep)
        for k, g in found.items():
            if clear in ("before", "too late") or held[k] is None:
                held[k] = None if clear == "too late" else g
            elif g is not None:
                held[k] = held[k] + g
        losses.append(loss(params, x, y, keep_used))
        whole = dict.fromkeys(held)
        at_once = {
            "all together": [whole],
            "by group": groups.values(),
            "first group": [groups["first group"]],
            "last group": [groups["last group"]],
            "never": [],
        }[clip]
        measured = groups.get(report_norm, whole)
        norm, _ = clip_grad_norm({k: held[k] for k in measured}, max_norm)
        for names in at_once:
            held = held | clip_grad_norm({k: held[k] for k in names}, max_norm)[1]
        norms.append({"after": min(norm, max_norm), "zero": 0.0}.get(report_norm, norm))
        for k, g in held.items():
            if g is None or k not in groups.get(updated, held):
                continue
            wd = {"by group": decay if params[k].ndim >= 2 else 0.0, "all": decay, "none": 0.0}
            new = adamw_step(
                params[k], g, states[k], float(lr), betas, eps, wd[decays], forget=forget
            )
            params = params | {k: new}
        if clear == "after":
            held = dict.fromkeys(params)
        if report_loss == "after":
            losses[-1] = loss(params, x, y, keep_used)
    return np.array(losses), np.array(norms), params


def estimate_loss(
    params, batches, keep, training, *, weigh="tokens", dropout="off", use=slice(None)
):
    """Mean loss per token over the batches, with dropout off whatever the mode is."""
    mask = keep if dropout == "on" or dropout == "as it was" and training else None
    batches = batches[use]
    each = np.array([loss(params, x, y, mask) for x, y in batches])
    sizes, rows, columns = (
        np.array([size(y) for _, y in batches], float)
        for size in (np.size, len, lambda y: y.shape[1])
    )
    weights = {
        "tokens": sizes / sizes.sum(),
        "batches": np.ones(len(sizes)) / len(sizes),
        "rows": rows / rows.sum(),
        "columns": columns / columns.sum(),
        "none": np.ones(len(sizes)),
        "divided by tokens": np.ones(len(sizes)) / sizes.sum(),
        "total": sizes,
        "total by batches": sizes / len(sizes),
    }[weigh]
    return float(each @ weights)
