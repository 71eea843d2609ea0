"""LayerNorm."""

from __future__ import annotations

from autograder.check.component import Component, module
from autograder.check.feedforward_layernorm import norms
from autograder.check.mistake import Mistake, altered
from autograder.check.properties import COMMON
from autograder.check.varied import batch_dims
from autograder.oracle import feedforward_layernorm as oracle

ROOT = "torch.sqrt(var + self.eps)"
VAR = "var is ((x - mean) ** 2).mean(-1, keepdim=True)"
LINE = f"self.gamma * (x - mean) / {ROOT} + self.beta"


def _layer_norm(init, state, x, *, gamma=1.0, beta=1.0, eps=norms.given_eps, **switches):
    """gamma, beta: 0 leaves that parameter out."""
    p = norms.parameters(state, x)
    scale = p["gamma"] if gamma else 1.0
    return oracle.layer_norm(x, scale, beta * p["beta"], eps(init), **switches)


def mistake(name, says, look, why, **switches):
    return Mistake(name, altered(_layer_norm, **switches), says, look, why)


def _exchanged(inputs):
    p = norms.parameters(inputs["state"], inputs["x"])
    return {"state": {"gamma": p["beta"], "beta": p["gamma"]}}


LAYER_NORM = Component(
    "LayerNorm",
    norms.fixtures("gamma", "beta"),
    _layer_norm,
    call=module,
    properties=(norms.ROWWISE, *batch_dims("x"), *COMMON),
    mistakes=(
        mistake(
            "unbiased_variance",
            "The variance is divided by d - 1 instead of d.",
            "x.var(-1, keepdim=True, correction=0): torch.var and torch.std divide by d - 1 unless "
            "told otherwise.",
            "At d = 768 it changes a result by 0.065 %, so that hardly any test shows it, and no "
            "weights of others give quite the same numbers. At d = 5 it is 10.6 %.",
            correction=1,
        ),
        mistake(
            "unbiased_eps_outside",
            "The variance is divided by d - 1 instead of d, and eps is added outside of the root.",
            f"x.std(-1) + eps does both. Write {ROOT}, where {VAR}.",
            "At d = 768 and a deviation of 1 it changes results by 0.07 % only. A row of deviation "
            "0.001 comes out more than three times as large as it should.",
            correction=1,
            divide="outside",
        ),
        mistake(
            "unbiased_no_eps",
            "The variance is divided by d - 1 instead of d, and there is no eps.",
            f"x.std(-1) alone does that. Write {ROOT}, where {VAR}.",
            "A row of equal entries gives 0 / 0, which is NaN, and through attention the NaN spreads "
            "to the other positions.",
            correction=1,
            eps=lambda init: 0.0,
        ),
        mistake(
            "unbiased_eps_too_weak",
            "The variance is divided by d - 1 instead of d, and eps hardly counts, as in x.std(-1) + "
            "1e-8.",
            f"Write {ROOT}, where {VAR}.",
            "At d = 768 and a deviation of 1 it changes results by 0.07 % only. A row of deviation "
            "0.001 comes out more than three times as large as it should.",
            correction=1,
            eps=lambda init: 1e-24,
        ),
        *norms.shared(_layer_norm, f"{ROOT}, where {VAR}", "a row of equal entries"),
        mistake(
            "variance_of_all",
            "The mean is that of each row, but the variance that of the whole tensor.",
            "var needs the axis, too: x.var(-1, keepdim=True, correction=0).",
            "A loud row turns all others down, those before it included: the later tokens leak, and "
            "so do the other sentences of the batch.",
            var_axis=None,
        ),
        mistake(
            "mean_of_all",
            "The variance is that of each row, but the mean that of the whole tensor.",
            "mean needs the axis, too: x.mean(-1, keepdim=True).",
            "Every row moves when another one does: the later tokens leak, and so do the other "
            "sentences of the batch.",
            axis=None,
            var_axis=-1,
        ),
        mistake(
            "mean_kept_in_x",
            "The mean is not subtracted from x, only inside the variance.",
            LINE,
            "What all features of a row have in common stays in, and is even blown up where the row "
            "varies little.",
            centre=False,
        ),
        mistake(
            "mean_square",
            "It divides by the root of the mean of x², not of the mean of (x - mean)².",
            f"Divide by {ROOT}, where {VAR}.",
            "A row with a large mean is divided by that mean, so that its features come out nearly "
            "equal: 100, 101 and 102 become -0.01, 0 and 0.01.",
            about="zero",
        ),
        mistake(
            "rms",
            "It is RMSNorm with a beta: the mean is subtracted neither from x nor in the variance.",
            f"{LINE}, where mean is x.mean(-1, keepdim=True) and {VAR}.",
            "A row with a large mean comes out nearly constant: 100, 101 and 102 become 0.99, 1 and "
            "1.01, where LayerNorm gives -1.22, 0 and 1.22.",
            centre=False,
            about="zero",
        ),
        mistake(
            "sum_of_squares",
            "It divides by the length of x - mean: the root of the sum of squares, not their mean.",
            f"Divide by {ROOT}, where {VAR}.",
            "The result is too small by sqrt(d): every entry by a factor of 28 in GPT-2, where d is "
            "768.",
            correction=None,
        ),
        mistake(
            "no_gamma_beta",
            "It uses neither gamma nor beta.",
            LINE,
            "They start at 1 and 0, so an untrained model does not show it. GPT-2 has learnt them, "
            "and its weights would give other logits.",
            gamma=0.0,
            beta=0.0,
        ),
        mistake(
            "no_beta",
            "It does not add beta.",
            LINE,
            "It starts at 0, so an untrained model does not show it. GPT-2's trained beta is not 0, "
            "and its weights would give other logits.",
            beta=0.0,
        ),
        mistake(
            "no_gamma",
            "It does not multiply by gamma.",
            LINE,
            "It starts at 1, so an untrained model does not show it. GPT-2 has learnt how loud each "
            "feature is to be, and its weights would give other logits.",
            gamma=0.0,
        ),
        mistake(
            "swapped",
            "It multiplies by beta and adds gamma.",
            LINE,
            "beta is 0 at first, and so the output is 1 everywhere, whatever x is: no gradient "
            "comes back through the norm.",
            before=_exchanged,
        ),
        mistake(
            "beta_first",
            "It adds beta before it multiplies by gamma.",
            f"{LINE}: first gamma, then beta.",
            "The offset becomes gamma beta. A model that you train yourself learns around it; with "
            "GPT-2's weights every offset is wrong.",
            beta_first=True,
        ),
    ),
    example=norms.example((4, 1, 0, -1), (2, 2, 2, 2)),
    shortcuts=frozenset({"layer_norm", "LayerNorm", "native_layer_norm"}),
    look={
        "a small example": f"gamma is 1 and beta 0 here, so it is (x - mean) / {ROOT}, where {VAR}.",
        "with constant rows": f"In such a row x - mean is 0 and beta is left. {norms.ROWS}",
        "rows of deviation 0.001": f"Here eps counts: {ROOT}, where {VAR}.",
        "eps = 0.1": "Here the constructor is given eps: keep it in self.eps, and use that.",
        "as it is made": "gamma is 1 and beta 0 at first.",
        "rows of every size": f"{LINE}, where {VAR}.",
    },
    raises=norms.RAISES,
)
