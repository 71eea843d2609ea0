"""PostNormBlock, and the other ways to put its four parts together."""

from __future__ import annotations

from autograder.check.feedforward_layernorm.blocks import block, mistake, same
from autograder.oracle.feedforward_layernorm import post_norm, pre_norm


def _reads_the_norm(x, ln_1, attn, ln_2, ffn):
    x = ln_1(x + attn(ln_1(x)))
    return ln_2(x + ffn(ln_2(x)))


def _parallel(x, ln_1, attn, ln_2, ffn):
    return ln_2(ln_1(x + attn(x)) + ffn(x))


def _norm_of_the_write(x, ln_1, attn, ln_2, ffn):
    x = x + ln_1(attn(x))
    return x + ln_2(ffn(x))


POST_NORM_BLOCK = block(
    "PostNormBlock",
    post_norm,
    mistakes=(
        mistake(
            "pre_norm",
            pre_norm,
            "It is the pre-norm block: only the copies that the sub-layers read are normalised.",
            "ln_1(x + attn(x)): here the sum itself goes through LayerNorm.",
        ),
        mistake(
            "norm_of_the_write",
            _norm_of_the_write,
            "LayerNorm is applied to the write alone; it belongs on the sum.",
            "ln_1(x + attn(x)), not x + ln_1(attn(x)).",
        ),
        mistake(
            "reads_the_norm",
            _reads_the_norm,
            "Each LayerNorm is used twice: on what the sub-layer reads, and on the sum.",
            "Here a sub-layer reads the stream as it is.",
        ),
        mistake(
            "second_sum_from_x",
            lambda x, ln_1, attn, ln_2, ffn: ln_2(x + ffn(ln_1(x + attn(x)))),
            "The second sum starts from x instead of x'.",
            "ln_2(x' + ffn(x')), with x' = ln_1(x + attn(x)).",
        ),
        mistake(
            "parallel",
            _parallel,
            "The feed-forward network reads x, and not x'.",
            "ln_2(x' + ffn(x')), with x' = ln_1(x + attn(x)).",
        ),
        mistake(
            "no_residual",
            lambda x, ln_1, attn, ln_2, ffn: ln_2(ffn(ln_1(attn(x)))),
            "There is no residual: each sub-layer's output replaces the stream.",
            "Each sub-layer's output is added to the stream, and the sum is normalised.",
        ),
        mistake(
            "one_norm",
            lambda x, ln_1, attn, ln_2, ffn: post_norm(x, ln_1, attn, ln_1, ffn),
            "ln_1 is used twice, and ln_2 never.",
        ),
        mistake(
            "norms_swapped",
            lambda x, ln_1, attn, ln_2, ffn: post_norm(x, ln_2, attn, ln_1, ffn),
            "ln_1 and ln_2 have changed places.",
        ),
        mistake(
            "feed_forward_first",
            lambda x, ln_1, attn, ln_2, ffn: post_norm(x, ln_2, ffn, ln_1, attn),
            "The feed-forward network comes before attention.",
        ),
        mistake(
            "sublayers_swapped",
            lambda x, ln_1, attn, ln_2, ffn: post_norm(x, ln_1, ffn, ln_2, attn),
            "The feed-forward network comes before attention, followed by ln_1.",
        ),
        mistake(
            "no_norm",
            lambda x, ln_1, attn, ln_2, ffn: post_norm(x, same, attn, same, ffn),
            "Neither LayerNorm is used.",
        ),
        mistake(
            "no_first_norm",
            lambda x, ln_1, attn, ln_2, ffn: post_norm(x, same, attn, ln_2, ffn),
            "There is no LayerNorm after the first sum.",
        ),
        mistake(
            "no_second_norm",
            lambda x, ln_1, attn, ln_2, ffn: post_norm(x, ln_1, attn, same, ffn),
            "There is no LayerNorm after the second sum.",
        ),
    ),
)
