"""residual_add: what is added to what."""

from __future__ import annotations

import operator

from array_api_compat import array_namespace

from autograder.check.component import Component
from autograder.check.draw import normal
from autograder.check.mistake import entries
from autograder.check.parts import Fixture
from autograder.check.properties.common import COMMON
from autograder.check.properties.varied import batch_dims, property_of
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


_mistake = entries(oracle.residual_add)


ZERO = "Add what the sub-layer returns, and nothing else: where that is 0, x comes back as it was."

MISTAKES = (
    _mistake(
        "replaced",
        "The write replaces the stream: sublayer(x) is returned alone. It should be added to x.",
        "In the return: sublayer(x) -> x + sublayer(x).",
        "Where each layer halves the gradient, 40 of them leave 1e-12 of it. The addition keeps a "
        "way past every sub-layer on which nothing shrinks.",
        keep=0.0,
    ),
    _mistake(
        "ignored",
        "The stream comes back as it was: the write is not in the result. x + write should come "
        "back.",
        "x + sublayer(x) makes a new tensor and leaves x as it is: return the new one, not x.",
        "A model of such layers is its embedding: nothing that the blocks compute arrives, and "
        "none of their weights gets a gradient.",
        factor=0.0,
    ),
    _mistake(
        "subtracted",
        "The write is subtracted, x - sublayer(x); it should be added.",
        "The sign before sublayer(x), in the return: minus -> plus.",
        "A model that you train yourself learns writes of the opposite sign and is as good. With "
        "GPT-2's weights each correction goes the wrong way.",
        factor=-1.0,
    ),
    _mistake(
        "difference",
        "It returns the write minus the stream, sublayer(x) - x; it should return their sum.",
        "The sign before x, in the return: minus -> plus.",
        "Each sub-layer turns the sign of all that was there before: after an odd number of them "
        "the embedding itself stands in the stream with a minus.",
        keep=-1.0,
    ),
    _mistake(
        "averaged",
        "It returns the mean of stream and write, (x + sublayer(x)) / 2; it should be their sum.",
        "Leave out the division by 2, or .mean(0) -> .sum(0).",
        "Halved by each of GPT-2 small's 24 sub-layers, the embedding would reach the end with "
        "the weight 6e-8. In a sum its weight stays 1.",
        keep=0.5,
        factor=0.5,
    ),
    _mistake(
        "stream_twice",
        "The stream is added twice: the result is 2 * x + sublayer(x). It should be "
        "x + sublayer(x).",
        "One x too many: the result of x + sublayer(x) holds x already, so add no x to it.",
        "Doubled by each of GPT-2 small's 24 sub-layers, the embedding would reach the end 17 "
        "million times as large, and no write could be seen beside it.",
        keep=2.0,
    ),
    _mistake(
        "write_twice",
        "The write is added twice: the result is x + 2 * sublayer(x). It should be "
        "x + sublayer(x).",
        "One write too many: no factor 2, and no second line that adds the same write.",
        "A write is a correction of the size that is needed. At twice the size it overshoots, "
        "with GPT-2's weights in each of 24 sub-layers.",
        factor=2.0,
    ),
    _mistake(
        "multiplied",
        "Stream and write are multiplied, x * sublayer(x); they should be added.",
        "The operator between the two: * -> +.",
        "A sub-layer that writes zero should change nothing; here it erases the stream. And each "
        "layer multiplies the gradient by what it wrote.",
        join=operator.mul,
    ),
    _mistake(
        "concatenated",
        "Stream and write are joined side by side (torch.cat, x first, width 2 * d); they should "
        "be added.",
        "torch.cat([x, sublayer(x)], dim=-1) -> the sum of the two, with +.",
        "Twice as wide after each sub-layer, 768 columns would be 13 billion after the 24 of "
        "GPT-2 small. A sum needs no more room.",
        join=_side_by_side,
    ),
    _mistake(
        "concatenated_write_first",
        "Write and stream are joined side by side (torch.cat, the write first, width 2 * d); they "
        "should be added.",
        "torch.cat([sublayer(x), x], dim=-1) -> the sum of the two, with +.",
        "Twice as wide after each sub-layer, 768 columns would be 13 billion after the 24 of "
        "GPT-2 small. A sum needs no more room.",
        join=lambda x, write: _side_by_side(write, x),
    ),
    _mistake(
        "applied_twice",
        "The sub-layer reads its own result: x + sublayer(sublayer(x)). It should read x, and be "
        "called once.",
        "One call around x is enough: sublayer(sublayer(x)) -> sublayer(x), also over two lines.",
        "A sub-layer learns to read streams. In its own write the token's vector and all earlier "
        "writes are missing.",
        reads=lambda x, f: f(x),
    ),
    _mistake(
        "overwritten_first",
        "The result is w + sublayer(w), where w = sublayer(x) stands in place of the stream. It "
        "should be x + sublayer(x), with the x that was given.",
        "Is there a line x = sublayer(x)? After it the old x is lost. Call it once, write = "
        "sublayer(x), and return x + write.",
        "With its name the stream is lost: the token's own vector, and all that was written "
        "before.",
        before=lambda i: {"x": _write(i)},
    ),
    _mistake(
        "two_updates",
        "The update x = x + sublayer(x) is made twice, the second time with the new x. It should "
        "be made once.",
        "After x = x + sublayer(x) all is done: return x, with no second call and no loop.",
        "Every sub-layer takes two turns with the same weights: GPT-2 small would make 48 "
        "additions where it has learnt to make 24.",
        before=lambda i: {"x": i["x"] + _write(i)},
    ),
    _mistake(
        "norm_before",
        "The sub-layer reads layer_norm(x); it should read x itself. The x that is added is right.",
        "In the call: sublayer(layer_norm(x)) -> sublayer(x).",
        "In chapter 5 each sub-layer brings a norm of its own along. One that is built in here "
        "hides the length of the stream from all of them.",
        reads=lambda x, f: oracle.layer_norm(x),
    ),
    _mistake(
        "norm_after",
        "It returns layer_norm(x + sublayer(x)); it should return the sum without a layer norm.",
        "Leave out the layer norm around the sum, in the return.",
        "That is the block of 2017. It rescales the stream after every addition, so that no way "
        "is left on which a gradient passes unchanged.",
        after=lambda x: oracle.layer_norm(x),
    ),
    _mistake(
        "norm_in_stream",
        "Both x are replaced by layer_norm(x): the one that is added and the one that the "
        "sub-layer reads. Both should be x as it was given.",
        "Leave out the line x = layer_norm(x) before the sum.",
        "Each sub-layer would start by rescaling all that was written before it. How long the stream "
        "has become is lost, and so is the way on which gradients pass unchanged.",
        before=lambda i: {"x": oracle.layer_norm(i["x"])},
    ),
)

RESIDUAL_ADD = Component(
    "residual_add",
    add_fixtures,
    oracle.residual_add,
    call=call_with("residual_add"),
    properties=(
        property_of(silent, "a sub-layer that writes zero changes nothing", ZERO, weight=0.5),
        once,
        *batch_dims("x"),
        *COMMON,
    ),
    mistakes=MISTAKES,
    raises={"unsupported operand": "The sub-layer is a function or module: call it, sublayer(x)."},
)
