"""PostNormBlock, and the other ways to put its four parts together."""

from __future__ import annotations

from autograder.check.feedforward_layernorm.blocks import block, one_head
from autograder.check.mistake import entries
from autograder.oracle import feedforward_layernorm as oracle

FIRST = "x = self.ln_1(x + self.drop(self.attn(x)))"
SECOND = "x = self.ln_2(x + self.drop(self.ffn(x)))"
BOTH = f"{FIRST}, then {SECOND}"
TWO_NORMS = (
    "They start alike, so an untrained model does not show it. Once trained they differ, and each "
    "belongs to the sum that it was trained on."
)


def post_norm(init, state, x, *, normed_1="sum", normed_2="sum", **switches):
    return oracle.block(x, state, init[1], normed_1=normed_1, normed_2=normed_2, **switches)


mistake = entries(post_norm)


POST_NORM_BLOCK = block(
    "PostNormBlock",
    post_norm,
    mistakes=(
        mistake(
            "pre_norm",
            "It is the pre-norm block, x + attn(ln_1(x)) and x + ffn(ln_2(x)); it should be "
            "ln_1(x + attn(x)) and ln_2(x + ffn(x)).",
            "Move each norm from what is read to the sum: x + attn(ln_1(x)) -> ln_1(x + "
            "attn(x)), and so in the second line.",
            "The pictures below the exercise compare the two kinds. With the same block twice there "
            "would be one curve, and nothing to compare.",
            normed_1="read",
            normed_2="read",
        ),
        mistake(
            "norm_of_the_write",
            "In both lines the norm is on the write alone, x + ln_1(attn(x)); it should be on "
            "the sum, ln_1(x + attn(x)).",
            "x + ln_1(attn(x)) -> ln_1(x + attn(x)), and x + ln_2(ffn(x)) -> ln_2(x + ffn(x))",
            "The stream itself is never normalised and grows with depth. What leaves a post-norm "
            "block has the same size after every block.",
            normed_1="write",
            normed_2="write",
        ),
        mistake(
            "norm_of_the_write_at_attention",
            "In the first line the norm is on the write alone, x + ln_1(attn(x)); it should be on "
            "the sum, ln_1(x + attn(x)).",
            "x + ln_1(attn(x)) -> ln_1(x + attn(x)) in the first line",
            "The feedforward network then reads a stream of any size: nothing has normalised the "
            "first sum.",
            normed_1="write",
        ),
        mistake(
            "norm_of_the_write_at_feed_forward",
            "In the second line the norm is on the write alone, x + ln_2(ffn(x)); it should be on "
            "the sum, ln_2(x + ffn(x)).",
            "x + ln_2(ffn(x)) -> ln_2(x + ffn(x)) in the second line",
            "What leaves the block is not normalised: its size depends on the stream that came in.",
            normed_2="write",
        ),
        mistake(
            "reads_the_norm",
            "Each norm is on what is read too: ln_1(x + attn(ln_1(x))), and so with ln_2 and "
            "ffn; it should be ln_1(x + attn(x)).",
            "attn(ln_1(x)) -> attn(x), and ffn(ln_2(x)) -> ffn(x), inside the sums",
            "One norm is to serve two purposes at once, with one gamma and one beta for both.",
            normed_1="read and sum",
            normed_2="read and sum",
        ),
        mistake(
            "stream_normalised",
            "Each line adds to the normalised x, ln_1(x) + attn(ln_1(x)), and so with ln_2 and "
            "ffn; it should be ln_1(x + attn(x)).",
            "x = ln_1(x), then x + attn(x) -> ln_1(x + attn(x)) in one line; the same with ln_2 "
            "and ffn",
            "What leaves the block is not normalised, and the next to read it is attention or the "
            "unembedding.",
            normed_1="stream",
            normed_2="stream",
        ),
        mistake(
            "second_sum_from_x",
            "The second line adds ffn's write to the block's input x; it should add it to the "
            "output of ln_1, which ffn reads.",
            "ln_2(x + ffn(h)) -> ln_2(h + ffn(h)), where x is the block's input and h is ln_1(x +"
            " attn(x))",
            "What attention writes reaches this block's feedforward network and nothing beyond: "
            "later blocks never read it.",
            base_2="x",
        ),
        mistake(
            "sum_before_norm",
            "The second line adds ffn's write to x + attn(x); it should add it to ln_1(x + "
            "attn(x)), which ffn reads.",
            "ln_2(s + ffn(...)) -> ln_2(ln_1(s) + ffn(...)), where s is x + attn(x)",
            "One road then leads past ln_1, and the block is neither post-norm nor pre-norm.",
            base_2="sum",
        ),
        mistake(
            "parallel",
            "The feedforward network reads the block's input x; it should read the output of "
            "ln_1.",
            "ffn(x) -> ffn(h), where x is the block's input and h is ln_1(x + attn(x))",
            "Within a block the network cannot work on what attention has just fetched.",
            reads_2="x",
        ),
        mistake(
            "reads_the_write",
            "The feedforward network reads attention's write alone, attn(x); it should read "
            "ln_1(x + attn(x)).",
            "ffn(a) -> ffn(ln_1(x + a)), where a is attn(x)",
            "Of the stream itself the network sees only what attention happens to have fetched.",
            reads_2="write",
        ),
        mistake(
            "attention_lost",
            "Attention and ln_1 are not used: x in the second line, ln_2(x + ffn(x)), is the "
            "block's input; it should be ln_1(x + attn(x)).",
            "Assign the first line to x (x = ln_1(...)), and use that x twice in the second "
            "line.",
            "Without attention no position knows of any other: the model predicts the next token "
            "from the last one alone.",
            parts=("nothing", "ffn"),
            normed_1="nothing",
        ),
        mistake(
            "feed_forward_lost",
            "It returns ln_1(x + attn(x)): ffn and ln_2 are not in the result; ln_2(x + ffn(x)) "
            "should follow.",
            "The second line is missing or its result is lost: x = ln_2(x + ffn(x)), then return "
            "x.",
            "Two thirds of the weights of a block are in its feedforward network. They would get no "
            "gradient and stay as they were drawn.",
            parts=("attn", "nothing"),
            normed_2="nothing",
        ),
        mistake(
            "attention_twice",
            "The second line is ln_2(x + attn(x)); it should be ln_2(x + ffn(x)).",
            "attn -> ffn in the second line",
            "Two thirds of the weights of a block are in its feedforward network. They would get no "
            "gradient and stay as they were drawn.",
            parts=("attn", "attn"),
        ),
        mistake(
            "first_line_twice",
            "The second line repeats the first, ln_1(x + attn(x)); it should be ln_2(x + "
            "ffn(x)).",
            "attn -> ffn and ln_1 -> ln_2 in the second line",
            "Two thirds of the weights of a block are in its feedforward network. They would get no "
            "gradient and stay as they were drawn.",
            parts=("attn", "attn"),
            norms=("ln_1", "ln_1"),
        ),
        mistake(
            "no_residual",
            "x + is missing inside both norms: ln_1(attn(x)), then ln_2(ffn(x)); it should be "
            "ln_1(x + attn(x)), then ln_2(x + ffn(x)).",
            "ln_1(attn(x)) -> ln_1(x + attn(x)), and ln_2(ffn(x)) -> ln_2(x + ffn(x))",
            "Nothing that a sub-layer does not pass on survives it, and all of the gradient must "
            "pass through every sub-layer.",
            base_1="nothing",
            base_2="nothing",
        ),
        mistake(
            "no_residual_at_attention",
            "ln_1 gets attn(x) alone: x + is missing inside it; it should be ln_1(x + attn(x)).",
            "attn(x) -> x + attn(x), inside ln_1",
            "A position forgets its own token, unless attention happens to bring it back.",
            base_1="nothing",
        ),
        mistake(
            "no_residual_at_feed_forward",
            "ln_2 gets ffn(x) alone: x + is missing inside it; it should be ln_2(x + ffn(x)).",
            "ffn(x) -> x + ffn(x), inside ln_2",
            "What attention has fetched is lost, unless the network passes it on.",
            base_2="nothing",
        ),
        mistake(
            "n_head_ignored",
            "Attention has one head; it should have n_head heads.",
            "In __init__: the second argument of MultiHeadAttention(d_model, n_head, dropout) "
            "is n_head, not 1.",
            "The parameters are the same, so no shape shows it. A position can then look for one "
            "thing at a time, and GPT-2's weights, made for 12 heads, do not fit.",
            before=one_head,
        ),
        mistake(
            "one_norm",
            "ln_1 is in both lines: the second is ln_1(x + ffn(x)); it should be ln_2(x + "
            "ffn(x)).",
            "ln_1 -> ln_2 in the second line",
            TWO_NORMS,
            norms=("ln_1", "ln_1"),
        ),
        mistake(
            "only_ln_2",
            "ln_2 is in both lines: the first is ln_2(x + attn(x)); it should be ln_1(x + "
            "attn(x)).",
            "ln_2 -> ln_1 in the first line",
            TWO_NORMS,
            norms=("ln_2", "ln_2"),
        ),
        mistake(
            "norms_swapped",
            "ln_1 and ln_2 are swapped: ln_2(x + attn(x)), then ln_1(x + ffn(x)); it should be "
            "ln_1(x + attn(x)), then ln_2(x + ffn(x)).",
            "ln_2 -> ln_1 in the line of attn, and ln_1 -> ln_2 in the line of ffn",
            TWO_NORMS,
            norms=("ln_2", "ln_1"),
        ),
        mistake(
            "feed_forward_first",
            "The lines are in the wrong order: ln_2(x + ffn(x)), then ln_1(x + attn(x)); it "
            "should be ln_1(x + attn(x)), then ln_2(x + ffn(x)).",
            "Move the line of attn and ln_1 above the line of ffn and ln_2.",
            "In a stack the two alternate all the same, but the first network sees no other "
            "position, and nothing digests what the last attention fetches.",
            parts=("ffn", "attn"),
            norms=("ln_2", "ln_1"),
        ),
        mistake(
            "sublayers_swapped",
            "attn and ffn are swapped: ln_1(x + ffn(x)), then ln_2(x + attn(x)); it should be "
            "ln_1(x + attn(x)), then ln_2(x + ffn(x)).",
            "ffn -> attn in the first line, and attn -> ffn in the second",
            "In a stack the two alternate all the same, but the first network sees no other "
            "position, and nothing digests what the last attention fetches.",
            parts=("ffn", "attn"),
        ),
        mistake(
            "no_norm",
            "Neither norm is used: x + attn(x), then x + ffn(x); it should be ln_1(x + "
            "attn(x)), then ln_2(x + ffn(x)).",
            "x + attn(x) -> ln_1(x + attn(x)), and x + ffn(x) -> ln_2(x + ffn(x))",
            "The stream grows with depth, and the sub-layers read it as it is.",
            normed_1="nothing",
            normed_2="nothing",
        ),
        mistake(
            "no_first_norm",
            "The first line is x + attn(x); it should be ln_1(x + attn(x)).",
            "x + attn(x) -> ln_1(x + attn(x)) in the first line",
            "The feedforward network reads a stream of any size.",
            normed_1="nothing",
        ),
        mistake(
            "no_second_norm",
            "The second line is x + ffn(x); it should be ln_2(x + ffn(x)).",
            "x + ffn(x) -> ln_2(x + ffn(x)) in the second line",
            "What leaves the block is not normalised, so that attention in the next block reads a "
            "stream of any size.",
            normed_2="nothing",
        ),
        mistake(
            "pre_norm_at_attention",
            "The first line is x + attn(ln_1(x)); it should be ln_1(x + attn(x)).",
            "ln_1(x + attn(x)), not x + attn(ln_1(x)), in the first line",
            "The feedforward network then reads a stream of any size: nothing has normalised the "
            "first sum.",
            normed_1="read",
        ),
        mistake(
            "pre_norm_at_feed_forward",
            "The second line is x + ffn(ln_2(x)); it should be ln_2(x + ffn(x)).",
            "ln_2(x + ffn(x)), not x + ffn(ln_2(x)), in the second line",
            "What leaves the block is not normalised: its size depends on what the network writes.",
            normed_2="read",
        ),
    ),
    look={
        "one position": f"{BOTH}.",
        "attention writes nothing": f"Here attention writes 0. What is left is ln_1(x), and then "
        f"{SECOND}.",
        "feedforward writes nothing": f"Here the network writes 0. What is left is {FIRST}, and "
        "then ln_2(x).",
        "the whole block": f"{BOTH}.",
    },
)
