"""PreNormBlock, and the other ways to put its four parts together."""

from __future__ import annotations

from autograder.check.feedforward_layernorm.blocks import block, one_head
from autograder.check.mistake import entries
from autograder.oracle import feedforward_layernorm as oracle

FIRST = "x = x + self.drop(self.attn(self.ln_1(x)))"
SECOND = "x = x + self.drop(self.ffn(self.ln_2(x)))"
BOTH = f"{FIRST}, then {SECOND}"
TWO_NORMS = (
    "They start alike, so an untrained model does not show it. GPT-2's trained norms differ, and its "
    "weights would give other logits."
)


def pre_norm(init, state, x, *, normed_1="read", normed_2="read", **switches):
    return oracle.block(x, state, init[1], normed_1=normed_1, normed_2=normed_2, **switches)


mistake = entries(pre_norm)


PRE_NORM_BLOCK = block(
    "PreNormBlock",
    pre_norm,
    mistakes=(
        mistake(
            "post_norm",
            "It is the post-norm block, ln_1(x + attn(x)) and ln_2(x + ffn(x)); it should be x "
            "+ attn(ln_1(x)) and x + ffn(ln_2(x)).",
            "Move each norm from the sum to what is read: ln_1(x + attn(x)) -> x + "
            "attn(ln_1(x)), and so in the second line.",
            "Every norm then stands on the stream, and no gradient comes down unscaled: deep stacks "
            "need a careful warm-up. GPT-2's weights do not fit.",
            normed_1="sum",
            normed_2="sum",
        ),
        mistake(
            "stream_normalised",
            "Each line adds to the normalised x, ln_1(x) + attn(ln_1(x)), and so with ln_2 and "
            "ffn; it should add to x itself, x + attn(ln_1(x)).",
            "x = ln_1(x), then x + attn(x) -> x + attn(ln_1(x)) in one line; the same with ln_2 "
            "and ffn",
            "The stream has the same size in every layer, and the loss of a small model looks as it "
            "should. GPT-2's weights do not fit.",
            normed_1="stream",
            normed_2="stream",
        ),
        mistake(
            "stream_normalised_at_attention",
            "The first line is ln_1(x) + attn(ln_1(x)); it should be x + attn(ln_1(x)).",
            "x = ln_1(x), then x + attn(x) -> x + attn(ln_1(x)), before the second line",
            "In every block the size of the stream is forgotten, and with it how much earlier blocks "
            "have written.",
            normed_1="stream",
        ),
        mistake(
            "stream_normalised_at_feed_forward",
            "The second line is ln_2(x) + ffn(ln_2(x)); it should be x + ffn(ln_2(x)).",
            "x = ln_2(x), then x + ffn(x) -> x + ffn(ln_2(x)), after the first line",
            "In every block the size of the stream is forgotten, and with it how much earlier blocks "
            "have written.",
            normed_2="stream",
        ),
        mistake(
            "parallel",
            "The feedforward network reads ln_2 of the block's input x; it should read ln_2 of "
            "the sum after attention.",
            "ffn(ln_2(x)) -> ffn(ln_2(h)), where x is the block's input and h is x + attn(ln_1(x))",
            "Some models are built so, and train as well. But within a block the network then cannot "
            "work on what attention has just fetched, and GPT-2's weights do not fit.",
            reads_2="x",
        ),
        mistake(
            "reads_the_write",
            "The feedforward network reads ln_2 of attention's write alone; it should read ln_2 "
            "of the sum, x plus that write.",
            "ffn(ln_2(a)) -> ffn(ln_2(x + a)), where a is attn(ln_1(x))",
            "Of the stream itself the network sees only what attention happens to have fetched.",
            reads_2="write",
        ),
        mistake(
            "second_sum_from_x",
            "The second line adds ffn's write to the block's input x; it should add it to the "
            "sum after attention, which ffn reads.",
            "x + ffn(ln_2(h)) -> h + ffn(ln_2(h)), where x is the block's input and h is x + "
            "attn(ln_1(x))",
            "What attention writes reaches this block's feedforward network and nothing beyond: "
            "later blocks never read it.",
            base_2="x",
        ),
        mistake(
            "attention_lost",
            "Attention's write is not used: x in the second line, x + ffn(ln_2(x)), is the "
            "block's input; it should be x + attn(ln_1(x)).",
            "Assign the first line to x (x = x + attn(...)), and use that x twice in the second "
            "line.",
            "Without attention no position knows of any other: the model predicts the next token "
            "from the last one alone.",
            parts=("nothing", "ffn"),
        ),
        mistake(
            "feed_forward_lost",
            "It returns x + attn(ln_1(x)): ffn's write is not in the result; x + ffn(ln_2(x)) "
            "should follow.",
            "The second line is missing or its result is lost: x = x + ffn(ln_2(x)), then return "
            "x.",
            "Two thirds of the weights of a block are in its feedforward network. They would get no "
            "gradient and stay as they were drawn.",
            parts=("attn", "nothing"),
        ),
        mistake(
            "attention_twice",
            "The second line is x + attn(ln_2(x)); it should be x + ffn(ln_2(x)).",
            "attn -> ffn in the second line",
            "Two thirds of the weights of a block are in its feedforward network. They would get no "
            "gradient and stay as they were drawn.",
            parts=("attn", "attn"),
        ),
        mistake(
            "first_line_twice",
            "The second line repeats the first, x + attn(ln_1(x)); it should be x + "
            "ffn(ln_2(x)).",
            "attn -> ffn and ln_1 -> ln_2 in the second line",
            "Two thirds of the weights of a block are in its feedforward network. They would get no "
            "gradient and stay as they were drawn.",
            parts=("attn", "attn"),
            norms=("ln_1", "ln_1"),
        ),
        mistake(
            "no_residual",
            "x + is missing in both lines: attn(ln_1(x)), then ffn(ln_2(x)); it should be x + "
            "attn(ln_1(x)), then x + ffn(ln_2(x)).",
            "x = attn(...) -> x = x + attn(...), and x = ffn(...) -> x = x + ffn(...)",
            "Nothing that a block does not pass on survives it. In a small model the validation loss "
            "stayed at 3.3, where 2.4 was right.",
            base_1="nothing",
            base_2="nothing",
        ),
        mistake(
            "no_residual_at_attention",
            "x + is missing in the first line: it is attn(ln_1(x)); it should be x + "
            "attn(ln_1(x)).",
            "x = attn(...) -> x = x + attn(...) in the first line",
            "A position forgets its own token, unless attention happens to bring it back.",
            base_1="nothing",
        ),
        mistake(
            "no_residual_at_feed_forward",
            "x + is missing in the second line: it is ffn(ln_2(x)); it should be x + "
            "ffn(ln_2(x)).",
            "x = ffn(...) -> x = x + ffn(...) in the second line",
            "No gradient comes down along the additions: all of it must pass through the network of "
            "every block.",
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
            "ln_1 is in both lines: the second is x + ffn(ln_1(x)); it should be x + "
            "ffn(ln_2(x)).",
            "ln_1 -> ln_2 in the second line",
            TWO_NORMS,
            norms=("ln_1", "ln_1"),
        ),
        mistake(
            "only_ln_2",
            "ln_2 is in both lines: the first is x + attn(ln_2(x)); it should be x + "
            "attn(ln_1(x)).",
            "ln_2 -> ln_1 in the first line",
            TWO_NORMS,
            norms=("ln_2", "ln_2"),
        ),
        mistake(
            "norms_swapped",
            "ln_1 and ln_2 are swapped: attn(ln_2(x)) and ffn(ln_1(x)); it should be "
            "attn(ln_1(x)) and ffn(ln_2(x)).",
            "ln_2 -> ln_1 in the line of attn, and ln_1 -> ln_2 in the line of ffn",
            TWO_NORMS,
            norms=("ln_2", "ln_1"),
        ),
        mistake(
            "feed_forward_first",
            "The line of ffn comes first, reading ln_2(x), and attn second, reading ln_1(x); attn with ln_1 "
            "should come first.",
            "Move the line of attn and ln_1 above the line of ffn and ln_2.",
            "In a stack the two alternate all the same, but the first network sees no other "
            "position, and nothing digests what the last attention fetches.",
            parts=("ffn", "attn"),
            norms=("ln_2", "ln_1"),
        ),
        mistake(
            "sublayers_swapped",
            "The line of ffn comes first, reading ln_1(x), and attn second, reading ln_2(x); it should be "
            "attn(ln_1(x)) first and ffn(ln_2(x)) second.",
            "ffn -> attn in the first line, and attn -> ffn in the second",
            "In a stack the two alternate all the same, but the first network sees no other "
            "position, and nothing digests what the last attention fetches.",
            parts=("ffn", "attn"),
        ),
        mistake(
            "no_norm",
            "Neither norm is used: x + attn(x), then x + ffn(x); it should be x + "
            "attn(ln_1(x)), then x + ffn(ln_2(x)).",
            "attn(x) -> attn(ln_1(x)), and ffn(x) -> ffn(ln_2(x))",
            "The stream grows with depth and the sub-layers read it as it is. A small model trained "
            "so ended at a loss of 2.49 instead of 2.36.",
            normed_1="nothing",
            normed_2="nothing",
        ),
        mistake(
            "attention_unnormalised",
            "The first line is x + attn(x); it should be x + attn(ln_1(x)).",
            "attn(x) -> attn(ln_1(x)) in the first line",
            "The scores grow with the square of the stream: where it is 10 times as large, they are "
            "100 times as large, and the softmax is nearly a choice of one.",
            normed_1="nothing",
        ),
        mistake(
            "feed_forward_unnormalised",
            "The second line is x + ffn(x); it should be x + ffn(ln_2(x)).",
            "ffn(x) -> ffn(ln_2(x)) in the second line",
            "The louder the stream has grown, the louder the network answers, and the stream grows "
            "the faster.",
            normed_2="nothing",
        ),
        mistake(
            "norm_of_the_write",
            "In both lines the norm is on what is written, x + ln_1(attn(x)); it should be on "
            "what is read, x + attn(ln_1(x)).",
            "ln_1(attn(x)) -> attn(ln_1(x)), and ln_2(ffn(x)) -> ffn(ln_2(x))",
            "Every write then has the same size, however much a sub-layer has to say, and the "
            "sub-layers read a stream that grows.",
            normed_1="write",
            normed_2="write",
        ),
        mistake(
            "norm_of_the_write_at_attention",
            "In the first line the norm is on what is written, x + ln_1(attn(x)); it should be on "
            "what is read, x + attn(ln_1(x)).",
            "ln_1(attn(x)) -> attn(ln_1(x)) in the first line",
            "Attention then reads a stream that grows, and what it writes always has the same size.",
            normed_1="write",
        ),
        mistake(
            "norm_of_the_write_at_feed_forward",
            "In the second line the norm is on what is written, x + ln_2(ffn(x)); it should be on "
            "what is read, x + ffn(ln_2(x)).",
            "ln_2(ffn(x)) -> ffn(ln_2(x)) in the second line",
            "The network then reads a stream that grows, and what it writes always has the same size.",
            normed_2="write",
        ),
        mistake(
            "norm_twice",
            "Each norm is on the sum too: ln_1(x + attn(ln_1(x))), and so with ln_2 and ffn; it "
            "should be x + attn(ln_1(x)).",
            "Around the sums no norm: ln_1(x + ...) -> x + ..., and ln_2(x + ...) -> x + ...",
            "With a norm on the stream no gradient comes down unscaled, as in post-norm, and GPT-2's "
            "weights do not fit.",
            normed_1="read and sum",
            normed_2="read and sum",
        ),
        mistake(
            "norm_at_the_end",
            "It returns ln_2(x + ffn(ln_2(x))); it should return x + ffn(ln_2(x)).",
            "In the return: no ln_2 around the sum. The norm at the end of the model is not in "
            "the block.",
            "The stream would leave every block with the same size, and what earlier blocks wrote "
            "would be turned down each time.",
            normed_2="read and sum",
        ),
        mistake(
            "post_norm_at_feed_forward",
            "The second line is ln_2(x + ffn(x)); it should be x + ffn(ln_2(x)).",
            "x + ffn(ln_2(x)), not ln_2(x + ffn(x)), in the second line",
            "The stream would leave every block with the same size, and the network would read "
            "numbers that are not normalised.",
            normed_2="sum",
        ),
    ),
    look={
        "one position": f"{BOTH}.",
        "attention writes nothing": f"Here attention writes 0. What is left is {SECOND}.",
        "feedforward writes nothing": f"Here the network writes 0. What is left is {FIRST}.",
        "the whole block": f"{BOTH}.",
    },
)
