"""matched_d_ff: the width at which SwiGLU has as many parameters as FeedForward."""

from __future__ import annotations

import math
from fractions import Fraction

from autograder.check.component import Component
from autograder.check.mistake import Mistake, entries
from autograder.check.parts import Fixture, Property
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance, kind
from autograder.oracle import feedforward_layernorm as oracle

SOLVE = "Solve 3 d d_ff = 8 d² for d_ff: it is 8 d / 3, before it is rounded up."
ROUND = "math.ceil(8 * d_model / (3 * multiple_of)) * multiple_of"


def matched_fixtures(rng):
    """Small numbers, that can be checked by eye."""
    third, up, down = (3 * int(rng.integers(2, 8)) for _ in range(3))
    up, down = up + 1, down + 2  # rounded to the nearest, 8 d / 3 goes up or down
    # 8 d / 3 is 5.33 below a multiple of 64: that one is the nearest; the nearest to 4 d / 3 is not.
    d = int(rng.choice((70, 118, 166)))
    return [
        Fixture("8 d / 3 is a whole number", {"d_model": third}, weight=1.0),
        Fixture("8 d / 3 ends in .67", {"d_model": up}, weight=1.0),
        Fixture("8 d / 3 ends in .33", {"d_model": down}, weight=1.0),
        Fixture(
            "8 d / 3 is a multiple already",
            {"d_model": third, "multiple_of": 4 * third // 3},
            weight=1.0,
        ),
        Fixture(
            "8 d / 3 is .33 above a multiple",
            {"d_model": down, "multiple_of": 8 * down // 3},
            weight=1.0,
        ),
        Fixture(
            "8 d / 3 is .67 above a multiple",
            {"d_model": up, "multiple_of": 8 * up // 3},
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


mistake = entries(oracle.matched_d_ff)


def share(name, wrong, look, why, value):
    """Another share of d than 8 / 3."""
    return mistake(name, f"{wrong}; it should be 8 d / 3.", look, why, share=value)


def _plus_remainder(d_model, multiple_of=1):
    width = oracle.matched_d_ff(d_model)
    return width + width % multiple_of


def _then_down(to_whole):
    """A rounding to whole numbers, and then down to a multiple."""

    def width(d_model, multiple_of=1):
        return to_whole(Fraction(8 * d_model, 3)) // multiple_of * multiple_of

    return width


MATCHED_D_FF = Component(
    "matched_d_ff",
    matched_fixtures,
    oracle.matched_d_ff,
    properties=(Property("is an int", lambda c, i: [c.call(i)], _whole, weight=0.5),),
    mistakes=(
        share(
            "four_d",
            "It is 4 d, the width of the plain network",
            "4 * d_model -> 8 * d_model / 3: there are three matrices here, and two in the plain one.",
            "The gated network would have half as many parameters again, and a comparison with the "
            "plain one would say nothing.",
            Fraction(4),
        ),
        share(
            "two_d",
            "It is 2 d, so that three matrices hold 6 d², not 8 d²",
            "2 * d_model -> 8 * d_model / 3: the solution of 3 d d_ff = 8 d².",
            "The gated network would have a quarter fewer parameters than the plain one.",
            Fraction(2),
        ),
        share(
            "four_thirds",
            "It is 4 d / 3",
            "4 -> 8, as in 3 d d_ff = 8 d²: the plain network has two matrices of 4 d² entries.",
            "The gated network would have half as many parameters as the plain one.",
            Fraction(4, 3),
        ),
        share(
            "two_thirds",
            "It is 2 d / 3, two thirds of d",
            "2 -> 8: two thirds of the plain network's width 4 d are 8 d / 3.",
            "The gated network would have a quarter of the parameters of the plain one.",
            Fraction(2, 3),
        ),
        share(
            "three_eighths",
            "The fraction is upside down, 3 d / 8",
            "3 / 8 -> 8 / 3, as a factor of d_model",
            "The hidden layer would be narrower than x: 1536 for d = 4096, where Llama has 11008.",
            Fraction(3, 8),
        ),
        share(
            "not_divided_by_3",
            "It is 8 d",
            "8 * d_model -> 8 * d_model / 3: the 3 is that of the three matrices.",
            "Three matrices of that width hold 24 d², three times as much as the plain network.",
            Fraction(8),
        ),
        mistake(
            "rounded_down",
            "It rounds 8 d / 3 down to a multiple of multiple_of; it should round up.",
            "int(...), // or math.floor(...) -> math.ceil(...), of 8 * d_model / (3 * multiple_of)",
            "For d = 4096 and multiples of 256 it gives 10752; Llama has 11008, and its weights "
            "would not fit in.",
            to_whole=math.floor,
        ),
        mistake(
            "rounded_to_nearest",
            "It rounds 8 d / 3 to the nearest multiple of multiple_of; it should round up.",
            "round(...) -> math.ceil(...), of 8 * d_model / (3 * multiple_of)",
            "For d = 4096 and multiples of 256 both ways give 11008, so Llama's width does not show "
            "it. For d = 8192 it gives 21760 instead of 22016.",
            to_whole=round,
        ),
        mistake(
            "always_one_more",
            "Where 8 d / 3 is a multiple of multiple_of already, it goes to the next one; it should "
            "stay.",
            "Rounding down and then + 1 -> rounding up: math.ceil(8 * d_model / (3 * multiple_of))",
            "For d = 768 and multiples of 256, 2048 fits exactly, and it would give 2304: an eighth "
            "more parameters than it should.",
            to_whole=lambda n: math.floor(n) + 1,
        ),
        mistake(
            "multiple_ignored",
            "It rounds 8 d / 3 up to a whole number only; it should round up to a multiple of "
            "multiple_of.",
            "math.ceil(8 * d_model / 3) -> math.ceil(8 * d_model / (3 * multiple_of)) * "
            "multiple_of",
            "Widths such as 10923 divide into no blocks of 64 or 256, as fast matrix products want "
            "them, and Llama's 11008 is not found.",
            before=lambda inputs: {"multiple_of": 1},
        ),
        mistake(
            "not_multiplied_back",
            "It returns how many multiples there are; it should return the width, that many times "
            "multiple_of.",
            "In the return: math.ceil(...) -> math.ceil(...) * multiple_of",
            "For d = 4096 and multiples of 256 the hidden layer would be 43 wide instead of 11008.",
            after=lambda width, inputs: width // inputs.get("multiple_of", 1),
        ),
        mistake(
            "cut_first",
            "It cuts 8 d / 3 down to a whole number, and rounds that up to a multiple; it should "
            "round 8 d / 3 itself up.",
            "8 * d_model // 3 or int(8 * d_model / 3) -> 8 * d_model / 3, inside math.ceil, with "
            "nothing rounded before it",
            "Where 8 d / 3 is just above a multiple, it is cut to that multiple and stays there: "
            "less than was asked for.",
            cut=math.floor,
        ),
        mistake(
            "nearest_first",
            "It takes the whole number nearest to 8 d / 3, and rounds that up to a multiple; it "
            "should round 8 d / 3 itself up.",
            "round(8 * d_model / 3) -> 8 * d_model / 3, inside math.ceil, with nothing rounded "
            "before it",
            "Where 8 d / 3 is a third above a multiple, it falls to that multiple and stays there: "
            "less than was asked for.",
            cut=round,
        ),
        Mistake(
            "up_then_down",
            _then_down(math.ceil),
            "It rounds 8 d / 3 up to a whole number, and that down to a multiple; it should round up "
            "both times.",
            "// multiple_of rounds down -> math.ceil(... / multiple_of), before * multiple_of",
            "For d = 4096 and multiples of 256 it gives 10752; Llama has 11008, and its weights "
            "would not fit in.",
        ),
        Mistake(
            "nearest_then_down",
            _then_down(round),
            "It takes the whole number nearest to 8 d / 3, and rounds that down to a multiple; it "
            "should round 8 d / 3 up.",
            "round(8 * d_model / 3) // multiple_of -> math.ceil(8 * d_model / (3 * multiple_of))",
            "For d = 4096 and multiples of 256 it gives 10752; Llama has 11008, and its weights "
            "would not fit in.",
        ),
        Mistake(
            "remainder_added",
            _plus_remainder,
            "With n = 8 d / 3 rounded up, it returns n + n % multiple_of; it should return n + "
            "(-n) % multiple_of.",
            "n % multiple_of -> (-n) % multiple_of, where n is 8 d / 3 rounded up",
            "The result is a multiple only by chance: for d = 4096 and 256 it gives 11094.",
        ),
    ),
    example={"d_model": 24},
    outputs="d_ff",
    raises={
        "must be Tensor, not": "torch.ceil takes a tensor; for a plain number it is math.ceil."
    },
    tolerance=Tolerance(0.0, 1e-9),
    look={
        "a small example": f"8 * 24 / 3 is 64, and a multiple of 1 already. {SOLVE}",
        "8 d / 3 is a whole number": SOLVE,
        "8 d / 3 ends in .67": f"Round up to the next whole number. {ROUND}",
        "8 d / 3 ends in .33": f"Round up to the next whole number. {ROUND}",
        "8 d / 3 is a multiple already": f"Then it is the result. {ROUND}",
        "8 d / 3 is .33 above a multiple": f"Then the next multiple is the result. {ROUND}",
        "8 d / 3 is .67 above a multiple": f"Then the next multiple is the result. {ROUND}",
        "a multiple of 64": ROUND,
    },
)
