"""One head with its six parameters."""

from __future__ import annotations

from functools import partial

from autograder.check.component import (
    Component,
    Fixture,
    Mistake,
    module,
)
from autograder.check.draw import choice, normal
from autograder.check.initial import initial_values
from autograder.check.properties import COMMON, causal, several_lengths
from autograder.check.varied import batch_dims
from autograder.check.self_attention.attention import power_of_d_k
from autograder.oracle import self_attention as oracle


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
    properties=(
        causal(),
        several_lengths(),
        *batch_dims("x"),
        *COMMON,
        initial_values(
            (96, 24),
            drawn={"W_Q, W_K and W_V": (("W_Q", "W_K", "W_V"), 0.02)},
            constant={"the biases": (("b_Q", "b_K", "b_V"), 0.0)},
        ),
    ),
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
            partial(_head, scale=power_of_d_k(0)),
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
