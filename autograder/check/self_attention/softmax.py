"""Softmax along an axis."""

from __future__ import annotations

from functools import partial

import numpy as np

from autograder.check.component import (
    Component,
    Fixture,
    Mistake,
)
from autograder.check.draw import choice, normal
from autograder.check.properties import COMMON, sums_to_one
from autograder.oracle import self_attention as oracle


def softmax_fixtures(rng):
    n, m, k = choice(rng, (2, 3, 5), (3, 4, 6), (4, 2, 7))
    return [
        Fixture("a vector", {"x": normal(rng, k, std=1.5)}),
        Fixture("scores as large as 1000", {"x": normal(rng, n, k, std=1.5) + np.float32(1000)}),
        Fixture("along another axis", {"x": normal(rng, n, m, k), "dim": 1}),
        Fixture("along the last axis", {"x": normal(rng, n, m, k, std=1.5)}),
    ]


SOFTMAX = Component(
    "softmax",
    softmax_fixtures,
    oracle.softmax,
    properties=(
        sums_to_one(-1, None, "rows", "Divide by the sum along dim, with keepdim=True."),
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
    ),
    shortcuts=frozenset({"softmax", "log_softmax", "Softmax"}),
    look={"scores as large as 1000": "Subtract the maximum before the exponential."},
)
