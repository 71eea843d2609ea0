"""matched_d_ff: the width at which SwiGLU has as many parameters as FeedForward."""

from __future__ import annotations

import math
from fractions import Fraction

from autograder.check.component import Component
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture, Property
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance, kind
from autograder.oracle import feedforward_layernorm as oracle

SOLVE = "Solve 3 d d_ff = 8 d² for d_ff: it is 8 d / 3, before it is rounded up."
ROUND = "math.ceil(8 * d_model / (3 * multiple_of)) * multiple_of"


def matched_fixtures(rng):
    third = 3 * int(rng.integers(20, 200))
    d, odd, many = (int(n) for n in (rng.integers(60, 900), rng.integers(50, 300), 2))
    d, odd = d - d % 3 + 1, odd - odd % 3 + 2  # 8 d / 3 is no whole number
    # The nearest multiple of 64 is then the next one, as it should be; that of 4 d / 3 is not.
    while not 56 < 8 * d / 3 % 128 < 62:
        d += 3
    return [
        Fixture("8 d / 3 is a whole number", {"d_model": third}, weight=1.0),
        Fixture("8 d / 3 is not", {"d_model": d}, weight=1.0),
        Fixture(
            "8 d / 3 is a multiple already",
            {"d_model": third, "multiple_of": 8 * third // 3 // many},
            weight=1.0,
        ),
        Fixture(
            "8 d / 3 is just above a multiple",
            {"d_model": odd, "multiple_of": 8 * odd // 3},
            weight=1.0,
        ),
        Fixture("a multiple of 64", {"d_model": d, "multiple_of": 64}),
    ]


def _whole(c, inputs, answers):
    value = answers[0].value
    if isinstance(value, int):
        return None
    return Trouble(
        f"d_ff is {kind(value)}; it should be an int.",
        look="A width is a number of columns. math.ceil gives an int, and / a float: use //, or "
        "int(...) at the end.",
    )


def mistake(name, says, look, why, **switches):
    return Mistake(name, altered(oracle.matched_d_ff, **switches), says, look, why)


def _plus_remainder(d_model, multiple_of=1):
    width = oracle.matched_d_ff(d_model)
    return width + width % multiple_of


def _up_then_down(d_model, multiple_of=1):
    return oracle.matched_d_ff(d_model) // multiple_of * multiple_of


MATCHED_D_FF = Component(
    "matched_d_ff",
    matched_fixtures,
    oracle.matched_d_ff,
    properties=(Property("is an int", lambda c, i: [c.call(i)], _whole, weight=0.5),),
    mistakes=(
        mistake(
            "four_d",
            "It is 4 d, the width of the plain network: then three matrices hold 12 d², not 8 d².",
            SOLVE,
            "The gated network would have half as many parameters again, and a comparison with the "
            "plain one would say nothing.",
            share=Fraction(4),
        ),
        mistake(
            "two_d",
            "It is 2 d: then three matrices hold 6 d², not 8 d².",
            SOLVE,
            "The gated network would have a quarter fewer parameters than the plain one.",
            share=Fraction(2),
        ),
        mistake(
            "four_thirds",
            "It is 4 d / 3, half of what it should be.",
            f"{SOLVE} The plain network has two matrices of 4 d² entries, together 8 d².",
            "The gated network would have half as many parameters as the plain one.",
            share=Fraction(4, 3),
        ),
        mistake(
            "two_thirds",
            "It is 2 d / 3: two thirds of d itself, not of the plain network's width 4 d.",
            SOLVE,
            "The gated network would have a quarter of the parameters of the plain one.",
            share=Fraction(2, 3),
        ),
        mistake(
            "three_eighths",
            "The fraction is upside down: 3 d / 8 instead of 8 d / 3.",
            SOLVE,
            "The hidden layer would be narrower than x: 1536 for d = 4096, where Llama has 11008.",
            share=Fraction(3, 8),
        ),
        mistake(
            "not_divided_by_3",
            "It is 8 d: the division by 3 is missing.",
            SOLVE,
            "Three matrices of that width hold 24 d², three times as much as the plain network.",
            share=Fraction(8),
        ),
        mistake(
            "rounded_down",
            "It rounds down: d_ff must be at least 8 d / 3.",
            ROUND,
            "For d = 4096 and multiples of 256 it gives 10752; Llama has 11008, and its weights "
            "would not fit in.",
            to_whole=math.floor,
        ),
        mistake(
            "rounded_to_nearest",
            "It rounds to the nearest multiple: d_ff must be at least 8 d / 3, so round up.",
            ROUND,
            "For d = 4096 and multiples of 256 both ways give 11008, so Llama's width does not show "
            "it. For d = 8192 it gives 21760 instead of 22016.",
            to_whole=round,
        ),
        mistake(
            "always_one_more",
            "It goes one multiple further where 8 d / 3 is one already.",
            f"The smallest multiple that is at least 8 d / 3: {ROUND}.",
            "For d = 768 and multiples of 256, 2048 fits exactly, and it would give 2304: an eighth "
            "more parameters than it should.",
            to_whole=lambda n: math.floor(n) + 1,
        ),
        mistake(
            "multiple_ignored",
            "It does not use multiple_of.",
            ROUND,
            "Widths such as 10923 divide into no blocks of 64 or 256, as fast matrix products want "
            "them, and Llama's 11008 is not found.",
            before=lambda inputs: {"multiple_of": 1},
        ),
        mistake(
            "not_multiplied_back",
            "It returns how many multiples there are, not the width that they make.",
            f"{ROUND}: the last factor is missing.",
            "For d = 4096 and multiples of 256 the hidden layer would be 43 wide instead of 11008.",
            after=lambda width, inputs: width // inputs.get("multiple_of", 1),
        ),
        mistake(
            "cut_first",
            "It cuts 8 d / 3 to a whole number before it rounds up to a multiple.",
            f"Round once, at the end, and up: {ROUND}.",
            "Where 8 d / 3 is just above a multiple, it is cut to that multiple and stays there: "
            "less than was asked for.",
            cut=math.floor,
        ),
        mistake(
            "nearest_first",
            "It rounds 8 d / 3 to the nearest whole number before it rounds up to a multiple.",
            f"Round once, at the end, and up: {ROUND}.",
            "Where 8 d / 3 is a third above a multiple, it falls to that multiple and stays there: "
            "less than was asked for.",
            cut=round,
        ),
        Mistake(
            "up_then_down",
            _up_then_down,
            "It rounds 8 d / 3 up to a whole number, and then down to a multiple of multiple_of.",
            ROUND,
            "For d = 4096 and multiples of 256 it gives 10752; Llama has 11008, and its weights "
            "would not fit in.",
        ),
        Mistake(
            "remainder_added",
            _plus_remainder,
            "It adds the remainder d_ff % multiple_of; what is missing to the next multiple is "
            "another number.",
            f"-d_ff % multiple_of is what is missing. Or {ROUND}.",
            "The result is a multiple only by chance: for d = 4096 and 256 it gives 11094.",
        ),
    ),
    example={"d_model": 7, "multiple_of": 9},
    outputs="d_ff",
    raises={
        "must be Tensor, not": "torch.ceil takes a tensor; for a plain number it is math.ceil."
    },
    tolerance=Tolerance(0.0, 1e-9),
    look={
        "a small example": f"8 d / 3 is 18.67; the next multiple of 9 is 27. {ROUND}",
        "8 d / 3 is a whole number": SOLVE,
        "8 d / 3 is not": ROUND,
        "8 d / 3 is a multiple already": f"Then it is the result. {ROUND}",
        "8 d / 3 is just above a multiple": f"Then the next multiple is the result. {ROUND}",
        "a multiple of 64": ROUND,
    },
)
