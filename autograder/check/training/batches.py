"""get_batch: where the windows begin, and how y lies to x."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.check.component import Component
from autograder.check.mistake import Mistake, altered
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


def describe(data: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple:
    """Where windows start, how often, how x runs on from there, and y's lead over x."""
    order = np.argsort(data)
    x, y = (order[np.searchsorted(data, rows, sorter=order)] for rows in (x, y))
    share = np.bincount(x[:, 0], minlength=len(data)) / len(x)
    return 1.0 * (share > 0), share, (x - x[:, :1]).mean(0), (y - x).mean(0)


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
    return describe(data, *value)


def expected(data, batch_size, T, starts, generator, **switches):
    return describe(data, *oracle.windows(data, T, starts, **switches))


def mistake(name, says, look, why, **switches):
    return Mistake(name, altered(expected, **switches), says, look, why)


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
    mistakes=(
        mistake(
            "not_shifted",
            "The targets y are the same as x, not one token later.",
            "The window of y begins one token after that of x: y[:, t] is the token that follows "
            "x[:, t] in data.",
            "The model would learn to repeat its input. Its loss falls to almost 0, and it cannot "
            "foretell a single word.",
            lag=0,
        ),
        mistake(
            "shifted_twice",
            "The targets y lie two tokens ahead of x.",
            "The target of each token is the very next one: y[:, t] = data[s + t + 1].",
            "The model learns to leave out every other word: it foretells the second next token "
            "without knowing the next one, and its loss stays high.",
            lag=2,
        ),
        mistake(
            "swapped",
            "x and y have changed places: y holds the token before.",
            "Take for x all but the last of the T + 1 tokens, for y all but the first.",
            "The token before is in the model's input already, so the loss falls to almost 0, and "
            "nothing is learnt about what comes next.",
            shift=1,
            lag=-1,
        ),
        mistake(
            "rolled",
            "The last target of each row is wrong: it is the first token of the row, as torch.roll "
            "gives it.",
            "The last target is one more token of data: take T + 1 tokens from each place, and from "
            "them both x and y.",
            "The model learns to end every window with its first token again: when T tokens stand "
            "before it, what it writes next is wrong.",
            wrap=True,
        ),
        mistake(
            "next_block",
            "The targets y are the block of T tokens after x.",
            "Each position foretells its own next token: y[:, t] follows x[:, t] in data.",
            "Every position would have to foretell a token T places on. It sees none of the T - 1 "
            "tokens between them, so there is little to learn.",
            lag="T",
        ),
        mistake(
            "last_window_missing",
            "The last window is never drawn.",
            PLACES + " The upper end of randint is itself never drawn.",
            "The last token of the text is then never a target. On a long text nobody notices; a "
            "text of T + 1 tokens has no window left, and randint raises.",
            beyond=-1,
        ),
        mistake(
            "first_window_missing",
            "The window at place 0 is never drawn.",
            PLACES,
            "The first token of the text is then never seen. On a long text nobody notices; a text "
            "of T + 1 tokens has no window left.",
            first=1,
        ),
        mistake(
            "only_multiples",
            "Windows begin only at multiples of T.",
            "Any place will do, as long as T + 1 tokens follow. " + PLACES,
            "With T = 1024 the text has 1024 times fewer windows, and a token always stands at the "
            "same position, with the same tokens before it.",
            every="T",
        ),
        mistake(
            "starts_ignored",
            "`starts` is not used: windows begin anywhere.",
            "If starts is given, draw from its entries: starts[pick], with pick = "
            "torch.randint(len(starts), ...).",
            "Whoever hands in the starts of documents wants windows that begin there, and gets "
            "such as begin in the middle of a sentence.",
            drawn="anywhere",
        ),
        mistake(
            "starts_not_looked_up",
            "It draws numbers below len(starts) and takes them for places in data.",
            "What is drawn counts the entries of starts; the place is the entry: starts[pick].",
            "All windows come from the first few tokens of the text. Most of the text is never read.",
            drawn="numbers of starts",
        ),
    ),
    outputs=(
        "the list of places in data where a window begins (1) or none does (0)",
        "the share of windows that begin at each place of data",
        "the distance of x[:, t] from x[:, 0] in data",
        "the distance of y[:, t] from x[:, t] in data",
    ),
    arise=(2, 3, 0, 1),
    example={
        "data": np.array([10, 20, 30, 40, 50, 60]),
        "batch_size": MANY,
        "T": 2,
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
