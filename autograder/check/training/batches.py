"""get_batch: where the windows begin, and how y lies to x."""

from __future__ import annotations

import numpy as np

from autograder.check.component import Component
from autograder.check.mistake import Mistake
from autograder.check.parts import Fixture, Inputs, Property
from autograder.check.draw import choice
from autograder.check.properties import unchanged
from autograder.check.tensors import any_device
from autograder.check.varied import SQUEEZE, property_of
from autograder.check.randomness import generator_decides
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance, form
from autograder.oracle import training as oracle
from autograder.probes import Call
from autograder.probes.plain import Seed

MANY = 1200  # windows: a share of 1/9 has a deviation of 0.009 then, a sixth of the tolerance


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


def describe(data: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple:
    """How often each place of data is a start, how x runs on from there, and y's lead over x."""
    order = np.argsort(data)
    x, y = (order[np.searchsorted(data, rows, sorter=order)] for rows in (x, y))
    share = np.bincount(x[:, 0], minlength=len(data)) / len(x)
    return share, (x - x[:, :1]).mean(0), (y - x).mean(0)


def read(inputs: Inputs, value):
    data, form_of = inputs["data"], np.zeros((inputs["batch_size"], inputs["T"]), int)
    trouble = form(value, (form_of, form_of), ("the batch x", "the batch y"))
    if trouble:
        return trouble
    for name, rows in zip("xy", value):
        strange = ~np.isin(rows, data)
        if strange.any():
            return Trouble(
                f"The batch {name} holds numbers that are not in data.",
                f"{int(rows[strange][0])} is none of its tokens.",
                "The windows are pieces of data, not positions in it.",
            )
    return describe(data, *value)


def expected(data, batch_size, T, starts, generator, **switches):
    return describe(data, *oracle.windows(data, T, starts, **switches))


def mistake(name, says, look="", **switches):
    return Mistake(name, lambda **inputs: expected(**inputs, **switches), says, look)


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


GET_BATCH = Component(
    "get_batch",
    fixtures,
    expected,
    call=lambda inputs: Call(args=tuple(inputs.values())),
    read=read,
    properties=(
        Property("each row is drawn by itself", lambda c, i: [c.call(i)], _rows_differ),
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
        Property("keeps the type of data", lambda c, i: [c.call(i)], _same_type, weight=0.5),
        generator_decides(2.0, batch_size=40),
        unchanged,
        any_device,
    ),
    mistakes=(
        mistake(
            "not_shifted",
            "The targets y are the same as x: the model would learn to repeat its input.",
            "The window of y begins one token later.",
            lag=0,
        ),
        mistake(
            "shifted_twice",
            "The targets y lie two tokens ahead of x.",
            "The target of each token is the very next one. Shift once.",
            lag=2,
        ),
        mistake(
            "swapped",
            "The two have changed places: y holds the token before.",
            "Take for x all but the last token of the window, for y all but the first.",
            shift=1,
            lag=-1,
        ),
        Mistake(
            "next_block",
            lambda **inputs: expected(**inputs, lag=inputs["T"]),
            "The targets y are the block of T tokens after x.",
            "Each position predicts its own next token: y[:, t] follows x[:, t].",
        ),
        mistake(
            "last_window_missing",
            "The last window is never drawn.",
            "A window and its target take T + 1 tokens, so there are N - T places to start.",
            beyond=-1,
        ),
        Mistake(
            "only_multiples",
            lambda **inputs: expected(**inputs, every=inputs["T"]),
            "Windows begin only at multiples of T.",
            "Any place will do, as long as T + 1 tokens follow.",
        ),
        mistake(
            "starts_ignored",
            "`starts` is not used: windows begin anywhere.",
            "If starts is given, draw from its entries.",
            whole=False,
        ),
    ),
    outputs=(
        "the share of windows that begin at each place of data",
        "the distance of x[:, t] from x[:, 0] in data",
        "the distance of y[:, t] from x[:, t] in data",
    ),
    tolerance=Tolerance(0.25, 0.03),
    look={
        "given places to start": "Draw from the entries of starts, all equally likely.",
        "anywhere in the text": "N tokens have N - T places to start: 0 to N - T - 1, equally likely.",
    },
)
