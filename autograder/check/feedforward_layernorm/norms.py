"""LayerNorm and RMSNorm: few features and tiny rows, where the mistakes are large.

At d = 768 and variance 1, the wrong variance and a misplaced eps change the fourth decimal at most.
"""

from __future__ import annotations


import numpy as np

from autograder.check.component import Component, module
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture
from autograder.check.draw import choice, normal
from autograder.check.properties import COMMON, causal
from autograder.check.varied import batch_dims
from autograder.oracle import feedforward_layernorm as oracle

EPS = 1e-5
ROWS = "Measure along the last axis only: dim=-1, keepdim=True."


def fixtures(*names):
    """Fixtures for a norm whose parameters have these names."""

    def make(rng):
        B, T, d = choice(rng, (2, 4, 5), (3, 5, 6), (2, 6, 7))

        def norm(x, *eps, made=False):
            d = x.shape[-1]
            draw = {"gamma": normal(rng, d, std=0.3, mean=1.0), "beta": normal(rng, d, std=0.5)}
            state = None if made else {n: draw[n] for n in names}
            return {"init": (d, *eps), "state": state, "x": x}

        sizes = rng.uniform(0.5, 3.0, (B, T, 1)).astype(np.float32)
        x = sizes * normal(rng, B, T, d) + normal(rng, B, T, 1)
        flat = normal(rng, B, T, 8)
        flat[:, 0], flat[:, 2] = 0.0, 1.5  # eight halves: their mean is exact
        return [
            Fixture("with constant rows", norm(flat), weight=1.0),
            Fixture("rows of deviation 0.001", norm(normal(rng, B, T, d, std=1e-3))),
            Fixture("eps = 0.1", norm(normal(rng, B, T, d, std=0.5), 0.1), weight=1.0),
            Fixture("as it is made", norm(x, made=True), weight=1.0),
            Fixture("rows of every size", norm(x), weight=3.0),
        ]

    return make


def _fresh(d):
    return {"gamma": np.ones(d), "beta": np.zeros(d)}


def _eps(init):
    return init[1] if len(init) > 1 else EPS


def _layer_norm(init, state, x, *, gamma=1.0, beta=1.0, eps=_eps, **switches):
    """gamma, beta: 0 leaves that parameter out."""
    p = state or _fresh(x.shape[-1])
    scale = p["gamma"] if gamma else 1.0
    return oracle.layer_norm(x, scale, beta * p["beta"], eps(init), **switches)


def _rms_norm(init, state, x, *, scale=lambda gamma: gamma, eps=_eps, **switches):
    p = state or _fresh(x.shape[-1])
    return oracle.rms_norm(x, scale(p["gamma"]), eps(init), **switches)


def _swapped(init, state, x):
    p = state or _fresh(x.shape[-1])
    return oracle.layer_norm(x, p["beta"], p["gamma"], _eps(init))


def _beta_first(init, state, x):
    p = state or _fresh(x.shape[-1])
    return p["gamma"] * (oracle.standardise(x, _eps(init)) + p["beta"])


def shared(norm, size, flat):
    """Mistakes that both norms know. `size`: what they divide by; `flat`: a row that has none."""
    return (
        Mistake(
            "eps_outside",
            altered(norm, divide="outside"),
            "It adds eps to the root, and not under it.",
            "Where the row is small, eps under the root weighs far more.",
        ),
        Mistake(
            "no_eps",
            altered(norm, eps=lambda init: 0.0),
            f"There is no eps: {flat} is divided by 0.",
        ),
        Mistake(
            "eps_1e_6",
            altered(norm, eps=lambda init: init[1] if len(init) > 1 else 1e-6),
            "The default of eps is 1e-6; it should be 1e-5.",
        ),
        Mistake(
            "eps_fixed",
            altered(norm, eps=lambda init: EPS),
            "It uses eps = 1e-5, whatever the constructor was given.",
            "Keep it: self.eps = eps.",
        ),
        Mistake(
            "no_root",
            altered(norm, divide="variance"),
            "It divides by what stands under the root: the root is missing.",
        ),
        Mistake(
            "not_divided",
            altered(norm, divide="not"),
            f"It does not divide by {size}.",
        ),
        Mistake(
            "over_positions",
            altered(norm, axis=-2),
            "It measures along the positions, so every token changes every other.",
            ROWS,
        ),
        Mistake(
            "over_both",
            altered(norm, axis=(-2, -1)),
            "It measures over positions and features together.",
            ROWS,
        ),
        Mistake(
            "over_all",
            lambda init, state, x: norm(init, state, x, axis=tuple(range(x.ndim))),
            "It measures over the whole tensor.",
            ROWS,
        ),
    )


LAYER_NORM = Component(
    "LayerNorm",
    fixtures("gamma", "beta"),
    _layer_norm,
    call=module,
    properties=(causal(), *batch_dims("x"), *COMMON),
    mistakes=(
        Mistake(
            "unbiased_variance",
            altered(_layer_norm, correction=1),
            "The variance is divided by d - 1 instead of d.",
            "The mean of (x - μ)². torch.var and torch.std divide by d - 1 unless correction=0.",
        ),
        Mistake(
            "unbiased_eps_outside",
            altered(_layer_norm, correction=1, divide="outside"),
            "The variance is divided by d - 1 instead of d, and eps is added outside of the root.",
            "x.std(-1) + eps does both. Write sqrt(σ² + ε), with σ² the mean of (x - μ)².",
        ),
        Mistake(
            "unbiased_no_eps",
            altered(_layer_norm, correction=1, eps=lambda init: 0.0),
            "The variance is divided by d - 1 instead of d, and there is no eps.",
            "Write sqrt(σ² + ε), with σ² the mean of (x - μ)².",
        ),
        *shared(_layer_norm, "σ", "a row of equal entries"),
        Mistake(
            "mean_kept_in_x",
            altered(_layer_norm, centre=False),
            "The mean is not subtracted from x, only inside the variance.",
            "(x - μ) / sqrt(σ² + ε)",
        ),
        Mistake(
            "mean_square",
            altered(_layer_norm, about_mean=False),
            "It divides by the mean of x², not by the variance: that is the mean of (x - μ)².",
        ),
        Mistake(
            "rms",
            altered(_layer_norm, centre=False, about_mean=False),
            "It is RMSNorm with a beta: the mean is not subtracted.",
        ),
        Mistake(
            "sum_of_squares",
            altered(_layer_norm, correction=None),
            "It divides by the length of x - μ: the sum of squares, not their mean.",
        ),
        Mistake(
            "no_gamma_beta",
            altered(_layer_norm, gamma=0.0, beta=0.0),
            "It uses neither gamma nor beta.",
        ),
        Mistake("no_beta", altered(_layer_norm, beta=0.0), "It does not add beta."),
        Mistake("no_gamma", altered(_layer_norm, gamma=0.0), "It does not multiply by gamma."),
        Mistake("swapped", _swapped, "It multiplies by beta and adds gamma."),
        Mistake(
            "beta_first",
            _beta_first,
            "It adds beta before it multiplies by gamma.",
            "First γ ⊙ (...), then + β.",
        ),
    ),
    shortcuts=frozenset({"layer_norm", "LayerNorm", "native_layer_norm"}),
    look={
        "with constant rows": "μ and σ² are those of a row: dim=-1, keepdim=True.",
        "rows of deviation 0.001": "Here eps counts: it stands under the root, beside σ².",
        "as it is made": "γ = 1 and β = 0 at first.",
    },
)

RMS_NORM = Component(
    "RMSNorm",
    fixtures("gamma"),
    _rms_norm,
    call=module,
    properties=(causal(), *batch_dims("x"), *COMMON),
    mistakes=(
        Mistake(
            "layer_norm",
            altered(_rms_norm, centre=True, about_mean=True),
            "The mean is subtracted: that is LayerNorm. RMSNorm leaves it in.",
        ),
        Mistake(
            "variance",
            altered(_rms_norm, about_mean=True),
            "It divides by the standard deviation, not by the root of the mean of x².",
        ),
        Mistake(
            "mean_removed_from_x",
            altered(_rms_norm, centre=True),
            "The mean is subtracted from x. RMSNorm leaves it in.",
        ),
        Mistake(
            "norm",
            altered(_rms_norm, correction=None),
            "It divides by the length of x: the sum of squares, not their mean.",
            "The result is too small by sqrt(d).",
        ),
        Mistake(
            "unbiased",
            altered(_rms_norm, correction=1),
            "The sum of squares is divided by d - 1 instead of d.",
        ),
        *shared(_rms_norm, "the root of the mean square", "a row of zeros"),
        Mistake(
            "no_gamma",
            altered(_rms_norm, scale=lambda gamma: 1.0),
            "It does not multiply by gamma.",
        ),
        Mistake(
            "one_plus_gamma",
            altered(_rms_norm, scale=lambda gamma: 1.0 + gamma),
            "It multiplies by 1 + gamma instead of gamma.",
            "Some models store γ - 1; here gamma starts at 1.",
        ),
    ),
    shortcuts=frozenset({"rms_norm", "RMSNorm"}),
    look={
        "rows of deviation 0.001": "Here eps counts: it stands under the root, beside the mean.",
        "as it is made": "γ = 1 at first.",
    },
)
