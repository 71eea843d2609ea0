"""The variance of scores, measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.check.component import Component
from autograder.check.defaults import defaults
from autograder.check.draw import choice
from autograder.check.findings import failure
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture, Property
from autograder.check.properties.common import python_numbers
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance, number
from autograder.probes import Call

MANY = 100_000  # scores: the variance that they show has a deviation of 0.6 % at most
SAMPLING = Tolerance(0.035, 0.008)


def variance_fixtures(rng):
    a, b = choice(rng, (16, 15), (9, 14), (25, 16))
    return [
        Fixture("scaled", {"d_k": a, "n": MANY, "scaled": True}),
        Fixture("not scaled", {"d_k": b, "n": MANY, "scaled": False}),
    ]


def _variance(d_k, n, scaled, power=0.5):
    return float(d_k ** (1 - 2 * power)) if scaled else float(d_k)


def read_variance(inputs, value):
    """Of scores that are not scaled, the mean has a deviation of 0.013 at most. Hardly a variance comes
    so near 0: that of means of d_k products is 1 / d_k, and 1 / d_k² if it is scaled all the same.
    """
    one = isinstance(value, (float, int)) or getattr(value, "shape", None) == ()
    if one and _along_the_pairs(inputs, float(value)):
        return Trouble(
            "Each score seems to be a sum over the n pairs; it should be a sum over the d_k entries of "
            "one pair, so that there are n scores.",
            f"score_variance({inputs['d_k']}, n={inputs['n']}, scaled={inputs['scaled']}) returned "
            f"{number(value)}.",
            "Draw q and k as torch.randn(n, d_k), one vector a row; a score is (q * k).sum(-1).",
        )
    if inputs["scaled"] or not one or not abs(float(value)) < 0.055:
        return value
    if abs(float(value) * inputs["d_k"] ** 2 - 1) < 0.04:
        return value
    return Trouble(
        "It returns about 0: the mean of the scores, perhaps; it should return their variance.",
        f"score_variance({inputs['d_k']}, n={inputs['n']}, scaled=False) returned {number(value)}.",
        "scores.mean() -> scores.var(), in the return.",
    )


def _along_the_pairs(inputs, value):
    """Whether it is about what d_k sums of n products have. So few spread widely; two known mistakes
    at once give 2 d_k² at most."""
    d_k, about = inputs["d_k"], inputs["n"] / (inputs["d_k"] if inputs["scaled"] else 1)
    return max(3 * d_k**2, about / 6) < value < 6 * about


A_FEW = 400  # vectors: all their scores with each other are 640 kB, those of MANY 40 GB


def _with_a_few(c, inputs):
    return [Call(args=(inputs["d_k"], A_FEW, inputs["scaled"]), probe="sizes:largest")]


def _not_every_pair(c, inputs, answers):
    (answer,) = answers
    if answer.failure or answer.value < A_FEW**2:  # of a failure the fixtures tell
        return None
    return Trouble(
        "It compares every q with every k, which makes n * n numbers; a score is one q with its own k,"
        " so there should be n of them.",
        f"For n = {A_FEW} it makes a tensor of {answer.value:,} numbers; for n = {MANY:,} that would "
        f"take {4 * MANY**2 / 1e9:.0f} GB, so it was not tried.",
        "q @ k.T -> (q * k).sum(-1), with q and k of shape (n, d_k).",
    )


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


SEEDS, FEW = 300, 64


def _many(c, inputs):
    """At width 1, many small samples: their variances are as far apart as products of two are."""
    once = c.call({"d_k": 1, "n": FEW, "scaled": False})
    return [Call(args=(once, SEEDS), probe="repeat:seeds")]


def _products(c, inputs, answers):
    """Var(s²) of n numbers is about (E x⁴ - 1) / n: E x⁴ is 9 for q k, and 3 for q alone."""
    (answer,) = answers
    if answer.failure:
        return failure(answer, f"with d_k = 1 and n = {FEW}")
    spread = float(np.var(np.asarray(answer.value, np.float64)))
    if spread > 4 / FEW:
        return None
    return Trouble(
        "The scores do not look like products of two independent draws.",
        f"At d_k = 1 the variances of samples of {FEW} spread by {number(spread)}; "
        f"for q * k it is about {number(8 / FEW)}.",
        "q and k are two draws, each of shape (n, d_k), and a score is (q * k).sum(-1).",
    )


SCORE_VARIANCE = Component(
    "score_variance",
    variance_fixtures,
    _variance,
    read=read_variance,
    before=Property("n pairs, n scores", _with_a_few, _not_every_pair),
    properties=(
        Property("another seed, another number", _twice, _measured, weight=4.0),
        Property("the scores are products of two draws", _many, _products, weight=0.5),
        defaults(lambda i: {"d_k": 16, "n": 10_000, "scaled": True}, "n", "scaled", sharp=False),
        python_numbers(float),
    ),
    mistakes=(
        Mistake(
            "divided_by_d_k",
            altered(_variance, power=1.0),
            "The scaled scores are divided by d_k; it should be sqrt(d_k).",
            "scores / d_k -> scores / math.sqrt(d_k)",
            "Their variance is then 1 / d_k, so that wide heads see nearly equal scores.",
        ),
        Mistake(
            "never_scaled",
            altered(_variance, before=lambda i: {"scaled": False}),
            "The scores are not scaled even where `scaled` is True; there they should be "
            "divided by sqrt(d_k).",
            "if scaled: scores = scores / math.sqrt(d_k). The quotient must be kept, not only "
            "computed.",
            "At width 64 it says 64 with the scaling and without it: no reason to scale is seen.",
        ),
        Mistake(
            "always_scaled",
            altered(_variance, before=lambda i: {"scaled": True}),
            "The scores are divided by sqrt(d_k) even where `scaled` is False; there they "
            "should stay as they are.",
            "Put the division under `if scaled:`.",
            "Without the unscaled measurement there is nothing to compare with.",
        ),
        Mistake(
            "scaled_when_not_asked",
            altered(_variance, before=lambda i: {"scaled": not i["scaled"]}),
            "The scores are divided by sqrt(d_k) where `scaled` is False, not where it is "
            "True; it should be where it is True.",
            "In the condition of the division: not scaled -> scaled.",
            "The measurement then says that scaling makes the variance grow with the width.",
        ),
        Mistake(
            "deviation",
            altered(_variance, after=lambda v: v**0.5),
            "It returns the standard deviation of the scores; it should return their variance.",
            "scores.std() -> scores.var()",
            "It is the variances of independent products that add up to d_k, not the deviations.",
        ),
        Mistake(
            "multiplied",
            altered(_variance, power=-0.5),
            "The scaled scores are multiplied by sqrt(d_k); they should be divided by it.",
            "scores * math.sqrt(d_k) -> scores / math.sqrt(d_k)",
            "The variance becomes d_k squared: the cure makes it worse.",
        ),
        Mistake(
            "products_not_summed",
            lambda d_k, n, scaled: 1 / d_k if scaled else 1.0,
            "It takes the variance of the single products q_i * k_i; it should be that of "
            "their sums over the d_k entries.",
            "q * k -> (q * k).sum(-1)",
            "A single product has variance 1 at any width; it is the sum that grows.",
        ),
        Mistake(
            "variance_divided",
            altered(_variance, power=0.25),
            "The variance is divided by sqrt(d_k); the scores should be, before their variance "
            "is taken.",
            "scores.var() / math.sqrt(d_k) -> (scores / math.sqrt(d_k)).var()",
            "Dividing scores by c divides their variance by c squared. This would leave sqrt(d_k), 8 "
            "at width 64, where the scaled scores have 1.",
        ),
        Mistake(
            "uniform_draws",
            altered(_variance, after=lambda v: v * 7 / 144),
            "q and k are drawn from the uniform distribution on 0 to 1; they should be drawn "
            "from the standard normal one.",
            "torch.rand -> torch.randn, for q and for k.",
            "There the mean is 1/2 and the variance 1/12: a product then has the variance 7/144 = "
            "0.049, and the rule Var(q . k) = d_k does not hold.",
        ),
        Mistake(
            "same_vectors",
            altered(_variance, after=lambda v: 2 * v),
            "q and k are the same draw, so each q is multiplied with itself; they should be "
            "two draws.",
            "A torch.randn(n, d_k) of its own for k, not k = q.",
            "The square of a standard normal number has the variance 2, not 1. Queries and keys come "
            "from two matrices, and at the start have nothing to do with each other.",
        ),
        Mistake(
            "averaged",
            altered(_variance, after=lambda v, i: v / i["d_k"] ** 2),
            "Each score is the mean of the d_k products q_i * k_i; it should be their sum.",
            "(q * k).mean(-1) -> (q * k).sum(-1)",
            "A mean shrinks with the width, and the square root would then be the wrong remedy.",
        ),
    ),
    outputs="what it returns",
    look={
        "shapes and types": "One number: the variance of all n scores, scores.var().item().",
        "scaled": "A score is the sum of d_k products, (q * k).sum(-1), here divided by "
        "math.sqrt(d_k); there are n of them.",
        "not scaled": "A score is the sum of d_k products, (q * k).sum(-1); there are n of them.",
    },
    tolerance=SAMPLING,
)
