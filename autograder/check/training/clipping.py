"""clip_grad_norm: what is done to all gradients at once."""

from __future__ import annotations

import numpy as np

from autograder.check.component import Component
from autograder.check.draw import choice, normal
from autograder.check.mistake import Mistake, altered, entries
from autograder.check.parts import Fixture, Property
from autograder.check.properties.common import python_numbers
from autograder.check.properties.tensors import works_away
from autograder.check.properties.varied import property_of
from autograder.judge import Trouble
from autograder.oracle import training as oracle
from autograder.probes import Call


def clip_fixtures(rng):
    n, m, k = choice(rng, (3, 4, 5), (4, 2, 6), (5, 3, 2))
    bound = 0.4 + 0.2 * float(rng.random())

    def case(grads, max_norm=bound):
        values = {name: normal(rng, *g.shape) for name, g in grads.items()}
        return {"values": values, "grads": grads, "max_norm": max_norm, "as_list": True}

    def of_norm(g, n):
        return (g * (n / np.linalg.norm(g))).astype(np.float32)

    W, b, E = normal(rng, n, m), normal(rng, m, std=2.0), normal(rng, k, n, std=0.5)
    spare = case({"W": W, "b": b, "unused": normal(rng, m), "E": E})
    spare["grads"] = spare["grads"] | {"unused": None}
    long = of_norm(np.where(np.arange(n * m).reshape(n, m) > 0, W, 0.0), 0.9 * bound)
    long[0, 0] = 1.3 * bound  # longer than the bound by itself
    # Norms on both sides of 1: it is max_norm that they are compared with.
    return [
        Fixture("short enough", case({"W": of_norm(W, 2.0), "b": of_norm(b, 1.5)}, 10 * bound)),
        Fixture("one parameter, too long", case({"W": long})),
        Fixture("several parameters, too long", case({"W": W, "b": b, "E": E})),
        Fixture("one without a gradient", spare, weight=1.0),
    ]


TINY = 5e-7  # the norm of all gradients then; what a divisor has for safety is of this size


def tiny(grads):
    squares = sum((g.astype(np.float64) ** 2).sum() for g in grads.values() if g is not None)
    scale = np.float32(TINY / np.sqrt(squares))
    return {k: None if g is None else scale * g for k, g in grads.items()}


def clipped(values, grads, max_norm, as_list, **switches):
    norm, after = oracle.clip_grad_norm(grads, max_norm, values, **switches)
    return norm, named(after)


def named(grads):
    return {f"the gradient of {name}": g for name, g in grads.items()}


def read(inputs, value):
    """What took no part has still no gradient."""
    absent = [k for k, g in inputs["grads"].items() if g is None]
    filled = [k for k in absent if value[1][k] is not None]
    if not filled:
        return value[0], named(value[1])
    return Trouble(
        f"The parameter {filled[0]} had p.grad = None, and now has a gradient.",
        look="A parameter that took no part is left out, in the norm and in the scaling: its p.grad "
        "stays None.",
    )


mistake = entries(clipped)


def _moved(c, inputs, answers):
    if answers[0].changed:
        return Trouble(
            "It changes the parameters themselves.",
            look="Only the gradients are scaled: p.grad.mul_(factor), not p.mul_(factor).",
        )
    return None


ROOT = "The norm is the root of the sum of the squares of all entries of all gradients."
FACTOR = "The factor is min(1, max_norm / n), the same for all gradients."
CLIP_GRAD_NORM = Component(
    "clip_grad_norm",
    clip_fixtures,
    clipped,
    call=lambda inputs: Call(args=tuple(inputs.values()), probe="training:clip"),
    read=read,
    properties=(
        property_of(
            lambda c, i: i | {"as_list": False},
            "takes model.parameters() as well as a list",
            "Parameters may come as an iterator, which ends after one loop: keep them in a list.",
        ),
        property_of(
            lambda c, i: i
            | {"grads": {k: None if g is None else 0 * g for k, g in i["grads"].items()}},
            "gradients that are all zero",
            "Their norm is 0: see that nothing is divided by it.",
            weight=0.5,
        ),
        property_of(
            lambda c, i: i | {"grads": tiny(i["grads"])},
            "a tiny gradient",
            "The factor is at most 1: a gradient that is short enough stays as it is.",
            weight=0.5,
        ),
        Property("leaves the parameters alone", lambda c, i: [c.call(i)], _moved, weight=0.5),
        python_numbers(float, output=0),
        works_away,
    ),
    mistakes=(
        mistake(
            "each_alone",
            "The norm returned is right, but each gradient is shortened by its own norm; all "
            "should be shortened by the norm of all together.",
            "In the loop that scales: max_norm / g.norm() -> max_norm / n, where n is the norm "
            "that you return.",
            "The direction of the step changes: parameters with large gradients lose their lead over "
            "those with small ones.",
            scale="each alone",
        ),
        mistake(
            "entries",
            "The norm returned is right, but each entry is cut off at max_norm (clipping by "
            "value); all entries should be multiplied by one and the same number.",
            "g.clamp_(-max_norm, max_norm) -> g.mul_(...), with the smaller one of 1 and "
            "max_norm / n, n the norm that you return.",
            "The direction of the step changes, since only its largest entries get smaller; and the "
            "gradient can still be much longer than max_norm.",
            scale="by value",
        ),
        mistake(
            "never_longer_returned",
            "It returns the norm after clipping; it should return the norm before clipping.",
            "In the return: the norm as it was before the loop that scales, not min(n, max_norm) "
            "and not a norm taken after that loop.",
            "In the curve of a run every odd batch would show the same number, max_norm: which ones "
            "were odd, and how odd, cannot be seen.",
            report="after",
        ),
        mistake(
            "factor_returned",
            "It returns the factor, min(1, max_norm / n); it should return n, the norm before "
            "clipping.",
            "In the return: factor -> n. The gradients themselves are right.",
            "The factor of all short gradients is 1: how long they are, and whether they get longer, "
            "cannot be seen.",
            report="factor",
        ),
        mistake(
            "squared",
            "It takes the sum of the squares for the norm, without the square root; it should be "
            "the root of that sum.",
            "Where the norm is made: total -> total ** 0.5, with total the sum of the squares.",
            "With max_norm = 1 a gradient of norm 3 is divided by 9 and becomes shorter than the bound, "
            "1/3. The curve of the norms shows squares, in which one odd batch hides all others.",
            norm="squared",
        ),
        mistake(
            "sum",
            "It adds up the norms of the gradients; it should add up their squares, and take the "
            "root of the sum.",
            "Where the norm is made: the sum of g.norm() -> the sum of g.norm() ** 2, and of "
            "that the root.",
            "The sum is larger than the norm: for 196 gradients of equal norm, as many as GPT-2 has, "
            "14 times. Most steps would be shortened, and needlessly.",
            norm="sum",
        ),
        mistake(
            "average_of_norms",
            "It takes the average of the gradients' norms; it should be the root of the sum of "
            "their squares.",
            "Where the norm is made: the sum of g.norm(), divided by the number of gradients -> "
            "the root of the sum of g.norm() ** 2, with no division.",
            "For 196 gradients of equal norm, as many as GPT-2 has, it is 14 times too small: what "
            "should be shortened is not.",
            norm="average",
        ),
        mistake(
            "root_mean_square",
            "It takes the root of the mean of the squares of all entries; it should be the root "
            "of their sum.",
            "Under the root: mean -> sum, without a division by the number of entries.",
            "For GPT-2's 124 million numbers it is 11,155 times smaller than the norm: nothing is "
            "ever clipped.",
            norm="mean",
        ),
        mistake(
            "absolute",
            "It takes the sum of the absolute values of all entries; it should be the root of "
            "the sum of their squares.",
            "Where the norm is made: g.abs().sum() -> (g * g).sum(), and the root of the total.",
            "For n entries of equal size that is sqrt(n) times the norm: for GPT-2's 124 million "
            "more than 11,000 times, and the model would hardly move.",
            norm="entries",
        ),
        mistake(
            "largest",
            "It takes the largest of the gradients' norms; it should be the root of the sum of "
            "their squares.",
            "Where the norm is made, all gradients count: the maximum of g.norm() -> the root of "
            "the sum of g.norm() ** 2.",
            "The whole gradient can then be sqrt(k) times longer than max_norm, with k tensors: 14 "
            "times for the 196 of GPT-2.",
            norm="largest",
        ),
        mistake(
            "largest_entry",
            "It takes the largest absolute value of all entries for the norm; it should be the "
            "root of the sum of all entries' squares.",
            "Where the norm is made, all entries count: g.abs().max() -> (g * g).sum(), added "
            "up, and the root of the total.",
            "The largest of millions of entries is far smaller than the norm of them all: hardly "
            "anything is ever clipped.",
            norm="largest entry",
        ),
        mistake(
            "last_only",
            "Only the last gradient counts for the norm; the squares of all gradients should be "
            "added up.",
            "In the loop: total = ... -> total += ..., with total = 0.0 before the loop.",
            "Whether a step is shortened depends on one tensor, in GPT-2 the beta of the last norm; "
            "an odd batch is not noticed in all the others.",
            norm="last",
        ),
        mistake(
            "norm_of_parameters",
            "It takes the norm of the parameters that have a gradient; it should be the norm of "
            "these gradients.",
            "Where the norm is made: p -> p.grad.",
            "The norm of GPT-2's weights is above 200 before the first step: with max_norm = 1 every "
            "gradient would be divided by as much, odd batch or not.",
            norm="parameters",
        ),
        mistake(
            "norm_of_all_parameters",
            "It takes the norm of all parameters, also of those without a gradient; it should be the "
            "norm of the gradients that are there.",
            "Where the norm is made: p -> p.grad, where p.grad is not None.",
            "The norm of GPT-2's weights is above 200 before the first step: with max_norm = 1 every "
            "gradient would be divided by as much, odd batch or not.",
            norm="all parameters",
        ),
        mistake(
            "stretched",
            "Short gradients are stretched to max_norm; they should stay as they are.",
            "In the factor: max_norm / n -> min(1, max_norm / n).",
            "Every gradient is equally long then: AdamW's averages no longer see which batches had "
            "much to say and which had hardly anything.",
            scale="any length",
        ),
        mistake(
            "wrong_way_round",
            "Short gradients are stretched to max_norm, and long ones stay as they are; long "
            "ones should be shortened, and short ones stay.",
            "In the factor: max(1, max_norm / n) -> min(1, max_norm / n). If you have an `if`: n "
            "< max_norm -> n > max_norm.",
            "The one batch that clipping is there for goes through at full length.",
            scale="lengthened",
        ),
        mistake(
            "inverted",
            "Gradients that are too long are multiplied by n / max_norm, which is above 1; they "
            "should be multiplied by max_norm / n.",
            "In the factor: n / max_norm -> max_norm / n. If there is a max(1, ...) around it, "
            "it becomes min(1, ...).",
            "A gradient of ten times the bound becomes one of a hundred times: one odd batch is "
            "enough to lose the model.",
            scale="inverted",
        ),
        mistake(
            "short_ones_shortened",
            "The factor is min(1, n / max_norm), which shortens what is short enough; it should "
            "be min(1, max_norm / n).",
            "In the factor: n / max_norm -> max_norm / n.",
            "Long gradients, which clipping is there for, go through as they are; short ones get "
            "shorter still.",
            scale="inverted and capped",
        ),
        mistake(
            "not_scaled",
            "The norm returned is right, but the gradients stay as they were; they should be "
            "multiplied by min(1, max_norm / n).",
            "In the loop that scales, in place: g = g * factor -> g.mul_(factor). The first only "
            "makes a new tensor.",
            "Nothing is clipped, and the number that is returned looks as if it were.",
            scale="not at all",
        ),
        Mistake(
            "fixed_bound",
            altered(clipped, before=lambda i: {"max_norm": 1.0}),
            "The gradients are clipped at 1; they should be clipped at max_norm.",
            "In the factor (and the `if`, if there is one): 1.0 as the bound -> max_norm.",
            "Many runs clip at 1, and there nobody notices. Any other bound has no effect.",
        ),
    ),
    outputs=("the norm that it returns", "the gradients"),
    look={
        "short enough": f"{ROOT} If it is at most max_norm, they stay as they are.",
        "one parameter, too long": f"{ROOT} {FACTOR}",
        "several parameters, too long": f"First the norm n of all together. {FACTOR}",
        "one without a gradient": "Leave out what has p.grad = None, and nothing else.",
    },
    raises={
        "NoneType": "A parameter that took no part has p.grad = None: leave it out.",
        "non-empty": "No gradient was collected: take each p.grad that is not None, in one loop, since "
        "model.parameters() ends after it.",
        "a leaf Variable": "Change p.grad, not p.",
    },
)
