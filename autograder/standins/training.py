"""Stand-ins for chapter 7."""

import math

import torch
from torch import Tensor, nn


def get_batch(
    data: Tensor,
    batch_size: int,
    T: int,
    starts: Tensor | None = None,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    # data (N,), starts (S,) -> x (B, T), y (B, T)
    """Windows of T tokens at random starts (anywhere by default), and the same one token later."""
    windows = data.unfold(0, T + 1, 1)
    count = len(windows) if starts is None else len(starts)
    pick = torch.randint(count, (batch_size,), generator=generator).to(data.device)
    rows = windows.index_select(0, pick if starts is None else starts[pick])
    return rows.narrow(1, 0, T), rows.narrow(1, 1, T)


def lr_schedule(
    step: int, max_lr: float, min_lr: float, warmup_steps: int, max_steps: int
) -> float:
    """Linear warm-up to max_lr, then half a cosine down to min_lr, where it stays."""
    if step < warmup_steps:
        return max_lr * (step + 1) / warmup_steps
    angle = math.pi / 2 * (min(step, max_steps) - warmup_steps) / max(1, max_steps - warmup_steps)
    return max_lr * math.cos(angle) ** 2 + min_lr * math.sin(angle) ** 2


def decay_groups(model: nn.Module, weight_decay: float) -> list[dict]:
    """Parameters of two axes or more, which decay, and the others, which do not."""
    groups = [{"params": [], "weight_decay": wd} for wd in (weight_decay, 0.0)]
    for p in model.parameters():
        groups[p.ndim < 2]["params"].append(p)
    return groups


def clip_grad_norm(parameters, max_norm: float) -> float:
    """Scale all gradients to a joint norm of at most max_norm; return the norm before."""
    return torch.nn.utils.clip_grad_norm_(parameters, max_norm).item()


def adamw_step(
    param: Tensor,
    grad: Tensor,
    state: dict,
    lr: float,
    betas: tuple[float, float] = (0.9, 0.95),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> None:
    """One AdamW update of one tensor, in place; `state` is {} at first, then {"step", "m", "v"}."""
    if not state:
        state.update(step=0, m=torch.zeros_like(param), v=torch.zeros_like(param))
    optimizer = torch.optim.AdamW([param], lr, betas, eps, weight_decay)
    step = torch.tensor(float(state["step"]))
    optimizer.state[param] = {"step": step, "exp_avg": state["m"], "exp_avg_sq": state["v"]}
    before, param.grad = param.grad, grad.detach()
    optimizer.step()
    param.grad = before
    state["step"] += 1


def train_step(
    model: nn.Module,
    x: Tensor,
    y: Tensor,
    groups: list[dict],
    state: dict,
    lr: float,
    betas: tuple[float, float] = (0.9, 0.95),
    eps: float = 1e-8,
    max_norm: float = 1.0,
) -> tuple[float, float]:
    # x (B, T), y (B, T)
    """One step on one batch: (loss, gradient norm before clipping). `state` is {} at first."""
    model.zero_grad(set_to_none=True)
    loss = model.loss(x, y)
    loss.backward()
    norm = clip_grad_norm([p for group in groups for p in group["params"]], max_norm)
    for group in groups:
        for p in group["params"]:
            if p.grad is not None:
                moments = state.setdefault(p, {})
                adamw_step(p, p.grad, moments, lr, betas, eps, group["weight_decay"])
    return loss.item(), norm


@torch.inference_mode()
def estimate_loss(model: nn.Module, batches) -> float:
    """Mean loss per token over the (x, y) batches without dropout; the model's mode is restored."""
    mode = model.training
    model.eval()
    nats = [(y.numel() * model.loss(x, y).double(), y.numel()) for x, y in batches]
    model.train(mode)
    total, count = map(sum, zip(*nats))
    return float(total / count)
