"""load_gpt2_weights: every published name at its place, and what stands there if it is not."""

import numpy as np
import torch

from autograder import references
from autograder.conform.row import Skip, Worst, prop
from autograder.conform.subject import Subject
from autograder.references import Reference

LAYOUT = "c_attn holds Q | K | V side by side; nothing is transposed: published matrices are "
LAYOUT += "(d_in, d_out), as those of the course; mask buffers are left out by their whole name"


@prop(
    "generation", "load_gpt2_weights", "published names, with and without `transformer.`", 0, LAYOUT
)
def load_weights(subject: Subject) -> Worst:
    if not hasattr(subject.module, "load_gpt2_weights"):
        raise Skip("this file has no load_gpt2_weights")
    worst, r = Worst(), references.load("full")
    for label, state in published_states(r).items():
        model = subject.fresh(subject.config(r.sizes)).to(subject.device)
        before = {name: numbers(p) for name, p in model.state_dict().items()}
        subject.load_gpt2_weights(model, {k: torch.tensor(a) for k, a in state.items()})
        after = {name: numbers(p) for name, p in model.state_dict().items()}
        for name, want in r.parameters.items():
            said = instead(name, after[name], before[name], r)
            worst.add(f"{label}{said and f', {said}'}: {name}", after[name], want)
    return worst


def published_states(r: Reference) -> dict[str, dict]:
    """The ways in which the same weights are handed out."""
    plain = {k.removeprefix("transformer."): a for k, a in r.published.items()}
    mask = np.tri(r.sizes.n_positions, dtype=bool)[None, None]
    buffers = {f"h.{i}.attn.bias": mask for i in range(r.sizes.L)}
    buffers |= {f"h.{i}.attn.masked_bias": np.array(-1e4) for i in range(r.sizes.L)}
    return {
        "with `transformer.`": r.published,
        "without": plain,
        "with mask buffers": plain | buffers,
        "with the tied head": r.published | {"lm_head.weight": plain["wte.weight"]},
    }


def numbers(p: torch.Tensor) -> np.ndarray:
    return p.detach().cpu().double().numpy().copy()


def instead(name: str, got: np.ndarray, before: np.ndarray, r: Reference) -> str:
    """What a parameter holds in place of its own numbers, where that can be told."""
    want = np.asarray(r.parameters[name], np.float64)
    if np.array_equal(got, want):
        return ""
    if np.array_equal(got, before):
        return "still with its first values"
    if got.ndim == 2 and np.array_equal(got, want.T):
        return "loaded transposed"
    for other, array in r.parameters.items():
        if np.array_equal(got, array):
            return f"with the numbers of {other}"
        if got.ndim == 2 and np.array_equal(got, np.asarray(array).T):
            return f"with the numbers of {other}, transposed"
    part = name.rpartition("_")[2]
    if ".attn." in name and part in "QKV":
        packed = np.concatenate(
            [r.parameters[name[: -len(part)] + n] for n in "QKV"], axis=-1, dtype=np.float64
        )
        if np.array_equal(got, packed[..., "QKV".index(part) :: 3]):
            return "with every third column of c_attn, where Q, K and V lie side by side"
    return ""
