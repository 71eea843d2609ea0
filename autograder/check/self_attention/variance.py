"""The variance of scores, measured."""

from __future__ import annotations

from functools import partial

from autograder.check.component import (
    Component,
    Fixture,
    Mistake,
)
from autograder.check.draw import choice
from autograder.judge.compare import Tolerance


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
