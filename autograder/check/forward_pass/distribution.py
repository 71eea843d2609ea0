"""next_token_distribution: the softmax of one row."""

from __future__ import annotations

from functools import partial

import numpy as np
from array_api_compat import array_namespace

from autograder.check.component import Component
from autograder.check.draw import choice, normal
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture
from autograder.check.properties.common import sums_to_one, unchanged
from autograder.check.properties.tensors import any_device, any_order, keeps_dtype
from autograder.check.properties.varied import batch_dims
from autograder.oracle import forward_pass as oracle
from autograder.oracle.self_attention import softmax

OVERFLOW = "softmax(…) of chapter 3 or torch.softmax: both subtract the largest logit first."
TO_DRAW = "A token is drawn from the result: every row must be a distribution over the vocabulary."


def fixtures(rng):
    B, T, V = choice(rng, (2, 5, 7), (3, 4, 9), (4, 3, 8))
    large = np.round(64 * normal(rng, B, T, V)) / 64 + 1000  # such that float32 adds them exactly
    return [
        Fixture("one position", {"logits": normal(rng, B, 1, V, std=1.5)}, weight=1.0),
        Fixture("logits as large as 1000", {"logits": large}, weight=1.0),
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
            "It takes the first position, logits[..., 0, :]; it should take the last, "
            "logits[..., -1, :].",
            "logits[..., 0, :] -> logits[..., -1, :]",
            "However long the text is, it would be continued as if it had only its first token.",
        ),
        Mistake(
            "second_to_last",
            _wrong(pick=lambda logits: logits[..., -2, :]),
            "It takes the position before the last, logits[..., -2, :]; it should take the "
            "last, logits[..., -1, :].",
            "logits[..., -2, :] -> logits[..., -1, :]",
            "It predicts the last token, which is known already. And a text of one token has no such "
            "position.",
        ),
        Mistake(
            "last_column",
            _wrong(pick=lambda logits: logits[..., -1]),
            "It takes logits[..., -1], the last token of the vocabulary at every position; it "
            "should take logits[..., -1, :], the last position.",
            "logits[..., -1] -> logits[..., -1, :]",
            "The result has one probability for each position. A position would be drawn and taken "
            "for a token.",
        ),
        Mistake(
            "axis_kept",
            _wrong(pick=lambda logits: logits[..., -1:, :]),
            "The result has an axis too many, of size 1 for the position: (..., 1, V); it "
            "should be (..., V).",
            "logits[..., -1:, :] -> logits[..., -1, :]: an index takes the axis away, a slice "
            "keeps it.",
            "torch.multinomial, which draws the next token, takes no more than two axes: with a "
            "batch in front there are three.",
        ),
        Mistake(
            "all_positions",
            _wrong(pick=_whole),
            "It returns the distributions of all positions, (..., T, V); it should return that "
            "of the last position, (..., V).",
            "softmax(logits) -> softmax(logits[..., -1, :])",
            "The other rows predict tokens that are known already.",
        ),
        Mistake(
            "last_sequence",
            _wrong(pick=lambda logits: logits[-1]),
            "It takes logits[-1], the last sequence of the batch; it should take logits[..., "
            "-1, :], the last position of each.",
            "logits[-1] -> logits[..., -1, :]",
            "Without a batch it is right. With one, all texts but the last are lost.",
        ),
        Mistake(
            "no_softmax",
            _wrong(softmax=_whole),
            "It returns the logits of the last position; it should return their softmax.",
            "In the return: logits[..., -1, :] -> softmax(logits[..., -1, :])",
            f"Logits may be negative and sum to anything. {TO_DRAW}",
        ),
        Mistake(
            "no_shift",
            _wrong(shift=False),
            "The exponential of a large logit overflows, and inf / inf is NaN; the largest logit "
            "should be subtracted before exp.",
            "exp(...) divided by its sum -> softmax(...) of chapter 3, or torch.softmax: both "
            "subtract the largest logit.",
            "In float32 e^89 is infinite, and inf / inf is NaN: no token can be drawn.",
        ),
        Mistake(
            "not_normalised",
            _wrong(power=0.0),
            "It is exp(z - max(z)), z the logits of the last position; it should be divided by "
            "its sum.",
            "In the return: divide by .sum(-1, keepdim=True), or use softmax.",
            f"The numbers are positive, and sum to anything. {TO_DRAW}",
        ),
        Mistake(
            "exponential_alone",
            _wrong(softmax=_exp),
            "It is exp(z), z the logits of the last position; it should be softmax(z): the largest "
            "logit subtracted before exp, and divided by the sum after it.",
            "In the return: exp(logits[..., -1, :]) -> softmax(logits[..., -1, :])",
            f"The numbers are positive, and sum to anything, even to infinity. {TO_DRAW}",
        ),
        Mistake(
            "softmax_over_positions",
            _wrong(pick=_over_positions, softmax=_exp),
            "The softmax runs along the positions, dim=-2; it should run along the vocabulary, "
            "dim=-1. The last position is then picked rightly.",
            "softmax(logits, dim=-2) -> softmax(logits, dim=-1)",
            "Each token's logits would be weighed against its own at earlier positions. "
            "The row does not sum to 1.",
        ),
        Mistake(
            "softmax_over_batch",
            _wrong(dim=0),
            "The softmax of the last position runs along the first axis, dim=0; it should run "
            "along the vocabulary, dim=-1.",
            "softmax(..., dim=0) -> softmax(..., dim=-1)",
            "What one text is continued with would depend on the others, and a text alone would "
            "get the probability 1 for every token.",
        ),
        Mistake(
            "mean_logits",
            _wrong(pick=_mean),
            "The logits are averaged over the positions, then the softmax is taken; it should "
            "be the softmax of the last position's logits.",
            "logits.mean(-2) -> logits[..., -1, :]",
            "Earlier rows answer earlier questions: what follows the first token, the first two, "
            "and so on. All of them would have the same say.",
        ),
        Mistake(
            "mean_distribution",
            _wrong(pick=_whole, after=_mean),
            "The distributions of all positions are averaged; it should be the distribution of "
            "the last position.",
            "softmax(logits).mean(-2) -> softmax(logits[..., -1, :])",
            "Earlier rows answer earlier questions: what follows the first token, the first two, "
            "and so on. All of them would have the same say.",
        ),
        Mistake(
            "log_softmax",
            _wrong(after=_log),
            "It returns log-probabilities; it should return probabilities.",
            "log_softmax -> softmax, or take out the log that is taken of the softmax.",
            f"They are all 0 or less. {TO_DRAW}",
        ),
        Mistake(
            "most_likely",
            _wrong(after=_most_likely),
            "The token with the largest logit gets 1 and all others 0; it should be the "
            "softmax of the last position's logits.",
            "In the return: the one-hot vector of the argmax -> softmax(logits[..., -1, :])",
            "Every continuation would be the greedy one, and temperature and top-k could change "
            "nothing.",
        ),
        Mistake(
            "token_id",
            _wrong(after=lambda p: array_namespace(p).argmax(p, axis=-1)),
            "It returns the id of the most likely token; it should return the probabilities of "
            "all V tokens.",
            "In the return: take out .argmax(-1).",
            "Sampling needs all probabilities, and how sure the model is would be lost.",
        ),
        Mistake(
            "softmax_twice",
            _wrong(after=lambda p: softmax(p)),
            "The softmax is taken twice, the second time of probabilities; it should be taken "
            "once.",
            "softmax(softmax(...)) -> softmax(...)",
            "A second softmax sees numbers between 0 and 1. With 50,257 tokens even a sure one would "
            "get e / (50,256 + e) = 0.00005.",
        ),
    ),
    example={"logits": np.float32([[[0, 1, 2, 0], [3, 0, 0, 1], [0, 2, 0, 1]]])},
    outputs="the distribution",
    look={"logits as large as 1000": OVERFLOW},
    raises={
        "values to unpack": "Any number of axes may stand in front, also none: index with ...."
    },
)
