"""RMSNorm."""

from __future__ import annotations

from autograder.check.component import Component, module
from autograder.check.feedforward_layernorm import norms
from autograder.check.mistake import entries
from autograder.check.properties.common import COMMON
from autograder.check.properties.varied import batch_dims
from autograder.oracle import feedforward_layernorm as oracle

ROOT = "torch.sqrt((x * x).mean(-1, keepdim=True) + self.eps)"
LINE = f"self.gamma * x / {ROOT}"
ALONG = "(x * x).mean(dim=-1, keepdim=True)"
WORDS = norms.Words(
    size="mean(x**2)",
    above="x",
    code="self.gamma * x",
    result="gamma * x",
    flat="a row of zeros",
    taken="the mean of x**2",
    along=f" in {ALONG}",
    one_root="torch.sqrt(torch.sqrt(...) + self.eps) -> torch.sqrt(... + self.eps)",
)


def _rms_norm(init, state, x, *, scale=lambda gamma: gamma, eps=norms.given_eps, **switches):
    p = norms.parameters(state, x)
    return oracle.rms_norm(x, scale(p["gamma"]), eps(init), **switches)


mistake = entries(_rms_norm)


RMS_NORM = Component(
    "RMSNorm",
    norms.fixtures("gamma"),
    _rms_norm,
    call=module,
    properties=(
        norms.rowwise(f"Take the mean square along the last axis only: {ALONG}."),
        *batch_dims("x"),
        *COMMON,
    ),
    mistakes=(
        mistake(
            "layer_norm",
            "The mean is subtracted from x before the division and under the root: that is LayerNorm; "
            "RMSNorm subtracts no mean.",
            "x - x.mean(...) -> x, before the division and under the root",
            "The two agree only on rows of mean 0. Weights that were trained with RMSNorm, such as "
            "Llama's, do not fit.",
            centre=True,
            about="mean",
        ),
        mistake(
            "variance",
            "Under the root is the variance, the mean of (x - mean)**2; it should be the mean of x**2.",
            f"x.var(..., correction=0), or the mean of (x - mean)**2 -> {ALONG}",
            "A row with a large mean and little variation is blown up: 100, 101 and 102 become 122, "
            "124 and 125 instead of about 1.",
            about="mean",
        ),
        mistake(
            "unbiased_variance",
            "Under the root is the variance over d - 1, as in x.var(); it should be the mean of x**2.",
            f"x.var(-1, keepdim=True) -> {ALONG}",
            "A row with a large mean and little variation is blown up: 100, 101 and 102 become 100, "
            "101 and 102 instead of about 1.",
            about="mean",
            correction=1,
        ),
        mistake(
            "deviation_plus_eps",
            "It divides by the deviation over d - 1, plus eps, as in x.std() + eps; it should divide by "
            "the root of the mean of x**2, with eps under the root.",
            f"x.std(-1, keepdim=True) + self.eps -> {ROOT}",
            "A row with a large mean and little variation is blown up: 100, 101 and 102 become 100, "
            "101 and 102 instead of about 1.",
            about="mean",
            correction=1,
            divide="outside",
        ),
        mistake(
            "mean_removed_from_x",
            "It divides x - mean by the root; it should divide x. Under the root it is right.",
            "(x - x.mean(...)) / torch.sqrt(...) -> x / torch.sqrt(...)",
            "A row with a large mean nearly vanishes: 100, 101 and 102 become -0.01, 0 and 0.01 "
            "instead of 0.99, 1 and 1.01.",
            centre=True,
        ),
        *norms.lengths(
            _rms_norm, "norm", "x", "every entry by a factor of 64 in Llama, where d is 4096"
        ),
        mistake(
            "unbiased",
            "The sum of x**2 is divided by d - 1; it should be divided by d.",
            f"(x * x).sum(...) / (d - 1) -> {ALONG}",
            "At d = 4096 it changes a result by 0.012 %, so that hardly any test shows it; at d = 5 "
            "by 10.6 %.",
            correction=1,
        ),
        mistake(
            "square_of_mean",
            "Under the root is the square of the mean, mean(x)**2; it should be the mean of the squares, "
            "mean(x**2).",
            "x.mean(-1, keepdim=True) ** 2 -> (x ** 2).mean(-1, keepdim=True)",
            "Entries of both signs cancel in the mean. A row whose mean is near 0 is divided by "
            "nearly nothing, and blown up.",
            squared="mean",
        ),
        *norms.shared(_rms_norm, WORDS),
        mistake(
            "no_gamma",
            "It does not multiply by gamma: it is x / sqrt(...); it should be gamma * x / "
            "sqrt(...).",
            "In the return: self.gamma * in front",
            "gamma starts at 1, so an untrained model does not show it. In trained weights it says "
            "how loud each feature is to be.",
            scale=lambda gamma: 1.0,
        ),
        mistake(
            "one_plus_gamma",
            "It multiplies by 1 + gamma; it should multiply by gamma.",
            "(1 + self.gamma) * x -> self.gamma * x. Some models store gamma - 1; here gamma starts at 1.",
            "At first every entry is twice as large as it should be.",
            scale=lambda gamma: 1.0 + gamma,
        ),
    ),
    example=norms.example(((5, 1, 0), (0, 0, 0)), ((2, 3, -2), (0, 4, 2))),
    shortcuts=frozenset({"rms_norm", "RMSNorm"}),
    look={
        "a small example": f"gamma is 1 here, so it is x / {ROOT}. In a row of zeros eps alone is left "
        "under the root.",
        norms.FLAT: f"A row of zeros stays 0, and one of 1.5 everywhere comes out as gamma. {LINE}",
        norms.TINY: f"Here eps counts: {ROOT}.",
        "eps = 0.1": "Here the constructor is given eps: keep it in self.eps, and use that.",
        norms.fresh("gamma"): "gamma is 1 at first.",
        norms.ROWS: LINE,
    },
    raises=norms.RAISES,
)
