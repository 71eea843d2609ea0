"""What the gradients and the optimiser's groups say."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from autograder.doctor.finding import Finding, Look, short
from autograder.probes.plain import few

OFF = 0.02  # relative; a part that is cut off is a larger share, rounding a smaller one
UNEVEN = 100  # times the gradient of another block
PLACES = {
    r"\.attn\.": "MultiHeadAttention.forward, attention",
    r"\.ffn\.": "FeedForward.forward",
    r"ln_": "LayerNorm.forward",
    r"^E$": "GPT2.forward (the head) and embed",
    r"^P$": "embed",
}
DETACHED = "a detach(), .data, .item(), no_grad() or a tensor made anew from values"


def place_of(names: list[str]) -> str:
    """The functions that use these parameters."""
    found = [
        place for pattern, place in PLACES.items() if any(re.search(pattern, n) for n in names)
    ]
    return ", ".join(found) or "GPT2.forward"


def slopes(data: dict) -> Look | None:
    """Is each gradient the slope of the loss?"""
    if data["slopes"] is None:
        return None
    all_ = data["slopes"]
    missing, wrong, unused = [], [], []
    for name, s in all_.items():
        if not s["sure"]:
            continue
        matters = abs(s["true"]) > 1e-6
        if s["zero"] and matters:
            missing.append(name)
        elif s["given"] is None or (s["zero"] and not name.endswith("b_K")):
            unused.append(name)
        elif matters and abs(s["given"] - s["true"]) > OFF * max(abs(s["true"]), abs(s["given"])):
            wrong.append(name)
    # The true gradient of b_K is 0, since softmax does not see it: W_K tells whether one is missing.
    lost = [n for n in unused if n.endswith("b_K") and n.replace("b_K", "W_K") in missing]
    unused = [n for n in unused if n not in lost]
    findings = [*_missing(all_, missing), *_wrong(all_, wrong), *_unused(unused)]
    sure = sum(s["sure"] for s in all_.values())
    said = f"{sure - len(missing + wrong + unused + lost)} of {sure} gradients"
    return Look("gradients", said, "each the slope of the loss", tuple(findings))


def _missing(all_: dict, names: list[str]):
    if names:
        s = all_[names[0]]
        yield Finding(
            "gradient_missing",
            f"no gradient reaches {few(names, 4)}, though the loss depends on it",
            f"along a direction of {names[0]} the loss has the slope {short(s['true'])}, "
            f"backward() gives {'nothing' if s['given'] is None else 0}.",
            f"{place_of(names)}: {DETACHED}.",
        )


def _wrong(all_: dict, names: list[str]):
    if names:
        s = all_[names[0]]
        yield Finding(
            "gradient_wrong",
            f"the gradient of {few(names, 4)} is not the slope of the loss: a part is cut off",
            f"along a direction of {names[0]} the loss has the slope {short(s['true'])}, "
            f"backward() gives {short(s['given'])}.",
            f"{place_of(names)}: {DETACHED}.",
        )


def _unused(names: list[str]):
    whole = sorted({n.split(".")[1] for n in names if n.startswith("blocks.")})
    blocks = [b for b in whole if sum(n.startswith(f"blocks.{b}.") for n in names) >= 12]
    if blocks:
        yield Finding(
            "block_unused",
            f"block {few(blocks, 4)} is never used",
            f"no parameter of blocks.{blocks[0]} changes the loss, and none gets a gradient.",
            "GPT2.forward: for block in self.blocks: x = block(x).",
        )
    rest = [n for n in names if not any(n.startswith(f"blocks.{b}.") for b in blocks)]
    if rest:
        yield Finding(
            "parameter_unused",
            f"{few(rest, 4)} {'is' if len(rest) == 1 else 'are'} never used",
            f"{'it gets' if len(rest) == 1 else 'they get'} no gradient, and the loss stays the "
            f"same when {rest[0]} changes.",
            f"{place_of(rest)}.",
        )


def by_block(data: dict) -> Look | None:
    """No block's gradient may be 100 times another's, in a fresh model."""
    norms: dict[str, float] = {}
    for name, norm in data["norms"].items():
        block = re.match(r"blocks\.(\d+)\.", name)
        if block and norm:
            norms[block[1]] = math.hypot(norms.get(block[1], 0), norm)
    if len(norms) < 2 or not all(math.isfinite(n) for n in norms.values()):
        return None
    low, high = min(norms, key=norms.get), max(norms, key=norms.get)
    ratio = norms[high] / norms[low]
    said, bound = f"{short(ratio)} times", f"below {UNEVEN}"
    if ratio < UNEVEN:
        return Look("gradients by block", said, bound)
    wrong = Finding(
        "gradients_uneven",
        f"the gradient of block {high} is {short(ratio)} times that of block {low}",
        f"norms by block in a fresh model: {', '.join(short(n) for n in norms.values())}.",
        "PreNormBlock.forward: both halves add to the stream; init_weights; LayerNorm.forward.",
    )
    return Look("gradients by block", said, bound, (wrong,))


def groups(data: dict) -> Look:
    """Each parameter in one group; matrices decay, vectors do not."""
    every, asked = data["parameters"], data["asked"]
    findings = []

    def names(good: Callable[[dict], bool]) -> list[str]:
        return [p["name"] for p in every if good(p)]

    def add(cause: str, found: list[str], what: str, evidence: str) -> None:
        if found:
            evidence = f"{evidence}: {few(found, 4)}."
            findings.append(Finding(cause, what, evidence, "decay_groups: p.dim() >= 2 decides."))

    missing = names(lambda p: not p["rates"])
    what = f"{few(missing, 4)} is in no group of the optimiser: it is never trained"
    add("parameter_in_no_group", missing, what, f"{len(missing)} of {len(every)} parameters")
    twice = names(lambda p: len(p["rates"]) > 1)
    what = "a parameter is in the groups more than once: each step moves it as often"
    add("parameter_in_two_groups", twice, what, f"{len(twice)} of {len(every)} parameters")
    vectors = names(lambda p: p["dim"] < 2 and any(p["rates"]))
    what = "biases, gamma or beta decay: weight decay pulls them to 0"
    add("vector_decays", vectors, what, f"{len(vectors)} vectors have a weight decay")
    flat = names(lambda p: p["dim"] >= 2 and p["rates"] and asked not in p["rates"])
    what = f"matrices have no weight decay, though {asked:g} was asked for"
    add("matrix_does_not_decay", flat, what, f"{len(flat)} matrices do not have {asked:g}")
    if data["foreign"]:
        what = "the groups hold tensors that are no parameters of the model"
        evidence = f"{data['foreign']} of them."
        look = "decay_groups: take the tensors from model.parameters()."
        findings.append(Finding("group_holds_others", what, evidence, look))
    once = sum(len(p["rates"]) == 1 for p in every)
    said = f"{once} of {len(every)} parameters in one group"
    return Look("optimiser groups", said, "all; matrices decay, vectors do not", tuple(findings))
