"""gelu_tanh, the form of GPT-2."""

from __future__ import annotations

import math

from autograder.check.component import Component
from autograder.check.feedforward_layernorm import activations
from autograder.check.mistake import Mistake, entries
from autograder.check.properties.common import COMMON
from autograder.oracle import feedforward_layernorm as oracle

LINE = "0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))"


mistake = entries(oracle.gelu_tanh)


def factor(name, wrong, about, code, why, value):
    """Another number where sqrt(2 / pi) belongs."""
    return mistake(
        name,
        f"The factor before (x + ...) is {wrong}, about {about}; it should be sqrt(2 / pi), about "
        "0.798.",
        f"{code} -> math.sqrt(2 / math.pi)",
        why,
        factor=value,
    )


def coefficient(name, wrong, why):
    return mistake(
        name,
        f"The coefficient of x**3 is {wrong}; it should be 0.044715.",
        f"{wrong} * x**3 -> 0.044715 * x**3",
        why,
        cubic=wrong,
    )


GELU_TANH = Component(
    "gelu_tanh",
    activations.fixtures,
    oracle.gelu_tanh,
    properties=COMMON,
    mistakes=(
        Mistake(
            "exact_form",
            oracle.gelu,
            "It is the exact GELU, with erf, up to 4.7e-4 away; it should be the tanh form.",
            f"The form with erf -> {LINE}",
            "GPT-2 was trained with the tanh form. With the other one its text reads well, but its "
            "numbers are not the published ones: in a random model of two layers logits move by 8e-4.",
        ),
        *activations.others(LINE),
        mistake(
            "no_cubic_term",
            "Inside tanh the term 0.044715 * x**3 is missing: it is sqrt(2 / pi) * x, and should be "
            "sqrt(2 / pi) * (x + 0.044715 * x**3).",
            "x -> (x + 0.044715 * x**3), behind the factor inside tanh",
            "The cubic term bends the argument so that tanh comes near to erf. Without it the result "
            "is off by as much as 0.034, with it by 0.0005.",
            cubic=0.0,
        ),
        mistake(
            "cubic_term_outside",
            "The factor sqrt(2 / pi) multiplies x only; it should multiply the whole sum "
            "(x + 0.044715 * x**3).",
            "Mind the parentheses inside tanh: sqrt(2 / pi) * x + 0.044715 * x**3 -> "
            "sqrt(2 / pi) * (x + 0.044715 * x**3)",
            "It is off by as much as 0.006: small enough to look right in a plot, and thirteen times "
            "the distance between the two forms of GELU.",
            cubic=0.0,
            cubic_outside=0.044715,
        ),
        mistake(
            "minus_cubic",
            "It subtracts the cubic term, x - 0.044715 * x**3; it should add it, x + 0.044715 * x**3.",
            "- 0.044715 * x**3 -> + 0.044715 * x**3, inside tanh",
            "Beyond |x| = 4.7 the cubic term outweighs x and turns the sign: large positive inputs "
            "are stopped and large negative ones pass.",
            cubic=-0.044715,
        ),
        mistake(
            "square",
            "The second term inside tanh is 0.044715 * x**2; it should be 0.044715 * x**3.",
            "x**2 -> x**3, inside tanh",
            "A square is the same for x and -x, while the curve inside tanh must be odd. So it is "
            "off for negative inputs most, by as much as 0.06.",
            power=2,
        ),
        mistake(
            "coefficient_cubed",
            "It cubes the coefficient too: (0.044715 * x) ** 3; it should be 0.044715 * x ** 3.",
            "(0.044715 * x) ** 3 -> 0.044715 * x ** 3: the power is on x alone",
            "0.044715 cubed is 0.00009. The result is off by as much as 0.034, as if the term were "
            "missing.",
            cubic=0.044715**3,
        ),
        mistake(
            "whole_cubed",
            "The cube is on the whole sum, (x + 0.044715 * x) ** 3; it should be on its second x alone, "
            "x + 0.044715 * x ** 3.",
            "Mind the parentheses: (x + 0.044715 * x) ** 3 -> (x + 0.044715 * x ** 3)",
            "The argument is flat around 0, so that small inputs are little more than halved: at 0.5 "
            "it gives 0.28 instead of 0.35.",
            power=1,
            whole_power=3,
        ),
        mistake(
            "sum_cubed",
            "The sum is cubed again: (x + 0.044715 * x ** 3) ** 3; it should be x + 0.044715 * x ** 3.",
            "(x + 0.044715 * x ** 3) ** 3 -> (x + 0.044715 * x ** 3): one cube, inside",
            "The argument is flat around 0, so that small inputs are little more than halved: at 0.5 "
            "it gives 0.28 instead of 0.35.",
            whole_power=3,
        ),
        coefficient(
            "decimal_point",
            0.44715,
            "It is ten times too large, and the bend gets too sharp: GELU(1) comes out as 0.910 "
            "instead of 0.841.",
        ),
        coefficient(
            "decimal_point_left",
            0.0044715,
            "It is ten times too small: the result is off by as much as 0.03, nearly as if the term "
            "were missing.",
        ),
        factor(
            "root_of_2_pi",
            "sqrt(2 * pi)",
            "2.507",
            "math.sqrt(2 * math.pi)",
            "It is pi times too large: GELU(1) comes out as 0.995, and the function is nearly ReLU.",
            math.sqrt(2 * math.pi),
        ),
        factor(
            "inverted_root",
            "sqrt(pi / 2)",
            "1.253",
            "math.sqrt(math.pi / 2)",
            "It is 1.57 times too large: GELU(1) comes out as 0.932 instead of 0.841.",
            math.sqrt(math.pi / 2),
        ),
        factor(
            "no_root",
            "2 / pi",
            "0.637",
            "2 / math.pi",
            "It is 0.637 for 0.798, and the bend too soft: GELU(1) comes out as 0.791 instead of "
            "0.841.",
            2 / math.pi,
        ),
        factor(
            "root_of_2_only",
            "sqrt(2) / pi",
            "0.450",
            "math.sqrt(2) / math.pi",
            "It is 0.450 for 0.798: GELU(1) comes out as 0.719 instead of 0.841.",
            math.sqrt(2) / math.pi,
        ),
        factor(
            "root_of_pi_only",
            "2 / sqrt(pi)",
            "1.128",
            "2 / math.sqrt(math.pi)",
            "It is 1.128 for 0.798: GELU(1) comes out as 0.914 instead of 0.841.",
            2 / math.sqrt(math.pi),
        ),
        mistake(
            "no_factor",
            "Inside tanh the factor sqrt(2 / pi) is missing: it is tanh(x + ...); it should be "
            "tanh(sqrt(2 / pi) * (x + ...)).",
            "torch.tanh(x + ...) -> torch.tanh(math.sqrt(2 / math.pi) * (x + ...))",
            "The bend gets too sharp: GELU(1) comes out as 0.890 instead of 0.841. The factor makes "
            "the slope at 0 that of erf(x / sqrt 2).",
            factor=1.0,
        ),
        mistake(
            "factor_outside",
            "It is 1 + sqrt(2 / pi) * tanh(x + ...); it should be 1 + tanh(sqrt(2 / pi) * (x + ...)).",
            "Move the factor math.sqrt(2 / math.pi) from before tanh to the front of its argument.",
            "Far from 0 it should be x or 0. So it becomes 0.9 x and 0.1 x: no input is ever stopped.",
            factor=1.0,
            outside=math.sqrt(2 / math.pi),
        ),
        mistake(
            "half_the_argument",
            "The argument z of tanh is half of what it should be: 1 / sqrt(2 * pi) instead of "
            "sqrt(2 / pi); or, with a sigmoid, sigmoid(z) instead of sigmoid(2 * z).",
            "1 / sqrt(2 * pi) -> sqrt(2 / pi); or, where z is the argument of tanh and you use a "
            "sigmoid, sigmoid(z) -> sigmoid(2 * z)",
            "1 + tanh(z) is 2 sigmoid(2 z). With half the argument the bend is too soft: GELU(1) "
            "comes out as 0.697 instead of 0.841.",
            factor=math.sqrt(2 / math.pi) / 2,
        ),
        mistake(
            "sigmoid_for_tanh",
            "It is 0.5 * x * (1 + sigmoid(...)); it should be 0.5 * x * (1 + tanh(...)).",
            "torch.sigmoid -> torch.tanh, of the same argument",
            "A sigmoid lies between 0 and 1, tanh between -1 and 1. So half of every negative input "
            "passes: at -10 it gives -5.",
            bend=oracle.sigmoid,
        ),
        mistake(
            "erf_for_tanh",
            "It takes erf of sqrt(2 / pi) * (x + 0.044715 * x**3); it should take tanh of that.",
            "torch.erf -> torch.tanh, of the same argument",
            "The cubic term is there to make tanh look like erf. With erf itself the result is off "
            "by as much as 0.05.",
            bend=oracle.erf,
        ),
        mistake(
            "only_phi",
            "It returns 0.5 * (1 + tanh(...)) alone; it should return 0.5 * x * (1 + tanh(...)).",
            "0.5 * (1 + torch.tanh(...)) -> 0.5 * x * (1 + torch.tanh(...))",
            "It would say only how far the gate is open, between 0 and 1, and not what passes it: "
            "inputs of 3 and of 30 would both give about 1.",
            times_x=False,
        ),
        mistake(
            "not_halved",
            "It is twice too large: x * (1 + tanh(...)); it should be 0.5 * x * (1 + tanh(...)).",
            "x * (1 + torch.tanh(...)) -> 0.5 * x * (1 + torch.tanh(...))",
            "For large x GELU(x) must be x, and not 2 x. Every feedforward layer would write about "
            "twice as much as it should.",
            half=1.0,
        ),
        mistake(
            "no_one",
            "The 1 + is missing: it is 0.5 * x * tanh(...); it should be 0.5 * x * (1 + tanh(...)).",
            "* torch.tanh(...) -> * (1 + torch.tanh(...)), with the parentheses",
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
