"""Softmax along an axis."""

from __future__ import annotations

from functools import partial

import numpy as np

from autograder.check.component import (
    Component,
    Fixture,
    Mistake,
    Property,
    failure,
)
from autograder.check.draw import choice, normal
from autograder.check.properties import COMMON, sums_to_one
from autograder.judge import Trouble
from autograder.oracle import self_attention as oracle


def _far_apart(rng, k):
    """Rows around 900, 0 and -900, one with a high and one with a low outlier: e^x spans less than
    that even in float64 (e^709 is infinite, e^-746 is 0)."""
    x = normal(rng, 5, max(k, 5), std=1.5) + np.float32([[900], [0], [-900], [0], [0]])
    x[3, 2] = 900
    x[4, 1] = -10_000
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
            lambda x, dim=-1: oracle.softmax(x, 0),
            "It normalises along the first axis, whatever dim is.",
            "Hand dim to the maximum and to the sum.",
        ),
        Mistake(
            "dim_ignored",
            lambda x, dim=-1: oracle.softmax(x, -1),
            "It always normalises along the last axis: dim is not used.",
            "Hand dim to the maximum and to the sum.",
        ),
        Mistake(
            "no_exponential",
            lambda x, dim=-1: x / x.sum(dim, keepdims=True),
            "It divides by the sum without taking the exponential.",
            "softmax(x)_i = e^{x_i} / sum_j e^{x_j}",
        ),
        Mistake(
            "base_2",
            partial(oracle.softmax, base=2.0),
            "It uses powers of 2 in place of powers of e.",
            "torch.exp, not torch.exp2.",
        ),
        Mistake(
            "not_normalised",
            partial(oracle.softmax, power=0.0),
            "It takes the exponential, but does not divide by the sum.",
        ),
        Mistake(
            "whole_tensor",
            lambda x, dim=-1: oracle.softmax(x.reshape(-1)).reshape(x.shape),
            "It normalises over all entries together.",
            "Sum along dim only, with keepdim=True.",
        ),
        Mistake(
            "no_shift",
            partial(oracle.softmax, shift=False),
            "The maximum is not subtracted before the exponential.",
            "x - x.amax(dim, keepdim=True) first: then no exponent is positive.",
        ),
        Mistake(
            "one_maximum_for_all",
            lambda x, dim=-1: oracle.softmax(x - x.max(), dim, shift=False),
            "It subtracts one maximum of the whole tensor; rows far below it become 0 / 0.",
            "Each row needs a maximum of its own: x.amax(dim, keepdim=True).",
        ),
        Mistake(
            "mean_subtracted",
            lambda x, dim=-1: oracle.softmax(x - x.mean(dim, keepdims=True), dim, shift=False),
            "It subtracts the mean: a score far above the mean still overflows.",
            "Subtract the maximum: then no exponent is positive.",
        ),
    ),
    shortcuts=frozenset({"softmax", "log_softmax", "Softmax"}),
    look={
        "scores as large as 1000": "Subtract the maximum before the exponential.",
        "rows that are far apart, and outliers": "Each row needs a maximum of its own: "
        "x.amax(dim, keepdim=True).",
    },
)
