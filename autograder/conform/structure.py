"""Rows on what the model is made of: sizes, names, tying, fresh weights."""

import copy
import dataclasses
import math

import numpy as np
import torch
from torch import Tensor, nn

from autograder import references
from autograder.conform.row import Skip, Worst, Wrong, prop
from autograder.conform.subject import NAMED, Subject, put
from autograder.references import Sizes

GROUP = "parameters"
COUNTS = {
    "small": 124_439_808,
    "medium": 354_823_168,
    "large": 774_030_080,
    "xl": 1_557_611_200,
    "untied small": 163_037_184,
}
SHAPES = {"small": (12, 12, 768), "medium": (24, 16, 1024), "large": (36, 20, 1280)}
SHAPES |= {"xl": (48, 25, 1600)}
FRESH = Sizes(B=6, T=32, V=199, n_positions=64, d=48, H=4, L=3, tied=True)


def published_configs(subject: Subject) -> dict:
    Config = subject.GPT2Config
    configs = {name: getattr(Config, name)() for name in SHAPES}
    return configs | {"untied small": Config(tie_weights=False)}


@prop(
    GROUP,
    "GPT2Config",
    "defaults, four sizes, frozen",
    0,
    "@dataclass(frozen=True), with GPT-2 small as its defaults",
)
def config(subject: Subject) -> Worst:
    worst, plain = Worst(), subject.GPT2Config()
    fields = dict(vocab_size=50257, n_positions=1024, n_layer=12, n_head=12, d_model=768)
    fields |= dict(dropout=0.0, tie_weights=True)
    for name, value in fields.items():
        got = getattr(plain, name, None)
        worst.note(got != value, f"default {name} is {got}, not {value}")
    for size, (L, H, d) in SHAPES.items():
        c = published_configs(subject)[size]
        got, want = (c.n_layer, c.n_head, c.d_model), (L, H, d)
        worst.note(got != want, f"{size}: (n_layer, n_head, d_model) = {got}, not {want}")
    try:
        plain.n_layer = 1
        worst.note(1, "it can be changed after it is made")
    except dataclasses.FrozenInstanceError:
        pass
    return worst


@prop(
    GROUP,
    "parameter counts",
    "small, medium, large, XL, untied small",
    0,
    "one block object used L times, a Python list instead of nn.ModuleList, a second copy of E, "
    "missing biases",
)
def counts(subject: Subject) -> Worst:
    worst = Worst()
    for size, config in published_configs(subject).items():
        with torch.device("meta"):
            model = subject.GPT2(config)
        got = sum(p.numel() for p in model.parameters())
        worst.note(abs(got - COUNTS[size]), f"{size} has {got:,}, not {COUNTS[size]:,}")
    return worst


@prop(
    GROUP,
    "count_parameters",
    "the same, by formula",
    0,
    "V d + T d + L (12 d^2 + 13 d) + 2 d, and d V more when untied",
)
def counted(subject: Subject) -> Worst:
    if not hasattr(subject.module, "count_parameters"):
        raise Skip("this file has no count_parameters")
    worst = Worst()
    for size, config in published_configs(subject).items():
        got = subject.count_parameters(config)["total"]
        worst.note(abs(got - COUNTS[size]), f"{size} has {got:,}, not {COUNTS[size]:,}")
    return worst


@prop(
    GROUP,
    NAMED,
    "state_dict, tied and untied",
    0,
    "names as the course fixes them, weights (d_in, d_out), nn.ModuleList for the blocks, "
    "W_U only when untied",
)
def named(subject: Subject) -> Worst:
    worst = Worst()
    for name in ("short", "deep"):
        r = references.load(name)
        state = subject.fresh(subject.config(r.sizes)).state_dict()
        got = {key: tuple(value.shape) for key, value in state.items()}
        want = {key: array.shape for key, array in r.parameters.items()}
        wrong = [f"no {k}" for k in want if k not in got]
        wrong += [f"unexpected {k}" for k in got if k not in want]
        wrong += [f"{k} is {got[k]}, not {want[k]}" for k in want if k in got and got[k] != want[k]]
        worst.note(len(wrong), "; ".join(wrong[:3]))
    return worst


@prop(
    GROUP,
    "tying: one tensor",
    "storages as large as E in the tied model",
    0,
    "the head reads self.E itself; no clone(), no Parameter(...) around it, no second Embedding",
)
def one_tensor(subject: Subject) -> Worst:
    worst = Worst()
    model = subject.model(references.load("short"))
    E = model.E
    for owner, name, tensor in tensors_of(model):
        same = tensor.untyped_storage().data_ptr() == E.untyped_storage().data_ptr()
        if tensor.numel() == E.numel() and not same:
            worst.note(worst.error + 1, f"{owner}.{name} is another tensor of E's size")
    return worst


def tensors_of(model: nn.Module):
    """Every tensor that a module keeps, registered or not."""
    for path, module in model.named_modules():
        kept = {**module.__dict__, **module._parameters, **module._buffers}
        for name, value in kept.items():
            if isinstance(value, Tensor):
                yield path or "model", name, value


@prop(
    GROUP,
    "tying: it lasts",
    "after deepcopy, load_state_dict, .to",
    1e-5,
    "the head has to read E at every forward pass, not a tensor kept from the start",
)
def tying_lasts(subject: Subject) -> Worst:
    worst, r = Worst(), references.load("short")
    model = subject.model(r)
    twin = copy.deepcopy(model)
    head_follows(subject, worst, "as built", model)
    head_follows(subject, worst, "a deepcopy", twin)
    put(twin, {name: array + 0.1 for name, array in r.parameters.items()})
    head_follows(subject, worst, "after load_state_dict", twin)
    model = model.to("cpu").to(torch.float64).to(torch.float32).to(subject.device)
    head_follows(subject, worst, "after .to", model)
    return worst


@torch.no_grad()
def head_follows(subject: Subject, worst: Worst, label: str, model: nn.Module) -> None:
    """Double the row of E of a token that is not read: its logit doubles, and no other moves."""
    ids = references.load("short")["ids"][:1]
    unread = next(v for v in range(len(model.E)) if v not in ids)
    want = subject.logits(model, ids)
    want[..., unread] *= 2
    model.E[unread] *= 2
    worst.add(f"{label}: logits after a change of E", subject.logits(model, ids), want)
    model.E[unread] /= 2


@prop(
    GROUP,
    "fresh weights",
    "deviation by kind, relative; biases, gamma, beta",
    0.08,
    "N(0, 0.02) for matrices, E and P; W_O and W_down times 1/sqrt(2L); gamma 1, the rest 0",
)
def fresh_weights(subject: Subject) -> Worst:
    worst = Worst()
    state = subject.fresh(subject.config(FRESH)).state_dict()
    kinds: dict[str, list[Tensor]] = {}
    for name, tensor in state.items():
        kinds.setdefault(name.split(".")[-1], []).append(tensor.flatten())
    for kind, parts in kinds.items():
        values = torch.cat(parts).double()
        if kind in ("gamma", "beta") or kind.startswith("b_"):
            fixed = float(kind == "gamma")
            worst.note((values - fixed).abs().max().item(), f"{kind} is not {fixed:g} throughout")
            continue
        want = 0.02 / math.sqrt(2 * FRESH.L) if kind in ("W_O", "W_down") else 0.02
        got = values.std().item()
        worst.note(abs(got / want - 1), f"{kind} has deviation {got:.4f}, not {want:.4f}")
        centre = values.mean().item()
        worst.note(abs(centre) / want, f"{kind} has mean {centre:.4f}, not 0")
    return worst


@prop(
    GROUP,
    "initial loss",
    f"fresh model, random ids, against ln V = {math.log(FRESH.V):.3f}",
    0.1,
    "weights drawn with deviation 0.02 (nn.Embedding's default is 1), logits without a softmax, "
    "mean over positions",
)
def initial_loss(subject: Subject) -> Worst:
    worst = Worst()
    ids, targets = np.random.default_rng(1).integers(FRESH.V, size=(2, FRESH.B, FRESH.T))
    model = subject.fresh(subject.config(FRESH)).to(subject.device)
    with torch.no_grad():
        loss = float(model.loss(subject.ids(ids), subject.ids(targets)))
    if not math.isfinite(loss):
        raise Wrong(f"the loss is {loss}")
    worst.note(abs(loss - math.log(FRESH.V)), f"the loss is {loss:.3f}")
    return worst


@prop(
    GROUP,
    "runs on meta",
    "shape of the logits, device",
    0,
    "make new tensors with device=x.device; check the values of ids only off the meta device",
)
def on_meta(subject: Subject) -> Worst:
    r = references.load("short")
    with torch.device("meta"):
        model = subject.GPT2(subject.config(r.sizes))
        ids = torch.zeros(r["ids"].shape, dtype=torch.int64)
    out = model(ids)
    want = (r.sizes.B, r.sizes.T, r.sizes.V)
    if out.device.type != "meta" or tuple(out.shape) != want:
        raise Wrong(f"the logits are {tuple(out.shape)} on {out.device}, not {want} on meta")
    return Worst()
