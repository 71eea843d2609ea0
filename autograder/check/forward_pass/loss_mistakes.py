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
BOTH = "(logits.logsumexp(-1) - logits.gather(-1, targets[..., None]).squeeze(-1)).mean()"


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
    xp = array_namespace(logits)
    turned = xp.matrix_transpose(logits)
    log_p = turned - oracle.log_sum_exp(turned)[..., None]
    return -picked(xp.matrix_transpose(log_p), targets)


def _of_softmax_over_positions(logits, targets, **_):
    return -_log(picked(softmax(logits, -2), targets))


def _with_epsilon(logits, targets, *, epsilon, **_):
    return -_log(picked(softmax(logits), targets) + epsilon)


def _epsilon(exponent):
    """The entry for one size of the small number."""
    small = f"1e-{exponent}"
    most = math.log(10) * exponent
    return Mistake(
        "epsilon" if exponent == 9 else f"epsilon_1e_{exponent}",
        _wrong(score=partial(_with_epsilon, epsilon=10.0**-exponent)),
        f"It is -log(p + {small}), p the probability of the target; it should be -log p, computed "
        "as logsumexp minus the target's logit, without p.",
        f"-log(p + {small}) -> logits.logsumexp(-1) - "
        "logits.gather(-1, targets[..., None]).squeeze(-1)",
        f"With {small} no position can cost more than {most:.1f}, and where it should, there is "
        "hardly any gradient: the worst mistakes would be the last to be mended.",
    )


def _rolled(i):
    return {"targets": array_namespace(i["targets"]).roll(i["targets"], -1, axis=-1)}


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
        "It is the sum over all positions; it should be the mean over all positions.",
        "At the end: .sum() -> .mean()",
        "The loss and its gradient would grow with the batch: 8 sequences of 1,024 tokens make "
        "both 8,192 times as large.",
    ),
    Mistake(
        "summed_over_positions",
        _wrong(reduce=lambda s: mean(s.sum(-1))),
        "It is .sum(-1).mean(), summed over the positions and averaged over the rest; it "
        "should be the mean over all positions of all sequences.",
        "At the end: .sum(-1).mean() -> .mean()",
        "The loss would grow with the length of the text, and near ln V = 10.8 would be out of "
        "reach: 1,024 tokens give 11,000 at first.",
    ),
    Mistake(
        "divided_by_batch",
        _wrong(reduce=lambda s: s.sum() / s.shape[0]),
        "The sum is divided by the size of the first axis alone, as .mean(0).sum() does; it "
        "should be divided by the number of all positions.",
        "At the end: .sum() / logits.shape[0] or .mean(0).sum() -> .mean()",
        "The loss would grow with the length of the text, and near ln V = 10.8 would be out of "
        "reach: 1,024 tokens give 11,000 at first.",
    ),
    Mistake(
        "mean_of_each_text",
        _wrong(reduce=lambda s: array_namespace(s).mean(s, axis=-1)),
        "It averages along the last axis only, .mean(-1), so that each text has a loss of its own; "
        "it should be one mean, over all positions of all texts.",
        "At the end: .mean(-1) -> .mean(), which without an axis averages over all of them.",
        "backward() starts from one number only. It raises an error for a tensor of losses.",
    ),
    Mistake(
        "not_reduced",
        _wrong(reduce=lambda s: s),
        "It returns the loss of every position; it should return their mean, a tensor without "
        "axes.",
        "In the return: add .mean() at the end.",
        "backward() starts from one number only. It raises an error for a tensor of losses.",
    ),
    Mistake(
        "last_position",
        _wrong(reduce=lambda s: mean(s[..., -1])),
        "Only the last position of each sequence is scored; it should be the mean over all "
        "positions.",
        "logits[..., -1, :] -> logits and targets[..., -1] -> targets",
        "A pass over 1,024 tokens answers 1,024 questions. All but one would be thrown away, and "
        "training would see that much less.",
    ),
    Mistake(
        "sign",
        _wrong(after=lambda mean: -mean),
        "It is the mean of log p, p the probability of the target; it should be the mean of "
        "-log p.",
        "In the return: log p -> -log p; or swap the two terms, logits.logsumexp(-1) first, "
        "minus the target's logit.",
        "Training makes the loss small. So it would make the right tokens as unlikely as it can.",
    ),
    Mistake(
        "bits",
        _wrong(after=lambda mean: mean / math.log(2)),
        "It is in bits, the mean of -log2 p; it should be in nats, the mean of -log p with the "
        "natural logarithm.",
        "torch.log2 -> torch.log, or take out / math.log(2).",
        "The numbers are 1.44 times too large. An untrained GPT-2 would have 15.6 instead of "
        "ln 50257 = 10.8, and no published loss could be compared with yours.",
    ),
    Mistake(
        "perplexity",
        _wrong(reduce=lambda s: _exp(mean(s))),
        "It returns exp(loss), the perplexity; it should return the loss.",
        "In the return: take out the exp around the mean.",
        "An untrained GPT-2 would have 50,257 instead of 10.8, with gradients as many times too "
        "large.",
    ),
    Mistake(
        "mean_over_vocabulary",
        _wrong(after=lambda mean, i: mean / i["logits"].shape[-1]),
        "It is a mean over all V tokens of a row, of which only the target is not 0: V times "
        "too small; it should be summed over the tokens.",
        ".mean() -> .sum(-1).mean(): a sum along the vocabulary, then the mean over the "
        "positions.",
        "An untrained GPT-2 would have 10.8 / 50257 = 0.0002, and gradients as much too small.",
    ),
    Mistake(
        "shifted",
        _wrong(
            before=lambda i: {"logits": i["logits"][..., :-1, :], "targets": i["targets"][..., 1:]}
        ),
        "It scores logits[..., :-1, :] with targets[..., 1:], shifted by one more; it should "
        "score logits with targets: they come already shifted.",
        "logits[..., :-1, :] -> logits and targets[..., 1:] -> targets",
        "The model would learn to predict the token after the next. In a trial its loss on the "
        "next one was 3.5, where it should have been 2.3.",
    ),
    Mistake(
        "rolled",
        _wrong(before=_rolled),
        "It scores logits with targets.roll(-1, -1), shifted by one more; it should score them with "
        "targets: they come already shifted.",
        "targets.roll(-1, -1) -> targets",
        "The model would learn to predict the token after the next, and after the last one the "
        "first of the text.",
    ),
    Mistake(
        "softmax_twice",
        _wrong(before=lambda i: {"logits": softmax(i["logits"])}),
        "The loss is computed from softmax(logits) and takes a softmax itself, so there are two; "
        "it should be computed from the logits.",
        "Take out softmax(...): logsumexp, gather, log_softmax and cross_entropy all want logits.",
        "A softmax of numbers between 0 and 1 is nearly flat. With V = 50,257 the loss cannot get "
        "below 9.82, whatever the model learns.",
    ),
    Mistake(
        "probability",
        _wrong(score=_probability),
        "It is the mean of 1 - p, p the probability of the target; it should be the mean of "
        "-log p.",
        "1 - p -> -log p, written as logits.logsumexp(-1) minus the target's logit.",
        "A probability of 1 / 100 and one of 1 / 50,257 would cost about the same, 1. An "
        "untrained model would get hardly any gradient.",
    ),
    Mistake(
        "no_logarithm",
        _wrong(score=_minus_probability),
        "It is the mean of -p, p the probability of the target; it should be the mean of -log "
        "p.",
        "-p -> -log p, written as logits.logsumexp(-1) minus the target's logit. (nll_loss "
        "wants log p.)",
        "A probability of 1 / 100 and one of 1 / 50,257 would cost about the same, 0. An "
        "untrained model would get hardly any gradient.",
    ),
    Mistake(
        "log_of_mean",
        _wrong(reduce=lambda s: -_log(mean(_exp(-s)))),
        "It is -log of the mean of p, p the probability of the target; it should be the mean "
        "of -log p.",
        "-p.mean().log() -> the mean of logits.logsumexp(-1) minus the target's logit.",
        "A few sure positions would hide all bad ones: probabilities 1 and 0.0001 would give 0.7 "
        "instead of 4.6.",
    ),
    Mistake(
        "no_shift",
        _wrong(norm=lambda x: _log(_exp(x).sum(-1))),
        "log(sum(exp(logits))) overflows to infinity; the largest logit should be subtracted "
        "before exp.",
        "logits.exp().sum(-1).log() -> logits.logsumexp(-1)",
        "In float32 e^89 is infinite. A single large logit makes the loss infinite, and the "
        "gradients NaN.",
    ),
    Mistake(
        "softmax_by_hand",
        _wrong(score=_by_hand),
        "It is -log of exp(logits) / its sum: exp overflows, and inf / inf is NaN; it should "
        "be logsumexp minus the target's logit.",
        "-log(exp(logits) / its sum) -> logits.logsumexp(-1) - logits.gather(-1, targets[..., "
        "None]).squeeze(-1)",
        "In float32 e^89 is infinite. A single large logit makes the loss NaN, and after one step "
        "every parameter.",
    ),
    Mistake(
        "log_of_softmax",
        _wrong(score=_of_softmax),
        "It is -log(softmax(logits)), infinite where a probability is rounded to 0; it should "
        "be logsumexp minus the target's logit.",
        "-log(softmax(logits)) -> logits.logsumexp(-1) - logits.gather(-1, targets[..., "
        "None]).squeeze(-1)",
        "In float32 a token more than 104 below the largest logit has the probability 0. One such "
        "target makes the loss infinite, and the gradients NaN.",
    ),
    *map(_epsilon, (9, 12, 10, 8, 7, 6, 5)),
    Mistake(
        "entropy",
        _wrong(pick=_expected),
        "It is the entropy, the sum of -p * log p over all tokens, without the targets; it "
        "should be -log p of the target alone.",
        "-(p * p.log()).sum(-1) -> logits.logsumexp(-1) - logits.gather(-1, targets[..., "
        "None]).squeeze(-1)",
        "The model would learn to be sure, of whatever it likes.",
    ),
    Mistake(
        "all_tokens",
        _wrong(pick=_mean_logit),
        "-log p is averaged over all tokens of the vocabulary, without the targets; it should "
        "be -log p of the target alone.",
        "The mean over the vocabulary -> the target's entry: gather(-1, targets[..., "
        "None]).squeeze(-1)",
        "It is least where all tokens are equally likely: the model would unlearn what it knows.",
    ),
    Mistake(
        "every_target",
        _wrong(pick=_every_target),
        "The index [..., targets] picks, at each position, the targets of all; each position "
        "should pick its own target.",
        "[..., targets] -> .gather(-1, targets[..., None]).squeeze(-1)",
        "Every position would be asked for all tokens that occur in the batch. The best answer "
        "is how often each occurs, and no context helps.",
    ),
    Mistake(
        "not_normalised",
        _wrong(norm=lambda x: 0.0),
        "It is minus the target's logit; it should be logsumexp of the logits minus the "
        "target's logit.",
        "In the return: minus the target's logit -> logits.logsumexp(-1) minus the target's "
        "logit.",
        "It has no lower end. The model would make all logits larger for ever, and none larger "
        "than the others.",
    ),
    Mistake(
        "logsumexp_alone",
        _wrong(pick=lambda logits, targets: 0.0),
        "It is logsumexp of the logits; it should be logsumexp minus the target's logit.",
        "logits.logsumexp(-1) -> logits.logsumexp(-1) - logits.gather(-1, targets[..., "
        "None]).squeeze(-1)",
        "The model would make all logits smaller for ever, and the target's with them.",
    ),
    Mistake(
        "largest_logit",
        _wrong(pick=_largest),
        "It is -log p of the most likely token, and the targets are not used; it should be "
        "-log p of the target.",
        "logits.amax(-1) -> logits.gather(-1, targets[..., None]).squeeze(-1); or, used as the "
        "index, logits.argmax(-1) -> targets.",
        "The model would learn to be sure, of whatever it likes.",
    ),
    Mistake(
        "over_positions",
        _wrong(score=_over_positions),
        "The softmax runs along the positions, dim=-2; it should run along the vocabulary, "
        "dim=-1.",
        "log_softmax(..., dim=-2) or logsumexp(-2) -> dim=-1",
        "Positions would compete for a token, rather than tokens for a position. A later position "
        "would change the loss of an earlier one.",
    ),
    Mistake(
        "log_of_softmax_over_positions",
        _wrong(score=_of_softmax_over_positions),
        "It is -log(softmax(logits, dim=-2)), along the positions, infinite where that is 0; it "
        "should be logsumexp along dim=-1 minus the target's logit.",
        "-log(softmax(logits, dim=-2)) -> logits.logsumexp(-1) - "
        "logits.gather(-1, targets[..., None]).squeeze(-1)",
        "Positions would compete for a token, rather than tokens for a position. And a probability "
        "that is rounded to 0 makes the loss infinite.",
    ),
)
