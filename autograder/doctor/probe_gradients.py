"""Probes of the gradients and of the groups that the optimiser gets."""

from __future__ import annotations

import torch
from torch import nn

from autograder.doctor.patient import Patient

STEPS = (1e-5, 1e-4)  # of the central difference, in float64
DECAY = 0.125


def gradients(patient: Patient) -> dict:
    """Norms on fresh weights, and each gradient against the loss itself, on stirred ones."""
    model = patient.model()
    model.loss(*patient.windows(8)).backward()
    norms = {n: None if p.grad is None else p.grad.norm().item() for n, p in named(model)}
    return {"norms": norms, "slopes": slopes(patient)}


def named(model: nn.Module) -> list[tuple[str, nn.Parameter]]:
    return list(model.named_parameters())


def slopes(patient: Patient) -> dict | None:
    """The slope of the loss along a random direction of each parameter: by backward(), and from
    two values of the loss; it is sure where a larger step gives the same. None where the file cannot compute in float64.
    """
    model, ids, targets = patient.stirred().double(), patient.ids(2), patient.ids(2, seed=5)
    generator, found = patient.generator(6), {}
    try:
        model.loss(ids, targets).backward()
    except RuntimeError:
        return None
    with torch.no_grad():
        for name, p in named(model):
            along = torch.randn(p.shape, generator=generator, dtype=p.dtype)
            given = None if p.grad is None else (p.grad * along).sum().item()
            start = p.clone()
            both = []
            for step in STEPS:
                ends = []
                for sign in (1, -1):
                    p.copy_(start + sign * step * along)
                    ends.append(model.loss(ids, targets).item())
                both.append((ends[0] - ends[1]) / (2 * step))
            p.copy_(start)
            zero = p.grad is None or not p.grad.any()
            sure = abs(both[0] - both[1]) <= 1e-3 * abs(both[0]) + 1e-7
            found[name] = {"given": given, "true": both[0], "sure": sure, "zero": bool(zero)}
    return found


def groups(patient: Patient) -> dict:
    """For each parameter, the decay of every group that holds it."""
    model = patient.model()
    found = patient.module.decay_groups(model, DECAY)
    held: dict[int, list[float]] = {}
    for group in found:
        for p in group["params"]:
            held.setdefault(id(p), []).append(float(group["weight_decay"]))
    known = {id(p) for p in model.parameters()}
    return {
        "asked": DECAY,
        "foreign": sum(key not in known for key in held),
        "parameters": [
            {"name": n, "dim": p.dim(), "rates": held.get(id(p), [])} for n, p in named(model)
        ],
    }
