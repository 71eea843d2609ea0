"""What the first loss, the parts, the loss function and the modes say."""

from __future__ import annotations

import math

from autograder.doctor.finding import Finding, Look, short
from autograder.probes.plain import few

ROOM = 0.5  # nats: what fresh weights of GPT-2's deviation may add to ln V, and more
SAME = 1e-4  # relative: two float32 results that are one number


def same(a: float, b: float) -> bool:
    return abs(a - b) <= SAME * max(1.0, abs(a), abs(b))


def least(V: float) -> float:
    """The least loss when probabilities take the place of logits: one is 1, the others are 0."""
    return math.log(V - 1 + math.e) - 1


def first_loss(data: dict) -> Look:
    """A model that knows nothing has a loss of ln V on random targets."""
    bound = f"ln V = {short(data['log_V'])}, {ROOM} more at most"
    if data["shape"] != data["expected"]:
        return _look_at_start(
            f"logits {data['shape']}",
            bound,
            "logits_shape",
            "the logits have the wrong shape",
            f"{data['shape']} from ids {data['expected'][:2]}; expected {data['expected']}.",
            "GPT2.forward.",
        )
    if "loss" not in data:
        return not_finite(data, bound)
    loss, floor = data["loss"], least(math.exp(data["log_V"]))
    said = f"{short(loss)}"
    if data["smallest"] >= 0 and abs(data["row_sum"] - 1) < 1e-3 > data["row_sum_spread"]:
        return _look_at_start(
            said,
            bound,
            "softmax_in_forward",
            "the model returns probabilities in place of logits: softmax comes twice",
            f"each row of its output sums to {short(data['row_sum'])}; so the loss can never go "
            f"below ln(V - 1 + e) - 1 = {short(floor)}.",
            "GPT2.forward: return the logits, without a softmax.",
        )
    if abs(loss - data["log_V"]) <= ROOM:
        return Look("first loss", said, bound)
    evidence = f"random tokens: {short(loss)}; ln V is {short(data['log_V'])}"
    if data["wide"] and abs(data["calmed"] - data["log_V"]) <= ROOM:
        wide = few([f"{name} {short(std)}" for name, std in data["wide"].items()], 3)
        return _look_at_start(
            said,
            bound,
            "weights_too_wide",
            "weights are drawn too wide, so the first loss is far above ln V",
            f"{evidence}; deviations: {wide}. With these at 0.02 it is {short(data['calmed'])}.",
            "init_weights, and where GPT2.__init__ calls it; nn.Embedding draws with deviation 1.",
        )
    return _look_at_start(
        said,
        bound,
        "first_loss_off",
        "a fresh model does not begin at ln V",
        f"{evidence}.",
        "GPT2.forward, from ln_f to the logits.",
    )


def _look_at_start(said: str, bound: str, cause: str, what: str, evidence: str, look: str) -> Look:
    return Look("first loss", said, bound, (Finding(cause, what, evidence, look),))


def not_finite(data: dict, bound: str) -> Look:
    """NaN before any training: which part first, and whether the mask is why."""
    first, mask = data["not_finite"] or {"part": "the logits", "positions": None}, data["mask"]
    where = f"in a fresh model the first part with NaN or inf is {first['part']}"
    if first["positions"] is not None and len(first["positions"]) < first["of"]:
        where += f", at position {few([str(p) for p in first['positions']], 4)}"
    blind = [i for i, row in enumerate(mask or []) if max(row) == -math.inf]
    if blind:
        return _look_at_start(
            "NaN",
            bound,
            "mask_hides_all",
            "the mask leaves a position nothing to look at, and softmax makes NaN of that",
            f"{where}; row {blind[0]} of causal_mask is -inf throughout.",
            "causal_mask: -inf above the diagonal alone (diagonal=1).",
        )
    what = "the model gives NaN or inf before any training"
    return _look_at_start(
        "NaN", bound, "not_finite_at_start", what, where + ".", first["part"] + "."
    )


def registered(data: dict) -> Look:
    """Are all parts where the optimiser finds them, and each block another?"""
    findings = []
    for one in data["hidden"]:
        findings.append(
            Finding(
                "blocks_in_a_list" if "blocks" in one["place"] else "not_registered",
                f"{one['place']} is a plain {one['kind']}: torch does not know the parts in it",
                f"{one['tensors']} tensors of {one['numbers']:,} numbers are not in "
                "model.parameters(): nothing trains or moves them.",
                "GPT2.__init__: nn.ModuleList for modules, nn.Parameter for tensors.",
            )
        )
    if 0 < data["different"] < data["blocks"]:
        findings.append(
            Finding(
                "one_block_shared",
                "the blocks are one and the same object",
                f"model.blocks has {data['blocks']} entries and {data['different']} block.",
                "GPT2.__init__: make a block for each layer; [block] * n repeats one.",
            )
        )
    said = f"{data['different']} blocks, {len(data['hidden'])} parts out of sight"
    return Look("parts", said, f"{data['n_layer']} different ones, none", tuple(findings))


def tying(data: dict) -> Look | None:
    """Does the head read E itself?"""
    if data["tied"] is None or abs(data["tied"]["before"]) < 1e-3:
        return None
    before, after = data["tied"]["before"], data["tied"]["after"]
    said, bound = (
        f"a logit of {short(before)} becomes {short(after)}",
        "another, once its row of E is doubled",
    )
    if abs(after - before) > 1e-6 * abs(before):
        return Look("tied weights", said, bound)
    wrong = Finding(
        "tied_by_a_copy",
        "the head does not read E: the two drift apart from the first step on",
        f"the row of a token in E doubled, its logit stays {short(before)}; tied, it would double.",
        "GPT2.__init__ and GPT2.forward: x @ self.E.T at every pass; no clone, no second Parameter.",
    )
    return Look("tied weights", said, bound, (wrong,))


LOSSES = {
    "loss_summed": "the loss is summed over all tokens, not averaged",
    "loss_summed_over_positions": "the loss is summed over the positions, not averaged",
    "loss_summed_over_rows": "the loss is summed over the rows of the batch, not averaged",
    "softmax_before_loss": "a softmax is applied to the logits before the cross-entropy",
    "loss_of_last_position": "the loss looks at the last position alone",
    "loss_of_inputs": "the loss compares with the inputs, not with the targets",
    "loss_shifts_again": "the loss shifts the targets once more: they are shifted already",
    "loss_viewed_as_BVT": "the logits are viewed in another shape, which mixes tokens and positions",
    "loss_in_bits": "the loss is in bits (log2), not in nats",
    "loss_negative": "the loss has the wrong sign: training makes the model worse",
}


def loss_value(data: dict) -> Look:
    """Is model.loss the mean cross-entropy of the model's own logits?"""
    sets, stirred = list(data["on"].values()), data["on"]["stirred"]
    given, right = stirred["given"], stirred["right"]
    said, bound = short(given), f"the mean cross-entropy of its logits, {short(right)}"
    if all(same(s["given"], s["right"]) for s in sets):
        return Look("loss function", said, bound)
    fits = [cause for cause in LOSSES if all(same(s["given"], s[cause]) for s in sets)]
    cause = fits[0] if len(fits) == 1 else "loss_is_another"
    what = LOSSES.get(cause, "model.loss is not the mean cross-entropy of the model's logits")
    evidence = f"on one batch model.loss is {short(given)}"
    if cause in LOSSES:
        evidence += f", which is what this mistake gives ({short(stirred[cause])})"
    evidence += f"; the mean cross-entropy of the logits is {short(right)}"
    if cause == "softmax_before_loss":
        evidence += f"; it can never go below ln(V - 1 + e) - 1 = {short(least(data['V']))}"
    wrong = Finding(cause, what, evidence + ".", "GPT2.loss, cross_entropy.")
    return Look("loss function", said, bound, (wrong,))


def evaluation(data: dict) -> Look:
    """Dropout off in evaluation and on in training; the mode is put back; the mean is of tokens."""
    findings = []

    def add(cause: str, what: str, evidence: str, look: str) -> None:
        findings.append(Finding(cause, what, evidence, look))

    first, second = data["estimates_True"]
    twice = f"{short(first)} and {short(second)} with dropout 0.3"
    if not data["fixed"]:
        what = "the model is random where nothing should be"
        evidence = "after model.eval() two passes over the same tokens differ, with dropout 0."
        add("random_in_forward", what, evidence, "GPT2.forward and all that it calls.")
    elif not data["still"]:
        what = "dropout stays on in evaluation"
        evidence = "after model.eval() two passes over the same tokens differ, with dropout 0.3."
        add("dropout_in_evaluation", what, evidence, "MultiHeadAttention.forward: self.training.")
    elif not same(first, second):
        what = "estimate_loss measures with dropout on"
        evidence = f"called twice on the same batches it gives {twice}."
        add("estimate_with_dropout", what, evidence, "estimate_loss: model.eval() first.")
    elif not same(first, data["mean"]):
        cause, what = "estimate_is_another", "estimate_loss is not the mean loss per token"
        if same(first, data["mean_of_means"]):
            cause, what = "mean_of_means", "estimate_loss gives short batches too much weight"
        evidence = f"it gives {first:.5f}; the mean over tokens is {data['mean']:.5f}."
        add(cause, what, evidence, "estimate_loss: weigh each batch by y.numel().")
    if not data["dropped"]:
        what = "dropout never happens"
        evidence = "in training mode two passes over the same tokens are equal, with dropout 0.3."
        add("dropout_never", what, evidence, "GPT2.__init__ and the forward methods: pass it on.")
    if not data["mode_after_True"]:
        what = "estimate_loss leaves the model in evaluation mode: training goes on without dropout"
        evidence = "model.training was True before the call and is False after it."
        add(
            "left_in_evaluation", what, evidence, "estimate_loss: model.train(training) at the end."
        )
    if data["mode_after_False"]:
        what = "estimate_loss puts the model in training mode"
        evidence = "model.training was False before the call and is True after it."
        add("left_in_training", what, evidence, "estimate_loss: model.train(training) at the end.")
    return Look("evaluation", twice, "the same twice, the mode put back", tuple(findings))
