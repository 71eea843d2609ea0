"""What must hold of a component that draws at random, however it draws."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from autograder.check.component import Component
from autograder.check.findings import failure
from autograder.check.parts import Inputs, Property
from autograder.judge import Trouble
from autograder.probes import Answer, Call
from autograder.probes.plain import Seed, flat

# The generator that is passed in, and the seed of torch's global one, for each call.
DRAWS = ((Seed(1), 11), (Seed(1), 12), (Seed(2), 11), (None, 13), (None, 13), (None, 14))


def _decides(c: Component, inputs: Inputs, answers: list[Answer]) -> Trouble | None:
    *answers, twice = answers
    for answer, (generator, _) in zip(answers, DRAWS):
        if answer.failure:
            return failure(answer, "with a generator" if generator else "without a generator")
    same_seed, other_global, other_seed, alone, alone_again, alone_other = (
        a.value for a in answers
    )
    if not same(same_seed, other_global):
        return Trouble(
            "Two generators with the same seed give different results.",
            look="Hand generator=generator to the function that draws.",
        )
    if same(same_seed, other_seed):
        return Trouble(
            "Generators with different seeds give the same result.",
            look="Hand generator=generator to the function that draws, and set no seed yourself.",
        )
    if not same(alone, alone_again):
        return Trouble(
            "Without a generator, torch.manual_seed does not make the result repeatable.",
            look="Draw with torch, not with `random` or NumPy.",
        )
    if same(alone, alone_other):
        return Trouble(
            "Without a generator, the result is always the same.",
            look="Set no seed inside: the caller does.",
        )
    if twice.failure:
        return failure(twice, "when it is called again with the same generator")
    if same(*twice.value):
        return Trouble(
            "The generator that is handed in does not move on: called again, it gives the same.",
            look="Draw with the generator itself, not with a copy of it or one with its seed.",
        )
    return None


def generator_decides(weight: float = 1.0, **fewer) -> Property:
    """`fewer`: inputs that make each call shorter; a few dozen draws tell seeds apart."""

    def calls(c: Component, inputs: Inputs) -> list[Call]:
        inputs = inputs | fewer
        draws = [replace(c.call(inputs | {"generator": g}), seed=seed) for g, seed in DRAWS]
        once = c.call(inputs | {"generator": Seed(3)})
        return draws + [Call(args=(once,), probe="repeat:one_generator")]

    return Property("the generator decides, and it alone", calls, _decides, weight)


def same(a: Any, b: Any) -> bool:
    """Whether two plain values hold the same numbers."""
    return all(np.array_equal(x, y) for x, y in zip(flat(a), flat(b), strict=True))
