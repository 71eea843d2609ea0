"""cross_entropy: the mean surprise, in nats."""

from __future__ import annotations

import numpy as np

from autograder.check.component import Component
from autograder.check.draw import choice, normal
from autograder.check.findings import SHAPES
from autograder.check.forward_pass.loss_mistakes import BOTH, MISTAKES, OVERFLOW, PICK, loss
from autograder.check.parts import Fixture
from autograder.check.properties.common import COMMON
from autograder.check.properties.varied import SQUEEZE, batch_dims, first_only, property_of
from autograder.check.raised import RESHAPE
from autograder.judge.compare import Tolerance

APART = 800.0  # in one place; the others lie a few hundred apart


def fixtures(rng):
    B, T, V = choice(rng, (2, 5, 7), (3, 4, 9), (4, 3, 8))

    def scored(*shape, std=1.5, mean=0.0):
        return {
            "logits": normal(rng, *shape, V, std=std, mean=mean),
            "targets": rng.integers(0, V, shape),
        }

    far = scored(B, T, std=60.0)
    first, target = far["logits"][0, 0], far["targets"][0, 0]
    first[target] = -np.inf
    first[target] = first.max() - np.float32(APART)
    return [
        Fixture("two positions", scored(2), weight=1.0),
        Fixture("equal logits: ln V", scored(B, T, std=0.0, mean=0.3), weight=0.5),
        Fixture("logits as large as 1000", scored(B, T, mean=1000.0)),
        Fixture("logits hundreds apart", far),
        Fixture("a batch", scored(B, T), weight=3.0),
    ]


CROSS_ENTROPY = Component(
    "cross_entropy",
    fixtures,
    loss,
    properties=(
        *batch_dims("logits", "targets"),
        first_only("sequences of one token", "logits", "targets", axis=1),
        property_of(
            lambda c, i: {k: np.stack([v[:, :1]] * 2) for k, v in i.items()},
            "sequences of one token, two batch dimensions",
            SQUEEZE,
            weight=0.5,
        ),
        *COMMON,
    ),
    mistakes=MISTAKES,
    example={
        "logits": np.float32([[[2, 0], [0, 1], [3, 1]], [[0, 2], [1, 1], [0, 3]]]),
        "targets": np.int64([[1, 1, 0], [0, 1, 1]]),
    },
    shortcuts=frozenset({"cross_entropy", "nll_loss", "CrossEntropyLoss", "NLLLoss"}),
    outputs="the loss",
    tolerance=Tolerance(1e-4, 1e-4),  # numbers near 1000 are 6e-5 apart in float32
    look={
        SHAPES: ".mean() without an axis averages over all positions of all texts.",
        "logits as large as 1000": OVERFLOW,
        "logits hundreds apart": f"No probability, no clamp, nothing added: {BOTH}. {OVERFLOW}",
    },
    raises={
        "same number of dimensions": f"The index needs as many axes as the logits. {PICK}",
        "Expected target size": "torch's cross_entropy wants the vocabulary on axis 1: flatten to "
        "logits.reshape(-1, V) and targets.reshape(-1).",
        "view size": RESHAPE,
        "out of bounds": PICK,
        "must match the size": PICK,
        "values to unpack": "Any number of axes may stand in front, also none: count from the end.",
    },
)
