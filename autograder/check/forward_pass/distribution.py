"""next_token_distribution: the softmax of one row."""

from __future__ import annotations

from array_api_compat import array_namespace

from autograder.check.component import Component
from autograder.check.mistake import Mistake
from autograder.check.parts import Fixture
from autograder.check.draw import choice, normal
from autograder.check.properties import sums_to_one, unchanged
from autograder.check.tensors import any_device, any_order, keeps_dtype
from autograder.check.varied import batch_dims
from autograder.oracle import forward_pass as oracle
from autograder.oracle.self_attention import softmax

LAST = "The last position: logits[..., -1, :], which leaves the batch alone."


def fixtures(rng):
    B, T, V = choice(rng, (2, 5, 7), (3, 4, 9), (4, 3, 8))
    return [
        Fixture("one position", {"logits": normal(rng, B, 1, V, std=1.5)}, weight=1.0),
        Fixture("logits as large as 1000", {"logits": normal(rng, B, T, V) + 1000}, weight=1.0),
        Fixture("a batch", {"logits": normal(rng, B, T, V, std=1.5)}, weight=3.0),
    ]


def _most_likely(logits):
    xp = array_namespace(logits)
    last = logits[..., -1, :]
    top = xp.max(last, axis=-1, keepdims=True)
    return xp.where(last == top, xp.ones_like(last), xp.zeros_like(last))


NEXT_TOKEN_DISTRIBUTION = Component(
    "next_token_distribution",
    fixtures,
    oracle.next_token_distribution,
    properties=(
        sums_to_one(-1, None, "rows", "Softmax along the vocabulary, the last axis."),
        *batch_dims("logits"),
        *(unchanged, any_device, any_order, keeps_dtype),  # it is not for training: no gradients
    ),
    mistakes=(
        Mistake(
            "first_position",
            lambda logits: softmax(logits[..., 0, :]),
            "It reads the first position, which has seen one token; the last has seen all.",
            LAST,
        ),
        Mistake(
            "all_positions",
            lambda logits: softmax(logits),
            "It returns a distribution for every position; the last one is asked for.",
            LAST,
        ),
        Mistake(
            "last_sequence",
            lambda logits: softmax(logits[-1]),
            "logits[-1] is the last sequence of the batch, not the last position.",
            LAST,
        ),
        Mistake(
            "no_softmax",
            lambda logits: logits[..., -1, :],
            "It returns the logits of the last position; the softmax is missing.",
        ),
        Mistake(
            "softmax_over_positions",
            lambda logits: softmax(logits, -2)[..., -1, :],
            "The softmax runs over the positions instead of the tokens.",
            "Take the last position first, then the softmax over what is left.",
        ),
        Mistake(
            "softmax_over_batch",
            lambda logits: softmax(logits[..., -1, :], 0),
            "The softmax runs over the first axis, the batch, instead of the tokens.",
            "dim=-1",
        ),
        Mistake(
            "mean_logits",
            lambda logits: softmax(array_namespace(logits).mean(logits, axis=-2)),
            "It averages the logits over the positions; only the last one answers the question.",
            LAST,
        ),
        Mistake(
            "mean_distribution",
            lambda logits: array_namespace(logits).mean(softmax(logits), axis=-2),
            "It averages the distributions of all positions.",
            LAST,
        ),
        Mistake(
            "log_softmax",
            lambda logits: array_namespace(logits).log(softmax(logits[..., -1, :])),
            "It returns log-probabilities; probabilities are asked for.",
        ),
        Mistake(
            "most_likely",
            _most_likely,
            "It gives all the probability to the largest logit.",
            "That is a choice, not the distribution to choose from.",
        ),
        Mistake(
            "softmax_twice",
            lambda logits: softmax(softmax(logits[..., -1, :])),
            "Softmax is applied twice: the result is much too flat.",
        ),
    ),
    outputs="the distribution",
)
