"""cross_entropy: the mistakes that are known by name."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from array_api_compat import array_namespace

from autograder.check.mistake import Mistake, altered
from autograder.oracle import forward_pass as oracle
from autograder.oracle.forward_pass import mean, picked
from autograder.oracle.self_attention import softmax

OVERFLOW = "logits.logsumexp(-1) subtracts the largest before it takes the exponential."
PICK = "Pick the logit of the target: logits.gather(-1, targets[..., None]).squeeze(-1)."
BOTH = "(logits.logsumexp(-1) - target_logit).mean()"


def loss(logits, targets, **switches):
    """The oracle, a number of float32 made one of float64: only these are compared as numbers."""
    value = oracle.cross_entropy(logits, targets, **switches)
    return np.float64(value) if isinstance(value, np.float32) else value


_wrong = partial(altered, loss)


def _log(x):
    return array_namespace(x).log(x)


def _exp(x):
    return array_namespace(x).exp(x)


def _probability(logits, targets, **_):
    return 1 - picked(softmax(logits), targets)


def _minus_probability(logits, targets, **_):
    return -picked(softmax(logits), targets)


def _of_softmax(logits, targets, **_):
    return -_log(picked(softmax(logits), targets))


def _by_hand(logits, targets, **_):
    e = _exp(logits)
    return -_log(picked(e / e.sum(-1)[..., None], targets))


def _over_positions(logits, targets, **_):
    return -_log(picked(softmax(logits, -2), targets))


def _with_epsilon(logits, targets, **_):
    return -_log(picked(softmax(logits), targets) + 1e-9)


def _largest(logits, targets):
    return array_namespace(logits).max(logits, axis=-1)


def _expected(logits, targets):
    return (softmax(logits) * logits).sum(-1)


def _mean_logit(logits, targets):
    return array_namespace(logits).mean(logits, axis=-1)


def _every_target(logits, targets):
    """logits[..., targets] picks, at each place, the targets of all places."""
    flat, V = targets.reshape(-1), logits.shape[-1]
    share = [1.0 * (flat == i).sum() / len(flat) for i in range(V)]
    return sum(s * logits[..., i] for i, s in enumerate(share))


MISTAKES = (
    Mistake(
        "sum",
        _wrong(reduce=lambda s: s.sum()),
        "It is the sum over the positions, not their mean.",
        f".mean() over all positions of all sequences: {BOTH}",
        "The loss and its gradient would grow with the batch: 8 sequences of 1,024 tokens make "
        "both 8,192 times as large.",
    ),
    Mistake(
        "summed_over_positions",
        _wrong(reduce=lambda s: mean(s.sum(-1))),
        "It sums over the positions and averages over the batch only.",
        f"Average over all positions of all sequences, .mean() without an axis: {BOTH}",
        "The loss would grow with the length of the text, and near ln V = 10.8 would be out of "
        "reach: 1,024 tokens give 11,000 at first.",
    ),
    Mistake(
        "divided_by_batch",
        _wrong(reduce=lambda s: s.sum() / s.shape[0]),
        "The sum is divided by the size of the first axis only, the number of sequences.",
        f"Average over all positions of all sequences, .mean() without an axis: {BOTH}",
        "The loss would grow with the length of the text, and near ln V = 10.8 would be out of "
        "reach: 1,024 tokens give 11,000 at first.",
    ),
    Mistake(
        "not_reduced",
        _wrong(reduce=lambda s: s),
        "It returns the loss of every position; one number is asked for, their mean.",
        BOTH,
        "backward() starts from one number only. It raises an error for a tensor of losses.",
    ),
    Mistake(
        "last_position",
        _wrong(reduce=lambda s: mean(s[..., -1])),
        "Only the last position counts; every position is scored.",
        f"Take the mean over all of them: {BOTH}",
        "A pass over 1,024 tokens answers 1,024 questions. All but one would be thrown away, and "
        "training would see that much less.",
    ),
    Mistake(
        "sign",
        _wrong(after=lambda mean: -mean),
        "The sign is wrong: it is the mean of the log-probabilities, not of minus them.",
        BOTH,
        "Training makes the loss small. So it would make the right tokens as unlikely as it can.",
    ),
    Mistake(
        "bits",
        _wrong(after=lambda mean: mean / math.log(2)),
        "It is in bits (logarithm to base 2); the loss is in nats.",
        "The natural logarithm: torch.log, and logsumexp uses it too.",
        "The numbers are 1.44 times too large. An untrained GPT-2 would have 15.6 instead of "
        "ln 50257 = 10.8, and no published loss could be compared with yours.",
    ),
    Mistake(
        "perplexity",
        _wrong(reduce=lambda s: _exp(mean(s))),
        "It returns e to the loss, the perplexity; the loss itself is asked for.",
        f"No exponential at the end: {BOTH}",
        "An untrained GPT-2 would have 50,257 instead of 10.8, with gradients as many times too "
        "large.",
    ),
    Mistake(
        "mean_over_vocabulary",
        _wrong(after=lambda mean, i: mean / i["logits"].shape[-1]),
        "The mean also counts the tokens that are not the target: it is V times too small.",
        "Sum over the vocabulary (all terms but one are 0), and average over the positions only.",
        "An untrained GPT-2 would have 10.8 / 50257 = 0.0002, and gradients as much too small.",
    ),
    Mistake(
        "shifted",
        _wrong(
            before=lambda i: {"logits": i["logits"][..., :-1, :], "targets": i["targets"][..., 1:]}
        ),
        "It shifts the targets by one; they come already shifted.",
        f"targets[t] belongs to logits[t]: {BOTH}, with targets as they come.",
        "The model would learn to predict the token after the next. In a trial its loss on the "
        "next one was 3.5, where it should have been 2.3.",
    ),
    Mistake(
        "softmax_twice",
        _wrong(before=lambda i: {"logits": softmax(i["logits"])}),
        "Softmax is applied twice: the logits are turned into probabilities first.",
        "logsumexp, and torch's cross_entropy, want the logits as they are.",
        "A softmax of numbers between 0 and 1 is nearly flat. With V = 50,257 the loss cannot get "
        "below 9.82, whatever the model learns.",
    ),
    Mistake(
        "probability",
        _wrong(score=_probability),
        "It is one minus the probability of the target; the logarithm is missing.",
        f"-log of the probability: {BOTH}",
        "A probability of 1 / 100 and one of 1 / 50,257 would cost about the same, 1. An "
        "untrained model would get hardly any gradient.",
    ),
    Mistake(
        "no_logarithm",
        _wrong(score=_minus_probability),
        "It is minus the probability of the target; the logarithm is missing.",
        f"-log of the probability: {BOTH}. torch's nll_loss wants log-probabilities.",
        "A probability of 1 / 100 and one of 1 / 50,257 would cost about the same, 0. An "
        "untrained model would get hardly any gradient.",
    ),
    Mistake(
        "log_of_mean",
        _wrong(reduce=lambda s: -_log(mean(_exp(-s)))),
        "It is the logarithm of the mean probability, not the mean of the logarithms.",
        f"Take the logarithm at each position, then the mean: {BOTH}",
        "A few sure positions would hide all bad ones: probabilities 1 and 0.0001 would give 0.7 "
        "instead of 4.6.",
    ),
    Mistake(
        "no_shift",
        _wrong(norm=lambda x: _log(_exp(x).sum(-1))),
        "log(sum(exp(logits))) overflows: the largest logit is not subtracted first.",
        OVERFLOW,
        "In float32 e^89 is infinite. A single large logit makes the loss infinite, and the "
        "gradients NaN.",
    ),
    Mistake(
        "softmax_by_hand",
        _wrong(score=_by_hand),
        "exp(logits) overflows in a softmax written by hand: inf / inf is NaN.",
        f"Use the right-hand form. {OVERFLOW}",
        "In float32 e^89 is infinite. A single large logit makes the loss NaN, and after one step "
        "every parameter.",
    ),
    Mistake(
        "log_of_softmax",
        _wrong(score=_of_softmax),
        "It takes the logarithm of a softmax: a probability that was rounded to 0 gives infinity.",
        f"Use the right-hand form: {BOTH}",
        "In float32 a token more than 104 below the largest logit has the probability 0. One such "
        "target makes the loss infinite, and the gradients NaN.",
    ),
    Mistake(
        "epsilon",
        _wrong(score=_with_epsilon),
        "A small number is added to the probability before the logarithm, to avoid log(0).",
        f"With the right-hand form there is no log(0), and nothing to add: {BOTH}",
        "With 1e-9 no position can cost more than 20.7, and where it should, there is hardly any "
        "gradient: the worst mistakes would be the last to be mended.",
    ),
    Mistake(
        "entropy",
        _wrong(pick=_expected),
        "It is the entropy of the distribution; the targets are not used.",
        PICK,
        "The model would learn to be sure, of whatever it likes.",
    ),
    Mistake(
        "all_tokens",
        _wrong(pick=_mean_logit),
        "It averages -log p over all tokens of the vocabulary; the targets are not used.",
        PICK,
        "It is least where all tokens are equally likely: the model would unlearn what it knows.",
    ),
    Mistake(
        "every_target",
        _wrong(pick=_every_target),
        "logits[..., targets] picks, at each position, the targets of all positions.",
        PICK,
        "Every position would be asked for all tokens that occur in the batch. The best answer "
        "is how often each occurs, and no context helps.",
    ),
    Mistake(
        "not_normalised",
        _wrong(norm=lambda x: 0.0),
        "It is minus the logit of the target: the logarithm of the sum is missing.",
        f"-log softmax(z)_i = logsumexp(z) - z_i: {BOTH}",
        "It has no lower end. The model would make all logits larger for ever, and none larger "
        "than the others.",
    ),
    Mistake(
        "logsumexp_alone",
        _wrong(pick=lambda logits, targets: 0.0),
        "It is the logarithm of the sum alone: the logit of the target is not subtracted.",
        BOTH,
        "The model would make all logits smaller for ever, and the target's with them.",
    ),
    Mistake(
        "largest_logit",
        _wrong(pick=_largest),
        "It scores the most likely token, whatever the target is.",
        PICK,
        "The model would learn to be sure, of whatever it likes.",
    ),
    Mistake(
        "over_positions",
        _wrong(score=_over_positions),
        "The softmax runs over the positions instead of the tokens.",
        f"The vocabulary is the last axis: dim=-1. {BOTH}",
        "Positions would compete for a token, rather than tokens for a position. A later position "
        "would change the loss of an earlier one.",
    ),
)
