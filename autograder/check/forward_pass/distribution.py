"""next_token_distribution: the softmax of one row."""

from __future__ import annotations

from functools import partial

import numpy as np
from array_api_compat import array_namespace

from autograder.check.component import Component
from autograder.check.draw import choice, normal
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture
from autograder.check.properties import sums_to_one, unchanged
from autograder.check.tensors import any_device, any_order, keeps_dtype
from autograder.check.varied import batch_dims
from autograder.oracle import forward_pass as oracle
from autograder.oracle.self_attention import softmax

LAST = "The last position: logits[..., -1, :], which leaves the batch alone."
OVERFLOW = "softmax(…) of chapter 3 or torch.softmax: both subtract the largest logit first."
TO_DRAW = "A token is drawn from the result: every row must be a distribution over the vocabulary."


def fixtures(rng):
    B, T, V = choice(rng, (2, 5, 7), (3, 4, 9), (4, 3, 8))
    return [
        Fixture("one position", {"logits": normal(rng, B, 1, V, std=1.5)}, weight=1.0),
        Fixture("logits as large as 1000", {"logits": normal(rng, B, T, V) + 1000}, weight=1.0),
        Fixture("a batch", {"logits": normal(rng, B, T, V, std=1.5)}, weight=3.0),
    ]


_wrong = partial(altered, oracle.next_token_distribution)


def _whole(logits, **_):
    return logits


def _mean(x):
    return array_namespace(x).mean(x, axis=-2)


def _log(p):
    return array_namespace(p).log(p)


def _over_positions(logits):
    """Such that the softmax over the tokens, which follows, has nothing left to do."""
    return oracle.last_position(_log(softmax(logits, -2)))


def _exp(x, **_):
    return array_namespace(x).exp(x)


def _most_likely(p):
    xp = array_namespace(p)
    return xp.astype(p == xp.max(p, axis=-1, keepdims=True), p.dtype)


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
            _wrong(pick=lambda logits: logits[..., 0, :]),
            "It reads the first position, which has seen one token; the last has seen all.",
            LAST,
            "However long the text is, it would be continued as if it had only its first token.",
        ),
        Mistake(
            "second_to_last",
            _wrong(pick=lambda logits: logits[..., -2, :]),
            "It reads the position before the last one.",
            LAST,
            "It predicts the last token, which is known already. And a text of one token has no such "
            "position.",
        ),
        Mistake(
            "last_column",
            _wrong(pick=lambda logits: logits[..., -1]),
            "logits[..., -1] is the logit of the last token of the vocabulary, not the last "
            "position.",
            LAST,
            "The result has one probability for each position. A position would be drawn and taken "
            "for a token.",
        ),
        Mistake(
            "axis_kept",
            _wrong(pick=lambda logits: logits[..., -1:, :]),
            "The axis of the positions is still there, with size 1.",
            "An index takes the axis away, a slice keeps it: logits[..., -1, :].",
            "torch.multinomial, which draws the next token, takes no more than two axes: with a "
            "batch in front there are three.",
        ),
        Mistake(
            "all_positions",
            _wrong(pick=_whole),
            "It returns a distribution for every position; the last one is asked for.",
            LAST,
            "The other rows predict tokens that are known already.",
        ),
        Mistake(
            "last_sequence",
            _wrong(pick=lambda logits: logits[-1]),
            "logits[-1] is the last sequence of the batch, not the last position.",
            LAST,
            "Without a batch it is right. With one, all texts but the last are lost.",
        ),
        Mistake(
            "no_softmax",
            _wrong(softmax=_whole),
            "It returns the logits of the last position; the softmax is missing.",
            "softmax(logits[..., -1, :])",
            f"Logits may be negative and sum to anything. {TO_DRAW}",
        ),
        Mistake(
            "no_shift",
            _wrong(shift=False),
            "The exponential overflows: the largest logit is not subtracted first.",
            OVERFLOW,
            "In float32 e^89 is infinite, and inf / inf is NaN: no token can be drawn.",
        ),
        Mistake(
            "not_normalised",
            _wrong(power=0.0),
            "It takes the exponential, but does not divide by the sum.",
            "softmax(logits[..., -1, :])",
            f"The numbers are positive, and sum to anything. {TO_DRAW}",
        ),
        Mistake(
            "softmax_over_positions",
            _wrong(pick=_over_positions, softmax=_exp),
            "The softmax runs over the positions instead of the tokens.",
            "Take the last position first, then the softmax over what is left.",
            "Each token's logits would be weighed against its own at earlier positions. "
            "The row does not sum to 1.",
        ),
        Mistake(
            "softmax_over_batch",
            _wrong(dim=0),
            "The softmax runs over the first axis, the batch, instead of the tokens.",
            "softmax(logits[..., -1, :], dim=-1): the vocabulary is the last axis.",
            "What one text is continued with would depend on the others, and a text alone would "
            "get the probability 1 for every token.",
        ),
        Mistake(
            "mean_logits",
            _wrong(pick=_mean),
            "It averages the logits over the positions; only the last one answers the question.",
            LAST,
            "Earlier rows answer earlier questions: what follows the first token, the first two, "
            "and so on. All of them would have the same say.",
        ),
        Mistake(
            "mean_distribution",
            _wrong(pick=_whole, after=_mean),
            "It averages the distributions of all positions.",
            LAST,
            "Earlier rows answer earlier questions: what follows the first token, the first two, "
            "and so on. All of them would have the same say.",
        ),
        Mistake(
            "log_softmax",
            _wrong(after=_log),
            "It returns log-probabilities; probabilities are asked for.",
            "softmax, not log_softmax, and no logarithm after it.",
            f"They are all 0 or less. {TO_DRAW}",
        ),
        Mistake(
            "most_likely",
            _wrong(after=_most_likely),
            "It gives all the probability to the largest logit.",
            "That is a choice, not the distribution to choose from: softmax(logits[..., -1, :]).",
            "Every continuation would be the greedy one, and temperature and top-k could change "
            "nothing.",
        ),
        Mistake(
            "token_id",
            _wrong(after=lambda p: array_namespace(p).argmax(p, axis=-1)),
            "It returns the number of the most likely token; a probability for each is asked for.",
            "Leave the choice to the caller: softmax(logits[..., -1, :]).",
            "Sampling needs all probabilities, and how sure the model is would be lost.",
        ),
        Mistake(
            "softmax_twice",
            _wrong(after=lambda p: softmax(p)),
            "Softmax is applied twice: the result is much too flat.",
            "softmax(logits[..., -1, :]), once.",
            "A second softmax sees numbers between 0 and 1. With 50,257 tokens even a sure one would "
            "get e / (50,256 + e) = 0.00005.",
        ),
    ),
    example={"logits": np.float32([[[0, 1, 2], [2, 1, 0], [0, 0, 1]]])},
    outputs="the distribution",
    look={"logits as large as 1000": OVERFLOW},
    raises={
        "values to unpack": "Any number of axes may stand in front, also none: index with ...."
    },
)
