"""head_writes: what each head of a layer adds to the stream."""

from __future__ import annotations

from dataclasses import replace

from array_api_compat import array_namespace

from autograder.check.component import Component
from autograder.check.mistake import Mistake, altered
from autograder.check.multi_head_attention.inputs import (
    EXTREMES,
    PARAMETERS,
    layer,
    layer_fixtures,
    of_sizes,
    renamed,
    without_biases,
)
from autograder.check.parts import Property
from autograder.check.properties.common import COMMON, LEAVE_IT, causal
from autograder.check.properties.varied import batch_dims
from autograder.judge.compare import Tolerance, difference
from autograder.oracle import multi_head_attention as oracle
from autograder.probes import Call

SUM = "The writes of all heads and b_O must add up to what the layer gives."
OF_BLOCKS = "Cut W_O into blocks of rows: heads @ attn.W_O.reshape(H, d // H, d), (H, d_k, d)."
RAISES = {
    "leaf Variable": LEAVE_IT,
    "mat1 and mat2": OF_BLOCKS,
    "must match the size": OF_BLOCKS,
    "Expected size for": OF_BLOCKS,
    "has no attribute": "The layer is one as in exercise 4.3: attn.n_head, attn.W_Q, attn.b_Q, … attn.b_O.",
}


def on_layer(inputs):
    """A function of a layer: `init` and `state` make the layer, the other inputs follow it."""
    rest = tuple(v for k, v in inputs.items() if k not in ("init", "state"))
    return Call(
        init=inputs["init"],
        state=inputs["state"],
        args=rest,
        probe="multi_head_attention:with_layer",
    )


def writes(init, state, x, **switches):
    H, switches = of_sizes(init, **switches)
    return oracle.head_writes(x, state, H, **switches)


def _sum_is_output(c, inputs, answers):
    want = layer(inputs["init"], inputs["state"], inputs["x"]) - inputs["state"]["b_O"]
    trouble = difference(answers[0].value.sum(-3), want, Tolerance(0.0, 1e-3))
    return trouble and replace(
        trouble,
        what="The writes do not add up to the output of the layer without b_O.",
        look="MHA(x) = sum_h head_h W_O^h + b_O, with all of the weights and biases of the layer.",
    )


def _columns(W_O, H):
    return oracle.rows_of(W_O.T, H)


def _dealt(W_O, H):
    return W_O.reshape(-1, H, W_O.shape[-1]).swapaxes(0, 1)


def _from_h(W_O, H):
    """Rows h to h + d_k - 1."""
    xp, d_k = array_namespace(W_O), W_O.shape[0] // H
    return xp.stack([W_O[h : h + d_k] for h in range(H)])


def _first_rows(W_O, H):
    xp = array_namespace(W_O)
    return xp.stack([W_O[: W_O.shape[0] // H]] * H)


def _square_blocks(W_O, H):
    """Of each head's rows, the columns of the same numbers."""
    xp, d_k = array_namespace(W_O), W_O.shape[0] // H
    return xp.stack([W_O[h * d_k :, h * d_k :][:d_k, :d_k] for h in range(H)])


def _shared_out(w):
    """The mean over the heads in the place of each."""
    return 0 * w + array_namespace(w).mean(w, axis=-3, keepdims=True)


MISTAKES = (
    Mistake(
        "b_O_in_each",
        altered(writes, after=lambda w, i: w + i["state"]["b_O"]),
        "b_O is added to every head's write; it should be added to none, as it belongs to the "
        "layer.",
        "In the return: take out + attn.b_O.",
        f"{SUM} With b_O in each it would be counted H times, 12 times in GPT-2 small.",
    ),
    Mistake(
        "b_O_shared",
        altered(writes, after=lambda w, i: w + i["state"]["b_O"] / i["init"][1]),
        "b_O / H is added to every head's write; nothing of b_O should be, as it belongs to "
        "the layer.",
        "In the return: take out + attn.b_O / H.",
        "A head that writes nothing would seem to write b_O / H, and the size of a write would say "
        "little of what the head does.",
    ),
    Mistake(
        "columns_of_W_O",
        altered(writes, rows=_columns),
        "Head h gets columns of W_O, transposed: W_O[:, h * d_k : (h + 1) * d_k].T; it should "
        "get rows, W_O[h * d_k : (h + 1) * d_k].",
        "attn.W_O.T.reshape(H, d_k, d) or split_heads(attn.W_O, H), transposed -> "
        "attn.W_O.reshape(H, d_k, d).",
        "Rows belong to heads, columns to places of the stream. The shapes fit after a transpose, "
        "but the writes no longer add up to the layer.",
    ),
    Mistake(
        "rows_interleaved",
        altered(writes, rows=_dealt),
        "Head h gets rows h, h + H, h + 2 * H, ... of W_O; it should get rows h * d_k to (h + "
        "1) * d_k - 1.",
        "attn.W_O[h::H] -> attn.W_O[h * d_k : (h + 1) * d_k]; in a reshape, (d_k, H, d) -> (H, "
        "d_k, d).",
        f"Each head would be read through rows of other heads. {SUM}",
    ),
    Mistake(
        "rows_from_h",
        altered(writes, rows=_from_h),
        "Head h gets W_O[h : h + d_k]; it should get W_O[h * d_k : (h + 1) * d_k].",
        "attn.W_O[h : h + d_k] -> attn.W_O[h * d_k : (h + 1) * d_k]",
        "The rows of neighbouring heads overlap in all but one, so a head is read through rows "
        "of others, and most rows of W_O are never used.",
    ),
    Mistake(
        "first_rows_for_all",
        altered(writes, rows=_first_rows),
        "Every head gets the first rows of W_O, W_O[:d_k]; head h should get W_O[h * d_k : (h "
        "+ 1) * d_k].",
        "attn.W_O[:d_k] -> attn.W_O[h * d_k : (h + 1) * d_k]",
        "Only the write of head 0 is right. The rows with which the others write are never used.",
    ),
    Mistake(
        "square_blocks",
        altered(writes, rows=_square_blocks),
        "Head h gets a square of W_O, its rows and columns h * d_k to (h + 1) * d_k - 1; it "
        "should get these rows with all d columns.",
        "attn.W_O[own, own] -> attn.W_O[own], where own is h * d_k : (h + 1) * d_k.",
        "A head may write to all d places of the stream. Cut so, all but one in H of its numbers "
        "are lost.",
    ),
    Mistake(
        "not_projected",
        altered(writes, rows=None),
        "It returns the heads' outputs, of width d_k; each should be multiplied by its rows of "
        "W_O, which gives width d.",
        "return heads -> return heads @ attn.W_O.reshape(H, d_k, d)",
        "In the d_k columns of its own a head's numbers mean nothing to the stream. W_O^h says in "
        "which directions of the stream they point.",
    ),
    Mistake(
        "heads_before_batch",
        altered(writes, after=lambda w: array_namespace(w).moveaxis(w, -3, 0)),
        "The axis of the heads stands first, before the batch: (H, B, T, d); it should stand "
        "right before T: (B, H, T, d).",
        "torch.stack(writes), whose dim is 0, -> torch.stack(writes, dim=-3). In movedim or "
        "permute: the heads go to axis -3, not to 0.",
        "writes[..., h, :, :] would be sentence h with the write of every head, and not head h.",
    ),
    Mistake(
        "heads_behind_positions",
        altered(writes, after=lambda w: array_namespace(w).moveaxis(w, -3, -2)),
        "The result is (..., T, H, d), with the heads behind the positions; it should be (..., "
        "H, T, d).",
        'torch.stack(..., dim=-2) -> torch.stack(..., dim=-3); in einsum, "...thd" -> '
        '"...htd" behind the arrow.',
        "writes[..., h, :, :] would be position h with the writes of all heads, and not head h.",
    ),
    Mistake(
        "summed",
        altered(writes, after=lambda w: w.sum(-3)),
        "The heads' writes are added up, (..., T, d); they should be returned one by one, "
        "(..., H, T, d).",
        'Take out the sum over the heads; in einsum, "...td" -> "...htd" behind the arrow.',
        "The sum is what the layer gives already. Apart, the writes tell which head did what.",
    ),
    Mistake(
        "equal_shares",
        altered(writes, after=_shared_out),
        "Every head gets the same write, (attn(x) - b_O) / H; head h should get its own, "
        "head_h @ W_O[h * d_k : (h + 1) * d_k].",
        "Do not divide attn(x) - attn.b_O by H: compute Q, K, V and the heads here, as forward "
        "does, and multiply each by its rows of W_O.",
        "The sum comes out right, and nothing is learnt: all heads would seem equally important.",
    ),
    Mistake(
        "equal_shares_of_all",
        altered(writes, after=lambda w, i: _shared_out(w) + i["state"]["b_O"] / i["init"][1]),
        "Every head gets the same write, attn(x) / H; head h should get its own, "
        "head_h @ W_O[h * d_k : (h + 1) * d_k].",
        "Do not divide attn(x) by H: compute Q, K, V and the heads here, as forward does, and "
        "multiply each by its rows of W_O.",
        "Nothing is learnt: all heads would seem equally important. And b_O, which belongs to no "
        "head, is in every share.",
    ),
    Mistake(
        "no_mask",
        altered(writes, mask=None),
        "There is no causal mask, so every position sees the later ones; -inf should be added "
        "to the scores where s > t, as in the layer.",
        "The fourth argument of attention: none -> causal_mask(T, x.device).",
        "It would measure another layer than the one that was trained, a layer that sees the "
        "tokens it has to predict.",
    ),
    Mistake(
        "scaled_by_d_model",
        altered(writes, scale=lambda d, d_k: d**-0.5),
        "The scores are divided by sqrt(d), the width of x; they should be divided by "
        "sqrt(d_k), the width d / H of one head.",
        "math.sqrt(x.shape[-1]) -> math.sqrt(Q.shape[-1]), with Q after the split.",
        "The weights would be flatter than those of the layer, and every write another.",
    ),
    Mistake(
        "no_scaling",
        altered(writes, scale=lambda d, d_k: 1.0),
        "The scores are Q @ K^T, not divided by anything; they should be divided by sqrt(d_k), "
        "d_k = d / H.",
        "Q @ K.transpose(-2, -1) -> the same / math.sqrt(Q.shape[-1]), with Q after the split. "
        "attention does so itself.",
        "The weights would be sharper than those of the layer, and every write another.",
    ),
    Mistake(
        "no_bias",
        altered(writes, before=without_biases),
        "b_Q, b_K and b_V are not added; they should be. Only b_O is to be left out.",
        "x @ attn.W_Q -> x @ attn.W_Q + attn.b_Q, and so for K and V.",
        "They are 0 in a fresh layer and not in a trained one: what is measured would be the "
        "heads of another layer.",
    ),
    Mistake(
        "k_is_q",
        altered(writes, before=renamed(W_K="W_Q", b_K="b_Q")),
        "K is computed with W_Q, so W_K is not used; it should be K = x @ W_K + b_K.",
        "Where K is computed: attn.W_Q -> attn.W_K; the bias after it should be attn.b_K.",
        "Every head would attend to other positions than it does in the layer.",
    ),
    Mistake(
        "v_is_k",
        altered(writes, before=renamed(W_V="W_K", b_V="b_K")),
        "V is computed with W_K and b_K, so W_V and b_V are not used; it should be V = x @ W_V "
        "+ b_V.",
        "Where V is computed: attn.W_K -> attn.W_V and attn.b_K -> attn.b_V.",
        "Every head would look where it does in the layer, and bring something else.",
    ),
    Mistake(
        "running_sum",
        altered(writes, after=lambda w: w.cumsum(-3)),
        "Entry h is the sum of the writes of heads 0 to h; it should be the write of head h "
        "alone.",
        "In the loop over the heads, append the new write, not the sum so far; or take out the "
        "cumsum.",
        "The last head would seem to write all that the layer writes, whatever it does.",
    ),
)

HEAD_WRITES = Component(
    "head_writes",
    layer_fixtures,
    writes,
    call=on_layer,
    properties=(
        Property("add up to the layer", lambda c, i: [c.call(i)], _sum_is_output, evidence=True),
        causal(),
        *batch_dims("x"),
        *EXTREMES,
        *COMMON,
    ),
    mistakes=MISTAKES,
    needs=("split_heads", "merge_heads"),
    constants=PARAMETERS,
    shortcuts=frozenset({"multi_head_attention_forward"}),
    raises=RAISES,
)
