"""run_stream: the stream at the end, and the ledger of what each sub-layer added."""

from __future__ import annotations

from functools import partial

import numpy as np

from autograder.check.component import Component
from autograder.check.draw import normal
from autograder.check.parts import Fixture, Property
from autograder.check.properties.common import COMMON
from autograder.check.properties.varied import batch_dims, property_of
from autograder.check.residual_stream.ledger_mistakes import MISTAKES
from autograder.check.residual_stream.sublayers import call_with, once, sizes, stack
from autograder.judge import Trouble
from autograder.judge.compare import number
from autograder.oracle import residual_stream as oracle

BY_ITSELF = "three sub-layers, the second returns its input"


def run_fixtures(rng):
    B, T, d, L = sizes(rng)
    x = partial(normal, rng, B, T, d)
    return [
        Fixture("one sub-layer", stack(rng, x(), "tanh"), weight=1.0),
        Fixture(
            BY_ITSELF,
            stack(rng, x(), "tanh", "itself", "tanh"),
            weight=1.0,
        ),
        Fixture("several sub-layers", stack(rng, x(), *["tanh"] * L), weight=3.0),
    ]


def _none(c, inputs):
    return inputs | {"kinds": (), "state": {}}


def _adds_up(c, inputs, answers):
    stream, ledger = answers[0].value
    gap = np.abs(stream.astype(np.float64) - inputs["x"] - sum(ledger)).max()
    if gap < 1e-4:
        return None
    return Trouble(
        "The start plus the ledger does not give the final stream.",
        f"The two differ by up to {number(gap)}.",
        "Each entry of the ledger is what one sub-layer added: its result, and nothing else. A change "
        "in place (+=, add_) of the write or the stream can change an entry that is kept.",
    )


RUN_STREAM = Component(
    "run_stream",
    run_fixtures,
    oracle.run_stream,
    call=call_with("run_stream"),
    properties=(
        property_of(
            _none,
            "no sub-layers: the stream as it is, an empty ledger",
            "Make the empty ledger before the loop, and return x and the ledger after it.",
            weight=0.5,
        ),
        once,
        Property("start + ledger = final stream", lambda c, i: [c.call(i)], _adds_up),
        *batch_dims("x"),
        *COMMON,
    ),
    mistakes=MISTAKES,
    needs=("residual_add",),
    outputs=("the final stream", "the ledger"),
    arise=(1, 0),
    raises={"unsupported operand": "A sub-layer is a function or module: call it, sublayer(x)."},
    look={
        BY_ITSELF: "Its write is the very tensor x, so x += write changes the ledger's entry too. "
        "Write x = x + write."
    },
)
