"""gelu, the exact form."""

from __future__ import annotations

import math

from array_api_compat import array_namespace

from autograder.check.component import Component
from autograder.check.feedforward_layernorm import activations
from autograder.check.mistake import Mistake, altered
from autograder.check.properties import COMMON
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
            "It is the tanh form of GELU: close, but up to 4.7e-4 away from the exact one.",
            "Here the exact Phi(x) is asked for, with torch.erf; the tanh form is the next exercise.",
            "The next exercise measures how far apart the two are. With the same form twice, the "
            "distance would come out as 0.",
        ),
        *activations.others(f"x * Phi(x), with {PHI}"),
        Mistake(
            "no_root",
            altered(oracle.gelu, root=1.0),
            "What goes into erf is x, and not x / sqrt(2).",
            f"{PHI}. Write math.sqrt(2) or 2 ** 0.5: in Python, 2 ** 1/2 is 1.",
            "The bend gets too sharp: GELU(1) comes out as 0.921 instead of 0.841. 0.5 (1 + erf(x)) "
            "belongs to a normal variable of deviation 0.71, not 1.",
        ),
        Mistake(
            "divided_by_2",
            altered(oracle.gelu, root=2.0),
            "Inside erf it divides by 2 instead of sqrt(2).",
            PHI,
            "The bend gets too soft: GELU(1) comes out as 0.760 instead of 0.841, and the dip below "
            "zero reaches -0.24 instead of -0.17.",
        ),
        Mistake(
            "multiplied_by_root",
            altered(oracle.gelu, root=2**-0.5),
            "Inside erf it multiplies by sqrt(2) instead of dividing.",
            PHI,
            "The bend gets twice too sharp: GELU(1) comes out as 0.977 instead of 0.841, and the "
            "dip below zero is half as deep.",
        ),
        Mistake(
            "root_outside",
            altered(oracle.gelu, root=1.0, outside=2**-0.5),
            "It divides erf(x) by sqrt(2); it is x that is to be divided, before erf.",
            f"{PHI}: mind the parentheses.",
            "Far from 0 it should be x or 0. So it becomes 0.85 x and 0.15 x: no input is ever "
            "stopped.",
        ),
        Mistake(
            "upper_tail",
            altered(oracle.gelu, outside=-1.0),
            "It multiplies x by 1 - Phi(x): the sign before erf is wrong.",
            PHI,
            "It is the wrong way round: large negative inputs pass and large positive ones are "
            "stopped.",
        ),
        Mistake(
            "tanh_for_erf",
            altered(oracle.gelu, bend=oracle.tanh),
            "It has tanh where erf belongs.",
            f"{PHI}. The form with tanh, which is the next exercise, has another argument.",
            "tanh(x / sqrt 2) rises too slowly: it is off by as much as 0.07.",
        ),
        Mistake(
            "only_phi",
            altered(oracle.gelu, times_x=False),
            "It returns Phi(x); the factor x is missing.",
            f"GELU(x) = x Phi(x), with {PHI}",
            "It would say only how far the gate is open, between 0 and 1, and not what passes it: "
            "inputs of 3 and of 30 would both give about 1.",
        ),
        Mistake(
            "not_halved",
            altered(oracle.gelu, half=1.0),
            "It is twice too large: the factor 0.5 is missing.",
            f"{PHI}: 1 + erf lies between 0 and 2, a probability between 0 and 1.",
            "For large x GELU(x) must be x, and not 2 x. Every feedforward layer would write twice "
            "as much as it should.",
        ),
        Mistake(
            "no_one",
            altered(oracle.gelu, one=0.0),
            "It is 0.5 x erf(...): the 1 + is missing.",
            PHI,
            "The curve is then the same for x and -x, so that a unit cannot tell a pattern from its "
            "opposite.",
        ),
        Mistake(
            "erf_added",
            _erf_added,
            "It adds erf to 0.5 x, where 0.5 x is to be multiplied by the sum of 1 and erf.",
            "0.5 * x * (1 + torch.erf(x / math.sqrt(2))): mind the parentheses.",
            "Far from 0 it is nearly the line x / 2, on both sides: large negative inputs are not "
            "stopped.",
        ),
        Mistake(
            "density",
            _density,
            "It multiplies x by the normal density instead of the distribution function.",
            f"{PHI}: the area to the left of x, which grows from 0 to 1.",
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
