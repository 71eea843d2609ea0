"""cross_entropy: the mean surprise, in nats."""

from __future__ import annotations

import math

from array_api_compat import array_namespace

from autograder.check.component import Component
from autograder.check.mistake import Mistake
from autograder.check.parts import Fixture
from autograder.check.draw import choice, normal
from autograder.check.properties import COMMON
from autograder.check.varied import batch_dims, first_only
from autograder.oracle import forward_pass as oracle
from autograder.oracle.self_attention import softmax

OVERFLOW = "logits.logsumexp(-1) subtracts the largest before it takes the exponential."


def fixtures(rng):
    B, T, V = choice(rng, (2, 5, 7), (3, 4, 9), (4, 3, 8))

    def scored(*shape, std=1.5, mean=0.0):
        return {
            "logits": normal(rng, *shape, V, std=std, mean=mean),
            "targets": rng.integers(0, V, shape),
        }

    return [
        Fixture("two positions", scored(2), weight=1.0),
        Fixture("equal logits: ln V", scored(B, T, std=0.0, mean=0.3), weight=0.5),
        Fixture("logits as large as 1000", scored(B, T, mean=1000.0)),
        Fixture("logits 300 apart", scored(B, T, std=100.0)),
        Fixture("a batch", scored(B, T), weight=3.0),
    ]


def _of(reduce):
    """cross_entropy with another way to reduce the surprise of every place to a number."""
    return lambda logits, targets: reduce(oracle.surprise(logits, targets), targets)


def _mean(x):
    return array_namespace(x).mean(x)


def _log(x):
    return array_namespace(x).log(x)


def _shifted(logits, targets):
    return oracle.cross_entropy(logits[..., :-1, :], targets[..., 1:])


CROSS_ENTROPY = Component(
    "cross_entropy",
    fixtures,
    oracle.cross_entropy,
    properties=(
        *batch_dims("logits", "targets"),
        first_only("sequences of one token", "logits", "targets", axis=1),
        *COMMON,
    ),
    mistakes=(
        Mistake(
            "sum",
            _of(lambda s, targets: s.sum()),
            "It is the sum over the positions, not their mean.",
            "Then a loss would depend on how large the batch is.",
        ),
        Mistake(
            "summed_over_positions",
            _of(lambda s, targets: _mean(s.sum(-1))),
            "It sums over the positions and averages over the batch only.",
            "Average over all positions of all sequences: .mean() without an axis.",
        ),
        Mistake(
            "not_reduced",
            _of(lambda s, targets: s),
            "It returns the loss of every position; one number is asked for, their mean.",
        ),
        Mistake(
            "last_position",
            _of(lambda s, targets: _mean(s[..., -1])),
            "Only the last position counts; every position is scored.",
        ),
        Mistake(
            "sign",
            _of(lambda s, targets: -_mean(s)),
            "The sign is wrong: it is the mean of the log-probabilities, not of minus them.",
        ),
        Mistake(
            "bits",
            _of(lambda s, targets: _mean(s) / math.log(2)),
            "It is in bits (logarithm to base 2); the loss is in nats.",
            "The natural logarithm: torch.log, and logsumexp uses it too.",
        ),
        Mistake(
            "shifted",
            _shifted,
            "It shifts the targets by one; they come already shifted.",
            "targets[t] belongs to logits[t].",
        ),
        Mistake(
            "softmax_twice",
            lambda logits, targets: oracle.cross_entropy(softmax(logits), targets),
            "Softmax is applied twice: the logits are turned into probabilities first.",
            "logsumexp wants the logits as they are.",
        ),
        Mistake(
            "probability",
            lambda logits, targets: 1 - _mean(oracle.picked(softmax(logits), targets)),
            "It is one minus the probability of the target; the logarithm is missing.",
        ),
        Mistake(
            "log_of_mean",
            lambda logits, targets: -_log(_mean(oracle.picked(softmax(logits), targets))),
            "It is the logarithm of the mean probability, not the mean of the logarithms.",
            "Take the logarithm at each position, then the mean.",
        ),
        Mistake(
            "entropy",
            lambda logits, targets: _mean(
                oracle.log_sum_exp(logits) - (softmax(logits) * logits).sum(-1)
            ),
            "It is the entropy of the distribution; the targets are not used.",
            "Pick the logit of the target: gather(-1, …).",
        ),
        Mistake(
            "not_normalised",
            lambda logits, targets: -_mean(oracle.picked(logits, targets)),
            "It is minus the logit of the target: the logarithm of the sum is missing.",
            "-log softmax(z)_i = logsumexp(z) - z_i",
        ),
        Mistake(
            "largest_logit",
            lambda logits, targets: _mean(
                oracle.log_sum_exp(logits) - array_namespace(logits).max(logits, axis=-1)
            ),
            "It scores the most likely token, whatever the target is.",
            "Pick the logit of the target: gather(-1, …).",
        ),
        Mistake(
            "over_positions",
            lambda logits, targets: _mean(
                oracle.log_sum_exp(array_namespace(logits).moveaxis(logits, -2, -1)).sum(-1)
                / targets.shape[-1]
            )
            - _mean(oracle.picked(logits, targets)),
            "The softmax runs over the positions instead of the tokens.",
        ),
    ),
    shortcuts=frozenset({"cross_entropy", "nll_loss", "CrossEntropyLoss", "NLLLoss"}),
    outputs="the loss",
    look={"logits as large as 1000": OVERFLOW, "logits 300 apart": OVERFLOW},
)
