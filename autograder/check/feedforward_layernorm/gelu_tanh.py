"""gelu_tanh, the form of GPT-2."""

from __future__ import annotations

import math

from autograder.check.component import Component
from autograder.check.feedforward_layernorm import activations
from autograder.check.mistake import Mistake, altered
from autograder.check.properties import COMMON
from autograder.oracle import feedforward_layernorm as oracle

LINE = "0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))"
ROOT = "The factor before the parenthesis is math.sqrt(2 / math.pi), about 0.798."
CUBIC = "Inside tanh: math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)"


def mistake(name, says, look, why, **switches):
    return Mistake(name, altered(oracle.gelu_tanh, **switches), says, look, why)


GELU_TANH = Component(
    "gelu_tanh",
    activations.fixtures,
    oracle.gelu_tanh,
    properties=COMMON,
    mistakes=(
        Mistake(
            "exact_form",
            oracle.gelu,
            "It is the exact GELU, with erf: close, but up to 4.7e-4 away from the tanh form.",
            LINE,
            "GPT-2 was trained with the tanh form. With the other one its text reads well, but its "
            "numbers are not the published ones: in a random model of two layers logits move by 8e-4.",
        ),
        *activations.others(LINE),
        mistake(
            "no_cubic_term",
            "The cubic term 0.044715 x^3 is missing.",
            CUBIC,
            "The cubic term bends the argument so that tanh comes near to erf. Without it the result "
            "is off by as much as 0.034, with it by 0.0005.",
            cubic=0.0,
        ),
        mistake(
            "cubic_term_outside",
            "The factor sqrt(2/pi) reaches x only, and not the cubic term.",
            f"{CUBIC}: mind the parentheses.",
            "It is off by as much as 0.006: small enough to look right in a plot, and thirteen times "
            "the distance between the two forms of GELU.",
            cubic=0.0,
            cubic_outside=0.044715,
        ),
        mistake(
            "minus_cubic",
            "The cubic term is subtracted; it should be added.",
            CUBIC,
            "Beyond |x| = 4.7 the cubic term outweighs x and turns the sign: large positive inputs "
            "are stopped and large negative ones pass.",
            cubic=-0.044715,
        ),
        mistake(
            "square",
            "It has x^2 where x^3 belongs.",
            CUBIC,
            "A square is the same for x and -x, while the curve inside tanh must be odd. So it is "
            "off for negative inputs most, by as much as 0.06.",
            power=2,
        ),
        mistake(
            "coefficient_cubed",
            "It cubes 0.044715 together with x: the cubic term nearly vanishes.",
            f"{CUBIC}. The power belongs to x alone, not to the product.",
            "0.044715 cubed is 0.00009. The result is off by as much as 0.034, as if the term were "
            "missing.",
            cubic=0.044715**3,
        ),
        mistake(
            "whole_cubed",
            "It cubes the whole parenthesis, x included, instead of x in its second term alone.",
            CUBIC,
            "The argument is flat around 0, so that small inputs are little more than halved: at 0.5 "
            "it gives 0.28 instead of 0.35.",
            power=1,
            whole_power=3,
        ),
        mistake(
            "decimal_point",
            "The coefficient of the cubic term is ten times too large: 0.44715 for 0.044715.",
            CUBIC,
            "The bend gets too sharp: GELU(1) comes out as 0.910 instead of 0.841.",
            cubic=0.44715,
        ),
        mistake(
            "decimal_point_left",
            "The coefficient of the cubic term is ten times too small: 0.0044715 for 0.044715.",
            CUBIC,
            "The result is off by as much as 0.03, nearly as if the term were missing.",
            cubic=0.0044715,
        ),
        mistake(
            "root_of_2_pi",
            "The factor is sqrt(2 pi) instead of sqrt(2 / pi).",
            ROOT,
            "It is pi times too large: GELU(1) comes out as 0.995, and the function is nearly ReLU.",
            factor=math.sqrt(2 * math.pi),
        ),
        mistake(
            "inverted_root",
            "The factor is sqrt(pi / 2) instead of sqrt(2 / pi): upside down.",
            ROOT,
            "It is 1.57 times too large: GELU(1) comes out as 0.932 instead of 0.841.",
            factor=math.sqrt(math.pi / 2),
        ),
        mistake(
            "no_root",
            "The factor is 2 / pi; its square root is missing.",
            ROOT,
            "It is 0.637 for 0.798, and the bend too soft: GELU(1) comes out as 0.791 instead of "
            "0.841.",
            factor=2 / math.pi,
        ),
        mistake(
            "root_of_2_only",
            "The factor is sqrt(2) / pi: the root covers the 2 only.",
            ROOT,
            "It is 0.450 for 0.798: GELU(1) comes out as 0.719 instead of 0.841.",
            factor=math.sqrt(2) / math.pi,
        ),
        mistake(
            "root_of_pi_only",
            "The factor is 2 / sqrt(pi): the root covers pi only.",
            ROOT,
            "It is 1.128 for 0.798: GELU(1) comes out as 0.914 instead of 0.841.",
            factor=2 / math.sqrt(math.pi),
        ),
        mistake(
            "no_factor",
            "The factor sqrt(2 / pi) is missing.",
            ROOT,
            "The bend gets too sharp: GELU(1) comes out as 0.890 instead of 0.841. The factor makes "
            "the slope at 0 that of erf(x / sqrt 2).",
            factor=1.0,
        ),
        mistake(
            "factor_outside",
            "The factor sqrt(2 / pi) multiplies tanh; it belongs inside of it.",
            LINE,
            "Far from 0 it should be x or 0. So it becomes 0.9 x and 0.1 x: no input is ever stopped.",
            factor=1.0,
            outside=math.sqrt(2 / math.pi),
        ),
        mistake(
            "half_the_argument",
            "The argument of tanh is half of what it should be, as in x sigmoid(z) for z = "
            "sqrt(2/pi) (x + 0.044715 x^3).",
            f"{LINE}. With a sigmoid it would be x * sigmoid(2 z).",
            "1 + tanh(z) is 2 sigmoid(2 z). Without that 2 the bend is too soft: GELU(1) comes out "
            "as 0.697 instead of 0.841.",
            factor=math.sqrt(2 / math.pi) / 2,
        ),
        mistake(
            "sigmoid_for_tanh",
            "It has a sigmoid where tanh belongs.",
            LINE,
            "A sigmoid lies between 0 and 1, tanh between -1 and 1. So half of every negative input "
            "passes: at -10 it gives -5.",
            bend=oracle.sigmoid,
        ),
        mistake(
            "erf_for_tanh",
            "It has erf where tanh belongs: the two formulas are mixed.",
            LINE,
            "The cubic term is there to make tanh look like erf. With erf itself the result is off "
            "by as much as 0.05.",
            bend=oracle.erf,
        ),
        mistake(
            "only_phi",
            "The factor x is missing: it returns 0.5 (1 + tanh(...)) alone.",
            LINE,
            "It would say only how far the gate is open, between 0 and 1, and not what passes it: "
            "inputs of 3 and of 30 would both give about 1.",
            times_x=False,
        ),
        mistake(
            "not_halved",
            "It is twice too large: the factor 0.5 is missing.",
            "0.5 * x * (1 + torch.tanh(...)): 1 + tanh lies between 0 and 2.",
            "For large x GELU(x) must be x, and not 2 x. Every feedforward layer would write about "
            "twice as much as it should.",
            half=1.0,
        ),
        mistake(
            "no_one",
            "It is 0.5 x tanh(...): the 1 + is missing.",
            LINE,
            "The curve is then the same for x and -x, so that a unit cannot tell a pattern from its "
            "opposite.",
            one=0.0,
        ),
    ),
    example=activations.EXAMPLE,
    shortcuts=activations.SHORTCUTS,
    tolerance=activations.CLOSE,
    look=activations.LOOK
    | {
        "a small example": f"{LINE}. Where only later digits differ, a constant is rounded or "
        "mistyped, or a type is too narrow.",
        "near ±2.7, where the two forms differ most": LINE,
        "values of every size": LINE,
    },
    raises=activations.RAISES,
)
