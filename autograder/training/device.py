"""Where a run computes: the device, the threads, and the random state that goes with them."""

from __future__ import annotations

import os

import torch
from torch import Tensor

from autograder.errors import CourseError

DEVICES = ("auto", "cpu", "cuda", "mps")


def pick(name: str) -> torch.device:
    """The device of this name; "auto" takes a GPU where there is one."""
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if name == "auto":
        name = next(device for device, present in there.items() if present)
    if not there[name]:
        has = ", ".join(device for device, present in there.items() if present)
        raise CourseError(f"there is no {name} device here; --device can be: auto, {has}.")
    return torch.device(name)


def prepare(device: torch.device, threads: int) -> None:
    """Threads for the CPU; on a GPU the ways of computing that give the same result each time."""
    torch.set_num_threads(threads)
    if device.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True, warn_only=True)


def usual_threads() -> int:
    """Two where there are two cores: more gain little on models this small."""
    cores = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0)
    return min(2, len(cores))


def random_state(device: torch.device) -> dict[str, Tensor]:
    """Torch's global random state, which dropout draws from: the CPU's and the device's."""
    state = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)
    elif device.type == "mps":
        state["mps"] = torch.mps.get_rng_state()
    return state


def set_random_state(state: dict[str, Tensor], device: torch.device) -> None:
    """Put back what random_state returned, as far as it is for this device."""
    torch.set_rng_state(state["cpu"])
    if "cuda" in state and device.type == "cuda":
        torch.cuda.set_rng_state(state["cuda"], device)
    elif "mps" in state and device.type == "mps":
        torch.mps.set_rng_state(state["mps"])
