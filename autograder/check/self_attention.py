"""Chapter 3: what is checked of softmax, mask, attention, head and score variance."""

from __future__ import annotations

from functools import partial

import numpy as np

from autograder.check.component import (
    Component,
    Fixture,
    Mistake,
    Property,
    double,
    failure,
    module,
)
from autograder.check.draw import choice, normal
from autograder.check.properties import COMMON, batch_dims, causal, sums_to_one
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance
from autograder.oracle import self_attention as oracle
from autograder.probes import Call

# ------------------------------------------------------------------ softmax


def softmax_fixtures(rng):
    n, m, k = choice(rng, (2, 3, 5), (3, 4, 6), (4, 2, 7))
    return [
        Fixture("a vector", {"x": normal(rng, k, std=1.5)}),
        Fixture("scores as large as 1000", {"x": normal(rng, n, k, std=1.5) + np.float32(1000)}),
        Fixture("along another axis", {"x": normal(rng, n, m, k), "dim": 1}),
        Fixture("along the last axis", {"x": normal(rng, n, m, k, std=1.5)}),
    ]


SOFTMAX = Component(
    "softmax",
    softmax_fixtures,
    oracle.softmax,
    properties=(
        sums_to_one(-1, None, "rows", "Divide by the sum along dim, with keepdim=True."),
        *COMMON,
    ),
    mistakes=(
        Mistake(
            "other_axis",
            lambda x, dim=-1: oracle.softmax(x, 0),
            "It normalises along the first axis, whatever dim is.",
            "Hand dim to the maximum and to the sum.",
        ),
        Mistake(
            "dim_ignored",
            lambda x, dim=-1: oracle.softmax(x, -1),
            "It always normalises along the last axis: dim is not used.",
            "Hand dim to the maximum and to the sum.",
        ),
        Mistake(
            "no_exponential",
            lambda x, dim=-1: x / x.sum(dim, keepdims=True),
            "It divides by the sum without taking the exponential.",
            "softmax(x)_i = e^{x_i} / sum_j e^{x_j}",
        ),
        Mistake(
            "base_2",
            partial(oracle.softmax, base=2.0),
            "It uses powers of 2 in place of powers of e.",
            "torch.exp, not torch.exp2.",
        ),
        Mistake(
            "not_normalised",
            partial(oracle.softmax, power=0.0),
            "It takes the exponential, but does not divide by the sum.",
        ),
        Mistake(
            "whole_tensor",
            lambda x, dim=-1: oracle.softmax(x.reshape(-1)).reshape(x.shape),
            "It normalises over all entries together.",
            "Sum along dim only, with keepdim=True.",
        ),
    ),
    shortcuts=frozenset({"softmax", "log_softmax", "Softmax"}),
    look={"scores as large as 1000": "Subtract the maximum before the exponential."},
)

# ------------------------------------------------------------------ causal_mask


def mask_fixtures(rng):
    (T,) = choice(rng, (5,), (6,), (7,))
    return [Fixture("T = 1", {"T": 1}, weight=0.5), Fixture(f"T = {T}", {"T": T})]


def _additive(c, inputs, answers):
    mask = answers[0].value
    if mask.dtype == bool or set(np.unique(mask)) <= {0, 1}:
        return Trouble(
            "The mask holds 0 and 1 (or False and True).",
            "It is added to the scores, so it must hold 0 where looking is allowed, -inf elsewhere.",
        )
    return None


MASK = partial(oracle.causal_mask, xp=np)
CAUSAL_MASK = Component(
    "causal_mask",
    mask_fixtures,
    MASK,
    properties=(Property("is added to the scores", lambda c, i: [c.call(i)], _additive),),
    mistakes=(
        Mistake(
            "diagonal_masked",
            partial(MASK, diagonal=0),
            "The diagonal is masked too: no position may look at itself, and row 0 at nothing.",
            "triu(1) starts above the diagonal, triu(0) on it.",
        ),
        Mistake(
            "one_too_far",
            partial(MASK, diagonal=2),
            "Each position may look one step ahead.",
            "Mask where s > t, that is above the diagonal: triu(1).",
        ),
        Mistake(
            "mirrored",
            partial(MASK, direction="past"),
            "It is the other way round: the past is masked and the future open.",
            "Rows are t (who looks), columns s (what is looked at); mask s > t.",
        ),
        Mistake(
            "finite_fill",
            partial(MASK, fill=-1e9),
            "It fills with a large negative number instead of -inf.",
            "Scores can be pushed below any number; -inf is below them all. Use -math.inf.",
        ),
        Mistake(
            "finite_fill_1e4",
            partial(MASK, fill=-1e4),
            "It fills with -10000 instead of -inf.",
            "Scores can be pushed below any number; -inf is below them all. Use -math.inf.",
        ),
        Mistake(
            "zero_fill",
            partial(MASK, fill=0.0),
            "It masks nothing: every entry is 0.",
            "Put -math.inf where s > t.",
        ),
    ),
    shortcuts=frozenset({"generate_square_subsequent_mask"}),
    outputs="the mask",
)

# ------------------------------------------------------------------ attention


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


def _with_dropout(c, inputs):
    """V = I shows the dropped weights as the output; each is 0 or A / (1 - p)."""
    Q, K = inputs["Q"], inputs["K"]
    V = np.broadcast_to(np.eye(K.shape[-2], dtype=np.float32), (*K.shape[:-1], K.shape[-2]))
    wide = [np.tile(x, (60, 1, 1)) for x in (Q, K, V)]
    return [Call(args=(*wide, None, p)) for p in (0.5, 0.2)]


def _dropout_verdict(c, inputs, answers):
    for p, answer in zip((0.5, 0.2), answers):
        if answer.failure:
            return failure(answer, f"with dropout = {p}")
        out, A = (np.asarray(v, np.float64) for v in answer.value)
        want = oracle.attention(*double((inputs["Q"], inputs["K"], inputs["V"])))[1]
        if not np.allclose(A, np.tile(want, (60, 1, 1)), atol=1e-4):
            return Trouble(
                "With dropout, the weights that it returns are the dropped ones.",
                look="Return A as it was.",
            )
        dropped = np.isclose(out, 0, atol=1e-7)
        if abs(dropped.mean() - p) > 0.1:
            return Trouble(
                f"dropout = {p} should drop that share of the weights.",
                f"It drops {dropped.mean():.0%} of them.",
                "torch.dropout(A, dropout, train=True) @ V",
            )
        if not np.allclose(out[~dropped], (A / (1 - p))[~dropped], rtol=1e-3):
            return Trouble(
                "With dropout, the weights that are kept are not divided by 1 - dropout.",
                look="torch.dropout does it, so that the sum stays the same on average.",
            )
    return None


def _scale(power):
    return lambda Q: Q.shape[-1] ** power


ATTENTION = Component(
    "attention",
    attention_fixtures,
    oracle.attention,
    properties=(
        sums_to_one(-1, 1, "rows of the weights", "Softmax runs along the keys: dim=-1."),
        causal("V", output=0),
        Property("dropout", _with_dropout, _dropout_verdict, weight=0.5),
        *batch_dims("Q", "K", "V"),
        *COMMON,
    ),
    mistakes=(
        Mistake(
            "no_scaling",
            partial(oracle.attention, scale=_scale(0)),
            "The scores are not divided by sqrt(d_k).",
            "S = Q K^T / sqrt(d_k), before the mask and the softmax.",
        ),
        Mistake(
            "divided_by_d_k",
            partial(oracle.attention, scale=_scale(-1)),
            "The scores are divided by d_k instead of its square root.",
            "math.sqrt(Q.shape[-1])",
        ),
        Mistake(
            "multiplied",
            partial(oracle.attention, scale=_scale(0.5)),
            "The scores are multiplied by sqrt(d_k) instead of divided.",
        ),
        Mistake(
            "scaled_by_length",
            partial(oracle.attention, scale=lambda Q: Q.shape[-2] ** -0.5),
            "The scores are divided by sqrt(T): the number of positions, not the width d_k.",
            "d_k is the size of the last axis of Q.",
        ),
        Mistake(
            "softmax_over_queries",
            partial(oracle.attention, softmax_dim=-2),
            "The softmax runs over the queries (columns) instead of the keys (rows).",
            "Row t holds the weights of position t: softmax along dim=-1.",
        ),
        Mistake(
            "mask_after_softmax",
            partial(oracle.attention, mask_when="after"),
            "The mask comes after the softmax: masked keys still count in the denominator.",
            "Add the mask to the scores, then take the softmax.",
        ),
        Mistake(
            "mask_ignored",
            lambda Q, K, V, mask=None: oracle.attention(Q, K, V),
            "The mask is not used: every position sees the later ones.",
            "S = S + mask, before the softmax.",
        ),
        Mistake(
            "swapped",
            partial(oracle.attention, swap=True),
            "Q and K have changed places.",
            "Row t of S belongs to query t: Q @ K^T.",
        ),
    ),
    needs=("softmax", "causal_mask"),
    constants=("mask",),
    shortcuts=frozenset({"scaled_dot_product_attention"}),
    outputs=("the output", "the weights"),
)

# ------------------------------------------------------------------ AttentionHead


def head_fixtures(rng):
    B, T, d, d_k = choice(rng, (2, 5, 7, 4), (3, 4, 6, 5), (2, 6, 8, 3))

    def head(x, bias=0.5, weight=0.5):
        names = [f"{kind}_{part}" for part in "QKV" for kind in "Wb"]
        state = {
            n: normal(rng, d, d_k, std=weight) if n[0] == "W" else normal(rng, d_k, std=bias)
            for n in names
        }
        return {"init": (d, d_k), "state": state, "x": x}

    return [
        Fixture("one position (only V matters)", head(normal(rng, B, 1, d)), weight=1.0),
        Fixture("all biases zero", head(normal(rng, B, T, d), bias=0.0), weight=1.0),
        Fixture("the whole head", head(normal(rng, B, T, d)), weight=3.0),
    ]


def _head(init, state, x, **switches):
    return oracle.attention_head(x, **state, **switches)


def _renamed(init, state, x, **names):
    return _head(init, {k: state[names.get(k, k)] for k in state}, x)


ATTENTION_HEAD = Component(
    "AttentionHead",
    head_fixtures,
    _head,
    call=module,
    properties=(causal(), *batch_dims("x"), *COMMON),
    mistakes=(
        Mistake(
            "no_mask",
            partial(_head, mask=None),
            "There is no causal mask: every position sees the later ones.",
            "Hand causal_mask(T) to attention.",
        ),
        Mistake(
            "no_bias",
            lambda init, state, x: _head(init, {k: v * (k[0] == "W") for k, v in state.items()}, x),
            "The biases are not added.",
            "Q = x W_Q + b_Q, and so for K and V.",
        ),
        Mistake(
            "scaled_by_d_model",
            lambda init, state, x: _head(init, state, x, scale=lambda Q: x.shape[-1] ** -0.5),
            "The scores are divided by sqrt(d_model) instead of sqrt(d_k).",
            "d_k is the width of Q, not of x.",
        ),
        Mistake(
            "no_scaling",
            partial(_head, scale=_scale(0)),
            "The scores are not divided by sqrt(d_k).",
        ),
        Mistake(
            "q_is_k",
            partial(_renamed, W_K="W_Q", b_K="b_Q"),
            "The keys are computed with W_Q: W_K is not used.",
        ),
        Mistake(
            "v_is_k",
            partial(_renamed, W_V="W_K", b_V="b_K"),
            "The values are computed with W_K: W_V is not used.",
        ),
        Mistake(
            "q_k_swapped",
            partial(_renamed, W_K="W_Q", b_K="b_Q", W_Q="W_K", b_Q="b_K"),
            "W_Q and W_K have changed places.",
        ),
    ),
    needs=("softmax", "causal_mask", "attention"),
    shortcuts=frozenset({"scaled_dot_product_attention", "MultiheadAttention"}),
)

# ------------------------------------------------------------------ score_variance


def variance_fixtures(rng):
    a, b = choice(rng, (16, 48), (9, 64), (25, 36))
    return [
        Fixture("scaled", {"d_k": a, "n": 20_000, "scaled": True}),
        Fixture("not scaled", {"d_k": b, "n": 20_000, "scaled": False}),
    ]


def _variance(d_k, n, scaled, power=0.5):
    return float(d_k ** (1 - 2 * power)) if scaled else float(d_k)


SCORE_VARIANCE = Component(
    "score_variance",
    variance_fixtures,
    _variance,
    mistakes=(
        Mistake(
            "divided_by_d_k",
            partial(_variance, power=1.0),
            "The scaled scores are divided by d_k instead of its square root.",
        ),
        Mistake(
            "never_scaled",
            lambda d_k, n, scaled: float(d_k),
            "The scores are not scaled, whatever `scaled` says.",
        ),
        Mistake(
            "always_scaled",
            lambda d_k, n, scaled: 1.0,
            "The scores are scaled, whatever `scaled` says.",
        ),
        Mistake(
            "deviation",
            lambda d_k, n, scaled: _variance(d_k, n, scaled) ** 0.5,
            "It returns the standard deviation, not the variance.",
            "The variance is the square of it.",
        ),
        Mistake(
            "mean",
            lambda d_k, n, scaled: 0.0,
            "It returns the mean of the scores, not their variance.",
        ),
    ),
    outputs="the variance",
    tolerance=Tolerance(0.08, 0.05),  # the sampling error of 20,000 scores is 0.01 of the variance
)
COMPONENTS = (SOFTMAX, CAUSAL_MASK, ATTENTION, ATTENTION_HEAD, SCORE_VARIANCE)
