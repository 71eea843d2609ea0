"""residual_add: what is added to what."""

from __future__ import annotations

import operator

from array_api_compat import array_namespace

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


def _write(i):
    return oracle.sublayer(**i, index=0)


def _side_by_side(x, write):
    return array_namespace(x).concat([x, write], axis=-1)


def _mistake(name, says, look, why, **changes):
    return Mistake(name, altered(oracle.residual_add, **changes), says, look, why)


SUM = "Return the sum: x + sublayer(x)."

RESIDUAL_ADD = Component(
    "residual_add",
    add_fixtures,
    oracle.residual_add,
    call=call_with("residual_add"),
    properties=(
        property_of(silent, "a sub-layer that writes zero changes nothing", SUM, weight=0.5),
        once,
        *batch_dims("x"),
        *COMMON,
    ),
    mistakes=(
        _mistake(
            "replaced",
            "The sub-layer's result replaces the stream; it should be added to it.",
            SUM,
            "Where each layer halves the gradient, 40 of them leave 1e-12 of it. The addition keeps a "
            "way past every sub-layer on which nothing shrinks.",
            keep=0.0,
        ),
        _mistake(
            "ignored",
            "The stream comes back as it was: what the sub-layer writes is lost.",
            "x + sublayer(x) makes a new tensor, and that has to be returned.",
            "A model of such layers is its embedding: nothing that the blocks compute arrives, and "
            "none of their weights gets a gradient.",
            factor=0.0,
        ),
        _mistake(
            "subtracted",
            "What the sub-layer writes is subtracted instead of added.",
            SUM,
            "A model that you train yourself learns writes of the opposite sign and is as good. With "
            "GPT-2's weights each correction goes the wrong way.",
            factor=-1.0,
        ),
        _mistake(
            "difference",
            "It returns the write minus the stream; it should return their sum.",
            SUM,
            "Each sub-layer turns the sign of all that was there before: after an odd number of them "
            "the embedding itself stands in the stream with a minus.",
            keep=-1.0,
        ),
        _mistake(
            "averaged",
            "Stream and write are averaged; in the sum both keep their full weight.",
            SUM,
            "Halved by each of GPT-2 small's 24 sub-layers, the embedding would reach the end with "
            "the weight 6e-8. In a sum its weight stays 1.",
            keep=0.5,
            factor=0.5,
        ),
        _mistake(
            "stream_twice",
            "The stream is counted twice.",
            "Add the stream to what the sub-layer returns, once: x + sublayer(x).",
            "Doubled by each of GPT-2 small's 24 sub-layers, the embedding would reach the end 17 "
            "million times as large, and no write could be seen beside it.",
            keep=2.0,
        ),
        _mistake(
            "write_twice",
            "The write is counted twice.",
            SUM,
            "A write is a correction of the size that is needed. At twice the size it overshoots, "
            "with GPT-2's weights in each of 24 sub-layers.",
            factor=2.0,
        ),
        _mistake(
            "multiplied",
            "Stream and write are multiplied instead of added.",
            SUM,
            "A sub-layer that writes zero should change nothing; here it erases the stream. And each "
            "layer multiplies the gradient by what it wrote.",
            join=operator.mul,
        ),
        _mistake(
            "concatenated",
            "Stream and write stand side by side (width 2d) instead of being added.",
            SUM,
            "Twice as wide after each sub-layer, 768 features would be 13 billion after the 24 of "
            "GPT-2 small. A sum needs no more room.",
            join=_side_by_side,
        ),
        _mistake(
            "applied_twice",
            "The sub-layer is applied to its own result before the stream is added.",
            "It reads the stream, once: write = sublayer(x), and then x + write.",
            "A sub-layer learns to read streams. In its own write the token's vector and all earlier "
            "writes are missing.",
            reads=lambda x, f: f(x),
        ),
        _mistake(
            "overwritten_first",
            "The name x is given to the sub-layer's result, and then used as if it were the stream.",
            "Give the write a name of its own: write = sublayer(x), and then x + write.",
            "With its name the stream is lost: the token's own vector, and all that was written "
            "before.",
            before=lambda i: {"x": _write(i)},
        ),
        _mistake(
            "two_updates",
            "The update is made twice: the sub-layer reads the new stream too, and adds once more.",
            "One call and one addition: return x + sublayer(x).",
            "Every sub-layer takes two turns with the same weights: GPT-2 small would make 48 "
            "additions where it has learnt to make 24.",
            before=lambda i: {"x": i["x"] + _write(i)},
        ),
        _mistake(
            "norm_before",
            "The sub-layer is given a normalised stream; it should read the stream as it is.",
            "sublayer(x), with x as it was given.",
            "In chapter 5 each sub-layer brings a norm of its own along. One that is built in here "
            "hides the length of the stream from all of them.",
            reads=lambda x, f: oracle.layer_norm(x),
        ),
        _mistake(
            "norm_after",
            "The sum goes through a layer norm; it should be returned as it is.",
            SUM,
            "That is the block of 2017. It rescales the stream after every addition, so that no way "
            "is left on which a gradient passes unchanged.",
            after=lambda x: oracle.layer_norm(x),
        ),
        _mistake(
            "norm_in_stream",
            "The stream itself is normalised before sub-layer and sum: x = norm(x) and then x + f(x).",
            "No norm here: x + sublayer(x), both times the x that was given.",
            "Each sub-layer would start by rescaling all that was written before it. How long the stream "
            "has become is lost, and so is the way on which gradients pass unchanged.",
            before=lambda i: {"x": oracle.layer_norm(i["x"])},
        ),
    ),
    raises={"unsupported operand": "The sub-layer is a function or module: call it, sublayer(x)."},
)
