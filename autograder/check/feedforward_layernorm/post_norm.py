"""PostNormBlock, and the other ways to put its four parts together."""

from __future__ import annotations

from autograder.check.feedforward_layernorm.blocks import block, one_head
from autograder.check.mistake import Mistake, altered
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


def mistake(name, says, look, why, **switches):
    return Mistake(name, altered(post_norm, **switches), says, look, why)


POST_NORM_BLOCK = block(
    "PostNormBlock",
    post_norm,
    mistakes=(
        mistake(
            "pre_norm",
            "It is the pre-norm block: only the copies that the sub-layers read are normalised.",
            BOTH,
            "The pictures below the exercise compare the two kinds. With the same block twice there "
            "would be one curve, and nothing to compare.",
            normed_1="read",
            normed_2="read",
        ),
        mistake(
            "norm_of_the_write",
            "LayerNorm is applied to the write alone; it belongs on the sum.",
            BOTH,
            "The stream itself is never normalised and grows with depth. What leaves a post-norm "
            "block has the same size after every block.",
            normed_1="write",
            normed_2="write",
        ),
        mistake(
            "reads_the_norm",
            "Each LayerNorm is used twice: on what the sub-layer reads, and on the sum.",
            BOTH,
            "One norm is to serve two purposes at once, with one gamma and one beta for both.",
            normed_1="read and sum",
            normed_2="read and sum",
        ),
        mistake(
            "stream_normalised",
            "LayerNorm comes before the sub-layer, and the write is added to the normalised stream.",
            BOTH,
            "What leaves the block is not normalised, and the next to read it is attention or the "
            "unembedding.",
            normed_1="stream",
            normed_2="stream",
        ),
        mistake(
            "second_sum_from_x",
            "The second sum starts from the x that the block was given.",
            f"{BOTH}: the second line adds to the x that the first has changed.",
            "What attention writes reaches this block's feedforward network and nothing beyond: "
            "later blocks never read it.",
            base_2="x",
        ),
        mistake(
            "sum_before_norm",
            "The second sum starts from x + attn(x), before ln_1.",
            f"{BOTH}: the second line adds to the x that ln_1 has made.",
            "One road then leads past ln_1, and the block is neither post-norm nor pre-norm.",
            base_2="sum",
        ),
        mistake(
            "parallel",
            "The feedforward network reads the x that the block was given, not what ln_1 has made.",
            f"{BOTH}: the second line reads the x that the first has changed.",
            "Within a block the network cannot work on what attention has just fetched.",
            reads_2="x",
        ),
        mistake(
            "reads_the_write",
            "The feedforward network reads the write of attention alone, not what ln_1 has made.",
            f"{SECOND}, where x is what ln_1 has made of the sum.",
            "Of the stream itself the network sees only what attention happens to have fetched.",
            reads_2="write",
        ),
        mistake(
            "attention_lost",
            "Attention and ln_1 are not used: the second line starts from the old x.",
            f"{BOTH}: both lines change the same x.",
            "Without attention no position knows of any other: the model predicts the next token "
            "from the last one alone.",
            parts=("nothing", "ffn"),
            normed_1="nothing",
        ),
        mistake(
            "feed_forward_lost",
            "The feedforward network and ln_2 are not in the result: it is that of the first line.",
            f"{BOTH}, and only then return x.",
            "Two thirds of the weights of a block are in its feedforward network. They would get no "
            "gradient and stay as they were drawn.",
            parts=("attn", "nothing"),
            normed_2="nothing",
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
            "Nothing that a sub-layer does not pass on survives it, and all of the gradient must "
            "pass through every sub-layer.",
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
            "What attention has fetched is lost, unless the network passes it on.",
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
            "The feedforward network comes before attention, followed by ln_1.",
            BOTH,
            "In a stack the two alternate all the same, but the first network sees no other "
            "position, and nothing digests what the last attention fetches.",
            parts=("ffn", "attn"),
        ),
        mistake(
            "no_norm",
            "Neither LayerNorm is used.",
            BOTH,
            "The stream grows with depth, and the sub-layers read it as it is.",
            normed_1="nothing",
            normed_2="nothing",
        ),
        mistake(
            "no_first_norm",
            "There is no LayerNorm after the first sum.",
            FIRST,
            "The feedforward network reads a stream of any size.",
            normed_1="nothing",
        ),
        mistake(
            "no_second_norm",
            "There is no LayerNorm after the second sum.",
            SECOND,
            "What leaves the block is not normalised, so that attention in the next block reads a "
            "stream of any size.",
            normed_2="nothing",
        ),
        mistake(
            "pre_norm_at_attention",
            "The first half is pre-norm: ln_1 is on what attention reads, not on the sum.",
            f"{FIRST}: ln_1(x + attn(x)), not x + attn(ln_1(x)).",
            "The feedforward network then reads a stream of any size: nothing has normalised the "
            "first sum.",
            normed_1="read",
        ),
        mistake(
            "pre_norm_at_feed_forward",
            "The second half is pre-norm: ln_2 is on what the network reads, not on the sum.",
            f"{SECOND}: ln_2(x + ffn(x)), not x + ffn(ln_2(x)).",
            "What leaves the block is not normalised: its size depends on what the network writes.",
            normed_2="read",
        ),
    ),
    look={
        "one position": f"{BOTH}.",
        "attention writes nothing": f"Here attention writes 0. What is left is ln_1(x), and then "
        f"{SECOND}.",
        "feed-forward writes nothing": f"Here the network writes 0. What is left is {FIRST}, and "
        "then ln_2(x).",
        "the whole block": f"{BOTH}.",
    },
)
