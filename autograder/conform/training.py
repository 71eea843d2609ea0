"""Rows on the training functions, one at a time; ten steps of all together are in numbers.py."""

import numpy as np
import torch
from torch import nn

from autograder import references
from autograder.conform.row import Worst, Wrong, prop
from autograder.conform.subject import Subject

GROUP = "training functions"


# Published counts are 50 and 98 tensors, where c_attn packs Q, K and V into one; the numbers of
# parameters are the same either way.
DECAYING = (74, 124_318_464)
NOT_DECAYING = (122, 121_344)


@prop(
    GROUP,
    "decay groups",
    "GPT-2 small: 74 tensors decay, 122 do not",
    0,
    "p.dim() >= 2 decides; each parameter in one group, the tied E once",
)
def groups(subject: Subject) -> Worst:
    worst = Worst()
    with torch.device("meta"):
        model = subject.GPT2(subject.GPT2Config())
    found = subject.decay_groups(model, 0.125)
    for rate, what, want in ((0.125, "decay", DECAYING), (0.0, "do not decay", NOT_DECAYING)):
        tensors = [p for g in found if g["weight_decay"] == rate for p in g["params"]]
        got = (len(tensors), sum(p.numel() for p in tensors))
        text = "{} tensors of {:,} parameters"
        worst.note(abs(got[0] - want[0]), f"{text.format(*got)} {what}; expected {want[0]}")
        worst.note(
            float(got[1] != want[1]), f"{text.format(*got)} {what}; expected {text.format(*want)}"
        )
    listed = {id(p) for group in found for p in group["params"]}
    missing = sum(id(p) not in listed for p in model.parameters())
    worst.note(missing, f"{missing} parameters are in no group")
    return worst


@prop(
    GROUP,
    "get_batch",
    "y is x one token later; every window is drawn",
    0,
    "y = data[start + 1 : start + 1 + T]; starts 0 … len(data) - T - 1",
)
def get_batch(subject: Subject) -> Worst:
    worst, T, B = Worst(), 5, 400
    data = torch.arange(100, 123, device=subject.device)  # every token tells its place
    draw = lambda: subject.get_batch(data, B, T, generator=torch.Generator().manual_seed(0))
    x, y = (part.cpu() for part in draw())
    if x.shape != (B, T) or y.shape != (B, T):
        raise Wrong(f"x is {tuple(x.shape)}, y is {tuple(y.shape)}; expected {(B, T)} twice")
    worst.note((x[:, 1:] != x[:, :-1] + 1).sum().item(), "tokens of x that do not follow in order")
    worst.note((y != x + 1).sum().item(), "tokens of y that are not x one token later")
    starts = set(x[:, 0].tolist())
    missing = set(range(100, 123 - T)) - starts
    worst.note(
        len(missing), f"windows never drawn, such as the one at {min(missing, default=0) - 100}"
    )
    worst.note((x != draw()[0].cpu()).sum().item(), "the same generator gives other windows")
    return worst


@prop(
    GROUP,
    "lr_schedule",
    "warm-up, top, half-way, end",
    1e-6,
    "a line up to max_lr at the end of warm-up, then half a cosine down to min_lr at max_steps",
)
def lr_schedule(subject: Subject) -> Worst:
    worst, top, low = Worst(), 8.0, 2.0  # large, so that the tolerance means something
    lr = lambda step: float(subject.lr_schedule(step, top, low, 10, 110))
    rises = np.diff([lr(step) for step in range(10)])
    worst.add("steps of the warm-up", rises, np.full(9, rises[0]))
    worst.note(float(not 0 <= lr(0) < lr(9) <= top), f"warm-up runs from {lr(0):g} to {lr(9):g}")
    for step, want in {
        10: top,
        35: low + (top - low) * (1 + 0.5**0.5) / 2,
        60: 5.0,
        110: low,
        999: low,
    }.items():
        worst.add(f"step {step}", lr(step), want)
    return worst


@prop(
    GROUP,
    "clip_grad_norm",
    "the norm before; gradients after",
    1e-5,
    "one norm over all parameters together; scale only when it exceeds max_norm",
)
def clip(subject: Subject) -> Worst:
    worst, rng = Worst(), np.random.default_rng(0)
    grads = [rng.standard_normal(shape).astype("f4") for shape in ((3, 4), (5,), (2, 6))]
    norm = np.sqrt(sum((g.astype(float) ** 2).sum() for g in grads))
    for max_norm in (1.5, 100.0):
        parameters = [nn.Parameter(torch.zeros(g.shape, device=subject.device)) for g in grads]
        for p, g in zip(parameters, grads):
            p.grad = torch.tensor(g, device=subject.device)
        unused = nn.Parameter(torch.zeros(2, device=subject.device))
        got = subject.clip_grad_norm([*parameters, unused], max_norm)
        worst.add(f"max_norm {max_norm:g}: the norm", float(got), norm)
        for p, g in zip(parameters, grads):
            want = g * min(1.0, max_norm / norm)
            worst.add(f"max_norm {max_norm:g}: a gradient after", p.grad, want)
    return worst


@prop(
    GROUP,
    "adamw_step",
    "three updates of one tensor",
    1e-5,
    "bias correction 1 - beta^t with t from 1, eps after the root, decay lr * weight_decay * param",
)
def adamw(subject: Subject) -> Worst:
    worst, rng, state = Worst(), np.random.default_rng(0), {}
    start = rng.standard_normal((3, 5))
    param = torch.tensor(start, dtype=torch.float32, device=subject.device)
    want, m, v = start, 0.0, 0.0
    lr, (b1, b2), eps, decay = 0.1, (0.8, 0.95), 0.02, 0.7
    for t in (1, 2, 3):
        grad = 0.1 * rng.standard_normal(start.shape)
        m, v = b1 * m + (1 - b1) * grad, b2 * v + (1 - b2) * grad**2
        update = (m / (1 - b1**t)) / (np.sqrt(v / (1 - b2**t)) + eps)
        want = want - lr * decay * want - lr * update
        given = torch.tensor(grad, dtype=torch.float32, device=subject.device)
        subject.adamw_step(param, given, state, lr, (b1, b2), eps, decay)
        worst.add(f"after update {t}", param, want)
        worst.add("the gradient, which is to stay", given, grad)
    return worst


@prop(
    GROUP,
    "train_step: learning rate",
    "a step at lr 0 moves nothing, one at lr > 0 does",
    1e-7,
    "each step takes the lr that it is handed, also where an optimiser was made in an earlier one",
)
def learning_rate(subject: Subject) -> Worst:
    worst, r, state = Worst(), references.load("short"), {}
    model = subject.model(r)
    x, y, groups = (
        subject.ids(r["ids"]),
        subject.ids(r["targets"]),
        subject.decay_groups(model, 0.1),
    )

    def moved(lr: float) -> float:
        before = [p.detach().clone() for p in model.parameters()]
        subject.train_step(model, x, y, groups, state, lr)
        return max((p - b).abs().max().item() for p, b in zip(model.parameters(), before))

    worst.note(float(moved(0.01) == 0), "a step with lr 0.01 moves no parameter")
    worst.note(moved(0.0), "after it, a step with lr 0 moves a parameter")
    return worst


@prop(
    GROUP,
    "estimate_loss",
    "mean over tokens of unequal batches; mode kept",
    1e-5,
    "weigh each batch by its tokens, model.eval() inside, the earlier mode again at the end",
)
def estimate_loss(subject: Subject) -> Worst:
    worst, r = Worst(), references.load("short")
    model = subject.model(r, dropout=0.3)
    x, y = subject.ids(r["ids"]), subject.ids(r["targets"])
    batches = [(x[:1, :3], y[:1, :3]), (x[1:], y[1:])]
    with torch.no_grad():
        losses = [float(model.loss(*batch)) for batch in batches]
    tokens = [batch[0].numel() for batch in batches]
    want = np.average(losses, weights=tokens)
    for mode in (True, False):
        model.train(mode)
        worst.add("the mean loss", float(subject.estimate_loss(model, batches)), want)
        worst.note(
            float(model.training != mode), f"model.training was {mode} and is {not mode} now"
        )
    return worst
