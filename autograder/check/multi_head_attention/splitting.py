"""split_heads and merge_heads: columns to heads and back, positions left where they are."""

from __future__ import annotations

import numpy as np
from array_api_compat import array_namespace

from autograder.check.component import Component
from autograder.check.draw import choice, normal
from autograder.check.findings import SHAPES
from autograder.check.mistake import Mistake, altered
from autograder.check.multi_head_attention.inputs import SIZES
from autograder.check.parts import Fixture
from autograder.check.properties.common import COMMON, causal
from autograder.check.properties.varied import SQUEEZE, batch_dims, first_only, property_of
from autograder.check.raised import RESHAPE
from autograder.oracle import multi_head_attention as oracle

CUT = (
    "Keep the leading axes, *batch, T, d = x.shape, and cut the last one: reshape(*batch, T, n_head, "
    "d // n_head), then swap the axes -3 and -2."
)
JOIN = (
    "Keep the leading axes, *batch, H, T, d_k = x.shape, and move the heads behind T: swap the axes -3 "
    "and -2, then reshape(*batch, T, H * d_k)."
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
            "x is reshaped straight to (..., H, T, d_k), so heads get positions; it should be "
            "reshaped to (..., T, H, d_k), then transposed.",
            "reshape(..., H, T, d_k) -> reshape(..., T, H, d_k).transpose(-3, -2)",
            "Head 0 gets the first T / H positions, and what stands in its row t comes from another "
            "one: the mask no longer hides the future. In a trial the loss was too good: 1.56, "
            "not 2.37.",
        ),
        Mistake(
            "interleaved",
            altered(oracle.split_heads, layout="interleaved"),
            "Head h gets columns h, h + H, h + 2 * H, ...; it should get d_k columns side by "
            "side, h * d_k to (h + 1) * d_k - 1.",
            "reshape(..., T, d_k, H) -> reshape(..., T, H, d_k), or x[..., h::H] -> x[..., h * "
            "d_k : (h + 1) * d_k].",
            "A model of your own trains as well with it. GPT-2's weights are stored with each "
            "head's 64 columns side by side, and give nonsense when dealt out otherwise.",
        ),
        Mistake(
            "heads_not_moved",
            altered(oracle.split_heads, after=_moved(-3, -2)),
            "The result is (..., T, H, d_k), with the heads behind the positions; it should be "
            "(..., H, T, d_k).",
            "reshape(..., T, H, d_k) -> reshape(..., T, H, d_k).transpose(-3, -2)",
            "attention takes the axis before the last for positions: at each position the heads "
            "would attend to each other, and no position to another.",
        ),
        Mistake(
            "heads_before_batch",
            altered(oracle.split_heads, after=_moved(-3, 0)),
            "The axis of the heads stands first, before the batch: (H, B, T, d_k); it should "
            "stand right before T: (B, H, T, d_k).",
            "In torch.stack: dim=0, which is its default, -> dim=-3. In movedim or permute: "
            "the heads go to axis -3, not to 0.",
            "Merging the heads would then put together rows of different sentences.",
        ),
        Mistake(
            "heads_in_batch",
            altered(oracle.split_heads, after=lambda y: y.reshape(-1, *y.shape[-2:])),
            "Batch and heads are one axis, (B * H, T, d_k); they should be two, (B, H, T, d_k).",
            "Take out the step that joins them, such as reshape(-1, T, d_k) at the end.",
            "Some libraries do so. Here merge_heads has only the shape to go by, and could not "
            "tell any more which head belongs to which sentence.",
        ),
        Mistake(
            "heads_below_each_other",
            altered(oracle.split_heads, after=lambda y: y.reshape(*y.shape[:-3], -1, y.shape[-1])),
            "The heads are put below each other, (..., H * T, d_k); they should have an axis "
            "of their own, (..., H, T, d_k).",
            "torch.cat(..., dim=-2) -> torch.stack(..., dim=-3): stack makes a new axis.",
            "attention would take them for one text, H times as long.",
        ),
        Mistake(
            "n_head_is_width",
            altered(
                oracle.split_heads, before=lambda i: {"n_head": i["x"].shape[-1] // i["n_head"]}
            ),
            "It makes d // n_head heads of width n_head; it should make n_head heads of width "
            "d // n_head.",
            "reshape(..., T, d // n_head, n_head) -> reshape(..., T, n_head, d // n_head), or "
            "x.split(n_head, -1) -> x.chunk(n_head, -1).",
            "GPT-2 small would get 64 heads of width 12 rather than 12 of width 64, and its weights "
            "would be cut in the wrong places.",
        ),
        Mistake(
            "transposed_heads",
            altered(oracle.split_heads, after=_turned),
            "Each head is transposed: the result is (..., H, d_k, T); it should be (..., H, T, "
            "d_k).",
            "From (..., T, H, d_k), one transpose(-3, -2) and nothing more: no transpose(-2, "
            "-1) after it.",
            "attention would take the columns for positions and the positions for columns.",
        ),
        Mistake(
            "last_two_swapped",
            altered(oracle.split_heads, after=_moved(-3, -1)),
            "After the reshape, H and d_k are swapped, which gives (..., T, d_k, H); T and H "
            "should be swapped, which gives (..., H, T, d_k).",
            "transpose(-2, -1) -> transpose(-3, -2); in torch.stack, dim=-1 -> dim=-3.",
            "attention would take the columns of a head for positions, and the heads for columns.",
        ),
        Mistake(
            "copied",
            altered(oracle.split_heads, after=_copies),
            "Every head gets all d columns of x, (..., H, T, d); each should get d_k columns "
            "of its own, (..., H, T, d_k).",
            "H pieces of x, not H copies of it: head h is x[..., h * d_k : (h + 1) * d_k].",
            "All heads would be alike, and attention would cost H times as much for nothing.",
        ),
        Mistake(
            "heads_reversed",
            altered(oracle.split_heads, after=_reversed),
            "The heads are in reverse order: head 0 has the last d_k columns of x; it should "
            "have the first d_k.",
            "Take out the flip, or count h up from 0, not down.",
            "The layer would meet the wrong rows of W_O when the heads are merged in the usual "
            "order, and an ablation would take out another head than it says.",
        ),
    ),
    example={"x": np.arange(24, dtype=np.float32).reshape(1, 4, 6), "n_head": 3},
    look={SHAPES: CUT},
    raises={
        "stack expects": "Cut the last axis, dim=-1, into n_head pieces of width d // n_head.",
        "is invalid for input": CUT,
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


def _flat(x):
    """The last two axes as one."""
    return x.reshape(*x.shape[:-2], -1)


def _crossed(y, i):
    """(..., H, T, d_k) -> (..., d_k, H T), row by row after T and d_k are swapped."""
    x = _turned(i["x"])
    return x.reshape(*x.shape[:-3], x.shape[-2], -1)


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
            "x, (..., H, T, d_k), is reshaped as it stands, so positions are mixed; H and T "
            "should be swapped before the reshape.",
            "x.reshape(...) -> x.transpose(-3, -2).reshape(...)",
            "Row 0 of the result holds what head 0 found at the first H positions, so the future "
            "leaks. In a trial the loss was too good: 1.46, not 2.37.",
        ),
        Mistake(
            "interleaved",
            altered(oracle.merge_heads, layout="interleaved"),
            "Column j of head h goes to column j * H + h; it should go to h * d_k + j, so that "
            "each head's columns lie side by side.",
            "Before the last reshape, the axes are (..., T, d_k, H); make them (..., T, H, "
            "d_k).",
            "Each head would meet rows of W_O that belong to other heads. A model of your own "
            "learns around it; with GPT-2's weights the output is nonsense.",
        ),
        Mistake(
            "last_two_swapped",
            altered(oracle.merge_heads, layout="crossed"),
            "T and d_k are swapped before the reshape to (..., T, H * d_k); H and T should be "
            "swapped.",
            "transpose(-2, -1) -> transpose(-3, -2)",
            "Row 0 of the result holds columns of head 0 at many positions, later ones included: the "
            "future leaks.",
        ),
        Mistake(
            "d_k_for_T",
            altered(oracle.merge_heads, after=_crossed),
            "T and d_k are swapped, and the reshape makes (..., d_k, H * T) of it; H and T should"
            " be swapped, then reshaped to (..., T, H * d_k).",
            "transpose(-2, -1) -> transpose(-3, -2), before the reshape to (..., T, H * d_k)",
            "Each row would hold what all heads found at many positions, later ones included. The "
            "product with W_O fails, unless H * T happens to be d.",
        ),
        Mistake(
            "T_joined",
            altered(oracle.merge_heads, after=lambda y, i: _flat(i["x"])),
            "T and d_k are joined, which gives (..., H, T * d_k); H and d_k should be joined, which "
            "gives (..., T, H * d_k).",
            "x.flatten(-2) -> x.transpose(-3, -2).flatten(-2)",
            "Each row would hold all positions of one head: the product with W_O fails, unless "
            "T * d_k happens to be d.",
        ),
        Mistake(
            "T_joined_transposed",
            altered(oracle.merge_heads, after=lambda y, i: _flat(_turned(i["x"]))),
            "T and d_k are swapped and joined, which gives (..., H, d_k * T); H and T should be "
            "swapped, H and d_k joined, which gives (..., T, H * d_k).",
            "transpose(-2, -1).flatten(-2) -> transpose(-3, -2).flatten(-2)",
            "Each row would hold all positions of one head: the product with W_O fails, unless "
            "T * d_k happens to be d.",
        ),
        Mistake(
            "not_flattened",
            altered(oracle.merge_heads, after=_apart),
            "The result is (..., T, H, d_k); its last two axes should be one, (..., T, H * "
            "d_k).",
            "After the transpose, add .flatten(-2) or a reshape.",
            "The product with W_O needs rows of width d = H d_k.",
        ),
        Mistake(
            "summed",
            altered(oracle.merge_heads, after=lambda y, i: _apart(y, i).sum(-2)),
            "The heads are added up, which leaves d_k columns; they should stand side by side, "
            "in H * d_k columns.",
            "Take out the sum over the heads; join them along dim=-1, with torch.cat or a "
            "reshape.",
            "W_O gives every head rows of its own to write with. After a sum no one can tell the "
            "heads apart any more.",
        ),
        Mistake(
            "averaged",
            altered(oracle.merge_heads, after=lambda y, i: _apart(y, i).mean(-2)),
            "The heads are averaged, which leaves d_k columns; they should stand side by side, "
            "in H * d_k columns.",
            "Take out the mean over the heads; join them along dim=-1, with torch.cat or a "
            "reshape.",
            "W_O gives every head rows of its own to write with. After an average no one can tell "
            "the heads apart any more.",
        ),
        Mistake(
            "along_positions",
            altered(oracle.merge_heads, after=_below),
            "The heads are joined along the positions, (..., H * T, d_k); they should be "
            "joined along the columns, (..., T, H * d_k).",
            "torch.cat(..., dim=-2) -> torch.cat(..., dim=-1), or x.reshape(..., H * T, d_k) -> "
            "x.transpose(-3, -2).reshape(..., T, H * d_k).",
            "Each position must come out as one row, with what all heads found for it.",
        ),
        Mistake(
            "transposed",
            altered(oracle.merge_heads, after=_turned),
            "The result is transposed, (..., H * d_k, T); it should be (..., T, H * d_k).",
            "Before the reshape, (..., H, d_k, T) -> (..., T, H, d_k); after it, no transpose.",
            "The product with W_O would mix positions, or fail where T is not d.",
        ),
        Mistake(
            "heads_reversed",
            altered(oracle.merge_heads, before=lambda i: {"x": _reversed(i["x"])}),
            "The heads are in reverse order: head 0 goes to the last d_k columns; it should go "
            "to the first d_k.",
            "Take out the flip, or join from h = 0 up, not down.",
            "Each head would meet the rows of W_O that belong to another one.",
        ),
    ),
    example={"x": np.arange(24, dtype=np.float32).reshape(1, 3, 4, 2)},
    look={SHAPES: JOIN},
    raises={
        "view size": f"{RESHAPE} Or .contiguous() before the view.",
        "is invalid for input": JOIN,
        "values to unpack": "x may have any number of leading dimensions: "
        "*batch, H, T, d_k = x.shape.",
    },
)
