"""What both blocks have in common: the four parts, their fixtures, and the place of the dropout."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.check.component import Component, module
from autograder.check.draw import choice, normal
from autograder.check.findings import failure
from autograder.check.parts import Fixture, Property, double
from autograder.check.properties.common import COMMON, causal
from autograder.check.properties.dropout import ALMOST_ONE, dropout, rescaled
from autograder.check.properties.varied import batch_dims
from autograder.judge import Trouble
from autograder.judge.compare import difference, form


def parameters(rng, d):
    """All sixteen of a block, none at its initial value."""
    state = {}
    for norm in ("ln_1", "ln_2"):
        state[f"{norm}.gamma"] = normal(rng, d, std=0.3, mean=1.0)
        state[f"{norm}.beta"] = normal(rng, d, std=0.5)
    for name in "QKVO":
        state[f"attn.W_{name}"] = normal(rng, d, d, std=0.3)
        state[f"attn.b_{name}"] = normal(rng, d, std=0.3)
    state["ffn.W_up"] = normal(rng, d, 4 * d, std=0.3)
    state["ffn.b_up"] = normal(rng, 4 * d, std=0.3)
    state["ffn.W_down"] = normal(rng, 4 * d, d, std=0.2)
    state["ffn.b_down"] = normal(rng, d, std=0.3)
    return state


def silenced(state, *names):
    """The state with some of its parameters at zero."""
    return {k: v * (k not in names) for k, v in state.items()}


ATTENTION_WRITES = ("attn.W_O", "attn.b_O")
FEED_FORWARD_WRITES = ("ffn.W_down", "ffn.b_down")


def fixtures(rng):
    B, T, d, H = choice(rng, (2, 5, 12, 3), (3, 7, 8, 2), (2, 6, 12, 4))
    state, x = parameters(rng, d), normal(rng, B, T, d, std=1.5, mean=0.3)

    def block(state, x=x):
        return {"init": (d, H), "state": state, "x": x}

    return [
        Fixture("one position", block(state, x[:, :1]), weight=1.0),
        Fixture("attention writes nothing", block(silenced(state, *ATTENTION_WRITES))),
        Fixture("feedforward writes nothing", block(silenced(state, *FEED_FORWARD_WRITES))),
        Fixture("the whole block", block(state), weight=4.0),
    ]


def at_rate(inputs, rate):
    return inputs | {"init": (*inputs["init"], rate)}


def _attention_alone(c, inputs):
    call = c.call(at_rate(inputs, ALMOST_ONE))
    return [replace(call, training=True, probe="feedforward_layernorm:attention")]


def _drops_weights(c, inputs, answers):
    (answer,) = answers
    if answer.failure:
        return failure(answer, "when its attn is called with dropout, in training mode")
    want = np.broadcast_to(inputs["state"]["attn.b_O"], inputs["x"].shape)
    trouble = form(answer.value, want) or difference(answer.value, want, c.tolerance)
    if trouble is None:
        return None
    return Trouble(
        "The attention layer drops no weights: it was made without the rate.",
        look="MultiHeadAttention(d_model, n_head, dropout): three arguments.",
    )


HANDED_ON = Property(
    "attention has the dropout rate", _attention_alone, _drops_weights, weight=0.5, exact=True
)


def _writes_one(bias):
    """A block that writes to the stream a single number, at one place of each position."""

    def make(inputs, size):
        state = silenced(inputs["state"], *ATTENTION_WRITES, *FEED_FORWARD_WRITES)
        write = np.zeros_like(state[bias])
        write[1] = 2.0 * size
        return inputs | {"state": state | {bias: write}}

    return make


FACTOR = rescaled(
    {
        "writes of attention": _writes_one("attn.b_O"),
        "writes of the feedforward network": _writes_one("ffn.b_down"),
    },
    at_rate,
    rows="x",
    look="One nn.Dropout(dropout) on each write, before it is added: it drops that share while "
    "training and divides the rest by 1 - p, so that the mean stays the same.",
)


def one_head(inputs):
    d, _, *rate = inputs["init"]
    return {"init": (d, 1, *rate)}


def block(name, right, mistakes, look):
    """The component whose right function of init, state and x is `right`."""

    def nothing_written(inputs):
        state = silenced(inputs["state"], *ATTENTION_WRITES, *FEED_FORWARD_WRITES)
        return right(**double(inputs | {"state": state}))

    dropped = dropout(
        at_rate,
        nothing_written,
        "In training mode, with dropout close to 1, nothing should be written to the stream.",
        "Drop what each sub-layer writes, before it is added, and nothing else.",
    )
    return Component(
        name,
        fixtures,
        right,
        call=module,
        properties=(causal(), *dropped, FACTOR, HANDED_ON, *batch_dims("x"), *COMMON),
        mistakes=mistakes,
        needs=("LayerNorm", "FeedForward", "MultiHeadAttention"),
        shortcuts=frozenset({"TransformerEncoderLayer", "TransformerDecoderLayer"}),
        look=look,
        raises={
            "missing:": "Four attributes: self.ln_1 and self.ln_2, each a LayerNorm of this notebook "
            "(nn.LayerNorm has other names), self.attn and self.ffn; in no list.",
        },
    )
