"""PreNormBlock, and the other ways to put its four parts together."""

from __future__ import annotations

from autograder.check.feedforward_layernorm.blocks import block, one_head
from autograder.check.mistake import Mistake, altered
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


def mistake(name, says, look, why, **switches):
    return Mistake(name, altered(pre_norm, **switches), says, look, why)


PRE_NORM_BLOCK = block(
    "PreNormBlock",
    pre_norm,
    mistakes=(
        mistake(
            "post_norm",
            "It is the post-norm block: the stream itself is normalised after each addition.",
            BOTH,
            "Every norm then stands on the stream, and no gradient comes down unscaled: deep stacks "
            "need a careful warm-up. GPT-2's weights do not fit.",
            normed_1="sum",
            normed_2="sum",
        ),
        mistake(
            "stream_normalised",
            "The stream is replaced by its normalised copy before the write of a sub-layer is added.",
            f"{BOTH}. x = ln(x) loses the stream.",
            "The stream has the same size in every layer, and the loss of a small model looks as it "
            "should. GPT-2's weights do not fit.",
            normed_1="stream",
            normed_2="stream",
        ),
        mistake(
            "stream_normalised_at_attention",
            "The stream is replaced by ln_1(x) before the write of attention is added.",
            f"{FIRST}. x = self.ln_1(x) loses the stream.",
            "In every block the size of the stream is forgotten, and with it how much earlier blocks "
            "have written.",
            normed_1="stream",
        ),
        mistake(
            "stream_normalised_at_feed_forward",
            "The stream is replaced by its ln_2 before the write of the feedforward network is added.",
            f"{SECOND}. x = self.ln_2(x) loses the stream.",
            "In every block the size of the stream is forgotten, and with it how much earlier blocks "
            "have written.",
            normed_2="stream",
        ),
        mistake(
            "parallel",
            "The feedforward network reads x, and not what attention has made of it.",
            f"{BOTH}: the second line reads the x that the first has changed.",
            "Some models are built so, and train as well. But within a block the network then cannot "
            "work on what attention has just fetched, and GPT-2's weights do not fit.",
            reads_2="x",
        ),
        mistake(
            "reads_the_write",
            "The feedforward network reads the write of attention alone, not the stream with it.",
            f"{SECOND}, where x is the sum after attention.",
            "Of the stream itself the network sees only what attention happens to have fetched.",
            reads_2="write",
        ),
        mistake(
            "second_sum_from_x",
            "The second sum starts from the x of before: what attention wrote is lost to the stream.",
            f"{BOTH}: the second line adds to the x that the first has changed.",
            "What attention writes reaches this block's feedforward network and nothing beyond: "
            "later blocks never read it.",
            base_2="x",
        ),
        mistake(
            "attention_lost",
            "What attention writes is not used at all: the second line starts from the old x.",
            f"{BOTH}: both lines change the same x.",
            "Without attention no position knows of any other: the model predicts the next token "
            "from the last one alone.",
            parts=("nothing", "ffn"),
        ),
        mistake(
            "feed_forward_lost",
            "What the feedforward network writes is not in the result.",
            f"{BOTH}, and only then return x.",
            "Two thirds of the weights of a block are in its feedforward network. They would get no "
            "gradient and stay as they were drawn.",
            parts=("attn", "nothing"),
        ),
        mistake(
            "attention_twice",
            "Attention is used in both lines: the feedforward network never is.",
            f"{SECOND} is the second line.",
            "Two thirds of the weights of a block are in its feedforward network. They would get no "
            "gradient and stay as they were drawn.",
            parts=("attn", "attn"),
        ),
        mistake(
            "no_residual",
            "There is no residual: each sub-layer's output replaces the stream.",
            BOTH,
            "Nothing that a block does not pass on survives it. In a small model the validation loss "
            "stayed at 3.3, where 2.4 was right.",
            base_1="nothing",
            base_2="nothing",
        ),
        mistake(
            "no_residual_at_attention",
            "The output of attention replaces the stream instead of being added to it.",
            FIRST,
            "A position forgets its own token, unless attention happens to bring it back.",
            base_1="nothing",
        ),
        mistake(
            "no_residual_at_feed_forward",
            "The output of the feedforward network replaces the stream instead of being added to it.",
            SECOND,
            "No gradient comes down along the additions: all of it must pass through the network of "
            "every block.",
            base_2="nothing",
        ),
        mistake(
            "n_head_ignored",
            "Attention has one head, whatever n_head is.",
            "self.attn = MultiHeadAttention(d_model, n_head, dropout)",
            "The parameters are the same, so no shape shows it. A position can then look for one "
            "thing at a time, and GPT-2's weights, made for 12 heads, do not fit.",
            before=one_head,
        ),
        mistake(
            "one_norm",
            "ln_1 is used twice, and ln_2 never.",
            SECOND,
            TWO_NORMS,
            norms=("ln_1", "ln_1"),
        ),
        mistake(
            "only_ln_2",
            "ln_2 is used twice, and ln_1 never.",
            FIRST,
            TWO_NORMS,
            norms=("ln_2", "ln_2"),
        ),
        mistake(
            "norms_swapped",
            "ln_1 and ln_2 have changed places.",
            BOTH,
            TWO_NORMS,
            norms=("ln_2", "ln_1"),
        ),
        mistake(
            "feed_forward_first",
            "The feedforward network comes before attention, each with its own norm.",
            BOTH,
            "In a stack the two alternate all the same, but the first network sees no other "
            "position, and nothing digests what the last attention fetches.",
            parts=("ffn", "attn"),
            norms=("ln_2", "ln_1"),
        ),
        mistake(
            "sublayers_swapped",
            "The feedforward network comes before attention, and reads ln_1.",
            BOTH,
            "In a stack the two alternate all the same, but the first network sees no other "
            "position, and nothing digests what the last attention fetches.",
            parts=("ffn", "attn"),
        ),
        mistake(
            "no_norm",
            "Neither LayerNorm is used.",
            BOTH,
            "The stream grows with depth and the sub-layers read it as it is. A small model trained "
            "so ended at a loss of 2.49 instead of 2.36.",
            normed_1="nothing",
            normed_2="nothing",
        ),
        mistake(
            "attention_unnormalised",
            "Attention reads x as it is, and not ln_1(x).",
            FIRST,
            "The scores grow with the square of the stream: where it is 10 times as large, they are "
            "100 times as large, and the softmax is nearly a choice of one.",
            normed_1="nothing",
        ),
        mistake(
            "feed_forward_unnormalised",
            "The feedforward network reads the stream as it is, and not ln_2 of it.",
            SECOND,
            "The louder the stream has grown, the louder the network answers, and the stream grows "
            "the faster.",
            normed_2="nothing",
        ),
        mistake(
            "norm_of_the_write",
            "LayerNorm is applied to what a sub-layer writes, not to what it reads.",
            BOTH,
            "Every write then has the same size, however much a sub-layer has to say, and the "
            "sub-layers read a stream that grows.",
            normed_1="write",
            normed_2="write",
        ),
        mistake(
            "norm_twice",
            "Each LayerNorm is used twice: on what the sub-layer reads, and on the sum.",
            BOTH,
            "With a norm on the stream no gradient comes down unscaled, as in post-norm, and GPT-2's "
            "weights do not fit.",
            normed_1="read and sum",
            normed_2="read and sum",
        ),
        mistake(
            "norm_at_the_end",
            "ln_2 is applied to the result once more.",
            f"{SECOND} is the last line. The norm at the end of the model is not in the block.",
            "The stream would leave every block with the same size, and what earlier blocks wrote "
            "would be turned down each time.",
            normed_2="read and sum",
        ),
        mistake(
            "post_norm_at_feed_forward",
            "The second half is post-norm: ln_2 is on the sum, not on what the network reads.",
            f"{SECOND}: x + ffn(ln_2(x)), not ln_2(x + ffn(x)).",
            "The stream would leave every block with the same size, and the network would read "
            "numbers that are not normalised.",
            normed_2="sum",
        ),
    ),
    look={
        "one position": f"{BOTH}.",
        "attention writes nothing": f"Here attention writes 0. What is left is {SECOND}.",
        "feed-forward writes nothing": f"Here the network writes 0. What is left is {FIRST}.",
        "the whole block": f"{BOTH}.",
    },
)
