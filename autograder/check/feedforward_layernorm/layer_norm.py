"""LayerNorm."""

from __future__ import annotations

from autograder.check.component import Component, module
from autograder.check.feedforward_layernorm import norms
from autograder.check.mistake import entries
from autograder.check.properties.common import COMMON
from autograder.check.properties.varied import batch_dims
from autograder.oracle import feedforward_layernorm as oracle

ROOT = "torch.sqrt(var + self.eps)"
VAR = "mean = x.mean(-1, keepdim=True) and var = ((x - mean) ** 2).mean(-1, keepdim=True)"
LINE = f"self.gamma * (x - mean) / {ROOT} + self.beta"
ALONG = "with keepdim=True, in the mean and in the variance"
WORDS = norms.Words(
    size="variance",
    above="x - mean",
    code="(x - x.mean(-1, keepdim=True))",
    result="gamma * (x - mean) + beta",
    flat="a row of equal entries",
    taken="the mean and the variance",
    along=f", {ALONG}",
    one_root="torch.sqrt(torch.sqrt(...) + self.eps) -> torch.sqrt(... + self.eps). x.std(...) is a root "
    "already: under torch.sqrt goes x.var(...), with the same arguments.",
)


def _layer_norm(init, state, x, *, gamma=1.0, beta=1.0, eps=norms.given_eps, **switches):
    """gamma, beta: 0 leaves that parameter out."""
    p = norms.parameters(state, x)
    scale = p["gamma"] if gamma else 1.0
    return oracle.layer_norm(x, scale, beta * p["beta"], eps(init), **switches)


mistake = entries(_layer_norm)


def _exchanged(inputs):
    p = norms.parameters(inputs["state"], inputs["x"])
    return {"state": {"gamma": p["beta"], "beta": p["gamma"]}}


LAYER_NORM = Component(
    "LayerNorm",
    norms.fixtures("gamma", "beta"),
    _layer_norm,
    call=module,
    properties=(norms.rowwise(f"Take dim=-1, {ALONG}."), *batch_dims("x"), *COMMON),
    mistakes=(
        mistake(
            "unbiased_variance",
            "The sum of (x - mean)**2 is divided by d - 1; it should be divided by d.",
            "x.var(-1, keepdim=True) -> x.var(-1, keepdim=True, correction=0), or / (d - 1) -> / "
            "d: torch.var and torch.std divide by d - 1 unless told otherwise.",
            "At d = 768 it changes a result by 0.065 %, so that hardly any test shows it, and no "
            "weights of others give quite the same numbers. At d = 5 it is 10.6 %.",
            correction=1,
        ),
        mistake(
            "unbiased_eps_outside",
            "It divides by the deviation over d - 1, plus eps, as in x.std() + eps; it should be over d, "
            "with eps under the root: sqrt(variance + eps).",
            "x.std(-1, keepdim=True) + self.eps -> torch.sqrt(x.var(-1, keepdim=True, correction=0) + "
            "self.eps)",
            "At d = 768 and a deviation of 1 it changes results by 0.07 % only. A row of deviation "
            "0.001 comes out more than three times as large as it should.",
            correction=1,
            divide="outside",
        ),
        mistake(
            "unbiased_no_eps",
            "It divides by the deviation over d - 1, without eps, as in x.std(); it should be over d, with "
            "eps: sqrt(variance + eps). Rows of equal entries give 0 / 0.",
            "x.std(-1, keepdim=True) -> torch.sqrt(x.var(-1, keepdim=True, correction=0) + self.eps)",
            "A row of equal entries gives 0 / 0, which is NaN, and through attention the NaN spreads "
            "to the other positions.",
            correction=1,
            eps=lambda init: 0.0,
        ),
        mistake(
            "unbiased_eps_too_weak",
            "It divides by the deviation over d - 1, and eps only prevents 0 / 0, as in x.std() + 1e-8; it "
            "should be over d: sqrt(variance + eps).",
            "x.std(-1, keepdim=True) + 1e-8 -> torch.sqrt(x.var(-1, keepdim=True, correction=0) + "
            "self.eps)",
            "At d = 768 and a deviation of 1 it changes results by 0.07 % only. A row of deviation "
            "0.001 comes out more than three times as large as it should.",
            correction=1,
            eps=lambda init: 1e-24,
        ),
        *norms.shared(_layer_norm, WORDS),
        mistake(
            "variance_of_all",
            "The variance is that of the whole tensor, about the tensor's own mean, as in x.var() without "
            "dim; it should be that of each row.",
            "x.var(correction=0) -> x.var(-1, keepdim=True, correction=0)",
            "A loud row turns all others down, those before it included: the later tokens leak, and "
            "so do the other sentences of the batch.",
            var_axis=None,
        ),
        mistake(
            "squares_of_all",
            "(x - mean)**2 is averaged over the whole tensor, as in .mean() without dim; it should be "
            "averaged over each row.",
            "(...).mean() -> (...).mean(-1, keepdim=True), of the squares",
            "A loud row turns all others down, those before it included: the later tokens leak, and "
            "so do the other sentences of the batch.",
            pool_axis=None,
        ),
        mistake(
            "mean_of_all",
            "It subtracts from x the mean of the whole tensor, as x.mean() without dim; it should be that of "
            "each row. The variance is right.",
            "x - x.mean() -> x - x.mean(-1, keepdim=True), above the division",
            "Every row moves when another one does: the later tokens leak, and so do the other "
            "sentences of the batch.",
            axis=None,
            var_axis=-1,
        ),
        mistake(
            "mean_of_all_throughout",
            "The mean is that of the whole tensor, as x.mean() without dim, in x - mean and in the "
            "variance; it should be that of each row.",
            "x.mean() -> x.mean(-1, keepdim=True), where you take the mean of x",
            "Every row moves when another one does: the later tokens leak, and so do the other "
            "sentences of the batch.",
            axis=None,
            pool_axis=-1,
        ),
        mistake(
            "mean_kept_in_x",
            "It divides x by the root; it should divide x - mean. The variance is right.",
            "x / torch.sqrt(...) -> (x - x.mean(-1, keepdim=True)) / torch.sqrt(...)",
            "What all features of a row have in common stays in, and is even blown up where the row "
            "varies little.",
            centre=False,
        ),
        mistake(
            "mean_square",
            "Under the root is the mean of x**2; it should be the mean of (x - mean)**2.",
            "(x ** 2).mean(...) -> ((x - x.mean(-1, keepdim=True)) ** 2).mean(...), under the root",
            "A row with a large mean is divided by that mean, so that its features come out nearly "
            "equal: 100, 101 and 102 become -0.01, 0 and 0.01.",
            about="zero",
        ),
        mistake(
            "rms",
            "No mean is subtracted, as in RMSNorm; x - mean should stand in both places: above "
            "the division and, squared, under the root.",
            "x -> x - x.mean(-1, keepdim=True), before the division and under the root",
            "A row with a large mean comes out nearly constant: 100, 101 and 102 become 0.99, 1 and "
            "1.01, where LayerNorm gives -1.22, 0 and 1.22.",
            centre=False,
            about="zero",
        ),
        *norms.lengths(
            _layer_norm,
            "sum_of_squares",
            "x - mean",
            "every entry by a factor of 28 in GPT-2, where d is 768",
        ),
        mistake(
            "no_gamma_beta",
            "It uses neither gamma nor beta; it should be gamma * (...) + beta.",
            "(x - ...) / torch.sqrt(...) -> self.gamma * (x - ...) / torch.sqrt(...) + self.beta",
            "They start at 1 and 0, so an untrained model does not show it. GPT-2 has learnt them, "
            "and its weights would give other logits.",
            gamma=0.0,
            beta=0.0,
        ),
        mistake(
            "no_beta",
            "It does not add beta: it is gamma * (...); it should be gamma * (...) + beta.",
            "In the return: + self.beta at the end",
            "It starts at 0, so an untrained model does not show it. GPT-2's trained beta is not 0, "
            "and its weights would give other logits.",
            beta=0.0,
        ),
        mistake(
            "no_gamma",
            "It does not multiply by gamma: it is (...) + beta; it should be gamma * (...) + beta.",
            "In the return: self.gamma * in front, before + self.beta",
            "It starts at 1, so an untrained model does not show it. GPT-2 has learnt how loud each "
            "feature is to be, and its weights would give other logits.",
            gamma=0.0,
        ),
        mistake(
            "swapped",
            "gamma and beta are swapped: it is beta * (...) + gamma; it should be gamma * (...) + beta.",
            "self.beta * (...) + self.gamma -> self.gamma * (...) + self.beta",
            "beta is 0 at first, and so the output is 1 everywhere, whatever x is: no gradient "
            "comes back through the norm.",
            before=_exchanged,
        ),
        mistake(
            "beta_first",
            "gamma multiplies beta too: it is gamma * (... + beta); it should be gamma * (...) + beta.",
            "Mind the parentheses: self.gamma * (... + self.beta) -> self.gamma * (...) + self.beta",
            "The offset becomes gamma beta. A model that you train yourself learns around it; with "
            "GPT-2's weights every offset is wrong.",
            beta_first=True,
        ),
    ),
    example=norms.example(((5, 1, 0), (0, 0, 0)), ((2, 3, -2), (0, 4, 2))),
    shortcuts=frozenset({"layer_norm", "LayerNorm", "native_layer_norm"}),
    look={
        "a small example": f"gamma is 1 and beta 0 here, so it is (x - mean) / {ROOT}, where {VAR}. In a row "
        "of equal entries var is 0, and eps alone is left under the root.",
        norms.FLAT: f"In such a row x - mean is 0 and beta is left. Take dim=-1, {ALONG}.",
        norms.TINY: f"Here eps counts: {ROOT}, where {VAR}.",
        "eps = 0.1": "Here the constructor is given eps: keep it in self.eps, and use that.",
        norms.fresh("gamma", "beta"): "gamma is 1 and beta 0 at first.",
        norms.ROWS: f"{LINE}, where {VAR}.",
    },
    raises=norms.RAISES,
)
