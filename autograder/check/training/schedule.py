"""lr_schedule: warm-up, half a cosine, and what comes after."""

from __future__ import annotations

import numpy as np

from autograder.check.component import Component
from autograder.check.findings import failure
from autograder.check.mistake import Mistake
from autograder.check.parts import Fixture, Property
from autograder.check.draw import choice
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance, kind
from autograder.oracle import training as oracle
from autograder.probes import Call


def fixtures(rng):
    warmup, total = choice(rng, (4, 15), (5, 18), (6, 16))
    max_lr, min_lr = choice(rng, (0.6, 0.05), (0.8, 0.1), (0.5, 0.08))

    def steps(first, last, warmup=warmup):
        rates = dict(max_lr=max_lr, min_lr=min_lr, warmup_steps=warmup, max_steps=total)
        return {"steps": np.arange(first, last)} | rates

    return [
        Fixture("the warm-up", steps(0, warmup)),
        Fixture("no warm-up", steps(0, total + 1, warmup=0)),
        Fixture("the whole course, and five steps more", steps(0, total + 6), weight=3.0),
    ]


def expected(steps, max_lr, min_lr, warmup_steps, max_steps, **switches):
    rates = (max_lr, min_lr, warmup_steps, max_steps)
    return np.array([oracle.lr_schedule(int(s), *rates, **switches) for s in steps])


def read(inputs, value):
    if isinstance(value, np.ndarray):
        return value
    return Trouble(
        f"The learning rate should be a number, and is {kind(value)}.",
        look="Is a `return` missing?" if value is None else "",
    )


def _single(c, inputs):
    steps, *rest = inputs.values()
    return [Call(args=(int(s), *rest)) for s in (steps[0], steps[-1])]


def _float(c, inputs, answers):
    for answer in answers:
        if answer.failure:
            return failure(answer, "on a single step")
        if not isinstance(answer.value, float):
            return Trouble(
                f"The learning rate is {kind(answer.value)}; it should be a Python float.",
                look="Compute with math.cos and plain numbers, or return rate.item().",
            )
    return None


def mistake(name, says, look="", **switches):
    return Mistake(name, lambda **inputs: expected(**inputs, **switches), says, look)


LR_SCHEDULE = Component(
    "lr_schedule",
    fixtures,
    expected,
    call=lambda inputs: Call(args=tuple(inputs.values()), probe="training:curve"),
    read=read,
    properties=(Property("returns a Python float", _single, _float, weight=0.5),),
    mistakes=(
        mistake(
            "warmup_from_0",
            "The learning rate of step 0 is 0: the first step does nothing.",
            "During warm-up it is max_lr * (step + 1) / warmup_steps.",
            ahead=0,
        ),
        Mistake(
            "warmup_from_min",
            lambda **inputs: expected(**inputs, rise_from=inputs["min_lr"]),
            "The warm-up begins at min_lr.",
            "It begins at 0: max_lr * (step + 1) / warmup_steps. min_lr is where the cosine ends.",
        ),
        mistake(
            "no_warmup",
            "There is no warm-up: the cosine begins at step 0.",
            "While step < warmup_steps, the rate rises in a straight line.",
            warm=False,
            start=0,
        ),
        mistake(
            "progress_from_0",
            "The cosine is counted from step 0, so it does not begin at max_lr.",
            "Its progress is (step - warmup_steps) / (max_steps - warmup_steps).",
            start=0,
        ),
        mistake(
            "linear_decay",
            "After the warm-up the rate falls in a straight line, not along a cosine.",
            shape="line",
        ),
        mistake(
            "constant",
            "After the warm-up the rate stays at max_lr.",
            "It falls along half a cosine to min_lr.",
            shape="constant",
        ),
        mistake(
            "down_to_0",
            "It falls to 0; min_lr is not used.",
            "The cosine spans what lies between the two: min_lr + (max_lr - min_lr) * ...",
            floor="none",
        ),
        mistake(
            "cut_off_at_min",
            "The cosine goes to 0 and is cut off at min_lr, instead of ending there.",
            "The cosine spans what lies between the two: min_lr + (max_lr - min_lr) * ...",
            floor="cut off",
        ),
        mistake(
            "rises_again",
            "Past max_steps the rate rises again.",
            "Hold it at min_lr: the progress is at most 1.",
            clamp=False,
        ),
        mistake(
            "whole_wave",
            "It goes through a whole wave, down and up again.",
            "From max_lr to min_lr is half a wave: cos(pi * progress).",
            shape="whole wave",
        ),
        mistake(
            "bare_cosine",
            "The cosine is used as it is, from 1 to -1, so that the rate falls below min_lr.",
            "What goes from 1 to 0 is (1 + cos(pi * progress)) / 2.",
            shape="bare cosine",
        ),
    ),
    outputs="the learning rate of the steps",
    tolerance=Tolerance(1e-5, 1e-7),
    look={
        "the warm-up": "For step < warmup_steps it is max_lr * (step + 1) / warmup_steps.",
        "no warm-up": "With warmup_steps = 0, step 0 has max_lr and step max_steps has min_lr.",
        "the whole course, and five steps more": "Past max_steps it stays at min_lr.",
    },
)
