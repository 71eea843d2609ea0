"""Probes of the functions that need no model: get_batch and lr_schedule."""

from __future__ import annotations

from collections import Counter

import torch

from autograder.doctor.patient import Patient

FIRST, TOKENS, T, B = 100, 23, 5, 400  # each of the 18 windows is expected 22 times
TOP, LOW, WARMUP, STEPS = 1.0, 0.1, 10, 100


def batches(patient: Patient) -> dict:
    """Batches of a text in which every token tells its place."""
    data = torch.arange(FIRST, FIRST + TOKENS)
    get, generator = patient.module.get_batch, patient.generator(0)
    x, y = get(data, B, T, generator=generator)
    later, _ = get(data, B, T, generator=generator)
    again, _ = get(data, B, T, generator=patient.generator(0))
    given = torch.tensor([3, 9])
    from_given, after_given = get(data, B, T, starts=given, generator=generator)
    found = {
        "shape": [list(part.shape) for part in (x, y)],
        "expected": [B, T],
        "windows": TOKENS - T,
    }
    if found["shape"] != [[B, T]] * 2:
        return found
    shifts = torch.cat([(y - x).flatten(), (after_given - from_given).flatten()])
    return found | {
        "shifts": counted(shifts),
        "out_of_order": int((x.diff(dim=1) != 1).sum()),
        "starts": counted(torch.minimum(x, y)[:, 0] - FIRST),
        "given": given.tolist(),
        "from_given": sorted(counted(torch.minimum(from_given, after_given)[:, 0] - FIRST)),
        "next_is_same": bool(torch.equal(x, later)),
        "same_seed_is_same": bool(torch.equal(x, again)),
    }


def counted(numbers: torch.Tensor) -> dict[int, int]:
    return dict(Counter(numbers.tolist()))


def schedule(patient: Patient) -> dict:
    """The learning rate at every step of a run of 100, warm-up 10, from 1 down to 0.1."""
    lr = patient.module.lr_schedule
    rates = [float(lr(step, TOP, LOW, WARMUP, STEPS)) for step in range(STEPS + 1)]
    return {"rates": rates, "top": TOP, "low": LOW, "warmup": WARMUP}
