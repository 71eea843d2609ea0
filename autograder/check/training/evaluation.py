"""estimate_loss: the mean over batches, and the mode of the model."""

from __future__ import annotations

from autograder.check.component import Component
from autograder.check.mistake import Mistake
from autograder.check.parts import Fixture, Property
from autograder.check.draw import choice
from autograder.check.mode import parts_restored
from autograder.check.properties import python_numbers
from autograder.check.tensors import works_away
from autograder.check.varied import property_of
from autograder.check.training.step import small_model
from autograder.judge import Trouble
from autograder.oracle import training as oracle
from autograder.probes import Call


def loss_fixtures(rng):
    V, d, T = choice(rng, (5, 4, 4), (6, 3, 3), (4, 5, 5))
    values, keep = small_model(rng, V, d)

    def case(*sizes, training=False):
        batches = [tuple(rng.integers(0, V, size) for _ in range(2)) for size in sizes]
        return {
            "values": values,
            "batches": tuple(batches),
            "keep": keep,
            "training": training,
            "as_list": True,
        }

    sizes = (2, T), (1, T + 3), (4, 1)
    return [
        Fixture("batches of one size", case((2, T), (2, T), (2, T))),
        Fixture("batches of different sizes", case(*sizes)),
        Fixture("a model in training mode", case(*sizes, training=True), weight=3.0),
    ]


def estimated(values, batches, keep, training, as_list, mode=None, **switches):
    value = oracle.estimate_loss(values, batches, keep, training, **switches)
    return value, training if mode is None else mode


def loss_mistake(name, says, look="", **switches):
    return Mistake(name, lambda **inputs: estimated(**inputs, **switches), says, look)


def _recorded(c, inputs, answers):
    _, _, log, _ = answers[0].value
    if any(grad for _, grad in log):
        return Trouble(
            "Gradients are recorded while it evaluates.",
            "Each batch's graph takes memory, and nobody uses it.",
            "Keep @torch.no_grad() above the function.",
        )
    return None


PER_TOKEN = "Weigh the mean loss of a batch by y.numel(), and divide by the number of all tokens."
ESTIMATE_LOSS = Component(
    "estimate_loss",
    loss_fixtures,
    estimated,
    call=lambda inputs: Call(args=tuple(inputs.values()), probe="training:evaluate"),
    read=lambda inputs, value: value[:2],
    properties=(
        property_of(
            lambda c, i: i | {"as_list": False},
            "batches that can be gone through once only",
            "Take one batch after the other: for x, y in batches.",
            weight=0.5,
        ),
        Property("no gradients are recorded", lambda c, i: [c.call(i)], _recorded, weight=0.5),
        python_numbers(float, output=0),
        parts_restored(),
        works_away,
    ),
    mistakes=(
        loss_mistake(
            "dropout_on",
            "Dropout stays on: the model is not put into evaluation mode.",
            "First model.eval(), and at the end the old mode again.",
            dropout=True,
        ),
        loss_mistake(
            "stays_in_eval",
            "The model stays in evaluation mode: it would go on training without dropout.",
            "Remember model.training at the start, and hand it to model.train(...) at the end.",
            mode=False,
        ),
        loss_mistake(
            "always_train_after",
            "It puts the model into training mode, even if it was not in it before.",
            "Remember model.training at the start, and hand it to model.train(...) at the end.",
            mode=True,
        ),
        loss_mistake(
            "mean_of_means",
            "Small batches count as much as large ones.",
            PER_TOKEN,
            weigh="batches",
        ),
        loss_mistake(
            "by_rows",
            "Batches are weighed by their rows, whatever the rows' length.",
            PER_TOKEN,
            weigh="rows",
        ),
        loss_mistake("sum", "The losses are added up and not divided.", PER_TOKEN, weigh="none"),
        loss_mistake(
            "total", "It returns the sum over all tokens, not the mean.", PER_TOKEN, weigh="total"
        ),
        loss_mistake(
            "divided_twice",
            "Means are added up, and then divided by the number of tokens once more.",
            PER_TOKEN,
            weigh="divided by tokens",
        ),
        loss_mistake(
            "last_only", "Only the last batch counts.", "Add up over the loop.", use=slice(-1, None)
        ),
        loss_mistake(
            "first_only",
            "Only the first batch counts.",
            "Is the `return` inside the loop?",
            use=slice(0, 1),
        ),
    ),
    outputs=("the loss", "the mode (model.training) afterwards"),
)
