"""gelu, the exact form."""

from __future__ import annotations

import math

from array_api_compat import array_namespace

from autograder.check.component import Component
from autograder.check.feedforward_layernorm import activations
from autograder.check.mistake import Mistake, altered
from autograder.check.properties.common import COMMON
from autograder.oracle import feedforward_layernorm as oracle

PHI = "Phi(x) = 0.5 * (1 + torch.erf(x / math.sqrt(2)))"


def _density(x):
    return x * array_namespace(x).exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def _erf_added(x):
    return 0.5 * x + oracle.erf(x / math.sqrt(2))


GELU = Component(
    "gelu",
    activations.fixtures,
    oracle.gelu,
    properties=COMMON,
    mistakes=(
        Mistake(
            "tanh_form",
            oracle.gelu_tanh,
            "It is the tanh form of GELU, up to 4.7e-4 away; it should be the exact form, with erf.",
            "torch.erf(x / math.sqrt(2)), not tanh of a cubic: that form is the next exercise.",
            "The next exercise measures how far apart the two are. With the same form twice, the "
            "distance would come out as 0.",
        ),
        *activations.others(f"x * Phi(x), with {PHI}"),
        Mistake(
            "no_root",
            altered(oracle.gelu, root=1.0),
            "The argument of erf is x itself; it should be x / sqrt(2).",
            "torch.erf(x) -> torch.erf(x / math.sqrt(2)). In Python (2 ** 1/2) is 1; the root is "
            "2 ** 0.5.",
            "The bend gets too sharp: GELU(1) comes out as 0.921 instead of 0.841. 0.5 (1 + erf(x)) "
            "belongs to a normal variable of deviation 0.71, not 1.",
        ),
        Mistake(
            "divided_by_2",
            altered(oracle.gelu, root=2.0),
            "The argument of erf is x / 2; it should be x / sqrt(2).",
            "torch.erf(x / 2) -> torch.erf(x / math.sqrt(2))",
            "The bend gets too soft: GELU(1) comes out as 0.760 instead of 0.841, and the dip below "
            "zero reaches -0.24 instead of -0.17.",
        ),
        Mistake(
            "divided_by_4",
            altered(oracle.gelu, root=4.0),
            "The argument of erf is x / 4; it should be x / sqrt(2).",
            "In Python x / 2 ** 1/2 is x / 2 / 2. Write x / math.sqrt(2), or x / 2 ** 0.5.",
            "The bend gets far too soft: GELU(1) comes out as 0.638 instead of 0.841, and the dip "
            "below zero reaches -0.48 instead of -0.17.",
        ),
        Mistake(
            "multiplied_by_root",
            altered(oracle.gelu, root=2**-0.5),
            "The argument of erf is x * sqrt(2); it should be x / sqrt(2).",
            "x * math.sqrt(2) -> x / math.sqrt(2), inside torch.erf(...)",
            "The bend gets twice too sharp: GELU(1) comes out as 0.977 instead of 0.841, and the "
            "dip below zero is half as deep.",
        ),
        Mistake(
            "root_outside",
            altered(oracle.gelu, root=1.0, outside=2**-0.5),
            "It is erf(x) / sqrt(2); it should be erf(x / sqrt(2)).",
            "Mind the parentheses: torch.erf(x) / math.sqrt(2) -> torch.erf(x / math.sqrt(2))",
            "Far from 0 it should be x or 0. So it becomes 0.85 x and 0.15 x: no input is ever "
            "stopped.",
        ),
        Mistake(
            "upper_tail",
            altered(oracle.gelu, outside=-1.0),
            "It multiplies x by 1 - Phi(x); it should multiply x by Phi(x).",
            "1 - erf(x / sqrt(2)) -> 1 + erf(x / sqrt(2)): the sign before erf, or before x in it.",
            "Large negative inputs would pass and large positive ones be stopped.",
        ),
        Mistake(
            "tanh_for_erf",
            altered(oracle.gelu, bend=oracle.tanh),
            "It has tanh(x / sqrt(2)) where erf(x / sqrt(2)) belongs.",
            "torch.tanh(x / math.sqrt(2)) -> torch.erf(x / math.sqrt(2))",
            "tanh(x / sqrt 2) rises too slowly: it is off by as much as 0.07.",
        ),
        Mistake(
            "only_phi",
            altered(oracle.gelu, times_x=False),
            "It returns Phi(x) = 0.5 * (1 + erf(...)) alone; it should return x * Phi(x).",
            "In the return: 0.5 * (1 + ...) -> 0.5 * x * (1 + ...)",
            "It would say only how far the gate is open, between 0 and 1, and not what passes it: "
            "inputs of 3 and of 30 would both give about 1.",
        ),
        Mistake(
            "not_halved",
            altered(oracle.gelu, half=1.0),
            "It is twice too large: x * (1 + erf(...)); it should be 0.5 * x * (1 + erf(...)).",
            "x * (1 + torch.erf(...)) -> 0.5 * x * (1 + torch.erf(...))",
            "For large x GELU(x) must be x, and not 2 x. Every feedforward layer would write twice "
            "as much as it should.",
        ),
        Mistake(
            "no_one",
            altered(oracle.gelu, one=0.0),
            "The 1 + is missing: it is 0.5 * x * erf(...); it should be 0.5 * x * (1 + erf(...)).",
            "* torch.erf(...) -> * (1 + torch.erf(...)), with the parentheses",
            "The curve is then the same for x and -x, so that a unit cannot tell a pattern from its "
            "opposite.",
        ),
        Mistake(
            "erf_added",
            _erf_added,
            "It is 0.5 * x + erf(x / sqrt(2)); it should be 0.5 * x * (1 + erf(x / sqrt(2))).",
            "Mind the parentheses: 0.5 * x * 1 + torch.erf(...) -> 0.5 * x * (1 + torch.erf(...))",
            "Far from 0 it is nearly the line x / 2, on both sides: large negative inputs are not "
            "stopped.",
        ),
        Mistake(
            "density",
            _density,
            "It multiplies x by the density exp(-x**2 / 2) / sqrt(2 * pi); it should multiply x "
            "by Phi(x), the area to the left of x.",
            f"The density at x -> {PHI}",
            "The density is 0 far out on both sides, so large inputs would be stopped, too: "
            "GELU(3) would be 0.01 instead of 3.",
        ),
    ),
    example=activations.EXAMPLE,
    shortcuts=activations.SHORTCUTS,
    tolerance=activations.CLOSE,
    look=activations.LOOK
    | {
        "a small example": f"GELU(x) = x Phi(x), with {PHI}. Where only later digits differ, a "
        "constant is rounded or a type is too narrow.",
        "near ±2.7, where the two forms differ most": f"GELU(x) = x Phi(x), with {PHI}",
        "values of every size": f"GELU(x) = x Phi(x), with {PHI}",
    },
    raises=activations.RAISES,
)
