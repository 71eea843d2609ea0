"""Probes of what a logit depends on: not on later tokens, but on earlier ones and on places."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from autograder.conform.behaviour import lowered, widened
from autograder.conform.subject import recorder, tensor_of
from autograder.doctor.patient import T, Patient, attempt
from autograder.doctor.probe_model import mask_of

WRITES = ("W_O", "b_O", "W_down", "b_down")


@torch.no_grad()
def influence(model: nn.Module, ids: Tensor, V: int) -> Tensor:
    # ids (B, T) -> (T, T): how far a change of token t (column) moves the logits at s (row)
    """Relative to the largest logit; one token is changed at a time."""
    full, columns = model(ids), []
    for t in range(ids.shape[1]):
        other = ids.clone()
        other[:, t] = (other[:, t] + 1) % V
        columns.append((model(other) - full).abs().amax(dim=(0, 2)))
    return torch.stack(columns, dim=1) / max(1.0, full.abs().max().item())


def ahead(table: Tensor) -> float:
    """The largest influence of a later token."""
    return table.triu(1).max().item()


def leak(patient: Patient) -> dict:
    """How far later tokens move earlier logits, on several weights, and in which part."""
    ids, V = patient.ids(), patient.V
    found = {"moved": {}}
    for name, model in (("fresh", patient.model()), ("stirred", patient.stirred())):
        found["moved"][name] = ahead(influence(model.eval(), ids, V))
    found["moved"] |= {
        name: ahead(influence(m, ids, V)) for name, m in attempt(large_scores, patient) or []
    }
    one = patient.stirred(n_layer=1).eval()
    found["table"] = influence(one, ids, V).tolist()  # one layer: who sees whom, directly
    found["rows"] = across_rows(patient.stirred().eval(), ids)
    found["parts"] = attempt(mixing, one) or {}
    found["heads"] = attempt(mixing_heads, patient) or {}
    found["mask"] = attempt(mask_of, patient)
    found["weights"] = attempt(weights_of, patient, one, ids)
    return found


@torch.no_grad()
def across_rows(model: nn.Module, ids: Tensor) -> float:
    """How far the other rows of a batch move the first one's logits."""
    full = model(ids)
    return ((model(ids[:1])[0] - full[0]).abs().max() / max(1.0, full.abs().max().item())).item()


def large_scores(patient: Patient) -> list[tuple[str, nn.Module]]:
    """Models whose scores lie near -2e4, or 1e4 apart: a mask of a finite number shows there."""
    model = patient.stirred().eval()
    named = {name: p.numpy() for name, p in model.state_dict().items()}
    if not any(name.endswith("W_Q") for name in named) or "E" not in named:
        return []
    models = []
    for name, changed in (
        ("scores near -2e4", lowered(named, patient.settings.n_head)),
        ("scores 1e4 apart", widened(named)),
    ):
        model = patient.stirred().eval()
        model.load_state_dict({n: torch.tensor(a) for n, a in changed.items()}, strict=False)
        models.append((name, model))
    return models


@torch.no_grad()
def mixing(model: nn.Module) -> dict[str, float]:
    """For each part of the one block, and ln_f: how far a later row of its input moves earlier ones."""
    block, d = next(iter(model.blocks), None), model.config.d_model
    parts = {"ln_f": getattr(model, "ln_f", None)}
    parts |= {n: getattr(block, n, None) for n in ("ln_1", "attn", "ln_2", "ffn")}
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, T, d, generator=generator)
    other = x.clone()
    other[:, -1] = torch.randn(2, d, generator=generator)
    modules = {n: m for n, m in parts.items() if isinstance(m, nn.Module)}
    moved = {n: tensor_of(m(x)) - tensor_of(m(other)) for n, m in modules.items()}
    return {n: change[:, :-1].abs().max().item() for n, change in moved.items()}


def mixing_heads(patient: Patient) -> dict[str, float]:
    """The same for split_heads and merge_heads, where the file has them."""
    found, H = {}, patient.settings.n_head
    split = getattr(patient.module, "split_heads", None)
    merge = getattr(patient.module, "merge_heads", None)
    x = torch.randn(2, T, 3 * H, generator=patient.generator(0))
    if callable(split):
        other = x.clone()
        other[:, -1] += 1
        found["split_heads"] = (split(x, H) - split(other, H))[:, :, :-1].abs().max().item()
    if callable(merge):
        heads = x.reshape(2, T, H, 3).transpose(1, 2)
        other = heads.clone()
        other[:, :, -1] += 1
        found["merge_heads"] = (merge(heads) - merge(other))[:, :-1].abs().max().item()
    return found


@torch.no_grad()
def weights_of(patient: Patient, model: nn.Module, ids: Tensor) -> dict | None:
    """Sums of the attention weights that the file's `attention` returns."""
    own, seen = getattr(patient.module, "attention", None), []
    if not callable(own):
        return None
    patient.module.attention = recorder(own, seen)
    try:
        model(ids)
    finally:
        patient.module.attention = own
    if not seen or seen[0].shape[-2:] != (T, T):
        return None
    A = seen[0].double()
    return {
        "rows": [A.sum(-1).min().item(), A.sum(-1).max().item()],
        "columns": [A.sum(-2).min().item(), A.sum(-2).max().item()],
        "above": A.triu(1).max().item(),
    }


@torch.no_grad()
def context(patient: Patient) -> dict:
    """Do earlier tokens and places count, and is the stream passed on?"""
    model = patient.stirred().eval()
    same_token = torch.full((1, T), patient.V // 2)
    logits = model(same_token)
    spread = (logits - logits[:, :1]).abs().max() / logits.abs().max().clamp(min=1e-6)
    return {
        "earlier": influence(model, patient.ids(), patient.V).tril(-1).max().item(),
        "places": spread.item(),
        "block": attempt(through_block, patient),
    }


def through_block(patient: Patient) -> dict | None:
    """A block with what writes to the stream set to 0: all of it, and either half."""
    found = {}
    x = torch.randn(2, T, patient.settings.d_model, generator=patient.generator(0))
    for name, silent in (("both", WRITES), ("attention", WRITES[2:]), ("feed-forward", WRITES[:2])):
        block = next(iter(patient.stirred(n_layer=1).eval().blocks), None)
        named = dict(block.named_parameters()) if isinstance(block, nn.Module) else {}
        chosen = [p for n, p in named.items() if n.split(".")[-1] in silent]
        if len(chosen) != len(silent):
            return None  # other names than the course's
        for p in chosen:
            p.zero_()
        out = block(x)
        found[name] = {
            "size": (out.abs().max() / x.abs().max()).item(),
            "added": ((out - x).abs().max() / x.abs().max()).item(),
        }
    return found
