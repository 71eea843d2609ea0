"""head_writes and ablate_head: functions that take a layer apart."""

from __future__ import annotations


import numpy as np
from array_api_compat import array_namespace

from autograder.check.component import Component
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture, Property
from autograder.check.draw import choice, normal
from autograder.check.multi_head_attention.layer import (
    EXTREMES,
    OWN_ROWS,
    PARAMETERS,
    SIZES,
    layer,
    layer_fixtures,
    of_heads,
    state_of,
)
from autograder.check.properties import COMMON, LEAVE_IT, causal
from autograder.check.varied import batch_dims
from autograder.judge import Trouble
from autograder.judge.compare import number
from autograder.oracle import multi_head_attention as oracle
from autograder.probes import Call

# ------------------------------------------------------------------ head_writes


def on_layer(inputs):
    """A function of a layer: `init` and `state` make the layer, the other inputs follow it."""
    rest = tuple(v for k, v in inputs.items() if k not in ("init", "state"))
    return Call(
        init=inputs["init"],
        state=inputs["state"],
        args=rest,
        probe="multi_head_attention:with_layer",
    )


def _writes(init, state, x, **switches):
    return oracle.head_writes(x, state, init[1], **switches)


def _sum_is_output(c, inputs, answers):
    total = answers[0].value.sum(-3) + inputs["state"]["b_O"]
    gap = np.abs(total - layer(inputs["init"], inputs["state"], inputs["x"]))
    if gap.max() < 1e-3:
        return None
    return Trouble(
        "The writes and b_O do not add up to the output of the layer.",
        f"The largest difference is {number(gap.max())}.",
        "MHA(x) = sum_h head_h W_O^h + b_O",
    )


HEAD_WRITES = Component(
    "head_writes",
    layer_fixtures,
    _writes,
    call=on_layer,
    properties=(
        Property("add up to the layer", lambda c, i: [c.call(i)], _sum_is_output, evidence=True),
        causal(),
        *batch_dims("x"),
        *EXTREMES,
        *COMMON,
    ),
    mistakes=(
        Mistake(
            "b_O_in_each",
            lambda init, state, x: _writes(init, state, x) + state["b_O"],
            "b_O is added to every head's write; it belongs to no head.",
            "Leave it out: head_h W_O^h.",
        ),
        Mistake(
            "b_O_shared",
            lambda init, state, x: _writes(init, state, x) + state["b_O"] / init[1],
            "b_O is shared out over the heads; it belongs to no head.",
            "Leave it out: head_h W_O^h.",
        ),
        Mistake(
            "columns_of_W_O",
            lambda init, state, x: _writes(
                init, state, x, rows=lambda W: W.T.reshape(init[1], -1, init[0])
            ),
            "It takes d_k columns of W_O for each head, and needs d_k rows.",
            OWN_ROWS,
        ),
        Mistake(
            "rows_interleaved",
            lambda init, state, x: _writes(
                init, state, x, rows=lambda W: W.reshape(-1, init[1], init[0]).swapaxes(0, 1)
            ),
            "Head h meets rows h, h + H, … of W_O; its rows lie side by side.",
            OWN_ROWS,
        ),
        Mistake(
            "not_projected",
            lambda init, state, x: oracle.heads(x, state, init[1]),
            "It returns the heads' outputs, of width d_k; the stream has width d.",
            "A write is head_h W_O^h.",
        ),
        Mistake(
            "heads_behind_positions",
            lambda init, state, x: array_namespace(x).moveaxis(_writes(init, state, x), -3, -2),
            "The axis of the heads stands behind the positions.",
            "The shape is (..., H, T, d).",
        ),
        Mistake(
            "equal_shares",
            lambda init, state, x: array_namespace(x).stack(
                [layer(init, state, x, b_O=0.0) / init[1]] * init[1], axis=-3
            ),
            "Every head gets the same share of the layer's output.",
            OWN_ROWS,
        ),
        Mistake(
            "no_mask",
            altered(_writes, mask=None),
            "There is no causal mask: every position sees the later ones.",
        ),
        Mistake(
            "scaled_by_d_model",
            lambda init, state, x: _writes(init, state, x, scale=lambda Q: init[0] ** -0.5),
            "The scores are divided by sqrt(d) instead of sqrt(d_k).",
            "d_k = d / H is the width of one head.",
        ),
        Mistake(
            "running_sum",
            lambda init, state, x: _writes(init, state, x).cumsum(-3),
            "It returns running sums over the heads, not each head's own write.",
        ),
    ),
    needs=("split_heads", "merge_heads"),
    constants=PARAMETERS,
    shortcuts=frozenset({"multi_head_attention_forward"}),
    outputs="the writes",
    raises={"leaf Variable": LEAVE_IT},
)

# ------------------------------------------------------------------ ablate_head


def ablate_fixtures(rng):
    B, T, d, H = choice(rng, *SIZES)

    def without(T, head):
        return {
            "init": (d, H),
            "state": state_of(rng, d),
            "x": normal(rng, B, T, d),
            "head": head,
        }

    return [
        Fixture("one position", without(1, 1), weight=1.0),
        Fixture("without the last head", without(T, H - 1)),
        Fixture("without the first head", without(T, 0)),
        Fixture("without one in the middle", without(T, 1), weight=3.0),
    ]


def _ablate(init, state, x, head, **switches):
    return oracle.ablate_head(x, state, init[1], head, **switches)


def _without_columns(x, init, head):
    """The last axis with columns h d_k to (h+1) d_k - 1 at zero."""
    xp = array_namespace(x)
    own = xp.arange(init[0]) // (init[0] // init[1]) == head
    return xp.where(own, xp.zeros_like(x), x)


def _zeroed(*names):
    """Ablation by setting the head's columns of these parameters to zero."""
    return lambda init, state, x, head: layer(
        init, state | {n: _without_columns(state[n], init, head) for n in names}, x
    )


ABLATE_HEAD = Component(
    "ablate_head",
    ablate_fixtures,
    _ablate,
    call=on_layer,
    properties=(causal(), *batch_dims("x"), of_heads("heads of one column, d_k = 1", int), *COMMON),
    mistakes=(
        Mistake(
            "b_O_removed",
            lambda init, state, x, head: _ablate(init, state, x, head) - state["b_O"],
            "b_O is taken out as well; it belongs to no head and stays.",
        ),
        Mistake(
            "only_that_head",
            lambda init, state, x, head: _writes(init, state, x)[..., head, :, :],
            "It returns the write of that head; the others should be left.",
        ),
        Mistake(
            "kept_instead",
            lambda init, state, x, head: _writes(init, state, x)[..., head, :, :] + state["b_O"],
            "It keeps that head and removes all others.",
        ),
        Mistake(
            "nothing_removed",
            lambda init, state, x, head: layer(init, state, x),
            "Nothing is taken out: it returns attn(x).",
        ),
        Mistake(
            "counted_from_one",
            lambda init, state, x, head: _ablate(init, state, x, head - 1),
            "It takes out the head before the one asked for: heads are numbered from 0.",
        ),
        Mistake(
            "query_zeroed",
            _zeroed("W_Q", "b_Q"),
            "Only the head's query is set to zero: its weights become uniform, and it still writes.",
            "Take its write out of the sum.",
        ),
        Mistake(
            "bias_of_V_left",
            _zeroed("W_V"),
            "Only the head's columns of W_V are set to zero: through b_V it still writes.",
            "Take its write out of the sum.",
        ),
        Mistake(
            "columns_of_W_O",
            _zeroed("W_O"),
            "It removes columns of W_O: those are d_k places of the stream, not a head.",
            OWN_ROWS,
        ),
        Mistake(
            "input_sliced",
            lambda init, state, x, head: layer(init, state, _without_columns(x, init, head)),
            "It removes a slice of x. Every head reads all of x; a head is a slice of what W_Q, W_K "
            "and W_V give.",
        ),
        Mistake(
            "rescaled",
            lambda init, state, x, head: (
                (_ablate(init, state, x, head) - state["b_O"]) * init[1] / (init[1] - 1)
                + state["b_O"]
            ),
            "The other heads are scaled up to make good for it; they stay as they are.",
        ),
    ),
    needs=("split_heads", "merge_heads", "head_writes"),
    raises={"leaf Variable": LEAVE_IT},
    constants=PARAMETERS,
)
