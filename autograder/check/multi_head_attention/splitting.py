"""split_heads and merge_heads: columns to heads and back, positions left where they are."""

from __future__ import annotations

import numpy as np
from array_api_compat import array_namespace

from autograder.check.component import Component
from autograder.check.draw import choice, normal
from autograder.check.mistake import Mistake, altered
from autograder.check.multi_head_attention.inputs import CUT, SIZES
from autograder.check.parts import Fixture
from autograder.check.properties import COMMON, causal
from autograder.check.varied import RESHAPE, SQUEEZE, batch_dims, first_only, property_of
from autograder.oracle import multi_head_attention as oracle

BEFORE_T = "The heads stand right before the positions: (..., H, T, d_k)."
WIDER = "The width grows from d_k to d = H d_k: move the heads behind T, then reshape."
OTHER_NUMBER = (
    "n_head heads of width d_k = d // n_head: reshape(..., T, n_head, d_k), then swap -3 and -2."
)

# ------------------------------------------------------------------ split_heads


def split_fixtures(rng):
    B, T, d, H = choice(rng, *SIZES)
    return [
        Fixture("one position", {"x": normal(rng, B, 1, d), "n_head": H}, weight=1.0),
        Fixture("one head", {"x": normal(rng, B, T, d), "n_head": 1}, weight=1.0),
        Fixture("several heads", {"x": normal(rng, B, T, d), "n_head": H}, weight=4.0),
    ]


def _moved(source, destination):
    return lambda y: array_namespace(y).moveaxis(y, source, destination)


def _turned(y):
    """The last two axes exchanged."""
    return array_namespace(y).matrix_transpose(y)


def _reversed(y):
    """The heads in the opposite order."""
    return array_namespace(y).flip(y, axis=-3)


def _copies(y):
    """(..., H, T, d_k) -> (..., H, T, d): all heads side by side, for each."""
    whole = oracle.merge_heads(y)
    return array_namespace(y).stack([whole] * y.shape[-3], axis=-3)


SPLIT_HEADS = Component(
    "split_heads",
    split_fixtures,
    oracle.split_heads,
    properties=(
        causal(),
        *batch_dims("x"),
        property_of(
            lambda c, i: i | {"n_head": i["x"].shape[-1]},
            "heads of one column, d_k = 1",
            SQUEEZE,
            weight=0.5,
        ),
        *COMMON,
    ),
    mistakes=(
        Mistake(
            "no_transpose",
            altered(oracle.split_heads, layout="rows"),
            "It reshapes straight to (H, T, d_k): that deals positions to heads, not columns.",
            CUT,
            "Head 0 gets the first T / H positions, and what stands in its row t comes from another "
            "one: the mask no longer hides the future. In a trial the loss was too good: 1.56, "
            "not 2.37.",
        ),
        Mistake(
            "interleaved",
            altered(oracle.split_heads, layout="interleaved"),
            "Head h gets columns h, h + H, h + 2H, …; it owns d_k columns side by side.",
            "Cut the last axis into (H, d_k), in this order: H counts pieces, d_k is their width.",
            "A model of your own trains as well with it. GPT-2's weights are stored with each "
            "head's 64 columns side by side, and give nonsense when dealt out otherwise.",
        ),
        Mistake(
            "heads_not_moved",
            altered(oracle.split_heads, after=_moved(-3, -2)),
            "The columns are cut, but the axis of the heads still stands behind the positions.",
            "Then swap the axes -3 and -2: (..., T, H, d_k) becomes (..., H, T, d_k).",
            "attention takes the axis before the last for positions: at each position the heads "
            "would attend to each other, and no position to another.",
        ),
        Mistake(
            "heads_before_batch",
            altered(oracle.split_heads, after=_moved(-3, 0)),
            "The axis of the heads comes first, before the batch; it belongs right before T.",
            f"{BEFORE_T} torch.stack(…, dim=-3) puts it there.",
            "Merging the heads would then put together rows of different sentences.",
        ),
        Mistake(
            "heads_in_batch",
            altered(oracle.split_heads, after=lambda y: y.reshape(-1, *y.shape[-2:])),
            "Batch and heads are flattened into one axis; here each keeps an axis of its own.",
            f"{BEFORE_T} Leave the axes before them as they are.",
            "Some libraries do so. Here merge_heads has only the shape to go by, and could not "
            "tell any more which head belongs to which sentence.",
        ),
        Mistake(
            "heads_below_each_other",
            altered(oracle.split_heads, after=lambda y: y.reshape(*y.shape[:-3], -1, y.shape[-1])),
            "The heads are put below each other, H T rows: they have no axis of their own.",
            f"{BEFORE_T} torch.stack makes a new axis, torch.cat does not.",
            "attention would take them for one text, H times as long.",
        ),
        Mistake(
            "n_head_is_width",
            altered(
                oracle.split_heads, before=lambda i: {"n_head": i["x"].shape[-1] // i["n_head"]}
            ),
            "H and d_k have changed places: it makes d / n_head heads of width n_head.",
            f"{OTHER_NUMBER} torch.split takes the width of a piece, torch.chunk their number.",
            "GPT-2 small would get 64 heads of width 12 rather than 12 of width 64, and its weights "
            "would be cut in the wrong places.",
        ),
        Mistake(
            "transposed_heads",
            altered(oracle.split_heads, after=_turned),
            "Each head comes out transposed: (H, d_k, T) instead of (H, T, d_k).",
            "After the cut, (..., T, H, d_k), swap the axes -3 and -2 only.",
            "attention would take the columns for positions and the positions for columns.",
        ),
        Mistake(
            "last_two_swapped",
            altered(oracle.split_heads, after=_moved(-3, -1)),
            "After the cut the wrong axes are swapped: the result is (T, d_k, H).",
            "From (..., T, H, d_k), swap the axes -3 and -2: transpose(-3, -2), or stack with "
            "dim=-3.",
            "attention would take the columns of a head for positions, and the heads for columns.",
        ),
        Mistake(
            "copied",
            altered(oracle.split_heads, after=_copies),
            "Every head gets a copy of all d columns; it owns d_k of them.",
            "Cut the last axis into (H, d_k). That every head reads all of x happens before, in "
            "x @ W_Q.",
            "All heads would be alike, and attention would cost H times as much for nothing.",
        ),
        Mistake(
            "heads_reversed",
            altered(oracle.split_heads, after=_reversed),
            "The heads come in the wrong order: head 0 owns the first d_k columns.",
            "Go through the heads from h = 0, and do not flip the axis.",
            "The layer would meet the wrong rows of W_O when the heads are merged in the usual "
            "order, and an ablation would take out another head than it says.",
        ),
    ),
    example={"x": np.arange(12, dtype=np.float32).reshape(1, 2, 6), "n_head": 3},
    raises={
        "stack expects": "Cut the last axis, dim=-1, into n_head pieces of width d // n_head.",
        "is invalid for input": OTHER_NUMBER,
        "values to unpack": "x may have any number of leading dimensions: *batch, T, d = x.shape.",
    },
)

# ------------------------------------------------------------------ merge_heads


def merge_fixtures(rng):
    B, T, d, H = choice(rng, *SIZES)
    d_k = d // H
    return [
        Fixture("one position", {"x": normal(rng, B, H, 1, d_k)}, weight=1.0),
        Fixture("one head", {"x": normal(rng, B, 1, T, d_k)}, weight=1.0),
        Fixture("several heads", {"x": normal(rng, B, H, T, d_k)}, weight=4.0),
    ]


def _apart(y, i):
    """(..., T, d) -> (..., T, H, d_k)"""
    return y.reshape(*y.shape[:-1], i["x"].shape[-3], -1)


def _below(y, i):
    """(..., T, d) -> (..., H T, d_k)"""
    return _moved(-2, -3)(_apart(y, i)).reshape(*y.shape[:-2], -1, i["x"].shape[-1])


MERGE_HEADS = Component(
    "merge_heads",
    merge_fixtures,
    oracle.merge_heads,
    properties=(
        causal(),
        *batch_dims("x"),
        first_only("heads of one column, d_k = 1", "x", axis=-1),
        *COMMON,
    ),
    mistakes=(
        Mistake(
            "no_transpose",
            altered(oracle.merge_heads, layout="rows"),
            "It flattens before the heads are moved back: rows of the result mix positions.",
            "Swap the axes -3 and -2 first, then put the last two together.",
            "Row 0 of the result holds what head 0 found at the first H positions, so the future "
            "leaks. In a trial the loss was too good: 1.46, not 2.37.",
        ),
        Mistake(
            "interleaved",
            altered(oracle.merge_heads, layout="interleaved"),
            "The heads' columns are shuffled into each other; head h owns d_k columns side by side.",
            "Before the last two axes are put together they must be (H, d_k), in this order.",
            "Each head would meet rows of W_O that belong to other heads. A model of your own "
            "learns around it; with GPT-2's weights the output is nonsense.",
        ),
        Mistake(
            "last_two_swapped",
            altered(oracle.merge_heads, layout="crossed"),
            "The wrong axes are swapped, T and d_k: rows of the result mix positions.",
            "Swap the axes -3 and -2, H and T: (..., T, H, d_k). Then put the last two together.",
            "Row 0 of the result holds columns of head 0 at many positions, later ones included: the "
            "future leaks.",
        ),
        Mistake(
            "not_flattened",
            altered(oracle.merge_heads, after=_apart),
            "The heads stand behind the positions, but are not put side by side: (T, H, d_k).",
            "Reshape (..., T, H, d_k) to (..., T, H * d_k).",
            "The product with W_O needs rows of width d = H d_k.",
        ),
        Mistake(
            "summed",
            altered(oracle.merge_heads, after=lambda y, i: _apart(y, i).sum(-2)),
            "It adds the heads; they are put side by side.",
            WIDER,
            "W_O gives every head rows of its own to write with. After a sum no one can tell the "
            "heads apart any more.",
        ),
        Mistake(
            "averaged",
            altered(oracle.merge_heads, after=lambda y, i: _apart(y, i).mean(-2)),
            "It averages the heads; they are put side by side.",
            WIDER,
            "W_O gives every head rows of its own to write with. After an average no one can tell "
            "the heads apart any more.",
        ),
        Mistake(
            "along_positions",
            altered(oracle.merge_heads, after=_below),
            "The heads are joined along the positions: H T rows instead of T.",
            "Join along the last axis: torch.cat(…, dim=-1), or a reshape to (..., T, H * d_k).",
            "Each position must come out as one row, with what all heads found for it.",
        ),
        Mistake(
            "transposed",
            altered(oracle.merge_heads, after=_turned),
            "The result is transposed: (..., d, T) instead of (..., T, d).",
            "Rows are positions: swap the axes -3 and -2 of x, then reshape to (..., T, H * d_k).",
            "The product with W_O would mix positions, or fail where T is not d.",
        ),
        Mistake(
            "heads_reversed",
            altered(oracle.merge_heads, before=lambda i: {"x": _reversed(i["x"])}),
            "The heads come in the wrong order: head 0 owns the first d_k columns.",
            "Go through the heads from h = 0, and do not flip the axis.",
            "Each head would meet the rows of W_O that belong to another one.",
        ),
    ),
    example={"x": np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)},
    raises={
        "view size": f"{RESHAPE} Or .contiguous() before the view.",
        "is invalid for input": "Move the heads behind T first: then the last two axes are (H, d_k).",
        "values to unpack": "x may have any number of leading dimensions: "
        "*batch, H, T, d_k = x.shape.",
    },
)
