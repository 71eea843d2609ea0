"""split_heads and merge_heads: columns to heads and back, positions left where they are."""

from __future__ import annotations


from array_api_compat import array_namespace

from autograder.check.component import Component
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture
from autograder.check.draw import choice, normal
from autograder.check.multi_head_attention.layer import CUT, SIZES
from autograder.check.properties import COMMON, causal
from autograder.check.varied import SQUEEZE, batch_dims, first_only, property_of
from autograder.oracle import multi_head_attention as oracle

# ------------------------------------------------------------------ split_heads


def split_fixtures(rng):
    B, T, d, H = choice(rng, *SIZES)
    return [
        Fixture("one position", {"x": normal(rng, B, 1, d), "n_head": H}, weight=1.0),
        Fixture("one head", {"x": normal(rng, B, T, d), "n_head": 1}, weight=1.0),
        Fixture("several heads", {"x": normal(rng, B, T, d), "n_head": H}, weight=4.0),
    ]


def _cut(x, n_head):
    """(..., T, d) -> (..., T, H, d_k)"""
    return x.reshape(*x.shape[:-1], n_head, x.shape[-1] // n_head)


def _move(x, source, destination):
    return array_namespace(x).moveaxis(x, source, destination)


def _reverse(x):
    """The heads in the opposite order."""
    return array_namespace(x).flip(x, axis=-3)


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
        ),
        Mistake(
            "interleaved",
            altered(oracle.split_heads, layout="interleaved"),
            "Head h gets columns h, h + H, h + 2H, …; it owns d_k columns side by side.",
            "Cut the last axis into (H, d_k), in this order.",
        ),
        Mistake(
            "heads_not_moved",
            _cut,
            "The columns are cut, but the axis of the heads still stands behind the positions.",
            "Swap the axes -3 and -2.",
        ),
        Mistake(
            "heads_before_batch",
            lambda x, n_head: _move(_cut(x, n_head), -2, 0),
            "The axis of the heads comes first, before the batch; it belongs right before T.",
            "The shape is (..., H, T, d_k).",
        ),
        Mistake(
            "n_head_is_width",
            lambda x, n_head: oracle.split_heads(x, x.shape[-1] // n_head),
            "n_head is used as the width of a head: there are H heads of width d / H.",
            "d_k = d // n_head",
        ),
        Mistake(
            "transposed_heads",
            lambda x, n_head: _move(_cut(x, n_head), -3, -1),
            "Each head comes out transposed: (H, d_k, T) instead of (H, T, d_k).",
            "Swap the axes -3 and -2 only.",
        ),
        Mistake(
            "heads_reversed",
            lambda x, n_head: _reverse(oracle.split_heads(x, n_head)),
            "The heads come in the wrong order: head 0 owns the first d_k columns.",
        ),
    ),
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
        ),
        Mistake(
            "interleaved",
            altered(oracle.merge_heads, layout="interleaved"),
            "The heads' columns are shuffled into each other; head h owns d_k columns side by side.",
            "Before the last two axes are put together they must be (H, d_k), in this order.",
        ),
        Mistake(
            "not_flattened",
            lambda x: _move(x, -3, -2),
            "The heads stand behind the positions, but are not put side by side: (T, H, d_k).",
            "Reshape (T, H, d_k) to (T, H d_k).",
        ),
        Mistake(
            "summed",
            lambda x: x.sum(-3),
            "It adds the heads; they are put side by side.",
            "The width grows from d_k to d = H d_k.",
        ),
        Mistake(
            "averaged",
            lambda x: x.mean(-3),
            "It averages the heads; they are put side by side.",
            "The width grows from d_k to d = H d_k.",
        ),
        Mistake(
            "along_positions",
            lambda x: x.reshape(*x.shape[:-3], -1, x.shape[-1]),
            "The heads are joined along the positions: H T rows instead of T.",
            "Join along the last axis.",
        ),
        Mistake(
            "heads_reversed",
            lambda x: oracle.merge_heads(_reverse(x)),
            "The heads come in the wrong order: head 0 owns the first d_k columns.",
        ),
    ),
)
