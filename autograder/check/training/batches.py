"""get_batch: where the windows begin, and how y lies to x."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.check.component import Component
from autograder.check.draw import choice
from autograder.check.parts import Fixture, Inputs, Property
from autograder.check.properties.common import unchanged
from autograder.check.properties.randomness import generator_decides
from autograder.check.properties.tensors import any_device
from autograder.check.properties.varied import SQUEEZE, property_of
from autograder.check.training.batches_mistakes import MISTAKES, describe, expected
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance, form
from autograder.probes import Call
from autograder.probes.plain import Seed

# Windows: a share of 1/3 has a deviation of 0.008 then, less than a fifth of the tolerance.
MANY = 3600


def fixtures(rng):
    (T,) = choice(rng, (5,), (3,), (4,))

    def batch(N, starts=None):
        # Every token occurs once, and none is a position: so each tells where it comes from.
        data = rng.choice(np.arange(100, 1000), N, replace=False)
        seed = Seed(int(rng.integers(1, 10**6)))
        return dict(data=data, batch_size=MANY, T=T, starts=starts, generator=seed)

    return [
        Fixture("one place to start", batch(3 * T + 4, np.array([T - 1])), weight=1.5),
        Fixture("given places to start", batch(2 * T + 5, np.array([1, 3, 4])), weight=1.5),
        Fixture("anywhere in the text", batch(2 * T + 5)),
    ]


def read(inputs: Inputs, value):
    data, form_of = inputs["data"], np.zeros((inputs["batch_size"], inputs["T"]), int)
    trouble = form(value, (form_of, form_of), ("the batch x", "the batch y"))
    if trouble:
        look = trouble.look or (
            "Return x and y, each of batch_size rows of T tokens. There may be more rows than places "
            "to start: the same window may come twice."
        )
        return replace(trouble, look=look)
    for name, rows in zip("xy", value):
        strange = ~np.isin(rows, data)
        if strange.any():
            return Trouble(
                f"The batch {name} holds numbers that are not in data.",
                f"{int(rows[strange][0])} is none of its tokens.",
                "The windows are pieces of data, not positions in it.",
            )
    return describe(data, inputs["starts"], *value)


def _rows_differ(c, inputs, answers):
    x = answers[0].value[0]
    if (x == x[0]).all():
        return Trouble(
            "All rows of a batch are the same window.",
            look="Draw batch_size places: torch.randint(count, (batch_size,), ...).",
        )
    return None


def _same_type(c, inputs, answers):
    wanted = inputs["data"].dtype
    for name, rows in zip("xy", answers[0].value):
        if rows.dtype != wanted:
            return Trouble(
                f"The batch {name} is {rows.dtype}, where data is {wanted}.",
                look="Leave the type of the ids as it is: looking things up with them needs int64.",
            )
    return None


def of_few(prop: Property, look: str = "") -> Property:
    """Looked at on fewer windows, which take less time; with advice of its own, if given."""

    def few(inputs):
        return inputs | {"batch_size": 40}

    def verdict(c, inputs, answers):
        trouble = prop.verdict(c, few(inputs), answers)
        return replace(trouble, look=look) if trouble and look else trouble

    return replace(prop, calls=lambda c, i: prop.calls(c, few(i)), verdict=verdict)


PLACES = "There are N - T places to start, 0 to N - T - 1: torch.randint(len(data) - T, ...)."
DEVICE = (
    "Draw on the CPU, where the generator is, and move what is drawn: pick.to(data.device). Make new "
    "tensors there, too: torch.arange(..., device=data.device)."
)
GET_BATCH = Component(
    "get_batch",
    fixtures,
    expected,
    call=lambda inputs: Call(args=tuple(inputs.values())),
    read=read,
    properties=(
        of_few(Property("each row is drawn by itself", lambda c, i: [c.call(i)], _rows_differ)),
        property_of(
            lambda c, i: i | {"data": i["data"][: i["T"] + 1], "batch_size": i["T"] + 2},
            "a text of T + 1 tokens",
            "It holds one window and its target: the only place to start is 0.",
            weight=0.5,
        ),
        property_of(
            lambda c, i: i | {"data": i["data"][: i["T"] + 1], "batch_size": 1},
            "a batch of one",
            SQUEEZE,
            weight=0.5,
        ),
        property_of(
            lambda c, i: i | {"T": 1}, "windows of a single token, T = 1", SQUEEZE, weight=0.5
        ),
        of_few(
            Property("keeps the type of data", lambda c, i: [c.call(i)], _same_type, weight=0.5)
        ),
        generator_decides(2.0, batch_size=40),
        of_few(unchanged),
        of_few(any_device, DEVICE),
    ),
    mistakes=MISTAKES,
    outputs=(
        "a row of x",
        "the same row of y",
        "the places of data where a window of the batch begins (1) or none does (0)",
        "the distance of x[:, t] from x[:, 0] in data",
        "the distance of y[:, t] from x[:, t] in data",
        "the share of windows that begin at each place of data",
    ),
    arise=(0, 1, 3, 4, 2, 5),
    example={
        "data": np.arange(10, 90, 10),
        "batch_size": 100,
        "T": 3,
        "starts": np.array([1]),
        "generator": None,
    },
    tolerance=Tolerance(0, 0.045),
    look={
        "given places to start": "Draw from the entries of starts, all equally likely.",
        "anywhere in the text": "N tokens have N - T places to start: 0 to N - T - 1, equally likely.",
    },
    raises={
        "out of bounds": PLACES,
        "out of range": PLACES,
        "stack expects each tensor": PLACES + " Beyond them a slice of T tokens is cut short.",
        "Expected a 'cpu' device type for generator": "A generator lives on the CPU: draw there.",
    },
)
