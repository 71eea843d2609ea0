"""run_stream: the stream at the end, and the ledger of what each sub-layer added."""

from __future__ import annotations

from functools import partial
from itertools import accumulate

import numpy as np

from autograder.check.component import Component
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture, Property
from autograder.check.draw import normal
from autograder.check.properties import COMMON
from autograder.check.varied import batch_dims, property_of
from autograder.check.residual_stream.sublayers import call_with, once, sizes, stack
from autograder.judge import Trouble
from autograder.judge.compare import number
from autograder.oracle import residual_stream as oracle

BY_ITSELF = "with a sub-layer that returns its input"


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
        "Each entry of the ledger is what one sub-layer added: its result, and nothing else.",
    )


def _ledger(f):
    """The right stream, and `f` of start and writes in place of the ledger."""

    def wrong(x, kinds, state):
        stream, writes = oracle.run_stream(x, kinds, state)
        return stream, tuple(f(x, writes))

    return wrong


def _stream(f, **switches):
    """`f` of start and writes in place of the stream, and the ledger of these writes."""

    def wrong(x, kinds, state):
        stream, writes = oracle.run_stream(x, kinds, state, **switches)
        return f(x, writes), writes

    return wrong


RUN_STREAM = Component(
    "run_stream",
    run_fixtures,
    oracle.run_stream,
    call=call_with("run_stream"),
    properties=(
        property_of(_none, "no sub-layers: the stream as it is, an empty ledger", "", weight=0.5),
        once,
        Property("start + ledger = final stream", lambda c, i: [c.call(i)], _adds_up),
        *batch_dims("x"),
        *COMMON,
    ),
    mistakes=(
        Mistake(
            "replaced",
            altered(oracle.run_stream, keep=0.0),
            "Each sub-layer's result replaces the stream; it should be added to it.",
            "In the loop: x = x + write.",
        ),
        Mistake(
            "ledger_of_streams",
            _ledger(lambda x, writes: list(accumulate(writes, initial=x))[1:]),
            "The ledger holds the stream after each sub-layer, not what the sub-layer added.",
            "Append the write, before or after you add it.",
        ),
        Mistake(
            "ledger_of_inputs",
            _ledger(lambda x, writes: list(accumulate(writes, initial=x))[:-1]),
            "The ledger holds what each sub-layer read, not what it wrote.",
            "Append the result of the sub-layer.",
        ),
        Mistake(
            "ledger_of_sums",
            _ledger(lambda x, writes: accumulate(writes)),
            "The ledger holds running totals: each entry contains the earlier writes too.",
            "Append the write of this sub-layer alone.",
        ),
        Mistake(
            "ledger_with_start",
            _ledger(lambda x, writes: [x, *writes]),
            "The ledger starts with the embedding. It lists the writes only, one a sub-layer.",
        ),
        Mistake(
            "ledger_reversed",
            _ledger(lambda x, writes: reversed(writes)),
            "The ledger is in reverse order: entry 0 should be the write of sub-layer 0.",
            "A new entry belongs at the end: ledger.append(write).",
        ),
        Mistake(
            "order_reversed",
            altered(oracle.run_stream, order=lambda n: reversed(range(n))),
            "The sub-layers run in reverse order.",
        ),
        Mistake(
            "all_read_start",
            altered(oracle.run_stream, reads="start"),
            "Every sub-layer reads the first stream; it should read the stream as it then stands.",
            "Update x inside the loop: x = x + write.",
        ),
        Mistake(
            "reads_last_write",
            altered(oracle.run_stream, reads="write"),
            "Each sub-layer reads the write of the one before, not the stream.",
            "Each reads the sum so far: write = sublayer(x), with x = x + write after it.",
        ),
        Mistake(
            "only_last_added",
            _stream(lambda x, writes: x + writes[-1], reads="start"),
            "The stream is never updated: the result is the start plus the last write.",
            "Inside the loop: x = x + write.",
        ),
        Mistake(
            "without_start",
            _stream(lambda x, writes: sum(writes)),
            "The final stream is the sum of the writes; the embedding is missing from it.",
        ),
        Mistake(
            "returns_in_loop",
            altered(oracle.run_stream, order=lambda n: range(1)),
            "It stops after the first sub-layer.",
            "Is the `return` indented into the loop?",
        ),
        Mistake(
            "last_skipped",
            altered(oracle.run_stream, order=lambda n: range(n - 1)),
            "The last sub-layer is left out.",
        ),
        Mistake(
            "first_skipped",
            altered(oracle.run_stream, order=lambda n: range(1, n)),
            "The first sub-layer is left out.",
        ),
        Mistake(
            "first_again",
            altered(oracle.run_stream, order=lambda n: [0] * n),
            "The first sub-layer is called each time, in place of the others.",
        ),
    ),
    needs=("residual_add",),
    outputs=("the final stream", "the ledger"),
    look={
        BY_ITSELF: "Its write is the very tensor x, so x += write changes the ledger's entry too. "
        "Write x = x + write."
    },
)
