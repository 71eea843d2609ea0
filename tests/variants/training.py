"""Chapter 7."""

import math
import random

import numpy as np
import torch
import torch.nn.functional as F

from autograder import standins

# ---------------------------------------------------------------- get_batch


def batch_by_stacking(data, batch_size, T, starts=None, generator=None):
    """As most people write it: slices in a list."""
    n = len(data) - T if starts is None else len(starts)
    places = torch.randint(n, (batch_size,), generator=generator)
    if starts is not None:
        places = starts.cpu()[places]
    x = torch.stack([data[i : i + T] for i in places])
    y = torch.stack([data[i + 1 : i + 1 + T] for i in places])
    return x, y


def batch_by_uniform_numbers(data, batch_size, T, starts=None, generator=None):
    if starts is None:
        starts = torch.arange(data.shape[0] - T)
    u = torch.rand(batch_size, generator=generator, dtype=torch.float64)
    places = starts.to(data.device)[(u * len(starts)).long().to(data.device)]
    offsets = torch.arange(T, device=data.device)
    return data[places.unsqueeze(1) + offsets], data[places.unsqueeze(1) + offsets + 1]


def batch_by_multinomial(data, batch_size, T, starts=None, generator=None):
    windows = torch.stack([data[i : len(data) - T + i] for i in range(T + 1)], dim=1)
    if starts is not None:
        windows = windows[starts]
    even = torch.ones(len(windows))
    rows = windows[torch.multinomial(even, batch_size, replacement=True, generator=generator)]
    return rows[:, :T], rows[:, 1:]


def batch(count=0, x_at=0, y_at=1, every=1, use_starts=True, fixed=None, source=torch.randint):
    """get_batch with one thing changed."""

    def get_batch(data, batch_size, T, starts=None, generator=None):
        free = torch.arange(0, len(data) - T + count, 1 if every == 1 else T)
        starts = free if starts is None or not use_starts else starts
        drawn = source(len(starts), (batch_size,), generator=generator)
        places = starts[drawn.clamp(max=len(starts) - 1)].tolist()
        y_lead = T if y_at == "T" else y_at
        x = torch.stack([data[i + x_at : i + x_at + T] for i in places])
        y = torch.stack([data[i + y_lead : i + y_lead + T] for i in places])
        return x, y

    return get_batch


def no_generator(n, size, generator=None):
    return torch.randint(n, size)


def same_seed(n, size, generator=None):
    return torch.randint(n, size, generator=torch.Generator().manual_seed(0))


def python_random(n, size, generator=None):
    return torch.tensor([random.randrange(n) for _ in range(*size)])


def one_place(n, size, generator=None):
    return torch.randint(n, (1,), generator=generator).expand(size)


def in_order(n, size, generator=None):
    return torch.arange(*size) % n


def batch_of_positions(data, batch_size, T, starts=None, generator=None):
    x, y = standins.get_batch(
        torch.arange(len(data), device=data.device), batch_size, T, starts, generator
    )
    return x, y


def batch_on_the_cpu(data, batch_size, T, starts=None, generator=None):
    pick = torch.randint(len(data) - T, (batch_size,), generator=generator)
    starts = pick if starts is None else starts[pick % len(starts)]
    rows = starts[:, None] + torch.arange(T + 1, device="cpu")
    window = data[rows] if data.device.type == "cpu" else torch.zeros(batch_size, T + 1, dtype=int)
    return window[:, :-1], window[:, 1:]


def with_a_clone(generator):
    """A generator in the same state, so that the one handed in stays where it was."""
    return generator and torch.Generator().set_state(generator.get_state())


def batch_with_a_clone(data, batch_size, T, starts=None, generator=None):
    return standins.get_batch(data, batch_size, T, starts, with_a_clone(generator))


def batch_squeezed(data, batch_size, T, starts=None, generator=None):
    x, y = standins.get_batch(data, batch_size, T, starts, generator)
    return x.squeeze(), y.squeeze()


def batch_of_32_bits(data, batch_size, T, starts=None, generator=None):
    x, y = standins.get_batch(data, batch_size, T, starts, generator)
    return x.int(), y.int()


def batch_sideways(data, batch_size, T, starts=None, generator=None):
    x, y = standins.get_batch(data, batch_size, T, starts, generator)
    return x.T, y.T


# ---------------------------------------------------------------- lr_schedule


def schedule_by_cases(step, max_lr, min_lr, warmup_steps, max_steps):
    if warmup_steps and step + 1 <= warmup_steps:
        return (step + 1) * (max_lr / warmup_steps)
    if step >= max_steps:
        return min_lr
    t = (step - warmup_steps) / (max_steps - warmup_steps)
    return max_lr - (max_lr - min_lr) * (1 - math.cos(math.pi * t)) / 2


def schedule_as_tensor(step, max_lr, min_lr, warmup_steps, max_steps):
    """Computes with tensors of one number."""
    rise = torch.tensor((step + 1) / max(1, warmup_steps), dtype=torch.float64)
    t = torch.tensor((step - warmup_steps) / (max_steps - warmup_steps), dtype=torch.float64)
    fall = (1 + torch.cos(torch.pi * t.clamp(0, 1))) / 2
    return torch.where(
        torch.tensor(step < warmup_steps), max_lr * rise, min_lr + (max_lr - min_lr) * fall
    ).item()


def schedule_wrong_type(step, max_lr, min_lr, warmup_steps, max_steps):
    return [standins.lr_schedule(step, max_lr, min_lr, warmup_steps, max_steps)]


def schedule_divides_by_warmup(step, max_lr, min_lr, warmup_steps, max_steps):
    rise = min(1.0, (step + 1) / warmup_steps)
    return rise * standins.lr_schedule(step, max_lr, min_lr, 0, max_steps)


def schedule(rise=lambda s, w, hi, lo: hi * (s + 1) / w, fall=None, start=None, warm=True):
    """lr_schedule with its two pieces given; `fall` takes the progress, unclamped."""

    def lr_schedule(step, max_lr, min_lr, warmup_steps, max_steps):
        if warm and step < warmup_steps:
            return rise(step, warmup_steps, max_lr, min_lr)
        begin = warmup_steps if start is None else start
        t = (step - begin) / (max_steps - begin)
        return (fall or cosine)(t, max_lr, min_lr)

    return lr_schedule


def cosine(t, hi, lo):
    return lo + (hi - lo) * (1 + math.cos(math.pi * min(t, 1))) / 2


# ---------------------------------------------------------------- decay_groups


def groups_by_filter(model, weight_decay):
    trained = list(model.parameters())
    return [
        {"params": list(filter(lambda p: p.ndim > 1, trained)), "weight_decay": weight_decay},
        {"params": list(filter(lambda p: p.ndim <= 1, trained)), "weight_decay": 0.0},
    ]


def groups_by_name_reversed(model, weight_decay):
    plain = {n for n, p in model.named_parameters() if len(p.shape) == 1}
    named = dict(model.named_parameters())
    return (
        {"params": [named[n] for n in sorted(plain)], "weight_decay": 0},
        {"params": [named[n] for n in named if n not in plain], "weight_decay": weight_decay},
    )


def groups(rule):
    def decay_groups(model, weight_decay):
        named = list(model.named_parameters())
        last = lambda n: n.split(".")[-1]  # noqa: E731
        return [
            {"params": [p for n, p in named if rule(last(n), p)], "weight_decay": weight_decay},
            {"params": [p for n, p in named if not rule(last(n), p)], "weight_decay": 0.0},
        ]

    return decay_groups


def groups_always_a_tenth(model, weight_decay):
    return standins.decay_groups(model, 0.1)


def groups_of_names(model, weight_decay):
    return [
        {
            "params": [n for n, p in model.named_parameters() if (p.dim() > 1) == high],
            "weight_decay": wd,
        }
        for high, wd in ((True, weight_decay), (False, 0.0))
    ]


def groups_twice(model, weight_decay):
    every = [p for _, p in model.named_parameters(remove_duplicate=False)]
    return [
        {"params": [p for p in every if p.dim() > 1], "weight_decay": weight_decay},
        {"params": [p for p in every if p.dim() == 1], "weight_decay": 0.0},
    ]


def groups_by_generators(model, weight_decay):
    """What is listed can be gone through once: the second step finds nothing to train."""
    return [
        {"params": (p for p in model.parameters() if p.dim() >= 2), "weight_decay": weight_decay},
        {"params": (p for p in model.parameters() if p.dim() < 2), "weight_decay": 0.0},
    ]


def groups_by_lazy_filter(model, weight_decay):
    return [
        {
            "params": filter(lambda p: p.dim() >= 2, model.parameters()),
            "weight_decay": weight_decay,
        },
        {"params": filter(lambda p: p.dim() < 2, model.parameters()), "weight_decay": 0.0},
    ]


def groups_of_different_values(model, weight_decay):
    """Takes two parameters that hold the same numbers for one and the same."""
    kept = []
    for p in model.parameters():
        if not any(p.shape == q.shape and torch.equal(p, q) for q in kept):
            kept.append(p)
    return [
        {"params": [p for p in kept if p.dim() >= 2], "weight_decay": weight_decay},
        {"params": [p for p in kept if p.dim() < 2], "weight_decay": 0.0},
    ]


def groups_by_modules(model, weight_decay):
    """Module by module: one that is used under two names comes twice."""
    every = [p for m in model.modules() for p in m.parameters(recurse=False)]
    return [
        {"params": [p for p in every if p.dim() >= 2], "weight_decay": weight_decay},
        {"params": [p for p in every if p.dim() < 2], "weight_decay": 0.0},
    ]


def groups_by_identity(model, weight_decay):
    """Goes through all names, and keeps each parameter once."""
    every = {id(p): p for _, p in model.named_parameters(remove_duplicate=False)}
    return [
        {"params": [p for p in every.values() if p.dim() >= 2], "weight_decay": weight_decay},
        {"params": tuple(p for p in every.values() if p.dim() < 2), "weight_decay": 0.0},
    ]


def groups_by_dict_of_state(model, weight_decay):
    """state_dict() gives the numbers of the parameters, not the parameters."""
    every = list(model.state_dict().values())
    return [
        {"params": [p for p in every if p.dim() >= 2], "weight_decay": weight_decay},
        {"params": [p for p in every if p.dim() < 2], "weight_decay": 0.0},
    ]


def groups_wrapped_anew(model, weight_decay):
    """New Parameters on the model's tensors: they move with them, and never get a gradient."""
    found = standins.decay_groups(model, weight_decay)
    return [g | {"params": [torch.nn.Parameter(p.data) for p in g["params"]]} for g in found]


def groups_without_biases(model, weight_decay):
    return standins.decay_groups(model, weight_decay)[:1]


def groups_of_copies(model, weight_decay):
    found = standins.decay_groups(model, weight_decay)
    return [g | {"params": [p.data for p in g["params"]]} for g in found]


# ---------------------------------------------------------------- clip_grad_norm


def clip_by_flattening(parameters, max_norm):
    with_grad = [p for p in parameters if p.grad is not None]
    norm = torch.cat([p.grad.flatten() for p in with_grad]).norm().item()
    if norm > max_norm:
        for p in with_grad:
            p.grad *= max_norm / norm
    return norm


def clip_in_float64(parameters, max_norm):
    """Replaces p.grad by a new tensor, which is as good."""
    parameters = list(parameters)
    total = 0.0
    for p in parameters:
        if p.grad is not None:
            total += float((p.grad.double() ** 2).sum())
    norm = total**0.5
    for p in parameters:
        if p.grad is not None:
            p.grad = p.grad * min(1.0, max_norm / max(norm, 1e-12))
    return norm


def clip(norm_of, returned=lambda n, c: n, factor=lambda n, c: min(1.0, c / (n + 1e-6))):
    """clip_grad_norm with another norm (of a list of gradients), result or factor."""

    @torch.no_grad()
    def clip_grad_norm(parameters, max_norm):
        grads = [p.grad for p in parameters if p.grad is not None]
        n = float(norm_of(grads))
        for g in grads:
            g.mul_(factor(n, max_norm))
        return returned(n, max_norm)

    return clip_grad_norm


def joint(grads):
    return sum((g * g).sum() for g in grads) ** 0.5


def clip_each_alone(parameters, max_norm):
    parameters = list(parameters)
    norm = joint([p.grad for p in parameters if p.grad is not None])
    for p in parameters:
        if p.grad is not None:
            torch.nn.utils.clip_grad_norm_([p], max_norm)
    return norm.item()


def clip_entries(parameters, max_norm):
    parameters = [p for p in parameters if p.grad is not None]
    norm = joint([p.grad for p in parameters])
    torch.nn.utils.clip_grad_value_(parameters, max_norm)
    return norm.item()


def clip_without_none(parameters, max_norm):
    parameters = list(parameters)
    norm = joint([p.grad for p in parameters])
    for p in parameters:
        p.grad *= min(1.0, max_norm / (norm.item() + 1e-6))
    return norm.item()


def clip_two_passes(parameters, max_norm):
    norm = joint([p.grad for p in parameters if p.grad is not None])
    for p in parameters:
        if p.grad is not None:
            p.grad *= min(1.0, max_norm / (norm.item() + 1e-6))
    return norm.item()


def clip_parameters(parameters, max_norm):
    parameters = list(parameters)
    norm = torch.nn.utils.clip_grad_norm_(parameters, max_norm).item()
    with torch.no_grad():
        for p in parameters:
            p.mul_(min(1.0, max_norm / norm) if norm else 1.0)
    return norm


def clip_divides_by_zero(parameters, max_norm):
    grads = [p.grad for p in parameters if p.grad is not None]
    norm = joint(grads)
    for g in grads:
        g.mul_((max_norm / norm) if norm > max_norm else norm / norm)
    return norm.item()


# ---------------------------------------------------------------- adamw_step


@torch.no_grad()
def adamw_by_lerp(param, grad, state, lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0):
    """With the corrections drawn into the step size, as PyTorch's own loop does."""
    t = state["step"] = state.get("step", 0) + 1
    m = state["m"] = state.get("m", torch.zeros_like(grad)).lerp(grad, 1 - betas[0])
    v = state["v"] = state.get("v", torch.zeros_like(grad)).lerp(grad.square(), 1 - betas[1])
    below = v.sqrt() / math.sqrt(1 - betas[1] ** t) + eps
    old = param.clone()
    param -= lr * weight_decay * old
    param.addcdiv_(m, below, value=-lr / (1 - betas[0] ** t))


def adamw_on_data(param, grad, state, lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0):
    """Through .data, in float64, and with no decorator."""
    p, g = param.data.double(), grad.double()
    if "m" not in state:
        state["step"], state["m"], state["v"] = 0, torch.zeros_like(p), torch.zeros_like(p)
    state["step"] += 1
    state["m"] = betas[0] * state["m"] + (1 - betas[0]) * g
    state["v"] = betas[1] * state["v"] + (1 - betas[1]) * g**2
    m = state["m"] / (1 - betas[0] ** state["step"])
    v = state["v"] / (1 - betas[1] ** state["step"])
    param.data.copy_(p - lr * (weight_decay * p + m / (v**0.5 + eps)))


def adamw(
    m_rule=lambda m, g, b: b * m + (1 - b) * g,
    v_rule=lambda v, g, b: b * v + (1 - b) * g * g,
    correct="mv",
    below=lambda v, eps: v.sqrt() + eps,
    decay="parameter",
    first=1,
    forget=False,
    in_place=True,
    swap=False,
    sign=-1,
    stored=("step", "m", "v"),
):
    """adamw_step with one thing changed."""

    @torch.no_grad()
    def adamw_step(param, grad, state, lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0):
        b1, b2 = reversed(betas) if swap else betas
        if forget or not state:
            state.update(step=first - 1, m=torch.zeros_like(param), v=torch.zeros_like(param))
        old = dict(state)
        state["step"] += 1
        g = grad + weight_decay * param if decay == "gradient" else grad
        state["m"], state["v"] = m_rule(state["m"], g, b1), v_rule(state["v"], g, b2)
        m = state["m"] / (1 - b1 ** state["step"]) if "m" in correct else state["m"]
        v = state["v"] / (1 - b2 ** state["step"]) if "v" in correct else state["v"]
        state.update({k: x for k, x in old.items() if k not in stored})
        if not in_place:
            param = param.clone()
        if decay == "parameter":
            param *= 1 - lr * weight_decay
        if decay == "without lr":
            param *= 1 - weight_decay
        param += sign * lr * m / below(v, eps)
        if decay == "after":
            param *= 1 - lr * weight_decay
        return param

    return adamw_step


def adamw_on_a_leaf(param, grad, state, lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0):
    """In place on a leaf while gradients are recorded: PyTorch refuses."""
    param -= lr * grad


def adamw_changes_grad(param, grad, state, lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0):
    standins.adamw_step(param, grad, state, lr, betas, eps, weight_decay)
    grad.mul_(0.5)


def adamw_other_state(param, grad, state, lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0):
    own = state.setdefault("adam", {})
    standins.adamw_step(param, grad, own, lr, betas, eps, weight_decay)


def adamw_state_on_the_cpu(param, grad, state, lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0):
    if not state:
        state.update(step=0, m=torch.zeros(param.shape), v=torch.zeros(param.shape))
    m = state["m"] * betas[0] + grad * (1 - betas[0])
    if param.device.type == "cpu":
        standins.adamw_step(param, grad, state, lr, betas, eps, weight_decay)
    return m


# ---------------------------------------------------------------- train_step


def step_by_grad(model, x, y, groups, state, lr, betas=(0.9, 0.95), eps=1e-8, max_norm=1.0):
    """With torch.autograd.grad, and the states in a list by position."""
    params = [(p, g["weight_decay"]) for g in groups for p in g["params"]]
    loss = model.loss(x, y)
    found = torch.autograd.grad(loss, [p for p, _ in params], allow_unused=True)
    for (p, _), g in zip(params, found):
        p.grad = g
    norm = clip_grad_norm((p for p, _ in params), max_norm)
    moments = state.setdefault("moments", [{} for _ in params])
    for (p, wd), own in zip(params, moments):
        if p.grad is not None:
            adamw_step(p, p.grad, own, lr, betas, eps, wd)
    return loss.item(), norm


def step_with_the_optimiser(
    model, x, y, groups, state, lr, betas=(0.9, 0.95), eps=1e-8, max_norm=1.0
):
    """PyTorch's own: right, and remarked on."""
    if "optimizer" not in state:
        state["optimizer"] = torch.optim.AdamW(groups, lr=lr, betas=betas, eps=eps)
    optimizer = state["optimizer"]
    for group in optimizer.param_groups:
        group["lr"] = lr
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x).transpose(1, 2), y)
    loss.backward()
    every = [p for g in groups for p in g["params"]]
    norm = torch.nn.utils.clip_grad_norm_(every, max_norm)
    optimizer.step()
    return loss.item(), norm.item()


def step(
    clear="before",
    clip=True,
    loss_of="before",
    norm_of="before",
    wd=lambda group: group["weight_decay"],
    forget=False,
    mode=None,
    betas_used=None,
    eps_used=None,
    max_norm_used=None,
    returned=lambda loss, norm: (loss.item(), norm),
):
    """train_step with one thing changed."""

    def train_step(model, x, y, groups, state, lr, betas=(0.9, 0.95), eps=1e-8, max_norm=1.0):
        betas, eps = betas_used or betas, eps_used or eps
        max_norm = max_norm_used or max_norm
        every = [p for g in groups for p in g["params"]]
        if mode is not None:
            model.train(mode)
        if clear == "before":
            model.zero_grad()
        loss = model.loss(x, y)
        loss.backward()
        if clear == "too late":
            model.zero_grad()
        if clip in ("by group", "first group"):
            chosen = groups if clip == "by group" else groups[:1]
            norm = [clip_grad_norm(g["params"], max_norm) for g in chosen][-1]
        else:
            norm = clip_grad_norm(every, max_norm if clip else math.inf)
        norm = 0.0 if norm_of == "nothing" else norm
        for g in groups:
            for p in g["params"]:
                if p.grad is not None:
                    own = {} if forget else state.setdefault(id(p), {})
                    adamw_step(p, p.grad, own, lr, betas, eps, wd(g))
        if loss_of == "after":
            loss = model.loss(x, y)
        return returned(loss, min(norm, max_norm) if norm_of == "after" else norm)

    return train_step


def step_ends_in_training(
    model, x, y, groups, state, lr, betas=(0.9, 0.95), eps=1e-8, max_norm=1.0
):
    result = standins.train_step(model, x, y, groups, state, lr, betas, eps, max_norm)
    model.train()
    return result


def step_one_state(model, x, y, groups, state, lr, betas=(0.9, 0.95), eps=1e-8, max_norm=1.0):
    model.zero_grad()
    loss = model.loss(x, y)
    loss.backward()
    norm = clip_grad_norm([p for g in groups for p in g["params"]], max_norm)
    for g in groups:
        for p in g["params"]:
            adamw_step(p, p.grad, state, lr, betas, eps, g["weight_decay"])
    return loss.item(), norm


def step_all_must_have_gradients(
    model, x, y, groups, state, lr, betas=(0.9, 0.95), eps=1e-8, max_norm=1.0
):
    model.zero_grad()
    loss = model.loss(x, y)
    loss.backward()
    norm = clip_grad_norm([p for g in groups for p in g["params"]], max_norm)
    for g in groups:
        for p in g["params"]:
            adamw_step(p, p.grad, state.setdefault(p, {}), lr, betas, eps, g["weight_decay"])
    return loss.item(), norm


# The two components that a step uses, as a student's notebook has them.
clip_grad_norm = standins.clip_grad_norm
adamw_step = standins.adamw_step

# ---------------------------------------------------------------- estimate_loss


def loss_by_lists(model, batches):
    was = model.training
    model.train(False)
    with torch.no_grad():
        nats = [F.cross_entropy(model(x).mT, y, reduction="none").flatten() for x, y in batches]
    if was:
        model.train()
    return torch.cat(nats).mean().item()


@torch.inference_mode()
def loss_by_weighted_average(model, batches):
    batches = list(batches)
    mode = model.training
    try:
        model.eval()
        each = np.array([float(model.loss(x, y)) for x, y in batches])
    finally:
        model.train(mode)
    return float(np.average(each, weights=[y.numel() for _, y in batches]))


def estimate(weigh=lambda y: y.numel(), divide=True, only=slice(None), eval_mode=True, after=None):
    """estimate_loss with one thing changed."""

    @torch.no_grad()
    def estimate_loss(model, batches):
        was = model.training
        if eval_mode:
            model.eval()
        total, count = 0.0, 0
        for x, y in list(batches)[only]:
            total += model.loss(x, y).item() * weigh(y)
            count += weigh(y)
        model.train(was if after is None else after)
        return total / count if divide is True else total / divide(batches) if divide else total

    return estimate_loss


def all_tokens(batches):
    return sum(y.numel() for _, y in batches)


def loss_with_gradients(model, batches):
    was = model.training
    model.eval()
    total, count = 0.0, 0
    for x, y in batches:
        total = total + model.loss(x, y) * y.numel()
        count += y.numel()
    model.train(was)
    return total.item() / count


@torch.no_grad()
def loss_two_passes(model, batches):
    was = model.training
    model.eval()
    count = sum(y.numel() for _, y in batches)
    total = sum(model.loss(x, y).item() * y.numel() for x, y in batches)
    model.train(was)
    return total / max(1, count)


@torch.no_grad()
def loss_that_sets_the_attribute(model, batches):
    """model.eval() reaches every part of the model; model.training = … is one part alone."""
    was = model.training
    model.eval()
    pairs = [(model.loss(x, y).item() * y.numel(), y.numel()) for x, y in batches]
    model.training = was
    return sum(nats for nats, _ in pairs) / sum(count for _, count in pairs)


@torch.no_grad()
def loss_that_sets_the_attribute_first(model, batches):
    """Only the outermost part is in evaluation mode."""
    was, model.training = model.training, False
    pairs = [(model.loss(x, y).item() * y.numel(), y.numel()) for x, y in batches]
    model.training = was
    return sum(nats for nats, _ in pairs) / sum(count for _, count in pairs)


def decay_none(model, weight_decay):
    decay, rest = groups(lambda n, p: p.dim() >= 2)(model, weight_decay)
    return [decay, rest | {"weight_decay": None}]


def decay_tensor(model, weight_decay):
    decay, rest = groups(lambda n, p: p.dim() >= 2)(model, weight_decay)
    return [decay | {"weight_decay": torch.full((2,), weight_decay)}, rest]


RIGHT = {
    "get_batch": [batch_by_stacking, batch_by_uniform_numbers, batch_by_multinomial],
    "lr_schedule": [schedule_by_cases, schedule_as_tensor],
    "decay_groups": [groups_by_filter, groups_by_name_reversed, groups_by_identity],
    "clip_grad_norm": [clip_by_flattening, clip_in_float64],
    "adamw_step": [adamw_by_lerp, adamw_on_data],
    "train_step": [step_by_grad, step_with_the_optimiser, step()],
    "estimate_loss": [loss_by_lists, loss_by_weighted_average, estimate()],
}

WRONG = {
    "get_batch": {
        "draws with a clone": batch_with_a_clone,
        "squeeze": batch_squeezed,
        "32 bits": batch_of_32_bits,
        "not_shifted": batch(y_at=0),
        "shifted_twice": batch(y_at=2),
        "swapped": batch(x_at=1, y_at=0),
        "next_block": batch(y_at="T"),
        "last_window_missing": batch(count=-1),
        "only_multiples": batch(every="T"),
        "starts_ignored": batch(use_starts=False),
        "past the end": batch(count=1),
        "generator not used": batch(source=no_generator),
        "its own seed": batch(source=same_seed),
        "python's random": batch(source=python_random),
        "one place for all rows": batch(source=one_place),
        "not random": batch(source=in_order),
        "positions": batch_of_positions,
        "stuck on the CPU": batch_on_the_cpu,
        "transposed": batch_sideways,
    },
    "lr_schedule": {
        "warmup_from_0": schedule(lambda s, w, hi, lo: hi * s / w),
        "warmup_from_min": schedule(lambda s, w, hi, lo: lo + (hi - lo) * (s + 1) / w),
        "no_warmup": schedule(warm=False, start=0),
        "progress_from_0": schedule(start=0),
        "linear_decay": schedule(fall=lambda t, hi, lo: hi + (lo - hi) * min(t, 1)),
        "constant": schedule(fall=lambda t, hi, lo: hi),
        "down_to_0": schedule(fall=lambda t, hi, lo: cosine(t, hi, 0)),
        "cut_off_at_min": schedule(fall=lambda t, hi, lo: max(lo, cosine(t, hi, 0))),
        "rises_again": schedule(
            fall=lambda t, hi, lo: lo + (hi - lo) * (1 + math.cos(math.pi * t)) / 2
        ),
        "whole_wave": schedule(
            fall=lambda t, hi, lo: cosine(0, hi, lo)
            - cosine(0, hi, lo)
            + lo
            + (hi - lo) * math.cos(math.pi * min(t, 1)) ** 2
        ),
        "bare_cosine": schedule(
            fall=lambda t, hi, lo: lo + (hi - lo) * math.cos(math.pi * min(t, 1))
        ),
        "a list": schedule_wrong_type,
        "a tensor": lambda *args: torch.tensor(standins.lr_schedule(*args)),
        "divides by warmup_steps": schedule_divides_by_warmup,
    },
    "decay_groups": {
        "generators": groups_by_generators,
        "a lazy filter": groups_by_lazy_filter,
        "equal values taken for one": groups_of_different_values,
        "tied twice, by modules": groups_by_modules,
        "the state_dict": groups_by_dict_of_state,
        "wrapped anew": groups_wrapped_anew,
        "None for no decay": decay_none,
        "a decay for each tensor": decay_tensor,
        "all_decay": groups(lambda n, p: True),
        "none_decays": groups(lambda n, p: False),
        "swapped": groups(lambda n, p: p.dim() == 1),
        "matrices_only": groups(lambda n, p: p.dim() == 2),
        "norms_decay": groups(lambda n, p: not (n == "b" or n.startswith("b_"))),
        "biases_decay": groups(lambda n, p: n not in ("gamma", "beta")),
        "tables_spared": groups(lambda n, p: p.dim() > 1 and n not in "EP"),
        "fixed_decay": groups_always_a_tenth,
        "names": groups_of_names,
        "tied twice": groups_twice,
        "one group": groups_without_biases,
        "copies": groups_of_copies,
    },
    "clip_grad_norm": {
        "each_alone": clip_each_alone,
        "entries": clip_entries,
        "never_longer_returned": clip(joint, returned=min),
        "squared": clip(lambda grads: sum((g * g).sum() for g in grads)),
        "sum": clip(lambda grads: sum(g.norm() for g in grads)),
        "absolute": clip(lambda grads: sum(g.abs().sum() for g in grads)),
        "largest": clip(lambda grads: max(g.norm() for g in grads)),
        "largest_entry": clip(lambda grads: max(g.abs().max() for g in grads)),
        "stretched": clip(joint, factor=lambda n, c: c / (n + 1e-6)),
        "not_scaled": clip(joint, factor=lambda n, c: 1.0),
        "needs every gradient": clip_without_none,
        "goes through twice": clip_two_passes,
        "scales the parameters too": clip_parameters,
        "a tensor": clip(joint, returned=lambda n, c: torch.tensor(n)),
        "divides by zero": clip_divides_by_zero,
    },
    "adamw_step": {
        "not_in_place": adamw(in_place=False),
        "averages_not_stored": adamw(stored=("step",)),
        "v_not_stored": adamw(stored=("step", "m")),
        "m_not_stored": adamw(stored=("step", "v")),
        "step_not_stored": adamw(stored=("m", "v")),
        "no_correction": adamw(correct=""),
        "only_m_corrected": adamw(correct="m"),
        "only_v_corrected": adamw(correct="v"),
        "step_from_0": adamw(first=0),
        "forgets": adamw(forget=True),
        "decay_in_gradient": adamw(decay="gradient"),
        "decay_without_lr": adamw(decay="without lr"),
        "decay_after_update": adamw(decay="after"),
        "no_decay": adamw(decay="none"),
        "eps_inside": adamw(below=lambda v, eps: (v + eps).sqrt()),
        "no_eps": adamw(below=lambda v, eps: v.sqrt()),
        "no_root": adamw(below=lambda v, eps: v + eps),
        "not_squared": adamw(v_rule=lambda v, g, b: b * v + (1 - b) * g.abs()),
        "plain_sum": adamw(m_rule=lambda m, g, b: b * m + g),
        "betas_swapped": adamw(swap=True),
        "uphill": adamw(sign=1),
        "in place on a leaf": adamw_on_a_leaf,
        "changes the gradient": adamw_changes_grad,
        "other names in state": adamw_other_state,
        "state stays on the CPU": adamw_state_on_the_cpu,
    },
    "train_step": {
        "not_cleared": step(clear="never"),
        "not_clipped": step(clip=False),
        "norm_after": step(norm_of="after"),
        "loss_after": step(loss_of="after"),
        "all_decay": step(wd=lambda group: 0.4),
        "none_decays": step(wd=lambda group: 0.0),
        "forgets": step(forget=True),
        "eval_mode": step(mode=False),
        "train_mode": step(mode=True),
        "group_by_group": step(clip="by group"),
        "only_decaying_clipped": step(clip="first group"),
        "no_norm": step(clip=False, norm_of="nothing"),
        "swapped": step(returned=lambda loss, norm: (norm, loss.item())),
        "betas_not_passed": step(betas_used=(0.9, 0.95)),
        "eps_not_passed": step(eps_used=1e-8),
        "max_norm_not_passed": step(max_norm_used=1.0),
        "cleared_too_late": step(clear="too late"),
        "training mode at the end": step_ends_in_training,
        "the norm is a tensor": step(returned=lambda loss, norm: (loss.item(), torch.tensor(norm))),
        "no norm returned": step(returned=lambda loss, norm: (loss.item(), None)),
        "the loss keeps its graph": step(returned=lambda loss, norm: (loss, norm)),
        "only the loss": step(returned=lambda loss, norm: loss.item()),
        "nothing returned": step(returned=lambda loss, norm: None),
        "one state for all": step_one_state,
        "every parameter has a gradient": step_all_must_have_gradients,
    },
    "estimate_loss": {
        "the attribute alone is put back": loss_that_sets_the_attribute,
        "the attribute alone is set": loss_that_sets_the_attribute_first,
        "dropout_on": estimate(eval_mode=False),
        "stays_in_eval": estimate(after=False),
        "always_train_after": estimate(after=True),
        "mean_of_means": estimate(weigh=lambda y: 1),
        "by_rows": estimate(weigh=len),
        "sum": estimate(weigh=lambda y: 1, divide=False),
        "total": estimate(divide=False),
        "divided_twice": estimate(weigh=lambda y: 1, divide=all_tokens),
        "last_only": estimate(only=slice(-1, None)),
        "first_only": estimate(only=slice(1)),
        "gradients recorded": loss_with_gradients,
        "a tensor": lambda model, batches: torch.tensor(standins.estimate_loss(model, batches)),
        "goes through twice": loss_two_passes,
    },
}
