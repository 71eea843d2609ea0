"""lr_schedule: warm-up, half a cosine, and what comes after."""

from __future__ import annotations

import numpy as np

from autograder.check.component import Component
from autograder.check.findings import failure
from autograder.check.parts import Fixture, Inputs, Property
from autograder.check.draw import choice
from autograder.check.training.schedule_mistakes import COSINE, FALL, MISTAKES, RISE, expected
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance, kind
from autograder.probes import Call


def fixtures(rng):
    warmup, total = choice(rng, (4, 15), (5, 18), (6, 16))
    max_lr, min_lr = choice(rng, (0.6, 0.05), (0.8, 0.1), (0.5, 0.08))

    def steps(first, last, warmup=warmup, total=total):
        rates = dict(max_lr=max_lr, min_lr=min_lr, warmup_steps=warmup, max_steps=total)
        return {"steps": tuple(range(first, last))} | rates

    return [
        Fixture("the warm-up", steps(0, warmup)),
        Fixture("no warm-up", steps(0, total + 1, warmup=0)),
        Fixture("warm-up and cosine", steps(0, total + 1), weight=1.0),
        Fixture(
            "a run that ends one step after the warm-up",
            steps(0, warmup + 2, total=warmup + 1),
            weight=0.5,
        ),
        Fixture("the whole course, and five steps more", steps(0, total + 6), weight=3.0),
    ]


def read(inputs, value):
    if isinstance(value, (np.ndarray, float, int)):
        return value
    return Trouble(
        f"The learning rate should be a number, and is {kind(value)}.",
        look=(
            "Is a `return` missing, or is there a case without one?"
            if value is None
            else "Return the rate of this one step as a plain number."
        ),
    )


def call(inputs: Inputs) -> Call:
    """The example is a single step, as a student would type it."""
    many = isinstance(inputs["steps"], tuple)
    return Call(args=tuple(inputs.values()), probe="training:curve" if many else "")


def _single(c, inputs):
    return [c.call(inputs | {"steps": inputs["steps"][i]}) for i in (0, -1)]


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


LR_SCHEDULE = Component(
    "lr_schedule",
    fixtures,
    expected,
    call=call,
    read=read,
    properties=(Property("returns a Python float", _single, _float, weight=0.5),),
    mistakes=MISTAKES,
    example={"steps": 5, "max_lr": 1.0, "min_lr": 0.1, "warmup_steps": 2, "max_steps": 10},
    outputs="the learning rate of the steps",
    tolerance=Tolerance(1e-5, 1e-7),
    look={
        "a small example": FALL,
        "the warm-up": f"For step < warmup_steps it is {RISE}.",
        "no warm-up": "With warmup_steps = 0, step 0 has max_lr and step max_steps has min_lr.",
        "warm-up and cosine": f"Before warmup_steps it is {RISE}, from there on {COSINE}.",
        "a run that ends one step after the warm-up": "With max_steps = warmup_steps + 1, step warmup_steps has max_lr "
        "and the next one min_lr.",
        "the whole course, and five steps more": "Which step is the first that is wrong? Before "
        "warmup_steps it is the warm-up, from there on the cosine, past max_steps min_lr.",
    },
    raises={
        "division by zero": "warmup_steps may be 0: divide by it only while step < warmup_steps.",
        "must be Tensor, not": "math.cos takes a plain number, torch.cos a tensor.",
    },
)
