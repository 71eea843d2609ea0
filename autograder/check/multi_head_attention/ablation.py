"""ablate_head: the layer without the write of one of its heads."""

from __future__ import annotations

from autograder.check.component import Component
from autograder.check.draw import choice, normal
from autograder.check.mistake import Mistake, altered
from autograder.check.multi_head_attention.inputs import (
    OWN_ROWS,
    PARAMETERS,
    SIZES,
    of_heads,
    of_sizes,
    state_of,
    without_columns,
)
from autograder.check.multi_head_attention.writes import on_layer
from autograder.check.parts import Fixture
from autograder.check.properties import COMMON, LEAVE_IT, causal
from autograder.check.varied import batch_dims
from autograder.oracle import multi_head_attention as oracle

TAKE_OUT = "attn(x) - head_writes(attn, x)[..., head, :, :]"
AXIS = f"Heads count from 0, and are the third axis from the end: {TAKE_OUT}"


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


def ablate(init, state, x, head, **switches):
    H, switches = of_sizes(init, **switches)
    return oracle.ablate_head(x, state, H, head, **switches)


def _all(each, head):
    return each >= 0


def _that(each, head):
    return each == head


def _scaled_up(each, head):
    return (each != head) * len(each) / (len(each) - 1)


def _averaged(each, head):
    return (each != head) / (len(each) - 1)


def _doubled(each, head):
    return (each >= 0) + 1.0 * (each == head)


def _zeroed(*names):
    """Ablation by setting the head's columns of these parameters to zero: all heads are left."""

    def change(i):
        zero = {n: without_columns(i["state"][n], i["init"], i["head"]) for n in names}
        return {"state": i["state"] | zero}

    return altered(ablate, before=change, left=_all)


def _rows_of_W_V(i):
    W = without_columns(i["state"]["W_V"].T, i["init"], i["head"]).T
    return {"state": i["state"] | {"W_V": W}}


MISTAKES = (
    Mistake(
        "b_O_removed",
        altered(ablate, b_O=lambda H: 0.0),
        "b_O is taken out as well; it belongs to no head and stays.",
        f"{TAKE_OUT}, or the sum of the other heads' writes plus attn.b_O.",
        "The measured loss would be that of losing the head and b_O together: a head that writes "
        "nothing would still seem to matter.",
    ),
    Mistake(
        "b_O_per_head",
        altered(ablate, b_O=lambda H: H - 1),
        "b_O is added with every head that is left; it belongs to the layer and is added once.",
        f"After the sum over the heads, once. Simpler: {TAKE_OUT}",
        "In a layer of 12 heads 10 b_O too much would be written, and the measured loss would be "
        "of that.",
    ),
    Mistake(
        "only_that_head",
        altered(ablate, left=_that, b_O=lambda H: 0.0),
        "It returns the write of that head; the others should be left.",
        TAKE_OUT,
        "The most important head would look like the least: with it alone the loss is low.",
    ),
    Mistake(
        "kept_instead",
        altered(ablate, left=_that),
        "It keeps that head and removes all others.",
        f"The other way round: {TAKE_OUT}",
        "The most important head would look like the least: with it alone the loss is low.",
    ),
    Mistake(
        "nothing_removed",
        altered(ablate, left=_all),
        "Nothing is taken out: it returns attn(x).",
        TAKE_OUT,
        "Every head would seem superfluous.",
    ),
    Mistake(
        "added_instead",
        altered(ablate, left=_doubled),
        "The head's write is added once more; it should be subtracted.",
        TAKE_OUT,
        "The layer would have this head twice: the measured loss says nothing about losing it.",
    ),
    Mistake(
        "counted_from_one",
        altered(ablate, before=lambda i: {"head": i["head"] - 1}),
        "It takes out the head before the one asked for: heads are numbered from 0.",
        "Use head as it is: writes[..., head, :, :].",
        "Every measurement would be told of the wrong head, and head 0 would stand for the last.",
    ),
    Mistake(
        "head_ignored",
        altered(ablate, before=lambda i: {"head": 0}),
        "It takes out head 0, whatever `head` says.",
        TAKE_OUT,
        "All heads would seem to matter exactly as much as the first.",
    ),
    Mistake(
        "query_zeroed",
        _zeroed("W_Q", "b_Q"),
        "Only the head's query (or key) is set to zero: its weights become uniform, and it still "
        "writes.",
        f"Take its write out of the sum: {TAKE_OUT}",
        "Scores of 0 give every visible position the same weight. The head would write the average "
        "of its values, which is not nothing.",
    ),
    Mistake(
        "bias_of_V_left",
        _zeroed("W_V"),
        "Only the head's columns of W_V are set to zero: through b_V it still writes.",
        f"b_V has entries of this head, too. Simpler: {TAKE_OUT}",
        "In a fresh layer b_V is 0 and all seems well. In a trained one the head would go on "
        "writing the same vector, b_V^h W_O^h, at every position.",
    ),
    Mistake(
        "rows_of_W_V",
        altered(ablate, before=_rows_of_W_V, left=_all),
        "Rows of W_V are set to zero: those are d_k places of x, which the values of all heads then miss.",
        f"A head owns columns of W_V, W_V[:, h d_k : (h+1) d_k], and of b_V. Simpler: {TAKE_OUT}",
        "No head would be out, and each a little damaged.",
    ),
    Mistake(
        "columns_of_W_O",
        _zeroed("W_O"),
        "It removes columns of W_O: those are d_k places of the stream, not a head.",
        OWN_ROWS,
        "All heads would go on writing, but none to these d_k places of the stream.",
    ),
    Mistake(
        "output_sliced",
        altered(ablate, left=_all, after=lambda y, i: without_columns(y, i["init"], i["head"])),
        "It sets d_k columns of the output to zero: those are places of the stream, not a head.",
        f"W_O has mixed the heads by then. {TAKE_OUT}",
        "All heads write to all d columns. What would be measured is the loss of d_k places of "
        "the stream, to which every head has written.",
    ),
    Mistake(
        "input_sliced",
        altered(
            ablate,
            before=lambda i: {"x": without_columns(i["x"], i["init"], i["head"])},
            left=_all,
        ),
        "It removes a slice of x. Every head reads all of x; a head is a slice of what W_Q, W_K "
        "and W_V give.",
        TAKE_OUT,
        "No head would be out; each would read d_k columns less.",
    ),
    Mistake(
        "rescaled",
        altered(ablate, left=_scaled_up),
        "The other heads are scaled up to make good for it; they stay as they are.",
        f"No factor H / (H - 1): {TAKE_OUT}",
        "The next layers would see the other heads louder than in training, and the measured loss "
        "would be of that as well.",
    ),
    Mistake(
        "averaged",
        altered(ablate, left=_averaged),
        "The other heads' writes are averaged; they are added.",
        f"A sum over the heads, and no mean: {TAKE_OUT}",
        "In a layer of 12 heads each of the others would write 11 times too little: the measured "
        "loss would be of that, too.",
    ),
)

ABLATE_HEAD = Component(
    "ablate_head",
    ablate_fixtures,
    ablate,
    call=on_layer,
    properties=(causal(), *batch_dims("x"), of_heads("heads of one column, d_k = 1", int), *COMMON),
    mistakes=MISTAKES,
    needs=("split_heads", "merge_heads", "head_writes"),
    raises={
        "leaf Variable": LEAVE_IT,
        "must match the size": AXIS,
        "out of bounds": AXIS,
        "mat1 and mat2": f"With one head less, the others are no longer d columns wide. {TAKE_OUT}",
    },
    constants=PARAMETERS,
)
