"""sample_next: how often each token is drawn."""

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
from autograder.oracle import generation as oracle
from autograder.probes import Call
from autograder.probes.plain import Seed

MANY = 10_000  # draws: a frequency has a deviation of at most 0.005
FREQUENCIES = Tolerance(0.0, 0.03)

# Probabilities whose sums lie well apart from the top_p below, one set for a row each.
STEEP = ((0.46, 0.26, 0.14, 0.08, 0.04, 0.02), (0.45, 0.26, 0.14, 0.08, 0.05, 0.02))
FLAT = ((0.21, 0.19, 0.17, 0.16, 0.15, 0.12), (0.215, 0.19, 0.17, 0.16, 0.15, 0.115))
SURE = ((0.80, 0.08, 0.05, 0.04, 0.02, 0.01),) * 2


def sampling_fixtures(rng):
    (which,) = choice(rng, (0,), (1,))
    heat, more_heat = choice(rng, (0.5, 2.0), (0.6, 2.2), (2.5, 1.9))

    def case(*rows, temperature=1.0, top_k=None, top_p=None):
        shifts = 2 + (int(rng.integers(3)) + np.arange(len(rows))) % 3  # the likeliest is not first
        p = [np.roll(row[which], s) for row, s in zip(rows, shifts)]
        return {
            "logits": ((temperature or 1.0) * np.log(p)).astype(np.float32),
            "temperature": temperature,
            "top_k": top_k,
            "top_p": top_p,
            "generator": Seed(int(rng.integers(1, 10**6))),
            "n": MANY,
        }

    return [
        Fixture("temperature 0", case(STEEP, FLAT, temperature=0), weight=1.0),
        Fixture("temperature 1", case(STEEP, FLAT), weight=1.0),
        Fixture("another temperature", case(STEEP, FLAT, temperature=heat), weight=1.5),
        Fixture("top_k", case(STEEP, FLAT, top_k=3), weight=1.5),
        Fixture("top_p", case(STEEP, FLAT, top_p=0.5), weight=1.5),
        Fixture("top_p where one token is enough", case(STEEP, SURE, top_p=0.7), weight=1.0),
        Fixture(
            "all three", case(STEEP, FLAT, temperature=more_heat, top_k=3, top_p=0.65), weight=1.5
        ),
    ]


def drawn_many(inputs: Inputs) -> Call:
    """Each row of the logits n times over: as many draws from it."""
    logits, *rest, n = inputs.values()
    return Call(args=(np.repeat(logits, n, axis=0), *rest))


def frequencies(inputs: Inputs, value):
    (R, V), n = inputs["logits"].shape, inputs["n"]
    trouble = form(value, np.zeros(R * n, int))
    if trouble:
        return trouble
    trouble = outside(value, V)
    if trouble:
        return trouble
    return np.stack([np.bincount(row, minlength=V) / n for row in value.reshape(R, n)])


def outside(ids: np.ndarray, V: int) -> Trouble | None:
    """Ids that the vocabulary does not have."""
    if ids.min() >= 0 and ids.max() < V:
        return None
    far = ids.min() if ids.min() < 0 else ids.max()
    return Trouble(f"A token lies outside 0 … {V - 1}.", f"One is {far}.", "Return ids.")


def _rows_differ(c, inputs, answers):
    rows = answers[0].value.reshape(len(inputs["logits"]), -1)
    if (rows == rows[:, :1]).all():
        return Trouble(
            "Rows with the same logits all get the same token.",
            look="Each row is drawn by itself: torch.multinomial(p, 1) on all rows of p.",
        )
    return None


def distribution(logits, temperature, top_k, top_p, generator, n, **switches):
    p = oracle.next_distribution(logits, temperature, top_k, top_p, **switches)
    if np.isnan(p).any():
        raise ValueError("nothing is left to draw from")
    return p


def sampling_mistake(name, says, look="", **switches):
    return Mistake(name, lambda **inputs: distribution(**inputs | switches), says, look)


def divides_by_zero(**inputs):
    if inputs["temperature"] == 0:
        raise ZeroDivisionError
    return distribution(**inputs)


MINUS_INFINITY = "Set the logits of what is cut to -inf, and take the softmax of the rest."
NUCLEUS = "Keep a token while the probabilities of the likelier ones sum to less than top_p."
SAMPLE_NEXT = Component(
    "sample_next",
    sampling_fixtures,
    distribution,
    call=drawn_many,
    read=frequencies,
    properties=(
        property_of(
            lambda c, i: i | {"top_k": i["logits"].shape[-1] + 3},
            "top_k larger than the vocabulary",
            "Then it keeps everything: min(top_k, V).",
            weight=0.5,
        ),
        property_of(
            lambda c, i: i | {"logits": i["logits"][:1], "top_k": 1, "n": 1},
            "a single row",
            SQUEEZE,
            weight=0.5,
        ),
        Property("each row is drawn by itself", lambda c, i: [c.call(i)], _rows_differ),
        generator_decides(n=30),
        unchanged,
        any_device,
    ),
    mistakes=(
        Mistake(
            "divides_by_0",
            divides_by_zero,
            "Temperature 0 fails: the logits are divided by it.",
            "Temperature 0 means the largest logit: return it before dividing.",
        ),
        sampling_mistake(
            "always_greedy",
            "It always takes the largest logit.",
            "Draw with torch.multinomial(p, 1): one id for each row of probabilities.",
            temperature=0,
        ),
        sampling_mistake(
            "temperature_multiplied",
            "The logits are multiplied by the temperature.",
            "Divide the logits by it: a high temperature makes them more alike.",
            heat="multiply",
        ),
        sampling_mistake(
            "temperature_ignored",
            "The temperature is not used.",
            "Divide the logits by it.",
            heat="ignored",
        ),
        sampling_mistake(
            "top_k_ignored", "The argument top_k is not used.", MINUS_INFINITY, top_k=None
        ),
        sampling_mistake("top_p_ignored", "The argument top_p is not used.", NUCLEUS, top_p=None),
        sampling_mistake("one_more_than_k", "It keeps k + 1 tokens.", more=1),
        sampling_mistake(
            "one_less_than_k",
            "It keeps k - 1 tokens.",
            "The k-th largest stays: cut what is smaller than it.",
            more=-1,
        ),
        sampling_mistake(
            "filled_with_0",
            "The logits of what is cut are set to 0, and e^0 = 1 is still drawn.",
            MINUS_INFINITY,
            fill=0.0,
        ),
        sampling_mistake(
            "crossing_dropped",
            "The token that crosses top_p is cut, too.",
            NUCLEUS,
            crossing="dropped",
        ),
        sampling_mistake(
            "one_more_than_p",
            "It keeps one token more than top_p needs.",
            NUCLEUS,
            crossing="one more",
        ),
        sampling_mistake(
            "tail_kept",
            "With top_p it keeps the least likely tokens: they are sorted the wrong way round.",
            "Sort with descending=True.",
            tail=True,
        ),
        sampling_mistake(
            "not_put_back",
            "The cut of top_p is found in the sorted order and applied in the order of the ids.",
            "Bring it back: scatter it along `order`, or gather with order.argsort(-1).",
            scattered=False,
        ),
        sampling_mistake(
            "put_back_forwards",
            "The cut of top_p is brought back with `order` where its inverse is needed.",
            "Of the cut, gather with order.argsort(-1): at which rank each id stands.",
            scattered="forwards",
        ),
        sampling_mistake(
            "p_before_k",
            "The cut of top_p comes before that of top_k.",
            "First the k likeliest, scaled to sum to 1; then the fewest of them that reach top_p.",
            order="p first",
        ),
        sampling_mistake(
            "p_before_temperature",
            "The cut of top_p looks at the probabilities without the temperature.",
            "Divide by the temperature first.",
            nucleus_of="raw",
        ),
        sampling_mistake(
            "all_alike", "It draws from what is kept as if all were equally likely.", flat=True
        ),
        sampling_mistake(
            "softmax_twice",
            "The softmax is taken twice.",
            "What torch.multinomial takes are probabilities: one softmax before it.",
            twice=True,
        ),
    ),
    shortcuts=frozenset({"generate"}),
    outputs="the frequency of each token in each row",
    tolerance=FREQUENCIES,
    look={
        "temperature 0": "The largest logit of each row: argmax(-1).",
        "top_k": MINUS_INFINITY,
        "top_p": NUCLEUS,
        "top_p where one token is enough": "The likeliest token always stays.",
        "all three": "First temperature, then top_k, then top_p, then the softmax of what is left.",
    },
)
