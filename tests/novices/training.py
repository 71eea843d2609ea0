"""Wrong solutions of notebook 7, training."""

import math

import torch
from jaxtyping import Float, Int
from novices.novice import Novice
from torch import Tensor, nn

from autograder.standins import adamw_step, clip_grad_norm


def get_batch_last_start_missing(
    data: Int[Tensor, "N"],
    batch_size: int,
    T: int,
    starts: Int[Tensor, "S"] | None = None,
    generator: torch.Generator | None = None,
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    """Takes N - T - 1, the last start, for randint's upper end, which is exclusive: the last
    window never comes."""
    if starts is None:
        s = torch.randint(0, len(data) - T - 1, (batch_size,), generator=generator)
        s = s.to(data.device)
    else:
        pick = torch.randint(len(starts), (batch_size,), generator=generator)
        s = starts[pick.to(starts.device)]
    x = torch.stack([data[i : i + T] for i in s])
    y = torch.stack([data[i + 1 : i + T + 1] for i in s])
    return x, y


def lr_schedule_from_zero_and_up_again(
    step: int, max_lr: float, min_lr: float, warmup_steps: int, max_steps: int
) -> float:
    """Two slips: the warm-up starts at 0 (s / w), and after max_steps the cosine rises again."""
    if step < warmup_steps:
        return max_lr * step / warmup_steps
    progress = (step - warmup_steps) / (max_steps - warmup_steps)
    return min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * progress))


def decay_groups_by_name(model: nn.Module, weight_decay: float) -> list[dict]:
    """Lets only what is called W_... decay, so that the tables E and P do not."""
    decay, no_decay = [], []
    for name, p in model.named_parameters():
        last = name.split(".")[-1]
        (decay if last.startswith("W_") else no_decay).append(p)
    return [
        {"params": decay, "weight_decay": weight_decay},
        {"params": no_decay, "weight_decay": 0.0},
    ]


@torch.no_grad()
def clip_grad_norm_goes_through_twice(parameters, max_norm: float) -> float:
    """Goes through parameters twice, so that model.parameters() is used up before anything is
    scaled."""
    total = 0.0
    for p in parameters:
        if p.grad is not None:
            total += p.grad.norm().item() ** 2
    n = math.sqrt(total)
    if n > max_norm:
        for p in parameters:
            if p.grad is not None:
                p.grad.mul_(max_norm / n)
    return n


@torch.no_grad()
def adamw_step_corrects_the_state(
    param: Float[Tensor, "..."],
    grad: Float[Tensor, "..."],
    state: dict,
    lr: float,
    betas: tuple[float, float] = (0.9, 0.95),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> None:
    """Divides the running averages themselves by the bias corrections, so the next step starts
    from m-hat and v-hat."""
    beta1, beta2 = betas
    if not state:
        state["step"] = 0
        state["m"] = torch.zeros_like(param)
        state["v"] = torch.zeros_like(param)
    state["step"] += 1
    t, m, v = state["step"], state["m"], state["v"]
    m.mul_(beta1).add_(grad, alpha=1 - beta1)
    v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    m.div_(1 - beta1**t)
    v.div_(1 - beta2**t)
    param.mul_(1 - lr * weight_decay)
    param.addcdiv_(m, v.sqrt().add_(eps), value=-lr)


def train_step_clips_each_group(
    model: nn.Module,
    x: Int[Tensor, "B T"],
    y: Int[Tensor, "B T"],
    groups: list[dict],
    state: dict,
    lr: float,
    betas: tuple[float, float] = (0.9, 0.95),
    eps: float = 1e-8,
    max_norm: float = 1.0,
) -> tuple[float, float]:
    """Clips each group by itself instead of all parameters together; the norm returned is the
    joint one."""
    for group in groups:
        for p in group["params"]:
            p.grad = None
    loss = model.loss(x, y)
    loss.backward()
    squares = 0.0
    for group in groups:
        if any(p.grad is not None for p in group["params"]):
            squares += clip_grad_norm(group["params"], max_norm) ** 2
        for p in group["params"]:
            if p.grad is not None:
                moments = state.setdefault(p, {})
                adamw_step(p, p.grad, moments, lr, betas, eps, group["weight_decay"])
    return loss.item(), math.sqrt(squares)


@torch.no_grad()
def estimate_loss_mean_of_means(model: nn.Module, batches) -> float:
    """Two slips: all batches count alike, whatever their size, and the model is always left in
    training mode."""
    model.eval()
    losses = [model.loss(x, y).item() for x, y in batches]
    model.train()
    return sum(losses) / len(losses)


NOVICES = {
    "get_batch": {
        "last start never drawn": Novice(
            get_batch_last_start_missing,
            points_at=("n - t - 1", "last start", "last window", "never", "randint"),
        ),
    },
    "lr_schedule": {
        "from zero, and up again after the end": Novice(
            lr_schedule_from_zero_and_up_again,
            points_at=("s + 1", "step + 1", "step 0", "max_steps", "past 1"),
        ),
    },
    "decay_groups": {
        "tables do not decay": Novice(
            decay_groups_by_name, points_at=("axes", "dim()", "table", "embedding", "two or more")
        ),
    },
    "clip_grad_norm": {
        "parameters used up": Novice(
            clip_grad_norm_goes_through_twice,
            points_at=("only once", "list", "gone through", "generator", "exhaust"),
        ),
    },
    "adamw_step": {
        "correction kept in the state": Novice(
            adamw_step_corrects_the_state,
            points_at=("state", "correct", "running average", "second step"),
        ),
    },
    "train_step": {
        "each group clipped alone": Novice(
            train_step_clips_each_group, points_at=("together", "clip", "joint", "each group")
        ),
    },
    "estimate_loss": {
        "mean of means, always back to training": Novice(
            estimate_loss_mean_of_means,
            points_at=("numel", "token", "model.training", "training mode", "mode in which"),
        ),
    },
}
