"""Softmax along an axis."""

from __future__ import annotations

import numpy as np

from autograder.check.component import Component
from autograder.check.draw import choice, normal
from autograder.check.findings import failure
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture, Property
from autograder.check.properties.common import COMMON, sums_to_one
from autograder.judge import Trouble
from autograder.oracle import self_attention as oracle


def _far_apart(rng, k):
    """Rows around 900, 0 and -900, and rows with an outlier: e^x spans less than that even in
    float64 (e^709 is infinite, e^-746 is 0). Of the low outliers, -300 and -800 lie where the
    minimum is too far away, in float32 or in float64, and the mean is not."""
    x = normal(rng, 7, max(k, 5), std=1.5)
    x[:3] += np.float32([[900], [0], [-900]])
    for row, column, outlier in ((3, 2, 900), (4, 1, -10_000), (5, 3, -300), (6, 0, -800)):
        x[row, column] = outlier
    return x


def softmax_fixtures(rng):
    n, m, k = choice(rng, (2, 3, 5), (3, 4, 6), (4, 2, 7))
    return [
        Fixture("a vector", {"x": normal(rng, k, std=1.5)}),
        Fixture("scores as large as 1000", {"x": normal(rng, n, k, std=1.5) + np.float32(1000)}),
        Fixture("rows that are far apart, and outliers", {"x": _far_apart(rng, k)}),
        Fixture("along another axis", {"x": normal(rng, n, m, k), "dim": 1}),
        Fixture("along the last axis", {"x": normal(rng, n, m, k, std=1.5)}),
    ]


def _winner(c, inputs):
    n, m, k = inputs["x"].shape
    x = inputs["x"].reshape(n * m, k) / 10
    x[:, 0] += 40
    return [c.call({"x": x})]


def _winner_verdict(c, inputs, answers):
    """e^-30 is far below the steps of float32 at 1, so that whatever the order of the operations,
    the sum after the shift is 1 exactly: three steps are left for rounding."""
    (answer,) = answers
    if answer.failure:
        return failure(answer, "on a score far ahead of all others")
    gap = float(np.abs(answer.value[:, 0].astype(np.float64) - 1).max())
    if gap <= 3.6e-7:
        return None
    return Trouble(
        "A score that is far ahead of all others should get the weight 1.",
        f"Its weight differs from 1 by {gap:.2g}.",
        "Once the maximum is subtracted, the sum is at least 1: add nothing to it.",
    )


def _less(statistic):
    """x less something of its own along dim."""
    return lambda i: {"x": i["x"] - statistic(i["x"], i.get("dim", -1))}


def _mean(x, dim):
    return x.mean(dim, keepdims=True)


def _minimum(x, dim):
    return x.amin(dim, keepdims=True) if hasattr(x, "amin") else x.min(dim, keepdims=True)


def _turned(inputs):
    """x -> the maximum less x."""
    return {"x": -_less(lambda x, dim: -_minimum(-x, dim))(inputs)["x"]}


SOFTMAX = Component(
    "softmax",
    softmax_fixtures,
    oracle.softmax,
    properties=(
        sums_to_one(-1, None, "rows", "Divide by the sum along dim, with keepdim=True."),
        Property(
            "a score far ahead gets the weight 1", _winner, _winner_verdict, weight=0.5, exact=True
        ),
        *COMMON,
    ),
    mistakes=(
        Mistake(
            "other_axis",
            altered(oracle.softmax, dim=0),
            "It normalises along the first axis, dim=0, whatever dim is; it should normalise "
            "along dim.",
            "0 -> dim, in the maximum and in the sum.",
            "Attention would mix the sentences of a batch: what one gets depends on the others.",
        ),
        Mistake(
            "dim_ignored",
            altered(oracle.softmax, dim=-1),
            "It normalises along the last axis, dim=-1, whatever dim is; it should normalise "
            "along dim.",
            "-1 -> dim, in the maximum and in the sum.",
            "A caller who asks for another axis gets wrong weights, and no error tells him.",
        ),
        Mistake(
            "no_exponential",
            lambda x, dim=-1: x / x.sum(dim, keepdims=True),
            "It divides the scores by their sum; it should divide their exponentials e**x by "
            "the sum of those.",
            "x / x.sum(...) -> e / e.sum(...), where e holds the exponentials.",
            "Scores may be negative, weights may not, and the sum of scores can be 0.",
        ),
        Mistake(
            "base_2",
            altered(oracle.softmax, base=2.0),
            "It takes powers of 2; it should take powers of e.",
            "torch.exp2 or 2 ** x -> torch.exp.",
            "Every distribution is flatter than it should be, as with temperature 1.44. A model "
            "trained so learns around it; one with GPT-2's weights does not.",
        ),
        Mistake(
            "not_normalised",
            altered(oracle.softmax, power=0.0),
            "It returns the exponentials as they are; it should divide them by their sum along "
            "dim.",
            "In the return: e -> e / e.sum(dim, keepdim=True), where e holds the exponentials.",
            "The output would be no average of the values: it grows with the number of positions.",
        ),
        Mistake(
            "whole_tensor",
            altered(oracle.softmax, dim=None),
            "It normalises over all entries of x together; it should normalise along dim, with "
            "a maximum and a sum for each row.",
            "x.max() -> x.amax(dim, keepdim=True), and e.sum() -> e.sum(dim, keepdim=True): "
            "both, not the sum alone.",
            "Each row gets a share of one sum: all positions compete for the same attention.",
        ),
        Mistake(
            "sum_over_all",
            altered(oracle.softmax, sum_dim=None),
            "The sum is taken over all entries of x, the maximum along dim; both should be along dim.",
            "e.sum() -> e.sum(dim, keepdim=True), where e holds the exponentials.",
            "Each row gets a share of one sum: all positions compete for the same attention.",
        ),
        Mistake(
            "no_shift",
            altered(oracle.softmax, shift=False),
            "The exponentials are taken of x as it is; the maximum along dim should be "
            "subtracted first.",
            "x.exp() -> (x - x.amax(dim, keepdim=True)).exp()",
            "In float32 e^89 is infinite. One large score is enough, and inf / inf is NaN.",
        ),
        Mistake(
            "one_maximum_for_all",
            altered(oracle.softmax, before=lambda i: {"x": i["x"] - i["x"].max()}, shift=False),
            "It subtracts one maximum of all of x, so that rows far below it become 0 / 0; it "
            "should be the maximum along dim.",
            "x.max() -> x.amax(dim, keepdim=True)",
            "One loud position silences the others: where the shift leaves only exponents below "
            "-104, every e^x is 0.",
        ),
        Mistake(
            "mean_subtracted",
            altered(oracle.softmax, before=_less(_mean), shift=False),
            "It subtracts the mean, so that a score far above it overflows; it should subtract "
            "the maximum.",
            "x.mean(...) -> x.amax(...), in what is subtracted.",
            "A mask of -inf makes the mean -inf, too, and everything NaN.",
        ),
        Mistake(
            "minimum_subtracted",
            altered(oracle.softmax, before=_less(_minimum), shift=False),
            "It subtracts the minimum, so that large scores overflow; it should subtract the "
            "maximum.",
            "x.amin(...) -> x.amax(...), in what is subtracted.",
            "One masked score of -inf is the minimum, and everything in its row becomes NaN.",
        ),
        Mistake(
            "turned_round",
            altered(oracle.softmax, before=_turned, shift=False),
            "It takes e**(maximum - x), so that the smallest score gets most; it should take "
            "e**(x - maximum).",
            "In the exponent: maximum - x -> x - maximum.",
            "Attention would go to what matches least, and a masked score of -inf gives infinity.",
        ),
        Mistake(
            "maximum_along_the_last_axis",
            altered(oracle.softmax, shift_dim=-1),
            "The maximum is taken along the last axis, whatever dim is; it should be along "
            "dim, as the sum is.",
            "amax(-1, keepdim=True) -> amax(dim, keepdim=True)",
            "Only a number that all entries of a sum have in common may be subtracted: here each "
            "gets another one, and the weights change.",
        ),
        Mistake(
            "sum_along_the_last_axis",
            altered(oracle.softmax, sum_dim=-1),
            "The sum is taken along the last axis, whatever dim is; it should be along dim, as "
            "the maximum is.",
            "e.sum(-1, keepdim=True) -> e.sum(dim, keepdim=True)",
            "Along dim the weights do not sum to 1: what is averaged with them grows or shrinks.",
        ),
        Mistake(
            "logarithm",
            altered(oracle.softmax, log=True),
            "It returns the logarithm of the weights; it should return the weights.",
            "The exponential of what it returns now: x - torch.logsumexp(...) -> (x - "
            "torch.logsumexp(...)).exp()",
            "No weight would be positive: an average with them points away from the values.",
        ),
    ),
    example={"x": np.float32([2, 1, 0])},
    shortcuts=frozenset({"softmax", "log_softmax", "Softmax"}),
    look={
        "shapes and types": "The result has the shape of x: reduce with keepdim=True.",
        "a small example": "e = (x - x.amax(dim, keepdim=True)).exp(), then e / e.sum(dim, "
        "keepdim=True).",
        "a vector": "e = (x - x.amax(dim, keepdim=True)).exp(), then e / e.sum(dim, keepdim=True).",
        "along another axis": "Hand dim to the maximum and to the sum.",
        "scores as large as 1000": "Subtract the maximum before the exponential.",
        "rows that are far apart, and outliers": "Each row needs a maximum of its own: "
        "x.amax(dim, keepdim=True).",
    },
    raises={
        "return_types.max": "x.max(dim) gives two tensors, the largest values and where they stand: "
        "take .values, or x.amax(dim, keepdim=True).",
    },
)
