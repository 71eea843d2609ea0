"""The variance of scores, measured."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from autograder.check.component import (
    Component,
    Fixture,
    Mistake,
    Property,
    failure,
)
from autograder.check.draw import choice
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance, number


def variance_fixtures(rng):
    # b is so small that 1 / b, the variance of means, is not taken for 0
    a, b = choice(rng, (16, 6), (9, 8), (25, 5))
    return [
        Fixture("scaled", {"d_k": a, "n": 40_000, "scaled": True}),
        Fixture("not scaled", {"d_k": b, "n": 40_000, "scaled": False}),
    ]


def _variance(d_k, n, scaled, power=0.5):
    return float(d_k ** (1 - 2 * power)) if scaled else float(d_k)


def _twice(c, inputs):
    return [replace(c.call(inputs), seed=seed) for seed in (1, 2)]


def _measured(c, inputs, answers):
    for answer in answers:
        if answer.failure:
            return failure(answer, "when it is called again")
    first, second = (float(a.value) for a in answers)
    if first != second:
        return None
    return Trouble(
        "It gives the same number after another torch.manual_seed: nothing is measured.",
        f"Both times it returns {number(first)}.",
        "Draw q and k with torch.randn and take the variance of their scores; set no seed inside.",
    )


SCORE_VARIANCE = Component(
    "score_variance",
    variance_fixtures,
    _variance,
    properties=(Property("another seed, another number", _twice, _measured, weight=4.0),),
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
            "multiplied",
            partial(_variance, power=-0.5),
            "The scaled scores are multiplied by sqrt(d_k) instead of divided.",
        ),
        Mistake(
            "products_not_summed",
            lambda d_k, n, scaled: 1 / d_k if scaled else 1.0,
            "It takes the variance of the single products q_i k_i, not that of their sums.",
            "A score is the sum over the d_k products: (q * k).sum(-1).",
        ),
        Mistake(
            "averaged",
            lambda d_k, n, scaled: _variance(d_k, n, scaled) / d_k**2,
            "Each score is the mean of the products q_i k_i, not their sum.",
            "q . k = (q * k).sum(-1)",
        ),
        Mistake(
            "mean",
            lambda d_k, n, scaled: 0.0,
            "It returns the mean of the scores, not their variance.",
        ),
    ),
    outputs="the variance",
    tolerance=Tolerance(0.08, 0.05),  # the sampling error of 40,000 scores is 0.008 of the variance
)
