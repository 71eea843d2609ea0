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


def batch_by_loops(data, batch_size, T, starts=None, generator=None):
    """Number by number, in lists, and only then tensors."""
    tokens = data.tolist()
    candidates = list(range(len(tokens) - T)) if starts is None else starts.tolist()
    x, y = [], []
    for _ in range(batch_size):
        s = candidates[torch.randint(0, len(candidates), (), generator=generator).item()]
        x.append(tokens[s : s + T])
        y.append(tokens[s + 1 : s + T + 1])
    return data.new_tensor(x), data.new_tensor(y)


def batch_by_gather(data, batch_size, T, starts=None, generator=None):
    """T + 1 copies of the text, each of which is read from its own place on."""
    candidates = range(data.size(0) - T) if starts is None else starts.cpu().tolist()
    drawn = torch.randint(len(candidates), size=(batch_size, 1), generator=generator)
    places = torch.tensor([[candidates[i]] for (i,) in drawn.tolist()], device=data.device)
    at = torch.cat([places + t for t in range(T + 1)], dim=1)
    tokens = torch.gather(data.expand(batch_size, -1), 1, at)
    return tokens[..., :T].clone(), tokens[..., 1:].clone()


def batch_by_take(data, batch_size, T, starts=None, generator=None):
    """Random real numbers in [0, 1), made into places; x and y are looked up one by one."""
    count = data.shape[-1] - T if starts is None else starts.shape[-1]
    pick = torch.empty(batch_size).uniform_(generator=generator).mul(count).floor().long()
    pick = pick.clamp(max=count - 1).to(data.device)
    first = pick if starts is None else torch.take(starts, pick)
    x_at = first.view(-1, 1) + torch.arange(T).to(data.device).view(1, -1)
    return data.take(x_at), data.take(x_at + 1)


def batch(
    count=0,
    x_at=0,
    y_at=1,
    every=1,
    first=0,
    use_starts=True,
    look_up=True,
    roll=False,
    source=torch.randint,
):
    """get_batch with one thing changed."""

    def get_batch(data, batch_size, T, starts=None, generator=None):
        more = 1 - T if count == "1 - T" else count
        free = torch.arange(first, len(data) - T + more, 1 if every == 1 else T)
        starts = free if starts is None or not use_starts else starts
        drawn = source(len(starts), (batch_size,), generator=generator)
        places = starts[drawn.clamp(max=len(starts) - 1)].tolist()
        if starts is not free and not look_up:
            places = drawn.tolist()
        y_lead = T if y_at == "T" else y_at
        x = torch.stack([data[i + x_at : i + x_at + T] for i in places])
        y = torch.stack([data[i + y_lead : i + y_lead + T] for i in places])
        return x, x.roll(-1, 1) if roll else y

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


def batch_without_repeats(data, batch_size, T, starts=None, generator=None):
    """The same window may come twice, but not from a permutation."""
    starts = torch.arange(len(data) - T) if starts is None else starts
    places = starts[torch.randperm(len(starts), generator=generator)[:batch_size]]
    rows = places[:, None] + torch.arange(T)
    return data[rows], data[rows + 1]


def batch_past_the_end(data, batch_size, T, starts=None, generator=None):
    """randint's upper end is itself never drawn, but this one is still too large by one."""
    if starts is None:
        starts = torch.arange(len(data) - T + 1, device=data.device)
    places = starts[torch.randint(len(starts), (batch_size,), generator=generator)]
    x = torch.stack([data[i : i + T] for i in places])
    return x, torch.stack([data[i + 1 : i + 1 + T] for i in places])


def batch_of_the_last_token(data, batch_size, T, starts=None, generator=None):
    """One target for each window."""
    x, y = standins.get_batch(data, batch_size, T, starts, generator)
    return x, y[:, -1]


def batch_as_one(data, batch_size, T, starts=None, generator=None):
    return torch.stack(standins.get_batch(data, batch_size, T, starts, generator))


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


def schedule_with_numpy(step, max_lr, min_lr, warmup_steps, max_steps):
    """The corners of the curve, and NumPy in between."""
    if step < warmup_steps:
        return float(np.linspace(0, max_lr, warmup_steps + 1)[step + 1])
    angles = np.linspace(0.0, np.pi, max_steps - warmup_steps + 1)
    angle = angles[min(step - warmup_steps, len(angles) - 1)]
    return float(np.average([max_lr, min_lr], weights=[1 + np.cos(angle), 1 - np.cos(angle)]))


def schedule_by_half_angle(step, max_lr, min_lr, warmup_steps, max_steps):
    """(1 + cos a) / 2 = cos(a / 2) ** 2, in nested conditional expressions."""
    p = max(0, min(step, max_steps) - warmup_steps) / (max_steps - warmup_steps)
    peak = max_lr if step >= warmup_steps else max_lr / warmup_steps * (1 + step)
    return (
        peak if step < warmup_steps else min_lr + (peak - min_lr) * math.cos(p * math.pi / 2) ** 2
    )


class Schedule:
    """A factory of rates, hidden behind a function."""

    def __init__(self, high, low, warm, last):
        self.high, self.low, self.warm, self.span = high, low, warm, last - warm

    def rate(self, step):
        before, after = step + 1, step - self.warm
        if after < 0:
            return self.high / self.warm * before
        if after > self.span:
            return self.low
        middle, half = (self.high + self.low) / 2, (self.high - self.low) / 2
        return middle + half * math.cos(after / self.span * math.pi)


def schedule_by_a_class(step, max_lr, min_lr, warmup_steps, max_steps):
    return Schedule(max_lr, min_lr, warmup_steps, max_steps).rate(step)


def schedule_wrong_type(step, max_lr, min_lr, warmup_steps, max_steps):
    return [standins.lr_schedule(step, max_lr, min_lr, warmup_steps, max_steps)]


def schedule_divides_by_warmup(step, max_lr, min_lr, warmup_steps, max_steps):
    rise = min(1.0, (step + 1) / warmup_steps)
    return rise * standins.lr_schedule(step, max_lr, min_lr, 0, max_steps)


def progress(s, w, n):
    return (s - w) / (n - w)


def schedule(
    rise=lambda s, w, hi, lo: hi * (s + 1) / w,
    fall=None,
    part=progress,
    warm=lambda s, w: s < w,
    late=None,
):
    """lr_schedule with its pieces given; `fall` takes the progress, unclamped."""

    def lr_schedule(step, max_lr, min_lr, warmup_steps, max_steps):
        if warm(step, warmup_steps):
            return rise(step, warmup_steps, max_lr, min_lr)
        if late == "min at once" and step >= max_steps:
            return min_lr
        if late is not None and step > max_steps:
            return min_lr if late == "min" else late
        return (fall or cosine)(part(step, warmup_steps, max_steps), max_lr, min_lr)

    return lr_schedule


def between(share):
    """From max_lr to min_lr, by a share that should go from 1 to 0; the progress is clamped."""
    return lambda t, hi, lo: lo + (hi - lo) * share(min(t, 1))


def schedule_without_return_late(step, max_lr, min_lr, warmup_steps, max_steps):
    """Says nothing of steps past the end."""
    if step <= max_steps:
        return standins.lr_schedule(step, max_lr, min_lr, warmup_steps, max_steps)


def schedule_with_tensor_for_cos(step, max_lr, min_lr, warmup_steps, max_steps):
    if step < warmup_steps:
        return max_lr * (step + 1) / warmup_steps
    t = min(1.0, (step - warmup_steps) / (max_steps - warmup_steps))
    return min_lr + 0.5 * (max_lr - min_lr) * (1 + torch.cos(math.pi * t)).item()


def schedule_stepwise(step, max_lr, min_lr, warmup_steps, max_steps):
    """Whole numbers divided by //: the warm-up is 0 until its last step."""
    if step < warmup_steps:
        return max_lr * ((step + 1) // warmup_steps)
    return standins.lr_schedule(step, max_lr, min_lr, warmup_steps, max_steps)


def cosine(t, hi, lo):
    return lo + (hi - lo) * (1 + math.cos(math.pi * min(t, 1))) / 2


def share_of_cos(angle):
    """From max_lr to min_lr, by half of 1 + cos."""
    return between(lambda t: (1 + math.cos(angle(t))) / 2)


# What goes on as it does where the last case, step > max_steps or step >= max_steps, is right.
SCHEDULES_UP_TO_THE_END = {
    "whole_wave": {"fall": share_of_cos(lambda t: 2 * math.pi * t)},
    "rising": {"fall": lambda t, hi, lo: cosine(t, lo, hi)},
    "bare_cosine": {"fall": between(lambda t: math.cos(math.pi * t))},
    "no_pi": {"fall": share_of_cos(lambda t: t)},
    "degrees": {"fall": share_of_cos(lambda t: 180 * t)},
    "constant": {"fall": lambda t, hi, lo: hi},
    "down_to_0": {"fall": lambda t, hi, lo: cosine(t, hi, 0)},
    "min_not_added": {"fall": lambda t, hi, lo: cosine(t, hi - lo, 0)},
    "divided_by_max_steps": {"part": lambda s, w, n: (s - w) / n},
}

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


def groups_by_modules_and_ids(model, weight_decay):
    """Module by module, with a set of those seen; in groups that are tuples."""
    seen, heavy, light = set(), (), ()
    for module in model.modules():
        for p in module._parameters.values():
            if p is None or id(p) in seen:
                continue
            seen.add(id(p))
            if p.ndimension() >= 2:
                heavy += (p,)
            else:
                light += (p,)
    return [dict(params=heavy, weight_decay=weight_decay), dict(params=light, weight_decay=0.0)]


def groups_by_key(model, weight_decay):
    """Collected in a dict, with a further entry for each group, which optimisers allow."""
    found = {True: [], False: []}
    for p in model.parameters():
        found[len(p.size()) > 1].append(p)
    return [
        {"weight_decay": weight_decay * heavy, "params": ps, "name": f"matrices: {heavy}"}
        for heavy, ps in found.items()
    ]


def groups_by_partition(model, weight_decay):
    every = sorted(model.parameters(), key=lambda p: p.dim(), reverse=True)
    cut = sum(p.dim() >= 2 for p in every)
    return [
        {"params": every[:cut], "weight_decay": weight_decay},
        {"params": every[cut:], "weight_decay": 0.0},
    ]


def groups(rule):
    def decay_groups(model, weight_decay):
        named = list(model.named_parameters())
        last = lambda n: n.split(".")[-1]  # noqa: E731
        return [
            {"params": [p for n, p in named if rule(last(n), p)], "weight_decay": weight_decay},
            {"params": [p for n, p in named if not rule(last(n), p)], "weight_decay": 0.0},
        ]

    return decay_groups


def groups_with_other_key(model, weight_decay):
    return [
        {"params": g["params"], "decay": g["weight_decay"]}
        for g in standins.decay_groups(model, weight_decay)
    ]


def groups_as_two_lists(model, weight_decay):
    return tuple(g["params"] for g in standins.decay_groups(model, weight_decay))


def groups_as_a_dict(model, weight_decay):
    decay, rest = standins.decay_groups(model, weight_decay)
    return {"decay": decay, "rest": rest}


def groups_overlapping(model, weight_decay):
    """All in the second group, which should hold the rest."""
    return [
        {"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": weight_decay},
        {"params": list(model.parameters()), "weight_decay": 0.0},
    ]


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


@torch.no_grad()
def clip_by_numbers(parameters, max_norm):
    """In Python's floats, with math.hypot; scaled only where it is too long."""
    parameters = [p for p in parameters]
    norms = []
    for p in parameters:
        if p.grad is None:
            continue
        norms.append(torch.linalg.vector_norm(p.grad).item())
    length = math.hypot(*norms)
    if length <= max_norm:
        return length
    for p in parameters:
        if p.grad is not None:
            p.grad.div_(length / max_norm)
    return length


@torch.no_grad()
def clip_by_foreach(parameters, max_norm):
    grads = [p.grad for p in parameters if p.grad is not None]
    total = torch.sqrt(sum(torch.sum(g**2) for g in grads))
    factor = torch.clamp(max_norm / torch.clamp(total, min=1e-12), max=1)
    torch._foreach_mul_(grads, factor)
    return float(total)


@torch.no_grad()
def clip_by_einsum(parameters, max_norm):
    """Writes the new gradient over the old one."""
    with_grad = list(filter(lambda p: p.grad is not None, parameters))
    squares = [torch.einsum("i,i->", g, g) for g in (p.grad.reshape(-1) for p in with_grad)]
    n = torch.stack(squares).sum().sqrt()
    for p in with_grad:
        p.grad.copy_(torch.where(n > max_norm, p.grad * (max_norm / (n + 1e-6)), p.grad))
    return n.item()


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


def clip_by_parameters(parameters, max_norm):
    parameters = [p for p in parameters if p.grad is not None]
    norm = joint([p.detach() for p in parameters])
    for p in parameters:
        p.grad *= min(1.0, max_norm / (norm.item() + 1e-6))
    return norm.item()


def clip_by_all_parameters(parameters, max_norm):
    parameters = list(parameters)
    norm = joint([p.detach() for p in parameters])
    for p in parameters:
        if p.grad is not None:
            p.grad *= min(1.0, max_norm / (norm.item() + 1e-6))
    return norm.item()


@torch.no_grad()
def clip_of_copies(parameters, max_norm):
    """A new tensor for each gradient, of which nobody hears."""
    grads = [p.grad for p in parameters if p.grad is not None]
    norm = joint(grads).item()
    grads = [g * min(1.0, max_norm / norm) for g in grads]
    return norm


@torch.no_grad()
def clip_fills_none(parameters, max_norm):
    """Makes a gradient of zeros where there is none."""
    parameters = list(parameters)
    for p in parameters:
        if p.grad is None:
            p.grad = torch.zeros_like(p)
    return standins.clip_grad_norm(parameters, max_norm)


@torch.no_grad()
def clip_as_it_goes(parameters, max_norm):
    """Scales each gradient by the norm of those up to it."""
    total = 0.0
    for p in parameters:
        if p.grad is not None:
            total += p.grad.norm().item() ** 2
            p.grad.mul_(min(1.0, max_norm / (total**0.5 + 1e-6)))
    return total**0.5


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


class Moments:
    """The averages of one tensor, in the state as the exercise wants them."""

    def __init__(self, state, like):
        state.setdefault("step", 0)
        for name in "mv":
            state.setdefault(name, torch.zeros_like(like))
        self.state = state

    def take_in(self, grad, betas):
        self.state["step"] += 1
        for name, beta, value in zip("mv", betas, (grad, grad.pow(2))):
            self.state[name].mul_(beta).add_(value.mul(1 - beta))
        return [self.state[n] / (1 - b ** self.state["step"]) for n, b in zip("mv", betas)]


def adamw_by_a_class(param, grad, state, lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0):
    with torch.no_grad():
        m, v = Moments(state, param).take_in(grad, betas)
        param.add_(param, alpha=-lr * weight_decay).sub_(m.div(v.sqrt().add(eps)).mul(lr))


@torch.no_grad()
def adamw_at_once(param, grad, state, lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0):
    """The formula in one line, copied into the tensor; counts with a loop of products."""
    (b1, b2), old = betas, state or {"step": 0, "m": 0 * grad, "v": 0 * grad}
    state["step"] = old["step"] + 1
    state["m"] = b1 * old["m"] + (1 - b1) * grad
    state["v"] = b2 * old["v"] + (1 - b2) * grad * grad
    rest1, rest2 = (1 - math.prod([b] * state["step"]) for b in betas)
    pace = state["m"] / rest1 / (torch.sqrt(state["v"] / rest2) + eps)
    param[...] = param - lr * (weight_decay * param + pace)


@torch.no_grad()
def adamw_flat(param, grad, state, lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0):
    """On flat copies, then back; with exp and log for the powers."""
    if "step" not in state:
        state["step"] = 0
        state["m"], state["v"] = torch.zeros_like(param), torch.zeros_like(param)
    state["step"] = t = state["step"] + 1
    theta, g = param.flatten().clone(), grad.flatten()
    m = torch.lerp(g, state["m"].flatten(), betas[0])
    v = torch.lerp(g.square(), state["v"].flatten(), betas[1])
    state["m"], state["v"] = m.view_as(param), v.view_as(param)
    theta -= lr * weight_decay * param.flatten()
    v_hat = v / -math.expm1(t * math.log(betas[1]))
    theta -= lr * (m / -math.expm1(t * math.log(betas[0]))) / (v_hat.sqrt() + eps)
    param.copy_(theta.reshape(param.shape))


def adamw(
    m_rule=lambda m, g, b: b * m + (1 - b) * g,
    v_rule=lambda v, g, b: b * v + (1 - b) * g * g,
    correct="mv",
    corrected=lambda average, rest: average / rest,
    below=lambda v, eps, rest: v.sqrt() + eps,
    decay="parameter",
    first=1,
    forget=False,
    in_place=True,
    betas_used=lambda betas: betas,
    eps_used=lambda eps: eps,
    pace=lambda lr: lr,
    sign=-1,
    stored=("step", "m", "v"),
):
    """adamw_step with one thing changed."""

    @torch.no_grad()
    def adamw_step(param, grad, state, lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0):
        b1, b2 = betas_used(betas)
        eps = eps_used(eps)
        if forget or not state:
            state.update(step=first - 1, m=torch.zeros_like(param), v=torch.zeros_like(param))
        old = dict(state)
        state["step"] += 1
        g = grad + weight_decay * param if decay == "gradient" else grad
        state["m"], state["v"] = m_rule(state["m"], g, b1), v_rule(state["v"], g, b2)
        rest1, rest2 = 1 - b1 ** state["step"], 1 - b2 ** state["step"]
        m = corrected(state["m"], rest1) if "m" in correct else state["m"]
        v = corrected(state["v"], rest2) if "v" in correct else state["v"]
        state.update({k: x for k, x in old.items() if k not in stored})
        if not in_place:
            param = param.clone()
        if decay == "parameter":
            param *= 1 - lr * weight_decay
        if decay == "without lr":
            param *= 1 - weight_decay
        if decay == "uphill":
            param *= 1 + lr * weight_decay
        if decay == "of one size":
            param -= lr * weight_decay
        param += sign * pace(lr) * m / below(v, eps, rest2)
        if decay == "after":
            param *= 1 - lr * weight_decay
        return param

    return adamw_step


def adamw_with_powers(power_m=True, power_v=True):
    @torch.no_grad()
    def adamw_step(param, grad, state, lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0):
        if not state:
            state.update(step=0, m=torch.zeros_like(param), v=torch.zeros_like(param))
        state["step"] += 1
        t = state["step"]
        state["m"].lerp_(grad, 1 - betas[0])
        state["v"].lerp_(grad**2, 1 - betas[1])
        m = state["m"] / (1 - betas[0] ** (t if power_m else 1))
        v = state["v"] / (1 - betas[1] ** (t if power_v else 1))
        param.mul_(1 - lr * weight_decay).sub_(lr * m / (v.sqrt() + eps))

    return adamw_step


@torch.no_grad()
def adamw_with_the_root_of_m(param, grad, state, lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0):
    before = param.clone()
    standins.adamw_step(param, grad, state, lr, betas, eps, weight_decay)
    m_hat = state["m"] / (1 - betas[0] ** state["step"])
    param.copy_(before * (1 - lr * weight_decay) - lr * m_hat / (m_hat.sqrt() + eps))


@torch.no_grad()
def adamw_from_the_first_gradient(
    param, grad, state, lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0
):
    """The averages begin at the first gradient and its square, not at 0."""
    if not state:
        state.update(step=0, m=grad.clone(), v=grad**2)
    standins.adamw_step(param, grad, state, lr, betas, eps, weight_decay)


@torch.no_grad()
def adamw_needs_a_full_state(param, grad, state, lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0):
    state["step"] += 1
    standins.adamw_step(param, grad, state, lr, betas, eps, weight_decay)


ALL_MOMENTS: dict = {}


@torch.no_grad()
def adamw_of_all(param, grad, state, lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0):
    """One state outside, whatever is handed in."""
    own = ALL_MOMENTS.setdefault(tuple(param.shape), {})
    standins.adamw_step(param, grad, own, lr, betas, eps, weight_decay)


@torch.no_grad()
def adamw_without_averages(param, grad, state, lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0):
    param -= lr * (grad + weight_decay * param)


def adamw_with_other_betas(param, grad, state, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    standins.adamw_step(param, grad, state, lr, betas, eps, weight_decay)


def adamw_with_another_eps(param, grad, state, lr, betas=(0.9, 0.95), eps=1e-6, weight_decay=0.0):
    standins.adamw_step(param, grad, state, lr, betas, eps, weight_decay)


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


class Trainer:
    """A step as a method of an object."""

    def step(self, model, x, y, groups, state, lr, betas=(0.9, 0.95), eps=1e-8, max_norm=1.0):
        flat = [(p, group["weight_decay"]) for group in groups for p in group["params"]]
        self.clear(p for p, _ in flat)
        loss = model.loss(x, y)
        loss.backward()
        norm = clip_grad_norm((p for p, _ in flat), max_norm)
        moved = [(p, wd) for p, wd in flat if p.grad is not None]
        for p, wd in moved:
            if p not in state:
                state[p] = dict()
            adamw_step(p, p.grad, state[p], lr, weight_decay=wd, eps=eps, betas=betas)
        return float(loss.detach()), norm

    @staticmethod
    def clear(parameters):
        for p in parameters:
            if p.grad is not None:
                p.grad.zero_()


def step_that_clears_after(
    model, x, y, groups, state, lr, betas=(0.9, 0.95), eps=1e-8, max_norm=1.0
):
    """Clears before and after, through the model; states by the name of a parameter."""
    model.zero_grad(set_to_none=True)
    names = {p: name for name, p in model.named_parameters()}
    with torch.enable_grad():
        loss = model.loss(x, y)
        loss.backward()
    norm = clip_grad_norm([p for g in groups for p in g["params"]], max_norm)
    for i, group in enumerate(groups):
        for p in group["params"]:
            if p.grad is None:
                continue
            own = state.setdefault(names[p], {})
            adamw_step(p, p.grad, own, lr, betas, eps, groups[i]["weight_decay"])
    model.zero_grad(set_to_none=True)
    return loss.detach().item(), norm


def step(
    clear="before",
    clip=True,
    loss_of="before",
    norm_of="before",
    wd=lambda group: group["weight_decay"],
    updated=lambda groups: groups,
    swap=False,
    backward=True,
    forget=False,
    mode=None,
    restored=False,
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
        was = model.training
        if mode is not None:
            model.train(mode)
        if clear == "before":
            model.zero_grad()
        loss = model.loss(y, x) if swap else model.loss(x, y)
        if backward:
            loss.backward()
        if clear == "too late":
            model.zero_grad()
        if clip in ("by group", "first group", "last group"):
            chosen = groups[:1] if clip == "first group" else groups
            chosen = groups[-1:] if clip == "last group" else chosen
            norm = [clip_grad_norm(g["params"], max_norm) for g in chosen][-1]
        else:
            norm = clip_grad_norm(every, max_norm if clip else math.inf)
        norm = 0.0 if norm_of == "nothing" else norm
        for g in updated(groups):
            for p in g["params"]:
                if p.grad is not None:
                    own = {} if forget else state.setdefault(id(p), {})
                    adamw_step(p, p.grad, own, lr, betas, eps, wd(g))
        if clear == "after":
            model.zero_grad()
        if loss_of == "after":
            loss = model.loss(x, y)
        if restored:
            model.train(was)
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


def step_clips_before_backward(
    model, x, y, groups, state, lr, betas=(0.9, 0.95), eps=1e-8, max_norm=1.0
):
    every = [p for g in groups for p in g["params"]]
    for p in every:
        p.grad = None
    loss = model.loss(x, y)
    norm = clip_grad_norm(every, max_norm)
    loss.backward()
    for g in groups:
        for p in g["params"]:
            if p.grad is not None:
                adamw_step(p, p.grad, state.setdefault(p, {}), lr, betas, eps, g["weight_decay"])
    return loss.item(), norm


@torch.no_grad()
def step_without_gradients(
    model, x, y, groups, state, lr, betas=(0.9, 0.95), eps=1e-8, max_norm=1.0
):
    return standins.train_step(model, x, y, groups, state, lr, betas, eps, max_norm)


def step_a_state_for_each_group(
    model, x, y, groups, state, lr, betas=(0.9, 0.95), eps=1e-8, max_norm=1.0
):
    model.zero_grad()
    loss = model.loss(x, y)
    loss.backward()
    norm = clip_grad_norm([p for g in groups for p in g["params"]], max_norm)
    for i, g in enumerate(groups):
        for p in g["params"]:
            if p.grad is not None:
                adamw_step(p, p.grad, state.setdefault(i, {}), lr, betas, eps, g["weight_decay"])
    return loss.item(), norm


def step_with_another_bound(
    model, x, y, groups, state, lr, betas=(0.9, 0.95), eps=1e-8, max_norm=math.inf
):
    return standins.train_step(model, x, y, groups, state, lr, betas, eps, max_norm)


def step_of_gradient_descent(
    model, x, y, groups, state, lr, betas=(0.9, 0.95), eps=1e-8, max_norm=1.0
):
    model.zero_grad()
    loss = model.loss(x, y)
    loss.backward()
    norm = clip_grad_norm([p for g in groups for p in g["params"]], max_norm)
    with torch.no_grad():
        for g in groups:
            for p in g["params"]:
                if p.grad is not None:
                    p -= lr * (p.grad + g["weight_decay"] * p)
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


@torch.no_grad()
def loss_by_all_tokens(model, batches):
    """From the logits, token by token; the mode of every part is put back by hand."""
    was = {part: part.training for part in model.modules()}
    model.eval()
    nats = []
    for x, y in batches:
        log_p = model(x).log_softmax(-1)
        nats += (-log_p.gather(-1, y[..., None])).flatten().tolist()
    for part, mode in was.items():
        part.training = mode
    return sum(nats) / len(nats)


class evaluating:
    """A context in which a model is in evaluation mode."""

    def __init__(self, model):
        self.model, self.mode = model, model.training

    def __enter__(self):
        self.model.train(False)

    def __exit__(self, *_):
        self.model.train(mode=self.mode)


def loss_in_a_context(model, batches):
    """A running mean, which never holds the sum."""
    mean, seen = 0.0, 0
    with evaluating(model), torch.no_grad():
        for batch in batches:
            n = batch[1].shape[0] * batch[1].shape[1]
            seen += n
            mean += (model.loss(*batch).item() - mean) * n / seen
    return mean


def loss_with_tensors(model, batches):
    """Sums as tensors in float64, and fsum of the products."""
    mode = bool(model.training)
    model.eval()
    with torch.inference_mode():
        found = [(model.loss(x, y).double(), y.numel()) for (x, y) in batches]
    model.train(mode) if mode else model.eval()
    return math.fsum(float(loss * n) for loss, n in found) / sum(n for _, n in found)


def estimate(
    weigh=lambda y: y.numel(),
    divide=True,
    only=slice(None),
    eval_mode=True,
    after=None,
    swap=False,
    returned=lambda mean: mean,
):
    """estimate_loss with one thing changed."""

    @torch.no_grad()
    def estimate_loss(model, batches):
        was = model.training
        if eval_mode is not None:
            model.train(not eval_mode)
        total, count = 0.0, 0
        for x, y in list(batches)[only]:
            if swap:
                x, y = y, x
            total += model.loss(x, y).item() * weigh(y)
            count += weigh(y)
        model.train(was if after is None else after)
        mean = total / count if divide is True else total / divide(batches) if divide else total
        return returned(mean)

    return estimate_loss


@torch.no_grad()
def loss_returned_from_the_loop(model, batches):
    training = model.training
    model.eval()
    total, count = 0.0, 0
    for x, y in batches:
        total += model.loss(x, y).item() * y.numel()
        count += y.numel()
        return total / count
    model.train(training)


@torch.no_grad()
def loss_median(model, batches):
    was = model.training
    model.eval()
    found = sorted(model.loss(x, y).item() for x, y in batches)
    model.train(was)
    return found[len(found) // 2]


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
    "get_batch": [
        batch_by_stacking,
        batch_by_uniform_numbers,
        batch_by_multinomial,
        batch_by_loops,
        batch_by_gather,
        batch_by_take,
    ],
    "lr_schedule": [
        schedule_by_cases,
        schedule_as_tensor,
        schedule_with_numpy,
        schedule_by_half_angle,
        schedule_by_a_class,
    ],
    "decay_groups": [
        groups_by_filter,
        groups_by_name_reversed,
        groups_by_identity,
        groups_by_modules_and_ids,
        groups_by_key,
        groups_by_partition,
    ],
    "clip_grad_norm": [
        clip_by_flattening,
        clip_in_float64,
        clip_by_numbers,
        clip_by_foreach,
        clip_by_einsum,
    ],
    "adamw_step": [adamw_by_lerp, adamw_on_data, adamw_by_a_class, adamw_at_once, adamw_flat],
    "train_step": [
        step_by_grad,
        step_with_the_optimiser,
        step(),
        Trainer().step,
        step_that_clears_after,
    ],
    "estimate_loss": [
        loss_by_lists,
        loss_by_weighted_average,
        estimate(),
        loss_by_all_tokens,
        loss_in_a_context,
        loss_with_tensors,
    ],
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
        "shifted_twice_within_data": batch(y_at=2, count=-1),
        "next_block_within_data": batch(y_at="T", count="1 - T"),
        "last_window_missing": batch(count=-1),
        "only_multiples": batch(every="T"),
        "starts_ignored": batch(use_starts=False),
        "starts_not_looked_up": batch(look_up=False),
        "first_window_missing": batch(first=1),
        "rolled": batch(roll=True),
        "past the end": batch(count=1),
        "past the end, by stacking": batch_past_the_end,
        "no window twice": batch_without_repeats,
        "one target a window": batch_of_the_last_token,
        "one tensor": batch_as_one,
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
        "warmup_over_one_more": schedule(lambda s, w, hi, lo: hi * (s + 1) / (w + 1)),
        "warmup_one_step_longer": schedule(warm=lambda s, w: s <= w),
        "warmup_one_step_longer_if_any": schedule(warm=lambda s, w: w > 0 and s <= w),
        "warmup_from_min": schedule(lambda s, w, hi, lo: lo + (hi - lo) * (s + 1) / w),
        "warmup_to_min": schedule(lambda s, w, hi, lo: lo * (s + 1) / w),
        "progress of the wrong sign": schedule(
            fall=between(lambda t: (1 + math.cos(math.pi * t)) / 2),
            part=lambda s, w, n: (w - s) / (n - w),
        ),
        "warmup_at_max": schedule(lambda s, w, hi, lo: hi),
        "warmup_case_missing": schedule(warm=lambda s, w: False),
        "ends_one_step_early_guarded": schedule(part=lambda s, w, n: (s - w) / max(1, n - 1 - w)),
        **{
            f"{name}_{until}": schedule(late=late, **pieces)
            for name, pieces in SCHEDULES_UP_TO_THE_END.items()
            for late, until in (("min", "up_to_max_steps"), ("min at once", "before_max_steps"))
        },
        "no_warmup": schedule(warm=lambda s, w: False, part=lambda s, w, n: s / n),
        "progress_from_0": schedule(part=lambda s, w, n: s / n),
        "warmup_not_subtracted": schedule(part=lambda s, w, n: s / (n - w)),
        "divided_by_max_steps": schedule(part=lambda s, w, n: (s - w) / n),
        "ends_one_step_early": schedule(part=lambda s, w, n: (s - w) / (n - 1 - w)),
        "one_step_ahead": schedule(part=lambda s, w, n: (s + 1 - w) / (n - w)),
        "linear_decay": schedule(fall=lambda t, hi, lo: hi + (lo - hi) * min(t, 1)),
        "constant": schedule(fall=lambda t, hi, lo: hi),
        "down_to_0": schedule(fall=lambda t, hi, lo: cosine(t, hi, 0)),
        "cut_off_at_min": schedule(fall=lambda t, hi, lo: max(lo, cosine(t, hi, 0))),
        "min_not_added": schedule(fall=lambda t, hi, lo: cosine(t, hi - lo, 0)),
        "min_added_to_max": schedule(fall=lambda t, hi, lo: lo + cosine(t, hi, 0)),
        "not_halved": schedule(fall=between(lambda t: 1 + math.cos(math.pi * t))),
        "rises_again": schedule(
            fall=lambda t, hi, lo: lo + (hi - lo) * (1 + math.cos(math.pi * t)) / 2
        ),
        "zero_after_the_end": schedule(late=0.0),
        "whole_wave": schedule(fall=between(lambda t: math.cos(math.pi * t) ** 2)),
        "rising": schedule(fall=between(lambda t: math.sin(math.pi * t / 2) ** 2)),
        "bare_cosine": schedule(fall=between(lambda t: math.cos(math.pi * t))),
        "no_pi": schedule(fall=between(lambda t: (1 + math.cos(t)) / 2)),
        "degrees": schedule(fall=between(lambda t: (1 + math.cos(180 * t)) / 2)),
        "rates_swapped": lambda step, hi, lo, w, n: standins.lr_schedule(step, lo, hi, w, n),
        "nothing past the end": schedule_without_return_late,
        "a number for torch.cos": schedule_with_tensor_for_cos,
        "whole numbers": schedule_stepwise,
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
        "more_than_two": groups(lambda n, p: p.dim() > 2),
        "gamma_decays": groups(lambda n, p: not n.startswith("b")),
        "weights_by_name": groups(lambda n, p: "W" in n),
        "another key": groups_with_other_key,
        "two lists": groups_as_two_lists,
        "a dict of groups": groups_as_a_dict,
        "all in one, some in both": groups_overlapping,
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
        "root_mean_square": clip(
            lambda grads: torch.cat([g.flatten() for g in grads]).square().mean().sqrt()
        ),
        "last_only": clip(lambda grads: [g.norm() for g in grads][-1]),
        "norm_of_parameters": clip_by_parameters,
        "norm_of_all_parameters": clip_by_all_parameters,
        "wrong_way_round": clip(joint, factor=lambda n, c: max(1.0, c / (n + 1e-6))),
        "inverted": clip(joint, factor=lambda n, c: n / c if n > c else 1.0),
        "short_ones_shortened": clip(joint, factor=lambda n, c: min(1.0, n / c)),
        "fixed_bound": lambda parameters, max_norm: standins.clip_grad_norm(parameters, 1.0),
        "factor_returned": clip(joint, returned=lambda n, c: min(1.0, c / n) if n else 1.0),
        "average_of_norms": clip(lambda grads: sum(g.norm() for g in grads) / len(grads)),
        "longer than 1": clip(joint, factor=lambda n, c: c / n if n > 1 else 1.0),
        "at most the bound": clip(joint, factor=lambda n, c: min(c, c / (n + 1e-6))),
        "copies are scaled": clip_of_copies,
        "a gradient for every parameter": clip_fills_none,
        "scaled as it goes": clip_as_it_goes,
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
        "decay_uphill": adamw(decay="uphill"),
        "decay_of_one_size": adamw(decay="of one size"),
        "correction_multiplied": adamw(corrected=lambda average, rest: average * rest),
        "step_from_2": adamw(first=2),
        "m_without_power": adamw_with_powers(power_m=False),
        "v_without_power": adamw_with_powers(power_v=False),
        "root_of_m": adamw_with_the_root_of_m,
        "shares_swapped": adamw(
            m_rule=lambda m, g, b: (1 - b) * m + b * g,
            v_rule=lambda v, g, b: (1 - b) * v + b * g * g,
        ),
        "one_beta_for_both": adamw(betas_used=lambda betas: (betas[0], betas[0])),
        "betas_fixed": adamw(betas_used=lambda betas: (0.9, 0.999)),
        "betas_of_the_signature": adamw(betas_used=lambda betas: (0.9, 0.95)),
        "eps_fixed": adamw(eps_used=lambda eps: 1e-8),
        "eps_before_correction": adamw(
            below=lambda v, eps, rest: ((v * rest).sqrt() + eps) / rest**0.5
        ),
        "root_before_correction": adamw(below=lambda v, eps, rest: (v * rest).sqrt() / rest + eps),
        "lr_missing": adamw(pace=lambda lr: 1.0),
        "eps_inside": adamw(below=lambda v, eps, rest: (v + eps).sqrt()),
        "no_eps": adamw(below=lambda v, eps, rest: v.sqrt()),
        "no_root": adamw(below=lambda v, eps, rest: v + eps),
        "not_squared": adamw(v_rule=lambda v, g, b: b * v + (1 - b) * g),
        "absolute values": adamw(v_rule=lambda v, g, b: b * v + (1 - b) * g.abs()),
        "plain_sum": adamw(m_rule=lambda m, g, b: b * m + g),
        "starts_at_the_gradient": adamw_from_the_first_gradient,
        "needs a full state": adamw_needs_a_full_state,
        "one state for all tensors": adamw_of_all,
        "plain gradient descent": adamw_without_averages,
        "betas_swapped": adamw(betas_used=lambda betas: betas[::-1]),
        "uphill": adamw(sign=1),
        "other default betas": adamw_with_other_betas,
        "another default eps": adamw_with_another_eps,
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
        "eval_mode_restored": step(mode=False, restored=True),
        "train_mode_restored": step(mode=True, restored=True),
        "cleared_after": step(clear="after"),
        "group_by_group": step(clip="by group"),
        "only_decaying_clipped": step(clip="first group"),
        "no_norm": step(clip=False, norm_of="nothing"),
        "swapped": step(returned=lambda loss, norm: (norm, loss.item())),
        "betas_not_passed": step(betas_used=(0.9, 0.95)),
        "eps_not_passed": step(eps_used=1e-8),
        "max_norm_not_passed": step(max_norm_used=1.0),
        "x_y_swapped": step(swap=True),
        "only_last_clipped": step(clip="last group"),
        "first_group_only": step(updated=lambda groups: groups[:1]),
        "last_group_only": step(updated=lambda groups: groups[1:]),
        "clips before backward": step_clips_before_backward,
        "no gradients": step_without_gradients,
        "no backward": step(backward=False),
        "one state for a group": step_a_state_for_each_group,
        "gradient descent": step_of_gradient_descent,
        "another default bound": step_with_another_bound,
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
        "dropout_on": estimate(eval_mode=None),
        "train_mode": estimate(eval_mode=False),
        "by_columns": estimate(weigh=lambda y: y.shape[1]),
        "divided_by_batches": estimate(divide=len),
        "returned_from_the_loop": loss_returned_from_the_loop,
        "x_y_swapped": estimate(swap=True),
        "upside_down": estimate(returned=lambda mean: 1 / mean),
        "perplexity": estimate(returned=math.exp),
        "bits": estimate(returned=lambda mean: mean / math.log(2)),
        "median": loss_median,
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
