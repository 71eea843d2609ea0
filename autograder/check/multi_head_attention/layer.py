"""MultiHeadAttention: the layer, and the inputs that its heads are measured on, too."""

from __future__ import annotations

from functools import partial

import numpy as np

from autograder.check.component import Component, module
from autograder.check.findings import failure
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture, Property
from autograder.check.draw import choice, normal
from autograder.check.dropout import dropout, rescaled
from autograder.check.initial import initial_values
from autograder.check.properties import COMMON, causal, several_lengths
from autograder.check.varied import SQUEEZE, batch_dims, property_of
from autograder.judge import Trouble
from autograder.oracle import multi_head_attention as oracle
from autograder.oracle.self_attention import causal_mask
from autograder.probes import Call

SIZES = (2, 5, 12, 3), (3, 6, 20, 4), (2, 7, 15, 5)  # B, T, d, H, and d_k differ from each other
PARAMETERS = tuple(f"{kind}_{part}" for part in "QKVO" for kind in "Wb")
CUT = "Cut the last axis into (H, d_k) first, then move the axis of the heads before T."
OWN_ROWS = "Head h meets rows h d_k to (h+1) d_k - 1 of W_O, and no others."


def state_of(rng, d, bias=0.5):
    """Parameters with which scores have a deviation of 1 to 2."""
    return {
        n: normal(rng, d, d, std=1.1 * d**-0.5) if n[0] == "W" else normal(rng, d, std=bias)
        for n in PARAMETERS
    }


def layer_fixtures(rng):
    B, T, d, H = choice(rng, *SIZES)

    def inputs(T, bias=0.5):
        return {"init": (d, H), "state": state_of(rng, d, bias), "x": normal(rng, B, T, d)}

    return [
        Fixture("one position (only V and O matter)", inputs(1), weight=1.0),
        Fixture("all biases zero", inputs(T, bias=0.0), weight=1.0),
        Fixture("the whole layer", inputs(T), weight=4.0),
    ]


def layer(init, state, x, **switches):
    """The oracle; init (d, H), and possibly a dropout, which does nothing in eval mode."""
    return oracle.multi_head_attention(x, state, init[1], **switches)


def _with(init, state, x, change, **switches):
    """The layer with its parameters changed: `change` takes and returns the dict of them."""
    return layer(init, state | change(state), x, **switches)


def _scaled(power, width=lambda init: init[0] // init[1]):
    return lambda init, state, x: layer(init, state, x, scale=lambda Q: width(init) ** power)


def _mask(**switches):
    return partial(layer, mask=partial(causal_mask, **switches))


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


def of_heads(name, heads):
    """The same parameters, cut into another number of heads."""
    return property_of(
        lambda c, i: i | {"init": (i["init"][0], heads(i["init"][0]))}, name, SQUEEZE, weight=0.5
    )


EXTREMES = (
    of_heads("one head", lambda d: 1),
    of_heads("heads of one column, d_k = 1", lambda d: d),
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
            drawn={"W_Q, W_K, W_V and W_O": (("W_Q", "W_K", "W_V", "W_O"), 0.02)},
            constant={"the biases": (("b_Q", "b_K", "b_V", "b_O"), 0.0)},
        ),
    ),
    mistakes=(
        Mistake(
            "no_mask",
            altered(layer, mask=None),
            "There is no causal mask: every position sees the later ones.",
            "Hand causal_mask(T) to attention.",
        ),
        Mistake(
            "mask_one_too_far",
            _mask(diagonal=2),
            "Each position may look one step ahead.",
            "Mask where s > t: causal_mask(T) does it.",
        ),
        Mistake(
            "mask_mirrored",
            _mask(direction="past"),
            "The mask is the other way round: the past is hidden and the future open.",
        ),
        Mistake(
            "no_scaling",
            _scaled(0),
            "The scores are not divided by sqrt(d_k).",
        ),
        Mistake(
            "scaled_by_d_model",
            _scaled(-0.5, lambda init: init[0]),
            "The scores are divided by sqrt(d) instead of sqrt(d_k): split before you attend.",
            "d_k = d / H is the width of one head.",
        ),
        Mistake(
            "divided_by_d_k",
            _scaled(-1),
            "The scores are divided by d_k instead of its square root.",
        ),
        Mistake(
            "no_heads",
            lambda init, state, x: layer((init[0], 1), state, x),
            "It is one head of width d: Q, K and V are not split.",
            "split_heads comes before attention, merge_heads after it.",
        ),
        Mistake(
            "split_without_transpose",
            altered(layer, layout="rows"),
            "Q, K and V are cut into heads by a reshape alone, which mixes positions.",
            CUT,
        ),
        Mistake(
            "merge_without_transpose",
            altered(layer, merge="rows"),
            "The heads are flattened without moving their axis back, which mixes positions.",
            "merge_heads undoes split_heads.",
        ),
        Mistake(
            "interleaved",
            altered(layer, layout="interleaved", merge="interleaved"),
            "Head h owns columns h, h + H, …; it should own d_k columns side by side.",
            "Cut the last axis into (H, d_k), in this order.",
        ),
        Mistake(
            "sliced_input",
            altered(layer, sliced=True),
            "Each head reads a slice of x only. Every head projects all d columns of x.",
            "Project first, x @ W_Q + b_Q, and split what comes out.",
        ),
        Mistake(
            "W_O_forgotten",
            altered(layer, out=False),
            "The heads are put side by side and returned: W_O and b_O are not used.",
            "merge_heads(heads) @ W_O + b_O",
        ),
        Mistake(
            "W_O_transposed",
            lambda init, state, x: _with(init, state, x, lambda p: {"W_O": p["W_O"].T}),
            "W_O is used transposed.",
            "Vectors are rows: merge_heads(heads) @ W_O.",
        ),
        Mistake(
            "no_b_O",
            altered(layer, b_O=0.0),
            "b_O is not added.",
            "It comes once, after W_O.",
        ),
        Mistake(
            "b_O_per_head",
            lambda init, state, x: layer(init, state, x, b_O=init[1]),
            "b_O is added once for every head; it belongs to the layer and is added once.",
        ),
        Mistake(
            "no_bias",
            lambda init, state, x: _with(
                init, state, x, lambda p: {k: 0 * v for k, v in p.items() if k[0] == "b"}
            ),
            "No biases are added.",
            "Q = x W_Q + b_Q, and so for K, V and the output.",
        ),
        Mistake(
            "averaged",
            lambda init, state, x: layer(init, state, x, b_O=0.0) / init[1] + state["b_O"],
            "The heads' writes are averaged; they are added.",
            "Concat(head_0, …) W_O is the sum of the writes head_h W_O^h.",
        ),
        Mistake(
            "q_k_swapped",
            lambda init, state, x: _with(
                init, state, x, lambda p: _renamed(p, W_Q="W_K", b_Q="b_K", W_K="W_Q", b_K="b_Q")
            ),
            "W_Q and W_K have changed places.",
        ),
        Mistake(
            "v_is_k",
            lambda init, state, x: _with(
                init, state, x, lambda p: _renamed(p, W_V="W_K", b_V="b_K")
            ),
            "The values are computed with W_K: W_V is not used.",
        ),
        Mistake(
            "residual_added",
            lambda init, state, x: x + layer(init, state, x),
            "It returns x + MHA(x); the layer returns its write alone.",
            "The block adds it to the stream, in chapter 5.",
        ),
    ),
    needs=("split_heads", "merge_heads"),
    shortcuts=frozenset(
        {"scaled_dot_product_attention", "MultiheadAttention", "multi_head_attention_forward"}
    ),
)


def _renamed(p, **names):
    return {new: p[old] for new, old in names.items()}
