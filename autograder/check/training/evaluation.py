"""estimate_loss: the mean over batches, and the mode of the model."""

from __future__ import annotations

import math

from autograder.check.component import Component
from autograder.check.draw import choice
from autograder.check.mistake import entries
from autograder.check.parts import Fixture, Property
from autograder.check.properties.common import python_numbers
from autograder.check.properties.mode import parts_restored
from autograder.check.properties.tensors import works_away
from autograder.check.properties.varied import property_of
from autograder.check.training.step import small_model
from autograder.judge import Trouble
from autograder.oracle import training as oracle
from autograder.probes import Call


def loss_fixtures(rng):
    V, d, T = choice(rng, (5, 4, 4), (6, 3, 3), (4, 5, 5))
    values, keep = small_model(rng, V, d)

    def case(*sizes, training=None):
        batches = [tuple(rng.integers(0, V, size) for _ in range(2)) for size in sizes]
        return {
            "values": values,
            "batches": tuple(batches),
            "keep": keep,
            "training": training,
            "as_list": True,
        }

    sizes = (3, T), (1, T + 3), (4, 1)
    return [
        Fixture("batches of one size", case((2, T), (2, T), (2, T))),
        # The mode afterwards is a matter of these two alone: who forgets it loses no other part.
        Fixture("a model in evaluation mode", case(*sizes, training=False), weight=1.0),
        Fixture("a model in training mode", case(*sizes, training=True), weight=2.0),
        Fixture("batches of different sizes", case(*sizes)),
    ]


def estimated(values, batches, keep, training, as_list, mode=None, **switches):
    """The loss and the mode afterwards.

    training: the mode in which the model is found; None: evaluation mode, and nobody asks
    afterwards.
    """
    value = oracle.estimate_loss(values, batches, keep, bool(training), **switches)
    return value, training if training is None or mode is None else mode


def evaluating(inputs):
    args = inputs | {"training": bool(inputs["training"])}
    return Call(args=tuple(args.values()), probe="training:evaluate")


def loss_and_mode(inputs, value):
    loss, mode, *_ = value
    return loss, None if inputs["training"] is None else mode


mistake = entries(estimated)


def with_x_and_y_swapped(inputs):
    return {"batches": tuple((y, x) for x, y in inputs["batches"])}


def _recorded(c, inputs, answers):
    _, _, log, _ = answers[0].value
    if any(grad for _, grad in log):
        return Trouble(
            "Gradients are recorded while it evaluates.",
            "Each batch's graph takes memory, and nobody uses it.",
            "Keep @torch.no_grad() above the function.",
        )
    return None


PER_TOKEN = "Add up loss * y.numel() over the batches, and divide by the sum of all y.numel()."
MODE = "Remember model.training before model.eval(), and at the end hand it to model.train(...)."
ESTIMATE_LOSS = Component(
    "estimate_loss",
    loss_fixtures,
    estimated,
    call=evaluating,
    read=loss_and_mode,
    properties=(
        property_of(
            lambda c, i: i | {"as_list": False},
            "batches that can be gone through once only",
            "Take one batch after the other: for x, y in batches.",
            weight=0.5,
        ),
        Property("no gradients are recorded", lambda c, i: [c.call(i)], _recorded, weight=0.5),
        python_numbers(float, output=0),
        parts_restored({"training": True}),
        works_away,
    ),
    mistakes=(
        mistake(
            "dropout_on",
            "Dropout stays on: model.eval() is missing (model.training = False alone does not "
            "reach the parts); it should come before the loop.",
            "Before the loop, model.eval(); and after it the old mode, with "
            "model.train(training).",
            "The loss is larger than the model deserves, and another one in each call: two models "
            "cannot be compared.",
            dropout="as it was",
        ),
        mistake(
            "train_mode",
            "model.train() stands where model.eval() belongs: dropout is on during evaluation. "
            "The mode afterwards is right.",
            "Before the loop: model.train() -> model.eval().",
            "The loss is larger than the model deserves, and another one in each call: two models "
            "cannot be compared.",
            dropout="on",
        ),
        mistake(
            "stays_in_eval",
            "The model stays in evaluation mode; afterwards it should be in the mode in which it "
            "was before.",
            "Before model.eval(), training = model.training; after the loop, "
            "model.train(training).",
            "After the first look at the held-out loss the rest of the training runs without "
            "dropout, and nothing tells.",
            mode=False,
        ),
        mistake(
            "always_train_after",
            "The model is always in training mode afterwards; it should be in the mode in which "
            "it was before.",
            "After the loop: model.train() -> model.train(training), with training = "
            "model.training from before model.eval().",
            "Who evaluates a finished model and then generates with it gets dropout in the text.",
            mode=True,
        ),
        mistake(
            "mean_of_means",
            "Every batch counts the same, whatever its size; each should count as often as it "
            "has tokens, y.numel().",
            "In the loop: loss -> loss * y.numel(); at the end: the number of batches -> the sum "
            "of all y.numel().",
            "The last batch of a text is often a small one. If it holds 1 row where the others have "
            "16, each of its tokens counts 16 times.",
            weigh="batches",
        ),
        mistake(
            "by_rows",
            "Each batch counts by its number of rows; it should count by its number of tokens, "
            "y.numel().",
            "y.shape[0] or len(y) -> y.numel(), in both sums.",
            "A token of a short row counts more than one of a long row: with stories of 10 and 100 "
            "words, ten times as much.",
            weigh="rows",
        ),
        mistake(
            "by_columns",
            "Each batch counts by the length of its rows; it should count by its number of "
            "tokens, y.numel().",
            "y.shape[1] -> y.numel(), in both sums.",
            "A batch of one row counts as much as one of 16 rows of that length: each of its tokens "
            "16 times as much.",
            weigh="columns",
        ),
        mistake(
            "sum",
            "The batches' mean losses are only added up; each should be multiplied by y.numel(), "
            "and the sum divided by the number of all tokens.",
            "In the loop: loss -> loss * y.numel(); in the return: total -> total / count, with "
            "count the sum of all y.numel().",
            "The number grows with the number of batches, and cannot be compared with ln V or the "
            "floor.",
            weigh="none",
        ),
        mistake(
            "total",
            "It returns the sum over all tokens; it should be divided by their number.",
            "In the return: total -> total / count, with count the sum of all y.numel().",
            "The number grows with the length of the text, and cannot be compared with ln V or the "
            "floor.",
            weigh="total",
        ),
        mistake(
            "divided_by_batches",
            "The sum over all tokens is divided by the number of batches; it should be divided "
            "by the number of tokens.",
            "In the loop: count += 1 -> count += y.numel(). Or at the end: len(batches) -> the "
            "sum of all y.numel().",
            "The number is that of a whole batch: with 1000 tokens each, 1000 times the loss.",
            weigh="total by batches",
        ),
        mistake(
            "divided_twice",
            "The batches' mean losses are added up as they are, and divided by the number of "
            "tokens; each should be multiplied by y.numel() first.",
            "In the loop: total += loss -> total += loss * y.numel(). The division at the end is "
            "right.",
            "With batches of 1000 tokens the loss comes out 1000 times too small: far below any "
            "floor, as if all were learnt.",
            weigh="divided by tokens",
        ),
        mistake(
            "upside_down",
            "It returns the number of tokens divided by the sum of the losses; it should be that "
            "sum divided by the number of tokens.",
            "In the return: count / total -> total / count.",
            "A better model would get the larger number.",
            after=lambda result: (1 / result[0], result[1]),
        ),
        mistake(
            "last_only",
            "Only the last batch counts; all batches should.",
            "In the loop, total = ... -> total += ..., and the same for the count of tokens.",
            "One batch is a noisy measure, and the last of a text is often the smallest.",
            use=slice(-1, None),
        ),
        mistake(
            "first_only",
            "Only the first batch counts, though the mode is restored afterwards; all batches "
            "should count.",
            "model.train(...) and return stand in the loop -> move them behind it; delete any "
            "break in the loop.",
            "One batch is a noisy measure: that is why many are handed in.",
            use=slice(0, 1),
        ),
        mistake(
            "returned_from_the_loop",
            "Only the first batch counts, and the model stays in evaluation mode; all should "
            "count, and the old mode should come back.",
            "The return in the loop -> to the end, behind model.train(training), which it never "
            "reaches now.",
            "One batch is a noisy measure, and the rest of the training runs without dropout.",
            use=slice(0, 1),
            mode=False,
        ),
        mistake(
            "x_y_swapped",
            "model.loss gets y and x, in this order; it should get x and y: the tokens, then "
            "their targets.",
            "model.loss(y, x) -> model.loss(x, y).",
            "It measures how well the model foretells the token before, which it was never asked.",
            before=with_x_and_y_swapped,
        ),
        mistake(
            "perplexity",
            "It returns e to the mean loss, which is the perplexity; it should return the mean "
            "loss itself.",
            "In the return: math.exp(total / count) -> total / count.",
            "A model that knows nothing has the loss ln V and the perplexity V: 2.8 against 17 here, "
            "and the marks that the curve is read by do not fit.",
            after=lambda result: (math.exp(result[0]), result[1]),
        ),
    ),
    outputs=("the loss", "the mode (model.training) afterwards"),
    look={
        "batches of one size": PER_TOKEN,
        "batches of different sizes": PER_TOKEN,
        "a model in evaluation mode": MODE,
        "a model in training mode": MODE,
    },
    raises={
        "division by zero": "Count the tokens in the same loop as the losses.",
        "has no len()": "batches may end after one loop and have no length: count in the loop.",
    },
)
