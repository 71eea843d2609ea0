"""Probes of the model as it is built: its first loss, its parts, its loss function, its modes."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from autograder.doctor.patient import Patient, attempt

WIDE = 0.05  # a deviation above this is not that of fresh GPT-2 weights, 0.02
DROPOUT = 0.3


@torch.no_grad()
def start(patient: Patient) -> dict:
    """The fresh model on random tokens and random targets: it should know nothing."""
    model = patient.model().eval()
    ids, targets = patient.ids(16, seed=3), patient.ids(16, seed=4)
    with Watch(model) as watch:
        logits = model(ids)
    shape = list(logits.shape)
    found = {"shape": shape, "expected": [*ids.shape, patient.V], "log_V": math.log(patient.V)}
    if shape != found["expected"]:
        return found | {"stop": True}
    if not logits.isfinite().all():
        return found | {"not_finite": watch.first, "mask": attempt(mask_of, patient), "stop": True}
    found |= {
        "loss": mean_loss(logits, targets),
        "smallest": logits.min().item(),
        "row_sum": logits.double().sum(-1).mean().item(),
        "row_sum_spread": logits.double().sum(-1).std().item(),
    }
    tables = {n: p.std().item() for n, p in model.named_parameters() if p.dim() >= 2}
    wide = {name: std for name, std in tables.items() if std > WIDE}
    for name, p in model.named_parameters():
        if name in wide:
            p.mul_(0.02 / wide[name])
    return found | {"wide": wide, "calmed": mean_loss(model(ids), targets)}


def mean_loss(logits: Tensor, targets: Tensor) -> float:
    return mean(logits.double(), targets).item()


class Watch:
    """Notes the first part of a model whose output is not finite, while a forward pass runs."""

    def __init__(self, model: nn.Module):
        self.model, self.first, self.hooks = model, None, []

    def __enter__(self) -> Watch:
        for name, module in self.model.named_modules():
            self.hooks.append(module.register_forward_hook(self._note(name or "the logits")))
        return self

    def __exit__(self, *_) -> None:
        for hook in self.hooks:
            hook.remove()

    def _note(self, name: str):
        def note(module, args, output) -> None:
            if self.first is None and isinstance(output, Tensor) and not output.isfinite().all():
                at = (~output.isfinite()).flatten(2).any(-1).any(0) if output.dim() > 2 else None
                self.first = {
                    "part": name,
                    "positions": None if at is None else at.nonzero().flatten().tolist(),
                    "of": output.shape[1] if output.dim() > 1 else None,
                }

        return note


def mask_of(patient: Patient, size: int = 6) -> list | None:
    """What the file's causal_mask gives, where it has one."""
    make = getattr(patient.module, "causal_mask", None)
    if not callable(make):
        return None
    mask = make(size)
    if not isinstance(mask, Tensor) or mask.shape != (size, size) or not mask.is_floating_point():
        return None
    return mask.tolist()


@torch.no_grad()
def parts(patient: Patient) -> dict:
    """What of the model is registered, how many blocks there are, whether the head reads E."""
    model = patient.model().eval()
    blocks = [b for b in getattr(model, "blocks", []) if isinstance(b, nn.Module)]
    return {
        "hidden": hidden(model),
        "blocks": len(blocks),
        "different": len({id(b) for b in blocks}),
        "n_layer": patient.settings.n_layer,
        "tied": tied(patient),
    }


def hidden(model: nn.Module) -> list[dict]:
    """Modules and parameters that a module keeps where model.parameters() does not look."""
    known, found = {id(p) for p in model.parameters()}, []
    for path, module in model.named_modules():
        for name, value in vars(module).items():
            if name in ("_modules", "_parameters", "_buffers"):
                continue
            tensors = {id(p): p for p in unregistered(value) if id(p) not in known}
            if tensors:
                place = ".".join(part for part in ("model", path, name) if part)
                count = sum(p.numel() for p in tensors.values())
                kind = type(value).__name__
                found.append(dict(place=place, kind=kind, tensors=len(tensors), numbers=count))
    return found


def unregistered(value):
    if isinstance(value, nn.Module):
        yield from value.parameters()
    elif isinstance(value, nn.Parameter):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from unregistered(one)
    elif isinstance(value, dict):
        yield from unregistered(list(value.values()))


def tied(patient: Patient) -> dict | None:
    """Logits of a token that is not read, before and after its row of E is doubled."""
    model = patient.stirred().eval()
    E = getattr(model, "E", None)
    if not isinstance(E, Tensor) or E.dim() != 2 or len(E) != patient.V:
        return None
    unread = patient.V - 1
    ids = patient.ids() % unread
    before = model(ids)[..., unread].clone()
    E.data[unread] *= 2
    after = model(ids)[..., unread]
    at = before.abs().argmax()
    return {
        "token": unread,
        "before": before.flatten()[at].item(),
        "after": after.flatten()[at].item(),
    }


@torch.no_grad()
def loss(patient: Patient) -> dict:
    """model.loss beside what a mistake in it would give, on fresh and on stirred weights."""
    on = {}
    x, y = patient.windows(4)
    for name, model in (("fresh", patient.model()), ("stirred", patient.stirred())):
        model.eval()
        given = model.loss(x, y)
        on[name] = {k: float(v) for k, v in losses(model(x), x, y).items()} | {
            "given": float(given)
        }
    return {"V": patient.V, "on": on}


def mean(logits: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(logits.flatten(0, -2), targets.flatten())


def losses(logits: Tensor, x: Tensor, y: Tensor) -> dict[str, Tensor]:
    """The right loss, and wrong ones by the cause that a finding would name."""
    z = logits.double()
    right, (B, T, V) = mean(z, y), z.shape
    return {
        "right": right,
        "loss_summed": right * B * T,
        "loss_summed_over_positions": right * T,
        "loss_summed_over_rows": right * B,
        "softmax_before_loss": mean(z.softmax(-1), y),
        "loss_of_last_position": mean(z[:, -1:], y[:, -1:]),
        "loss_of_inputs": mean(z, x),
        "loss_shifts_again": mean(z[:, :-1], y[:, 1:]),
        "loss_viewed_as_BVT": mean(z.reshape(B, V, T).mT, y),
        "loss_in_bits": right / math.log(2),
        "loss_negative": -right,
    }


def modes(patient: Patient) -> dict:
    """Dropout and the model's mode, around estimate_loss, with a dropout of 0.3."""
    model, ids = patient.model(dropout=DROPOUT), patient.ids()
    x, y = patient.windows(3)
    batches = [(x[:1], y[:1]), (x[1:], y[1:])]
    estimate = patient.module.estimate_loss
    found = {}
    for mode in (True, False):
        model.train(mode)
        found[f"estimates_{mode}"] = [float(estimate(model, batches)) for _ in range(2)]
        found[f"mode_after_{mode}"] = model.training
    with torch.no_grad():
        model.eval()
        found["still"] = bool(torch.equal(model(ids), model(ids)))
        each = [float(model.loss(*batch)) for batch in batches]
        model.train()
        found["dropped"] = not torch.equal(model(ids), model(ids))
        plain = patient.model().eval()
        found["fixed"] = bool(torch.equal(plain(ids), plain(ids)))
    tokens = [batch[1].numel() for batch in batches]
    found["mean"] = sum(n * loss for n, loss in zip(tokens, each)) / sum(tokens)
    found["mean_of_means"] = sum(each) / len(each)
    return found
