"""MultiHeadAttention, the layer."""

from __future__ import annotations

import numpy as np

from autograder.check.component import Component, module
from autograder.check.findings import failure
from autograder.check.multi_head_attention.inputs import EXTREMES, layer, layer_fixtures
from autograder.check.multi_head_attention.layer_mistakes import MISTAKES
from autograder.check.parts import Property
from autograder.check.properties.common import COMMON, causal, several_lengths
from autograder.check.properties.dropout import dropout, rescaled
from autograder.check.properties.initial import each, initial_values
from autograder.check.properties.varied import batch_dims
from autograder.judge import Trouble
from autograder.probes import Call

DROPOUT = dropout(
    at_rate=lambda inputs, rate: inputs | {"init": (*inputs["init"], rate)},
    left=lambda inputs: np.broadcast_to(inputs["state"]["b_O"], inputs["x"].shape),
    says="In training mode, with dropout close to 1, only b_O should be left.",
    look="Hand self.dropout to attention: it drops single weights, and nothing else is dropped.",
)


def one_weight(inputs, size):
    """One head and one position: its only weight is 1, and what it brings is `size` times V."""
    state = {k: v * (size if k in ("W_V", "b_V") else 1) for k, v in inputs["state"].items()}
    return inputs | {"init": (inputs["init"][0], 1), "state": state, "x": inputs["x"][:, :1]}


FACTOR = rescaled(
    {"weights": one_weight},
    at_rate=lambda inputs, rate: inputs | {"init": (*inputs["init"], rate)},
    rows="x",
    look="Hand self.dropout to attention, or use torch.dropout: it divides by 1 - p.",
)


def _made(c, inputs):
    return [Call(init=inputs["init"], probe="multi_head_attention:n_head")]


def _keeps_n_head(c, inputs, answers):
    (answer,) = answers
    if answer.failure:
        return failure(answer, "when it is made")
    H = inputs["init"][1]
    if answer.value == H:
        return None
    return Trouble(
        (
            "The layer has no attribute n_head."
            if answer.value is None
            else f"self.n_head is {answer.value!r}; it should be the number of heads, {H}."
        ),
        look="Write self.n_head = n_head in the constructor: later exercises read it.",
    )


FITTING = (
    "Scores are (..., H, T, T): is the axis of the heads before that of the positions? And the "
    "mask is T by T, with the T of this call: causal_mask(x.shape[-2], x.device)."
)
LEADING = "x may have any number of leading dimensions: T, d = x.shape[-2:]"

MULTI_HEAD_ATTENTION = Component(
    "MultiHeadAttention",
    layer_fixtures,
    layer,
    call=module,
    properties=(
        causal(),
        several_lengths(),
        *batch_dims("x"),
        *EXTREMES,
        *COMMON,
        *DROPOUT,
        FACTOR,
        Property("self.n_head is the number of heads", _made, _keeps_n_head, weight=0.5),
        initial_values(
            (96, 4),
            drawn=each("W_Q", "W_K", "W_V", "W_O", value=0.02),
            constant={"the biases": (("b_Q", "b_K", "b_V", "b_O"), 0.0)},
            look="nn.Parameter(0.02 * torch.randn(d, d)) for a matrix, torch.zeros(d) for a bias.",
        ),
    ),
    mistakes=MISTAKES,
    needs=("split_heads", "merge_heads"),
    shortcuts=frozenset(
        {"scaled_dot_product_attention", "MultiheadAttention", "multi_head_attention_forward"}
    ),
    raises={
        "must match the size": FITTING,
        "broadcast shape": FITTING,
        "not enough values to unpack": f"{LEADING}.",
        "too many values to unpack": f"{LEADING}. And attention returns two things: heads, _ = …",
        "mat1 and mat2": "What meets W_O must be (..., T, d): merge the heads, squeeze nothing.",
        ".weight": "nn.Linear names its parameters so, and holds the transpose. Make each matrix "
        "as nn.Parameter, of shape (d, d) and under its name.",
    },
)
