"""What a logit depends on, and what that says."""

from __future__ import annotations

import math

from autograder.doctor.finding import Finding, Look, short

STILL = 1e-4  # relative to the largest logit: below it a float32 logit has not moved
WEIGHTS = {"fresh": "in a fresh model", "stirred": "with weights of deviation 0.15"}
ATTEND = "causal_mask, attention and MultiHeadAttention.forward: position t sees 0 to t alone."


def later_tokens(data: dict) -> Look:
    """A logit may not move when a later token is changed."""
    most = max(data["moved"].values())
    bound = f"{STILL:g} of the largest logit"
    if most <= STILL:
        return Look("leak", short(most), bound)
    cause, what, why, look = _leak(data)
    name, moved = next(item for item in data["moved"].items() if item[1] > STILL)
    evidence = f"{WEIGHTS.get(name, name)}: a later token changed moves an earlier logit by"
    evidence += f" {short(moved)} of the largest"
    wrong = Finding(cause, what, f"{evidence}{'; ' if why else ''}{why}.", look)
    return Look("leak", short(most), bound, (wrong,))


def _leak(data: dict) -> tuple[str, str, str, str]:
    """Cause, what, further evidence, where to look: the part in which the leak is."""
    small = [name for name in ("fresh", "stirred") if data["moved"][name] > STILL]
    if not small:
        return (
            "mask_is_finite",
            "the mask is a finite number, which large scores pass",
            "with usual scores nothing moves",
            "causal_mask or attention: -inf before the softmax.",
        )
    norms = [n for n, moved in data["parts"].items() if moved > STILL and n.startswith("ln")]
    if norms:
        what = "LayerNorm takes its mean over positions, so each one learns of later ones"
        moved = f"{norms[0]} alone moves by {short(data['parts'][norms[0]])}"
        return "norm_mixes_positions", what, moved, "LayerNorm.forward: the last axis alone."
    for name, moved in data["heads"].items():
        if moved > STILL:
            what = f"{name} mixes the positions with the heads"
            why = f"a later row of its input moves earlier ones by {short(moved)}"
            return "heads_mix_positions", what, why, f"{name}: transpose, not reshape alone."
    return _mask_leak(data["mask"]) or _weight_leak(data["weights"]) or _unexplained(data)


def _mask_leak(mask: list | None) -> tuple[str, str, str, str] | None:
    look = "causal_mask: -inf above the diagonal (diagonal=1), 0 on and below it."
    if mask is None:
        return None
    size = len(mask)
    above = {(s, t): mask[s][t] for s in range(size) for t in range(s + 1, size)}
    below = [mask[s][t] for s in range(size) for t in range(s + 1)]
    if min(below) < -1e3 and max(above.values()) == 0:
        what = "the mask is the wrong way round: positions see what comes later"
        return "mask_reversed", what, f"causal_mask hides {short(min(below))} below it", look
    if any(below):
        return None  # no additive mask: what it means is not known
    open_ = [(s, t) for (s, t), value in above.items() if value > -1e3]
    if not open_:
        return None
    (s, t), value = open_[0], above[open_[0]]
    why = f"causal_mask has {short(value)} at [{s}, {t}]"
    if all(t == s + 1 for s, t in open_):
        what = "the mask is one diagonal off: each position sees the token that it is to predict"
        return "mask_one_ahead", what, why, look
    if value == 0 == max(map(abs, above.values())):
        return "mask_is_zero", "the mask hides nothing: it is 0 everywhere", why, look
    if max(above.values()) < 0:
        what = "the mask is a finite number, which a part of the weight passes"
        return "mask_is_finite", what, why, look
    return "mask_has_holes", "the mask lets some positions see what comes later", why, look


def _ones(pair: list[float]) -> bool:
    return all(abs(x - 1) < 1e-3 for x in pair)


def _weight_leak(weights: dict | None) -> tuple[str, str, str, str] | None:
    if weights is None:
        return None
    rows, columns = weights["rows"], weights["columns"]
    said = f"rows of the weights sum to {short(rows[0])} ... {short(rows[1])}"
    if _ones(columns) and not _ones(rows):
        what = "softmax runs over the queries, not over the keys"
        return (
            "softmax_over_queries",
            what,
            f"{said}, columns to 1",
            "attention: softmax over dim -1.",
        )
    if weights["above"] == 0 and not _ones(rows):
        what = "the mask comes after the softmax: the weights' sum still tells of later tokens"
        return "mask_after_softmax", what, said, "attention: add the mask to the scores."
    if weights["above"] > 1e-3:
        what = "attention looks at later positions, though the mask is right"
        why = f"a weight above the diagonal is {short(weights['above'])}"
        look = "MultiHeadAttention.forward: pass the mask on; attention: add it to the scores."
        return "mask_not_used", what, why, look
    return None


def _unexplained(data: dict) -> tuple[str, str, str, str]:
    parts = [name for name, moved in data["parts"].items() if moved > STILL]
    why = f"in one block it shows in {', '.join(parts)}" if parts else ""
    return "leak", "earlier logits depend on later tokens", why, ATTEND


def rows(data: dict) -> Look:
    """A row's logits may not depend on the other rows of its batch."""
    said, bound = short(data["rows"]), f"{STILL:g} of the largest logit"
    if data["rows"] <= STILL:
        return Look("rows of a batch", said, bound)
    wrong = Finding(
        "rows_mix",
        "the rows of a batch are mixed: a text's logits depend on the other texts beside it",
        f"the first row alone and in its batch: logits differ by {said} of the largest.",
        "LayerNorm.forward (the last axis alone), split_heads, and every reshape.",
    )
    return Look("rows of a batch", said, bound, (wrong,))


def earlier_tokens(data: dict) -> Look:
    """Logits have to depend on earlier tokens and on the place."""
    findings = []
    said = (
        f"earlier tokens move it by {short(data['earlier'])}, its place by {short(data['places'])}"
    )
    if data["earlier"] <= STILL:
        what = "no logit depends on an earlier token: the context is not used"
        evidence = f"an earlier token changed moves later logits by {short(data['earlier'])}."
        look = "PreNormBlock.forward: x + attn(...); MultiHeadAttention.forward, causal_mask."
        findings.append(Finding("context_unused", what, evidence, look))
    if data["places"] <= STILL:
        what = "the place of a token does not count: the table P is not added"
        evidence = f"on one token repeated the logits are the same at all places ({short(data['places'])})."
        look = "embed: E[ids] + P[:T]; GPT2.forward."
        findings.append(Finding("positions_unused", what, evidence, look))
    return Look("context", said, f"both above {STILL:g}", tuple(findings))


def stream(data: dict) -> Look | None:
    """A block passes the stream on, and both its halves add to it."""
    if data["block"] is None or not all(
        math.isfinite(value) for half in data["block"].values() for value in half.values()
    ):
        return None
    both = data["block"]["both"]
    halves = {name: data["block"][name]["added"] for name in ("attention", "feed-forward")}
    findings = []
    if both["size"] < STILL:
        what = "a block replaces the stream: what came before it is lost"
        evidence = "with W_O, b_O, W_down and b_down at 0 a block's output is 0, not its input."
        look = "PreNormBlock.forward: x = x + attn(...), x = x + ffn(...)."
        findings.append(Finding("stream_replaced", what, evidence, look))
    elif both["added"] < STILL:
        for name, added in halves.items():
            if added < STILL:
                part = "attn" if name == "attention" else "ffn"
                what = f"the output of {name} is not added to the stream"
                evidence = f"alone it changes what passes a block by {short(added)}."
                look = f"PreNormBlock.forward: x = x + {part}(...)."
                findings.append(Finding(f"{part}_not_added", what, evidence, look))
    said = ", ".join(f"{name} adds {short(added)}" for name, added in halves.items())
    return Look("stream", said, "passed on by each block; both add", tuple(findings))
