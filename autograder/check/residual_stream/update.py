"""residual_add: what is added to what."""

from __future__ import annotations


from autograder.check.component import Component
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture
from autograder.check.draw import normal
from autograder.check.properties import COMMON
from autograder.check.varied import batch_dims, property_of
from autograder.check.residual_stream.sublayers import call_with, once, silent, sizes, stack
from autograder.oracle import residual_stream as oracle


def add_fixtures(rng):
    B, T, d, _ = sizes(rng)
    return [
        Fixture("one position", stack(rng, normal(rng, B, 1, d), "tanh"), weight=1.0),
        Fixture(
            "a sub-layer that returns its input",
            stack(rng, normal(rng, B, T, d), "itself"),
            weight=1.0,
        ),
        Fixture("a sub-layer tanh(x W + b)", stack(rng, normal(rng, B, T, d), "tanh")),
    ]


def _write(x, kinds, state):
    return oracle.sublayer(x, kinds, state, 0)


def _write_of_write(x, kinds, state):
    return _write(_write(x, kinds, state), kinds, state)


RESIDUAL_ADD = Component(
    "residual_add",
    add_fixtures,
    oracle.residual_add,
    call=call_with("residual_add"),
    properties=(
        property_of(silent, "a sub-layer that writes zero changes nothing", "", weight=0.5),
        once,
        *batch_dims("x"),
        *COMMON,
    ),
    mistakes=(
        Mistake(
            "replaced",
            altered(oracle.residual_add, keep=0.0),
            "The sub-layer's result replaces the stream; it should be added to it.",
            "Return the sum: x + sublayer(x).",
        ),
        Mistake(
            "ignored",
            altered(oracle.residual_add, factor=0.0),
            "The stream comes back as it was: what the sub-layer writes is lost.",
            "Adding makes a new tensor, and that has to be returned.",
        ),
        Mistake(
            "subtracted",
            altered(oracle.residual_add, factor=-1.0),
            "What the sub-layer writes is subtracted instead of added.",
        ),
        Mistake(
            "difference",
            altered(oracle.residual_add, keep=-1.0),
            "It returns the write minus the stream; it should return their sum.",
        ),
        Mistake(
            "averaged",
            altered(oracle.residual_add, keep=0.5, factor=0.5),
            "It takes the average of stream and write. The stream keeps its full weight.",
        ),
        Mistake(
            "stream_twice",
            altered(oracle.residual_add, keep=2.0),
            "The stream is counted twice.",
            "Add the stream to what the sub-layer returns, once.",
        ),
        Mistake(
            "multiplied",
            lambda x, kinds, state: x * _write(x, kinds, state),
            "Stream and write are multiplied instead of added.",
        ),
        Mistake(
            "applied_twice",
            lambda x, kinds, state: x + _write_of_write(x, kinds, state),
            "The sub-layer is applied to its own result before the stream is added.",
            "It reads the stream: sublayer(x).",
        ),
        Mistake(
            "overwritten_first",
            lambda x, kinds, state: _write(x, kinds, state) + _write_of_write(x, kinds, state),
            "The name x is given to the sub-layer's result, and then used as if it were the stream.",
            "Give the write a name of its own.",
        ),
    ),
)
