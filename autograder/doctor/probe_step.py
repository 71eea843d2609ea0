"""Probes of train_step: three steps watched from outside, and steps at a learning rate of 0."""

from __future__ import annotations

import torch

from autograder.doctor.patient import Patient, loss_and_norm

BETAS, DECAY, DECAY_AT_REST = (0.8, 0.95), 2.0, 0.5
RATES = (1e-3, 2e-3, 1e-3)
FREE = 1e9  # a max_norm that clips nothing
ENTRIES = 12  # of each watched parameter
WATCHED = 3  # matrices, and as many vectors
AT_ZERO = 4  # steps


def steps(patient: Patient) -> dict:
    """Three updates, the second one clipped hard: gradients before and entries after each."""
    model = patient.stirred().train()
    x, y = patient.ids(4), patient.ids(4, seed=7)
    groups = patient.module.decay_groups(model, DECAY)
    parameters, rates = dict(model.named_parameters()), {}
    for group in groups:
        for p in group["params"]:
            rates.setdefault(id(p), []).append(float(group["weight_decay"]))
    once = {n: p for n, p in parameters.items() if len(rates.get(id(p), [])) == 1}
    watched, eps, told, state = {}, 0.0, [], {}
    first = {n: p.detach().clone() for n, p in once.items()}
    for number, lr in enumerate(RATES):
        loss = model.loss(x, y)
        got = torch.autograd.grad(loss, list(parameters.values()), allow_unused=True)
        grads = {n: g for n, g in zip(parameters, got) if g is not None}
        if number == 0:
            watched, eps = chosen(once, grads)
        norm = torch.stack([g.norm() for g in grads.values()]).norm().item()
        max_norm = 0.3 * norm if number == 1 else FREE
        before = {n: entries(parameters[n], at) for n, at in watched.items()}
        given = patient.module.train_step(
            model, x, y, groups, state, lr, betas=BETAS, eps=eps, max_norm=max_norm
        )
        told.append(
            {
                "lr": lr,
                "max_norm": max_norm,
                "loss": loss.item(),
                "norm": norm,
                "given": loss_and_norm(given),
                "before": before,
                "grads": {n: entries(grads[n], at) for n, at in watched.items()},
                "norms": {n: grads[n].norm().item() for n in watched},
                "after": {n: entries(parameters[n], at) for n, at in watched.items()},
            }
        )
    # not b_K: its true gradient is 0, and what rounding leaves of it moves nothing
    felt = {n for n in once if n in grads and grads[n].abs().max() > 1e-2 * eps}
    still = [n for n in felt if torch.equal(once[n], first[n])]
    return {
        "betas": BETAS,
        "eps": eps,
        "decay": {n: rates[id(parameters[n])][0] for n in watched},
        "steps": told,
        "still": sorted(still),
        "training": model.training,
    }


def chosen(once: dict, grads: dict) -> tuple[dict, float]:
    """The entries to watch, those of the largest gradients, and an eps of about their size."""
    found, sizes = {}, []
    for matrix in (True, False):
        names = [n for n, p in once.items() if (p.dim() >= 2) == matrix and n in grads]
        for name in sorted(names, key=lambda n: -grads[n].abs().median())[:WATCHED]:
            flat = grads[name].abs().flatten()
            found[name] = flat.topk(min(ENTRIES, len(flat))).indices
            sizes.append(flat[found[name]].median().item())
    return found, 0.5 * min(sizes, default=1e-3)


def entries(tensor: torch.Tensor, at: torch.Tensor) -> list[float]:
    return tensor.detach().flatten()[at].tolist()


def at_rest(patient: Patient) -> dict:
    """Steps at a learning rate of 0 on one batch: nothing may move, and every norm is the same."""
    model = patient.stirred().train()
    x, y = patient.ids(4), patient.ids(4, seed=7)
    groups, state = patient.module.decay_groups(model, DECAY_AT_REST), {}
    start = {n: p.detach().clone() for n, p in model.named_parameters()}
    step, norms = patient.module.train_step, []
    for _ in range(AT_ZERO):
        norms.append(loss_and_norm(step(model, x, y, groups, state, 0.0, max_norm=FREE))[1])
    moved = {}
    for name, p in model.named_parameters():
        if not torch.equal(p, start[name]):
            kept = (p / start[name]).detach().flatten()
            kept = kept[kept.isfinite()]
            moved[name] = [kept.min().item(), kept.max().item()] if len(kept) else [0.0, 0.0]
    return {"norms": norms, "moved": moved}
