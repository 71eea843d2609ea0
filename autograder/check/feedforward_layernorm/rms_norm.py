"""RMSNorm."""

from __future__ import annotations

from autograder.check.component import Component, module
from autograder.check.feedforward_layernorm import norms
from autograder.check.mistake import Mistake, altered
from autograder.check.properties import COMMON
from autograder.check.varied import batch_dims
from autograder.oracle import feedforward_layernorm as oracle

ROOT = "torch.sqrt((x * x).mean(-1, keepdim=True) + self.eps)"
LINE = f"self.gamma * x / {ROOT}"


def _rms_norm(init, state, x, *, scale=lambda gamma: gamma, eps=norms.given_eps, **switches):
    p = norms.parameters(state, x)
    return oracle.rms_norm(x, scale(p["gamma"]), eps(init), **switches)


def mistake(name, says, look, why, **switches):
    return Mistake(name, altered(_rms_norm, **switches), says, look, why)


RMS_NORM = Component(
    "RMSNorm",
    norms.fixtures("gamma"),
    _rms_norm,
    call=module,
    properties=(norms.ROWWISE, *batch_dims("x"), *COMMON),
    mistakes=(
        mistake(
            "layer_norm",
            "The mean is subtracted: that is LayerNorm. RMSNorm leaves it in.",
            LINE,
            "The two agree only on rows of mean 0. Weights that were trained with RMSNorm, such as "
            "Llama's, do not fit.",
            centre=True,
            about="mean",
        ),
        mistake(
            "variance",
            "It divides by the standard deviation, not by the root of the mean of x².",
            LINE,
            "A row with a large mean and little variation is blown up: 100, 101 and 102 become 122, "
            "124 and 125 instead of about 1.",
            about="mean",
        ),
        mistake(
            "mean_removed_from_x",
            "The mean is subtracted from x above the line; RMSNorm leaves it in.",
            LINE,
            "A row with a large mean nearly vanishes: 100, 101 and 102 become -0.01, 0 and 0.01 "
            "instead of 0.99, 1 and 1.01.",
            centre=True,
        ),
        mistake(
            "norm",
            "It divides by the length of x: the root of the sum of squares, not of their mean.",
            LINE,
            "The result is too small by sqrt(d): every entry by a factor of 64 in Llama, where d is "
            "4096.",
            correction=None,
        ),
        mistake(
            "norm_without_eps",
            "It divides by the length of x, as F.normalize does: the root of the sum of squares, not "
            "of their mean, and without eps.",
            LINE,
            "The result is too small by sqrt(d): every entry by a factor of 64 in Llama, where d is "
            "4096.",
            correction=None,
            eps=lambda init: 1e-24,
        ),
        mistake(
            "unbiased",
            "The sum of squares is divided by d - 1 instead of d.",
            LINE,
            "At d = 4096 it changes a result by 0.012 %, so that hardly any test shows it; at d = 5 "
            "by 10.6 %.",
            correction=1,
        ),
        mistake(
            "square_of_mean",
            "It squares the mean of x; what is asked for is the mean of the squares.",
            f"Divide by {ROOT}: square each entry, then take the mean.",
            "Entries of both signs cancel in the mean. A row whose mean is near 0 is divided by "
            "nearly nothing, and blown up.",
            squared="mean",
        ),
        *norms.shared(_rms_norm, ROOT, "a row of zeros"),
        mistake(
            "no_gamma",
            "It does not multiply by gamma.",
            LINE,
            "gamma starts at 1, so an untrained model does not show it. In trained weights it says "
            "how loud each feature is to be.",
            scale=lambda gamma: 1.0,
        ),
        mistake(
            "one_plus_gamma",
            "It multiplies by 1 + gamma instead of gamma.",
            f"{LINE}. Some models store gamma - 1; here gamma starts at 1.",
            "At first every entry is twice as large as it should be.",
            scale=lambda gamma: 1.0 + gamma,
        ),
    ),
    example=norms.example((4, 1, 0, -1), (0, 0, 0, 0)),
    shortcuts=frozenset({"rms_norm", "RMSNorm"}),
    look={
        "a small example": f"gamma is 1 here, so it is x / {ROOT}.",
        "with constant rows": f"A row of zeros stays 0, and one of 1.5 everywhere comes out as gamma. {LINE}",
        "rows of deviation 0.001": f"Here eps counts: {ROOT}.",
        "eps = 0.1": "Here the constructor is given eps: keep it in self.eps, and use that.",
        "as it is made": "gamma is 1 at first.",
        "rows of every size": LINE,
    },
    raises=norms.RAISES,
)
