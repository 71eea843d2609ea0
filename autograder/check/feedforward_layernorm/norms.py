"""What LayerNorm and RMSNorm have in common: few features and tiny rows, where mistakes are large.

At d = 768 and variance 1, the wrong variance and a misplaced eps change the fourth decimal at most.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from autograder.check.draw import choice, normal
from autograder.check.mistake import entries
from autograder.check.parts import Fixture
from autograder.check.properties.common import causal

EPS = 1e-5
FLAT = "rows of equal entries"
TINY = "rows of entries near 0.001"
ROWS = "rows of small and large entries"
STARTS = {"gamma": 1, "beta": 0}
BROADCAST = "keepdim=True keeps the axis, so that the number of each row broadcasts over the row."
RAISES = {
    "missing:": "The parameters are named gamma and beta, each an nn.Parameter of this module. "
    "(RMSNorm has gamma only.)",
    "not expected:": "RMSNorm has one parameter, gamma; LayerNorm has two, gamma and beta.",
    "must match the size": BROADCAST,
    "ddof": "x.var(-1, keepdim=True, correction=0): ddof is NumPy's word.",
    "converted to": "math.sqrt takes one number; torch.sqrt takes a tensor, entry by entry.",
    "must be Tensor, not": "torch.sqrt takes a tensor; for a plain number it is math.sqrt.",
}


def fresh(*names):
    """What to call a norm that has just been made."""
    return f"fresh: {', '.join(f'{name} = {STARTS[name]}' for name in names)}"


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
            Fixture(FLAT, norm(flat), weight=1.0),
            Fixture(TINY, norm(normal(rng, B, T, d, std=1e-3))),
            Fixture("eps = 0.1", norm(normal(rng, B, T, d, std=0.5), 0.1), weight=1.0),
            Fixture(fresh(*names), norm(x, made=True), weight=1.0),
            Fixture(ROWS, norm(x), weight=3.0),
        ]

    return make


def rowwise(look):
    """The leak test, and where to look for a leak in a norm."""
    leak = causal()

    def verdict(c, inputs, answers):
        trouble = leak.verdict(c, inputs, answers)
        return trouble and replace(trouble, look=f"Each row is normalised by itself. {look}")

    return replace(leak, verdict=verdict)


def example(*sentences):
    """A new norm, and two sentences of two rows: what goes over batch, positions or all differs."""
    return {"init": (len(sentences[0][0]),), "state": None, "x": np.float32(sentences)}


def parameters(state, x):
    """Those that are given, or those of a norm that has just been made."""
    d = x.shape[-1]
    return state or {"gamma": np.ones(d), "beta": np.zeros(d)}


def given_eps(init):
    return init[1] if len(init) > 1 else EPS


def _plus_eps(result, inputs):
    return result + given_eps(inputs["init"])


def _plus_scaled_eps(result, inputs):
    gamma = parameters(inputs["state"], inputs["x"])["gamma"]
    return result + gamma * given_eps(inputs["init"])


def default_eps(value):
    return lambda init: init[1] if len(init) > 1 else value


@dataclass(frozen=True)
class Words:
    """How the messages on mistakes of both norms name what one of them computes."""

    size: str  # what stands under the root, beside eps
    above: str  # what is divided
    code: str  # the same, as code
    result: str  # without the division
    flat: str  # a row where the size is 0
    taken: str  # what is taken along an axis
    along: str  # how that is written
    one_root: str  # a look: in place of two roots


def shared(norm, words):
    """Mistakes that both norms know."""

    mistake = entries(norm)

    def default(name, value, why):
        return mistake(
            name,
            f"The default of eps is {value}; it should be 1e-5.",
            f"In __init__: eps={value} -> eps=1e-5",
            why,
            eps=default_eps(float(value)),
        )

    def over(name, where, dim, why, axis):
        return mistake(
            name,
            f"It takes {words.taken} {where}; it should be along the features alone, dim=-1.",
            f"{dim} -> dim=-1{words.along}",
            why,
            axis=axis,
        )

    root = f"sqrt({words.size} + eps)"
    return (
        mistake(
            "eps_outside",
            f"It adds eps outside the root, sqrt({words.size}) + eps; it should be under it, {root}.",
            "torch.sqrt(...) + self.eps -> torch.sqrt(... + self.eps)",
            "A row of entries of about 0.001 should come out about 0.30 in size, since eps under the "
            "root outweighs them. So it comes out 0.99 in size.",
            divide="outside",
        ),
        mistake(
            "no_eps",
            f"It has no eps under the root: it is sqrt({words.size}), which is 0 in {words.flat}, so "
            f"that 0 / 0 comes out; it should be {root}.",
            "torch.sqrt(...) -> torch.sqrt(... + self.eps)",
            "0 / 0 is NaN. One such row is enough: through attention the NaN spreads to the other "
            "positions, and through the loss to every parameter.",
            eps=lambda init: 0.0,
        ),
        mistake(
            "eps_after_division",
            f"It adds eps after the division, ... / sqrt({words.size}) + eps; eps should be under the root, "
            f"{root}.",
            "... / torch.sqrt(...) + self.eps -> ... / torch.sqrt(... + self.eps): mind the parentheses.",
            f"It then keeps nothing from being divided by 0: {words.flat} gives 0 / 0, which is NaN, and "
            "through attention the NaN spreads to the other positions.",
            eps=lambda init: 0.0,
            after=_plus_eps,
        ),
        mistake(
            "eps_after_division_before_gamma",
            f"It adds eps after the division, and gamma multiplies it too: gamma * (... / "
            f"sqrt({words.size}) + eps); eps should be under the root, {root}.",
            "... / torch.sqrt(...) + self.eps -> ... / torch.sqrt(... + self.eps): mind the parentheses.",
            f"It then keeps nothing from being divided by 0: {words.flat} gives 0 / 0, which is NaN, and "
            "through attention the NaN spreads to the other positions.",
            eps=lambda init: 0.0,
            after=_plus_scaled_eps,
        ),
        mistake(
            "eps_too_weak",
            f"It divides by sqrt({words.size}), with a clamp or a tiny addend only against 0 / 0; it "
            f"should divide by {root}, with the eps of the constructor.",
            "sqrt(s).clamp(...), sqrt(s) + 1e-12 or sqrt(s + 1e-12) -> torch.sqrt(s + self.eps), where "
            f"s is the {words.size}",
            "A row of entries of about 0.001 should come out about 0.30 in size, since eps under the "
            "root outweighs them. So it comes out 1 in size.",
            eps=lambda init: 1e-24,
        ),
        default(
            "eps_1e_3",
            "1e-3",
            "That is the default in Keras. Rows of deviation 0.001 then come out 9.5 times smaller "
            "than they should.",
        ),
        default(
            "eps_1e_6",
            "1e-6",
            "That is the default in Flax. Rows of deviation 0.001 then come out 2.3 times as "
            "large as they should.",
        ),
        default(
            "eps_1e_8",
            "1e-8",
            "That is Adam's eps. Rows of deviation 0.001 then come out 3.3 times as large as "
            "they should.",
        ),
        default(
            "eps_1e_12",
            "1e-12",
            "That is BERT's eps. Rows of deviation 0.001 then come out 3.3 times as large as "
            "they should.",
        ),
        mistake(
            "eps_fixed",
            "It uses eps = 1e-5 whatever eps the constructor is given; it should use the given one.",
            "In __init__: self.eps = 1e-5 -> self.eps = eps. If that is right: in forward, 1e-5 "
            "-> self.eps",
            "A model that was trained with another eps, such as BERT with 1e-12 or the first Llama "
            "with 1e-6, could not use this class.",
            eps=lambda init: EPS,
        ),
        mistake(
            "no_root",
            f"It divides by {words.size} + eps; it should divide by the root of that, {root}.",
            "/ (... + self.eps) -> / torch.sqrt(... + self.eps)",
            "A row that is ten times larger should come out the same. So it comes out ten times "
            "smaller.",
            divide="variance",
        ),
        mistake(
            "root_twice",
            f"It takes the root twice, sqrt(sqrt({words.size}) + eps); it should be {root}.",
            words.one_root,
            "A row that is a hundred times larger should come out the same. So it comes out ten "
            "times larger, and the stream's growth reaches every sub-layer.",
            divide="root twice",
        ),
        mistake(
            "root_of_root",
            f"It takes the root of the root, sqrt({root}); it should take one root, {root}.",
            "torch.sqrt(torch.sqrt(... + self.eps)) -> torch.sqrt(... + self.eps)",
            "A row that is a hundred times larger should come out the same. So it comes out ten "
            "times larger, and the stream's growth reaches every sub-layer.",
            divide="fourth root",
        ),
        mistake(
            "multiplied",
            f"It multiplies {words.above} by {root}; it should divide by it.",
            "* torch.sqrt(...) -> / torch.sqrt(...), or / torch.rsqrt(...) -> * torch.rsqrt(...)",
            "Rows that are large get larger still: one of size 3 comes out with size 9 instead of "
            "1.",
            divide="multiply",
        ),
        mistake(
            "not_divided",
            f"The division by {root} is missing: it returns {words.result}.",
            f"{words.code} -> {words.code} / torch.sqrt(... + self.eps)",
            "The sub-layer reads numbers as large as the stream has grown, which is what the norm is "
            "there to prevent.",
            divide="nothing",
        ),
        over(
            "over_positions",
            "along the positions, dim=-2",
            "dim=-2 (or 1)",
            "The later tokens leak. A small model with such a LayerNorm reached a validation loss of "
            "2.07, where 2.36 was right, and 3.02 once it saw the past only, as in generation.",
            -2,
        ),
        over(
            "over_both",
            "over positions and features together, dim=(-2, -1)",
            "dim=(-2, -1)",
            "The later tokens leak: how large they are changes what every earlier position reads.",
            (-2, -1),
        ),
        over(
            "over_batch",
            "along the batch, dim=0",
            "dim=0",
            "What comes out for a sentence depends on the others in its batch, and is something else "
            "when it comes alone, as in generation.",
            0,
        ),
        over(
            "over_batch_and_positions",
            "over batch and positions together, dim=(0, 1)",
            "dim=(0, 1)",
            "The later tokens leak, and so do the other sentences of the batch.",
            (0, 1),
        ),
        over(
            "over_all",
            "over the whole tensor, as without dim",
            "No dim",
            "Each row depends on all others, on later tokens and on other sentences; and a quiet row "
            "beside a loud one stays quiet.",
            None,
        ),
    )


def lengths(norm, summed, what, factor):
    """Divisions by the length of `what`, rather than by the root of the mean of its squares.

    summed  the name of the first
    """
    why = f"The result is too small by sqrt(d): {factor}."
    above = f"({what})" if " " in what else what
    squares = f"{above}**2"
    right = f"the root of the mean of {squares}"

    def mistake(name, says, look, **switches):
        return entries(norm)(name, says, look, why, correction=None, **switches)

    return (
        mistake(
            summed,
            f"{squares} is summed over the row; it should be averaged: sqrt(mean + eps), not sqrt(sum + "
            "eps).",
            "(...).sum(-1, keepdim=True) -> (...).mean(-1, keepdim=True), of the squares",
        ),
        mistake(
            "norm_plus_eps",
            f"It divides by the length of {what}, plus eps; it should divide by {right}, with eps under "
            "the root.",
            "The length, .norm(dim=-1, keepdim=True) + self.eps -> torch.sqrt((... ** 2).mean(-1, keepdim=True) + "
            "self.eps)",
            divide="outside",
        ),
        mistake(
            "norm_without_eps",
            f"It divides by the norm of {what} (root of the SUM of squares), without eps; it should "
            f"divide by the root of the MEAN of {squares}, with eps under the root.",
            f"normalize({what}, dim=-1), or {above} / its length -> {above} / "
            f"torch.sqrt(({above} ** 2).mean(-1, keepdim=True) + self.eps)",
            eps=lambda init: 1e-24,
        ),
    )
