"""sample_next: how often each token is drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.check.component import Component
from autograder.check.defaults import defaults
from autograder.check.draw import choice
from autograder.check.generation.sampling_mistakes import (
    MINUS_INFINITY,
    MISTAKES,
    NUCLEUS,
    ONE_STAYS,
    distribution,
)
from autograder.check.parts import Fixture, Inputs, Property
from autograder.check.properties.common import unchanged
from autograder.check.properties.randomness import generator_decides
from autograder.check.properties.tensors import any_device
from autograder.check.properties.varied import SQUEEZE, property_of
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance, form
from autograder.probes import Call
from autograder.probes.plain import Seed

MANY = 30_000  # draws: a frequency has a deviation of at most 0.0029
FREQUENCIES = Tolerance(0.0, 0.015)

# Probabilities whose sums lie well apart from the top_p below, one set for a row each.
STEEP = ((0.46, 0.26, 0.14, 0.08, 0.04, 0.02), (0.45, 0.26, 0.14, 0.08, 0.05, 0.02))
FLAT = ((0.20, 0.19, 0.185, 0.155, 0.14, 0.13), (0.20, 0.19, 0.187, 0.153, 0.14, 0.13))
EVEN = ((0.30, 0.20, 0.18, 0.14, 0.10, 0.08), (0.29, 0.21, 0.18, 0.14, 0.11, 0.07))
SURE = ((0.84, 0.05, 0.04, 0.03, 0.02, 0.02), (0.85, 0.05, 0.04, 0.03, 0.02, 0.01))
STEEP_8 = ((0.40, 0.20, 0.12, 0.09, 0.07, 0.05, 0.04, 0.03),) * 2
FLAT_8 = ((0.15, 0.142, 0.139, 0.129, 0.12, 0.115, 0.105, 0.10),) * 2


def sampling_fixtures(rng):
    (which,) = choice(rng, (0,), (1,))
    heat, more_heat = choice(rng, (0.3, 2.0), (0.35, 2.2), (3.0, 2.1))

    def case(*rows, temperature=1.0, top_k=None, top_p=None):
        shifts = 2 + (int(rng.integers(3)) + np.arange(len(rows))) % 3  # the likeliest is not first
        p = np.array([np.roll(row[which], s) for row, s in zip(rows, shifts)])
        level = np.array([[2.0], [0.0]])  # of all logits in a row: it changes no probability
        return {
            "logits": ((temperature or 1.0) * (np.log(p) + level)).astype(np.float32),
            "temperature": temperature,
            "top_k": top_k,
            "top_p": top_p,
            "generator": Seed(int(rng.integers(1, 10**6))),
            "n": MANY,
        }

    return [
        Fixture("temperature 0", case(STEEP, FLAT, temperature=0), weight=1.0),
        Fixture("temperature 1", case(STEEP, FLAT), weight=1.0),
        Fixture("another temperature", case(STEEP, SURE, temperature=heat), weight=1.5),
        Fixture("top_k = 2", case(FLAT_8, STEEP_8, top_k=2), weight=1.5),
        Fixture("top_p = 0.35", case(FLAT, EVEN, top_p=0.35), weight=1.5),
        Fixture("top_p = 0.7, where one token is enough", case(STEEP, SURE, top_p=0.7), weight=1.0),
        Fixture(
            "temperature, top_k and top_p together",
            case(STEEP, FLAT, temperature=more_heat, top_k=3, top_p=0.65),
            weight=1.5,
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
        shape = getattr(value, "shape", None)
        return replace(trouble, look={(R * n, 1): COLUMN, (): ALL_ROWS}.get(shape, ONE_EACH))
    trouble = outside(value, V, "Return ids: which token was drawn in each row.")
    if trouble:
        return trouble
    return np.stack([np.bincount(row, minlength=V) / n for row in value.reshape(R, n)])


def outside(ids: np.ndarray, V: int, look: str) -> Trouble | None:
    """Ids that the vocabulary does not have."""
    if ids.min() >= 0 and ids.max() < V:
        return None
    far = ids.min() if ids.min() < 0 else ids.max()
    return Trouble(f"A token lies outside 0 … {V - 1}.", f"One is {far}.", look)


def _few(c, inputs):
    return [c.call(inputs | {"n": 99})]


def _left_as_they_are(c, inputs, answers):
    trouble = unchanged.verdict(c, inputs, answers)
    return trouble and replace(trouble, look=NEW_LOGITS)


def _rows_differ(c, inputs, answers):
    rows = answers[0].value.reshape(len(inputs["logits"]), -1)
    if (rows == rows[:, :1]).all():
        return Trouble(
            "Rows with the same logits all get the same token.",
            look="Each row is drawn by itself: torch.multinomial(p, 1) on all rows of p.",
        )
    return None


COLUMN = (
    "One id a row, (B): torch.multinomial(p, 1) gives a column, (B, 1), and so does keepdim=True. "
    "squeeze(-1) takes its last axis away."
)
ONE_EACH = "The ids of the tokens drawn, one for each row: a tensor of B whole numbers."
NEW_LOGITS = (
    "A new tensor in each step: logits = logits / temperature rather than logits /= temperature, "
    "masked_fill rather than masked_fill_; logits[...] = -math.inf only in a copy, logits.clone()."
)
ALL_ROWS = "Without an axis argmax() looks at all rows together: argmax(-1)."
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
        Property("each row is drawn by itself", _few, _rows_differ),
        defaults(
            lambda i: i | {"temperature": 1.0, "top_k": None, "top_p": None, "generator": None},
            "temperature",
            "top_k",
            "top_p",
            "generator",
        ),
        generator_decides(n=30),
        replace(unchanged, calls=_few, verdict=_left_as_they_are),
        replace(any_device, calls=lambda c, i: any_device.calls(c, i | {"n": 99})),
    ),
    mistakes=MISTAKES,
    shortcuts=frozenset({"generate"}),
    outputs="how often each token was drawn (row, token)",
    tolerance=FREQUENCIES,
    look={
        "temperature 0": "The largest logit of each row: logits.argmax(-1).",
        "temperature 1": "The draw: torch.multinomial(p, 1) with p the softmax of the logits.",
        "another temperature": "logits / temperature, before the softmax.",
        "top_k = 2": MINUS_INFINITY,
        "top_p = 0.35": NUCLEUS,
        "top_p = 0.7, where one token is enough": "The likeliest token always stays.",
        "temperature, top_k and top_p together": "First temperature, then top_k, then top_p, each "
        "on what the one before it left; then the softmax of what is left.",
    },
    raises={
        "must match the size": "logits.topk(k).values[..., -1:] is a column, (B, 1), and broadcasts "
        "along the logits of its row; [..., -1] is not.",
        "robability tensor contains": "torch.multinomial takes probabilities: 0 or more, and none "
        "NaN. A row of nothing but -inf gives NaN, and so does a division by temperature 0.",
        "sum of probabilities": ONE_STAYS,
        "NoneType": "top_k and top_p may be None: then nothing is cut.",
        "slice indices": "top_k is a number of tokens, top_p a probability: is one used as the "
        "other?",
    },
)
