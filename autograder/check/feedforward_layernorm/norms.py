"""What LayerNorm and RMSNorm have in common: few features and tiny rows, where mistakes are large.

At d = 768 and variance 1, the wrong variance and a misplaced eps change the fourth decimal at most.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture
from autograder.check.draw import choice, normal
from autograder.check.properties import causal

EPS = 1e-5
ROWS = "Measure along the last axis only: x.mean(dim=-1, keepdim=True)."
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


def _rowwise():
    """The leak test, and where to look for a leak in a norm."""
    leak = causal()

    def verdict(c, inputs, answers):
        trouble = leak.verdict(c, inputs, answers)
        return trouble and replace(trouble, look=f"Each row is normalised by itself. {ROWS}")

    return replace(leak, verdict=verdict)


ROWWISE = _rowwise()


def example(*rows):
    """A new norm, and a batch of one."""
    return {"init": (len(rows[0]),), "state": None, "x": np.float32([rows])}


def parameters(state, x):
    """Those that are given, or those of a norm that has just been made."""
    d = x.shape[-1]
    return state or {"gamma": np.ones(d), "beta": np.zeros(d)}


def given_eps(init):
    return init[1] if len(init) > 1 else EPS


def default_eps(value):
    return lambda init: init[1] if len(init) > 1 else value


def shared(norm, line, flat):
    """Mistakes that both norms know.

    line  what stands under the root, and the root
    flat  a row where that is 0
    """

    def mistake(name, says, look, why, **switches):
        return Mistake(name, altered(norm, **switches), says, look, why)

    return (
        mistake(
            "eps_outside",
            "It adds eps to the root, and not under it.",
            f"Divide by {line}.",
            "A row of entries of about 0.001 should come out about 0.30 in size, since eps under the "
            "root outweighs them. So it comes out 0.99 in size.",
            divide="outside",
        ),
        mistake(
            "no_eps",
            f"There is no eps: {flat} is divided by 0.",
            f"Divide by {line}.",
            "0 / 0 is NaN. One such row is enough: through attention the NaN spreads to the other "
            "positions, and through the loss to every parameter.",
            eps=lambda init: 0.0,
        ),
        mistake(
            "eps_too_weak",
            f"As it stands, eps hardly counts: {flat} is saved from 0 / 0, and all others come out as "
            "if it were 0.",
            f"Divide by {line}. A minimum of the root, or a tiny number added to it, does not do "
            "the same.",
            "A row of entries of about 0.001 should come out about 0.30 in size, since eps under the "
            "root outweighs them. So it comes out 1 in size.",
            eps=lambda init: 1e-24,
        ),
        mistake(
            "eps_1e_3",
            "The default of eps is 1e-3; it should be 1e-5.",
            "def __init__(self, d_model, eps=1e-5)",
            "That is the default in Keras. Rows of deviation 0.001 then come out 9.5 times smaller "
            "than they should.",
            eps=default_eps(1e-3),
        ),
        mistake(
            "eps_1e_6",
            "The default of eps is 1e-6; it should be 1e-5.",
            "def __init__(self, d_model, eps=1e-5)",
            "That is the default in Flax. Rows of deviation 0.001 then come out 2.3 times as "
            "large as they should.",
            eps=default_eps(1e-6),
        ),
        mistake(
            "eps_1e_8",
            "The default of eps is 1e-8; it should be 1e-5.",
            "def __init__(self, d_model, eps=1e-5)",
            "That is Adam's eps. Rows of deviation 0.001 then come out 3.3 times as large as "
            "they should.",
            eps=default_eps(1e-8),
        ),
        mistake(
            "eps_1e_12",
            "The default of eps is 1e-12; it should be 1e-5.",
            "def __init__(self, d_model, eps=1e-5)",
            "That is BERT's eps. Rows of deviation 0.001 then come out 3.3 times as large as "
            "they should.",
            eps=default_eps(1e-12),
        ),
        mistake(
            "eps_fixed",
            "It uses eps = 1e-5, whatever the constructor was given.",
            "Keep it in __init__ (self.eps = eps), and use self.eps in forward.",
            "A model that was trained with another eps, such as BERT with 1e-12 or the first Llama "
            "with 1e-6, could not use this class.",
            eps=lambda init: EPS,
        ),
        mistake(
            "no_root",
            "It divides by what stands under the root: the root is missing.",
            f"Divide by {line}.",
            "A row that is ten times larger should come out the same. So it comes out ten times "
            "smaller.",
            divide="variance",
        ),
        mistake(
            "root_twice",
            "It takes the root twice: what stands under the second root is a root already.",
            f"Divide by {line}. x.std() and x.norm() hold a root already.",
            "A row that is a hundred times larger should come out the same. So it comes out ten "
            "times larger, and the stream's growth reaches every sub-layer.",
            divide="root twice",
        ),
        mistake(
            "multiplied",
            "It multiplies by the root instead of dividing by it.",
            f"Divide by {line}. torch.rsqrt is 1 / sqrt: multiply by that one.",
            "Rows that are large get larger still: one of size 3 comes out with size 9 instead of "
            "1.",
            divide="multiply",
        ),
        mistake(
            "not_divided",
            "It does not divide by the size of the row.",
            f"Divide by {line}.",
            "The sub-layer reads numbers as large as the stream has grown, which is what the norm is "
            "there to prevent.",
            divide="nothing",
        ),
        mistake(
            "over_positions",
            "It measures along the positions (dim=-2), so that every token changes every other.",
            ROWS,
            "The later tokens leak. A small model with such a LayerNorm reached a validation loss of "
            "2.07, where 2.36 was right, and 3.02 once it saw the past only, as in generation.",
            axis=-2,
        ),
        mistake(
            "over_both",
            "It measures over positions and features together.",
            ROWS,
            "The later tokens leak: how large they are changes what every earlier position reads.",
            axis=(-2, -1),
        ),
        mistake(
            "over_batch",
            "It measures along the batch (dim=0), as a batch normalisation does.",
            ROWS,
            "What comes out for a sentence depends on the others in its batch, and is something else "
            "when it comes alone, as in generation.",
            axis=0,
        ),
        mistake(
            "over_batch_and_positions",
            "It measures each feature over batch and positions, as a batch normalisation does.",
            ROWS,
            "The later tokens leak, and so do the other sentences of the batch.",
            axis=(0, 1),
        ),
        mistake(
            "over_all",
            "It measures over the whole tensor: one mean or one size for all rows.",
            ROWS,
            "Each row depends on all others, on later tokens and on other sentences; and a quiet row "
            "beside a loud one stays quiet.",
            axis=None,
        ),
    )
