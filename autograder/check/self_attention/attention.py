"""Scaled dot-product attention, with its weights and its dropout."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.check.component import Component
from autograder.check.draw import choice, normal
from autograder.check.findings import failure
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture, Property
from autograder.check.properties.common import COMMON, causal, sums_to_one
from autograder.check.properties.varied import batch_dims
from autograder.check.self_attention.mask import MASK
from autograder.judge import Trouble
from autograder.judge.compare import form, number
from autograder.oracle import self_attention as oracle
from autograder.probes import Call


def attention_fixtures(rng):
    B, T, S, d_k, d_v = choice(rng, (2, 5, 7, 4, 3), (3, 4, 6, 5, 2), (2, 6, 5, 3, 4))
    wide = 1.3  # scores of deviation about 1.7: neither flat nor one-hot
    q, k = (lambda n: normal(rng, B, n, d_k, std=wide)), (
        lambda n: normal(rng, B, n, d_k, std=wide)
    )
    return [
        Fixture(
            "one key", {"Q": q(T), "K": k(1), "V": normal(rng, B, 1, d_v)}, weight=0.5
        ),  # whatever the score, its weight is 1
        Fixture("no mask", {"Q": q(T), "K": k(S), "V": normal(rng, B, S, d_v)}),
        Fixture(
            "causal mask",
            {
                "Q": q(T),
                "K": k(T),
                "V": normal(rng, B, T, d_v),
                "mask": MASK(T).astype(np.float32),
            },
            weight=3.0,
        ),
    ]


LARGE = 30_000.0  # a score; float32 still tells its neighbours apart


def _large(c, inputs):
    """All keys score -LARGE, but the last, which is masked, and scores LARGE."""
    T, S, d_k = 3, 4, 4
    size = np.float32((LARGE * d_k**0.5 / d_k) ** 0.5)
    Q, K = np.full((1, T, d_k), size), np.full((1, S, d_k), -size)
    K[:, -1] = size
    V = np.float32(np.eye(S))[None]
    mask = np.zeros((T, S), np.float32)
    mask[:, -1] = -np.inf
    return [Call(args=(Q, K, V, mask))]


def _large_verdict(c, inputs, answers):
    (answer,) = answers
    if answer.failure:
        return failure(answer, "on large scores")
    weight = float(np.abs(answer.value[1][..., -1]).max())
    if not weight > 0:  # NaN: weights of e^-60000, masked and summed to 1 again, are 0 / 0
        return None
    return Trouble(
        f"A masked key gets the weight {number(weight)} where scores are large.",
        f"Its score is {LARGE:,.0f}, those of the other keys are -{LARGE:,.0f}.",
        "Add the mask as it is: -inf lies below every score, -10000 does not.",
    )


RATES = (0.0, 0.5, 0.2)


def _with_dropout(c, inputs):
    """V = [I I] shows the dropped weights as the output, twice; each is 0 or A / (1 - p)."""
    Q, K = inputs["Q"], inputs["K"]
    one = np.eye(K.shape[-2], dtype=np.float32)
    V = np.broadcast_to(np.hstack([one, one]), (*K.shape[:-1], 2 * len(one)))
    wide = [np.tile(x, (60, 1, 1)) for x in (Q, K, V)]
    return [Call(args=(*wide, mask, p)) for mask in (None, inputs["mask"]) for p in RATES]


def _dropout_verdict(c, inputs, answers):
    """Without a mask, and with one."""
    n = len(RATES)
    plain = _dropped(c, inputs, answers[:n])
    trouble = plain or _dropped(c, inputs, answers[n:])
    if plain or not trouble:
        return trouble
    return replace(trouble, what=f"Where there is a mask: {trouble.what}")


def _dropped(c, inputs, answers):
    """Everything is compared with the student's own results at rate 0, right or wrong."""
    T, S = inputs["Q"].shape[-2], inputs["K"].shape[-2]
    shapes = tuple(np.empty((60 * len(inputs["Q"]), T, n)) for n in (2 * S, S))
    for p, answer in zip(RATES, answers):
        if answer.failure:
            return failure(answer, f"with dropout = {p}")
        trouble = form(answer.value, shapes, c.outputs)
        if trouble:
            return replace(trouble, what=f"With dropout = {p}, {trouble.what}")
    (whole, weights), *dropped = (a.value for a in answers)
    for p, (out, A) in zip(RATES[1:], dropped):
        if not np.allclose(A, weights, atol=1e-5):
            return Trouble(
                "With dropout, the weights that it returns are the dropped ones.",
                look="Return A as it was.",
            )
        visible = np.abs(whole) > 1e-3
        zero = visible & np.isclose(out, 0, atol=1e-7)
        share = zero.sum() / max(1, visible.sum())
        if abs(share - p) > 0.1:
            return Trouble(
                f"dropout = {p} should drop that share of the weights.",
                f"It drops {share:.0%} of them.",
                "torch.dropout(A, dropout, train=True) @ V",
            )
        if (zero[..., :S] != zero[..., S:]).any():  # both copies show the same weight
            return Trouble(
                "It does not drop weights: it drops entries of V or of the output.",
                "A weight that is dropped must be missing in every column of the output.",
                "torch.dropout(A, dropout, train=True) @ V",
            )
        kept = visible & ~zero
        if not np.allclose(out[kept], whole[kept] / (1 - p), rtol=1e-3):
            return Trouble(
                "With dropout, the weights that are kept are not divided by 1 - dropout.",
                look="torch.dropout does it, so that the sum stays the same on average.",
            )
    return None


def power_of_d_k(power):
    return lambda Q: Q.shape[-1] ** power


FORMULA = (
    "S = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1]), A = softmax(S) along dim=-1, A @ V."
)
ATTENTION = Component(
    "attention",
    attention_fixtures,
    oracle.attention,
    properties=(
        sums_to_one(-1, 1, "rows of the weights", "Softmax runs along the keys: dim=-1."),
        causal("V", output=0),
        Property(
            "what is masked stays so, whatever the scores", _large, _large_verdict, weight=0.5
        ),
        Property("dropout", _with_dropout, _dropout_verdict, weight=0.5),
        *batch_dims("Q", "K", "V"),
        *COMMON,
    ),
    mistakes=(
        Mistake(
            "no_scaling",
            altered(oracle.attention, scale=power_of_d_k(0)),
            "The scores Q K^T are not divided by anything; they should be divided by sqrt(d_k).",
            "Q @ K.transpose(-2, -1) -> Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])",
            "A score is a sum of d_k products and grows as sqrt(d_k): at width 64 its deviation is "
            "8. The softmax is then nearly a choice of one, and passes hardly any gradient.",
        ),
        Mistake(
            "divided_by_d_k",
            altered(oracle.attention, scale=power_of_d_k(-1)),
            "The scores are divided by d_k; it should be sqrt(d_k).",
            "/ Q.shape[-1] -> / math.sqrt(Q.shape[-1])",
            "The scores shrink as 1 / sqrt(d_k): at width 64 every position weighs nearly alike.",
        ),
        Mistake(
            "multiplied",
            altered(oracle.attention, scale=power_of_d_k(0.5)),
            "The scores are multiplied by sqrt(d_k); they should be divided by it.",
            "* math.sqrt(Q.shape[-1]) -> / math.sqrt(Q.shape[-1])",
            "The scores get d_k times too large, and the softmax becomes a choice of one. The model "
            "may even train at first, so the loss does not show it.",
        ),
        Mistake(
            "scaled_by_length",
            altered(oracle.attention, scale=lambda Q: Q.shape[-2] ** -0.5),
            "The scores are divided by sqrt(T), where T is the number of queries, Q.shape[-2]; "
            "it should be sqrt(d_k), where d_k is Q.shape[-1].",
            "Q.shape[-2] -> Q.shape[-1], in the square root.",
            "The same sentence would be attended to differently when more text follows it.",
        ),
        Mistake(
            "scaled_by_keys",
            altered(oracle.attention, width="keys"),
            "The scores are divided by sqrt(S), where S is the number of keys, K.shape[-2]; it should "
            "be sqrt(d_k), where d_k is K.shape[-1].",
            "K.shape[-2] -> K.shape[-1], in the square root.",
            "The same sentence would be attended to differently when more text follows it.",
        ),
        Mistake(
            "scaled_by_d_v",
            altered(oracle.attention, width="d_v"),
            "The scores are divided by sqrt(d_v), the root of V.shape[-1]; it should be "
            "sqrt(d_k), the root of Q.shape[-1].",
            "V.shape[-1] -> Q.shape[-1], in the square root.",
            "In GPT-2 the two widths are equal, and it goes unseen. Where they differ, the scores have "
            "another variance than 1.",
        ),
        Mistake(
            "softmax_over_queries",
            altered(oracle.attention, softmax_dim=-2),
            "The softmax runs down the columns (over the queries, dim=-2); it should run along "
            "each row (over the keys, dim=-1).",
            "dim=-2 -> dim=-1, in the softmax.",
            "A key's weights are shared out among the queries, later ones included, so the future "
            "leaks: the training loss is too good, and generation fails.",
        ),
        Mistake(
            "mask_after_softmax",
            altered(oracle.attention, mask_when="after"),
            "The mask sets weights to 0 after the softmax, so masked keys still count in its "
            "sum; it should be added to the scores before it.",
            "softmax(S) -> softmax(S + mask), and nothing with the mask after that.",
            "Rows no longer sum to 1, and by how much they fall short tells about the later tokens: "
            "a leak that the weights themselves do not show.",
        ),
        Mistake(
            "mask_ignored",
            altered(oracle.attention, mask_when="never"),
            "The mask is not used, so every position sees the later ones; it should be added "
            "to the scores.",
            "softmax(S) -> softmax(S + mask), where mask is not None.",
            "In training the next token is there to be read. In generation it is not, and the model "
            "has learnt little else.",
        ),
        Mistake(
            "mask_always",
            altered(oracle.attention, mask_when="always"),
            "It hides the later positions even where mask is None; then every query should see "
            "every key.",
            "Make no causal mask in attention: S = S + mask only where mask is not None.",
            "Without a mask every query may see every key, as when one text looks at another: here "
            "the first query would see the first key alone.",
        ),
        Mistake(
            "swapped",
            altered(oracle.attention, swap=True),
            "Q and K are swapped in the scores: they are K Q^T; they should be Q K^T.",
            "K @ Q.transpose(-2, -1) -> Q @ K.transpose(-2, -1)",
            "S is transposed: position t weighs the others by what they look for, not by what it "
            "looks for itself.",
        ),
        Mistake(
            "viewed_not_transposed",
            altered(oracle.attention, transpose=False),
            "K is brought to (d_k, S) by reshape or view, which tears the keys apart; it "
            "should be transposed, so that each key is a column.",
            "K.reshape(...) or K.view(...) -> K.transpose(-2, -1)",
            "A column of it holds pieces of several keys, so a score says nothing about any one of "
            "them. The shapes are right, and no error tells.",
        ),
        Mistake(
            "scaled_after_softmax",
            altered(oracle.attention, scale_when="after"),
            "The weights are divided by sqrt(d_k) after the softmax; the scores should be "
            "divided by it before the softmax.",
            "softmax(S) / math.sqrt(Q.shape[-1]) -> softmax(S / math.sqrt(Q.shape[-1])), the "
            "mask added after the division.",
            "Rows sum to 1 / sqrt(d_k), at width 64 to 1/8, and the softmax gets the large scores "
            "that the division was to tame.",
        ),
        Mistake(
            "no_softmax",
            altered(oracle.attention, softmax_dim=None),
            "There is no softmax: the scores S themselves are the weights; these should be "
            "softmax(S).",
            "A = S -> A = softmax(S), before A @ V.",
            "Scores may be negative and sum to anything, so the output is no average; and the -inf "
            "of a mask makes it infinite or NaN.",
        ),
        Mistake(
            "softmax_over_batch",
            altered(oracle.attention, softmax_dim=0),
            "The softmax runs over the first axis, dim=0: the batch, or without a batch the "
            "queries; it should run over the keys, dim=-1.",
            "dim=0 -> dim=-1, in the softmax.",
            "The texts of a batch compete for the same weights: what one gets depends on the others.",
        ),
        Mistake(
            "mask_multiplied",
            altered(oracle.attention, mask_when="multiplied"),
            "The scores are multiplied by the mask; it should be added to them.",
            "S * mask -> S + mask",
            "Times 0 every allowed score is 0, and a negative score times -inf is +inf: the row "
            "becomes NaN.",
        ),
        Mistake(
            "zeros_hidden",
            altered(oracle.attention, hides_zeros=-np.inf),
            "It sets the scores to -inf where the mask is 0; here 0 means that a key may be "
            "seen, and the mask should be added.",
            "S.masked_fill(mask == 0, -math.inf) -> S + mask",
            "Each position sees the future alone. The last one sees nothing: its row is all -inf, "
            "and its softmax NaN.",
        ),
        Mistake(
            "zeros_hidden_1e9",
            altered(oracle.attention, hides_zeros=-1e9),
            "It sets the scores to -1e9 where the mask is 0; here 0 means that a key may be "
            "seen, and the mask should be added.",
            "S.masked_fill(mask == 0, -1e9) -> S + mask",
            "Each position sees the future alone: training looks splendid, and the text that comes "
            "out is noise.",
        ),
        Mistake(
            "scores_returned",
            altered(oracle.attention, returns="scores"),
            "The second value returned is S, the scores with scaling and mask; it should be A, "
            "the weights softmax(S).",
            "return A @ V, S -> return A @ V, A",
            "The heat map below would show numbers of either sign, whose rows do not sum to 1: "
            "how the attention is spent cannot be read from it.",
        ),
    ),
    needs=("softmax", "causal_mask"),
    constants=("mask",),
    shortcuts=frozenset({"scaled_dot_product_attention"}),
    example={
        "Q": np.float32([[1, 0], [0, 2], [1, 1]]),
        "K": np.float32([[1, 0], [0, 1], [2, 1], [1, 2]]),
        "V": np.arange(20, dtype=np.float32).reshape(4, 5),
    },
    look={
        "shapes and types": "return A @ V, A: first the output (..., T, d_v), then the weights "
        "(..., T, S).",
        "a small example": FORMULA,
        "one key": "One key has the weight 1, whatever its score: the output is V in every row.",
        "no mask": FORMULA,
        "causal mask": "S = S + mask, before the softmax.",
    },
    raises={
        "NoneType": "The mask may be None: S = S + mask only if it is not.",
        "boolean mask": "The mask holds 0 and -inf and is added: S = S + mask.",
        "must match the size": "K.transpose(-2, -1) swaps the last two axes; .T turns all of them "
        "round. The mask is (T, S), as the last two axes of S.",
        "xpected size for first two dimensions": "S = Q @ K.transpose(-2, -1) is (..., T, S), and "
        "A @ V needs no transpose.",
    },
    outputs=("the output", "the weights"),
    arise=(1, 0),
)
