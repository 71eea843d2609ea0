"""ablate_head: the layer without the write of one of its heads."""

from __future__ import annotations

from autograder.check.component import Component
from autograder.check.draw import choice, normal
from autograder.check.mistake import Mistake, altered
from autograder.check.multi_head_attention.inputs import (
    PARAMETERS,
    SIZES,
    of_heads,
    of_sizes,
    state_of,
    without_columns,
)
from autograder.check.multi_head_attention.writes import on_layer
from autograder.check.parts import Fixture
from autograder.check.properties.common import COMMON, LEAVE_IT, causal
from autograder.check.properties.varied import batch_dims
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
        Fixture("one position", without(1, 2), weight=1.0),
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
        "b_O is taken out together with the head; it should stay, as it belongs to the layer.",
        "In the return: the sum of the other heads' writes -> that sum + attn.b_O; or take out - "
        "attn.b_O.",
        "The measured loss would be that of losing the head and b_O together: a head that writes "
        "nothing would still seem to matter.",
    ),
    Mistake(
        "b_O_per_head",
        altered(ablate, b_O=lambda H: H - 1),
        "b_O is added H - 1 times, once with every head that is left; it should be added once.",
        "Take attn.b_O out of the loop or the sum over the heads, and add it once after that.",
        "In a layer of 12 heads 10 b_O too much would be written, and the measured loss would be "
        "of that.",
    ),
    Mistake(
        "only_that_head",
        altered(ablate, left=_that, b_O=lambda H: 0.0),
        "It returns the write of that head alone, without b_O; it should return the rest: "
        "attn(x) without this write.",
        "return head_writes(attn, x)[..., head, :, :] -> return attn(x) minus that.",
        "The most important head would look like the least: with it alone the loss is low.",
    ),
    Mistake(
        "kept_instead",
        altered(ablate, left=_that),
        "It returns the write of that head + b_O; it should return the writes of all other "
        "heads + b_O.",
        "Where the heads to keep are chosen: h == head -> h != head; or write + attn.b_O -> "
        "attn(x) - write.",
        "The most important head would look like the least: with it alone the loss is low.",
    ),
    Mistake(
        "nothing_removed",
        altered(ablate, left=_all),
        "It returns attn(x), and no head is taken out; the write of that head should be "
        "subtracted.",
        "In the return: attn(x) -> attn(x) minus the write of that head. If you change a copy "
        "of the layer: call the copy, not attn.",
        "Every head would seem superfluous.",
    ),
    Mistake(
        "added_instead",
        altered(ablate, left=_doubled),
        "It returns attn(x) + the write of that head; it should return attn(x) - the write of "
        "that head.",
        "In the return: + head_writes(...) -> - head_writes(...).",
        "The layer would have this head twice: the measured loss says nothing about losing it.",
    ),
    Mistake(
        "counted_from_one",
        altered(ablate, before=lambda i: {"head": i["head"] - 1}),
        "It takes out head `head - 1`, and the last head for head = 0; it should take out head "
        "`head`: heads count from 0.",
        "head - 1 -> head, where the head's write, rows or columns are picked.",
        "Every measurement would be told of the wrong head, and head 0 would stand for the last.",
    ),
    Mistake(
        "head_ignored",
        altered(ablate, before=lambda i: {"head": 0}),
        "It takes out head 0, whatever `head` is; it should take out head `head`.",
        "[..., 0, :, :] -> [..., head, :, :], where the head's write is picked.",
        "All heads would seem to matter exactly as much as the first.",
    ),
    Mistake(
        "query_zeroed",
        _zeroed("W_Q", "b_Q"),
        "The query or the key of that head is set to 0, so that it writes the mean of its "
        "visible values; its write should be 0.",
        "In a copy, set to 0 the head's rows of W_O, or its columns of W_V and b_V, not those "
        "of W_Q, b_Q, W_K or b_K.",
        "Scores of 0 give every visible position the same weight. The head would write the average "
        "of its values, which is not nothing.",
    ),
    Mistake(
        "bias_of_V_left",
        _zeroed("W_V"),
        "Only the head's columns of W_V are set to 0, so that it still writes b_V[own] @ "
        "W_O[own], own its columns; b_V[own] should be 0 as well.",
        "Where W_V[:, head * d_k : (head + 1) * d_k] is set to 0: set b_V[head * d_k : (head + "
        "1) * d_k] to 0, too.",
        "In a fresh layer b_V is 0 and all seems well. In a trained one the head would go on "
        "writing the same vector, b_V^h W_O^h, at every position.",
    ),
    Mistake(
        "rows_of_W_V",
        altered(ablate, before=_rows_of_W_V, left=_all),
        "Rows of W_V are set to 0, so that all values miss d_k columns of x; it should be the "
        "head's columns of W_V, and b_V there.",
        "W_V[head * d_k : (head + 1) * d_k] = 0 -> W_V[:, head * d_k : (head + 1) * d_k] = 0, "
        "and the same entries of b_V.",
        "No head would be out, and each a little damaged.",
    ),
    Mistake(
        "columns_of_W_O",
        _zeroed("W_O"),
        "Columns of W_O are set to 0, so that all heads write nothing to d_k columns of the "
        "stream; it should be the head's rows of W_O.",
        "W_O[:, head * d_k : (head + 1) * d_k] = 0 -> W_O[head * d_k : (head + 1) * d_k] = 0, "
        "in a copy of the layer.",
        "All heads would go on writing, but none to these d_k places of the stream.",
    ),
    Mistake(
        "output_sliced",
        altered(ablate, left=_all, after=lambda y, i: without_columns(y, i["init"], i["head"])),
        "Columns head * d_k to (head + 1) * d_k - 1 of the layer's output are set to 0; the "
        "write of that head should be subtracted, all d columns of it.",
        "In the output, set nothing to 0: W_O has mixed the heads by then. Subtract the write "
        "of the head.",
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
        "Columns head * d_k to (head + 1) * d_k - 1 of x are set to 0; x should stay: every "
        "head reads all of it.",
        "Give attn all of x, and subtract the write of the head from what attn(x) returns.",
        "No head would be out; each would read d_k columns less.",
    ),
    Mistake(
        "rescaled",
        altered(ablate, left=_scaled_up),
        "The other heads' writes are multiplied by H / (H - 1), then b_O is added; they should "
        "be added as they are.",
        "Take out the factor H / (H - 1).",
        "The next layers would see the other heads louder than in training, and the measured loss "
        "would be of that as well.",
    ),
    Mistake(
        "averaged",
        altered(ablate, left=_averaged),
        "The sum of the other heads' writes is divided by H - 1, then b_O is added; the sum "
        "should not be divided.",
        ".mean(-3) over the other heads -> .sum(-3), or take out / (H - 1).",
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
