"""PreNormBlock, and the other ways to put its four parts together."""

from __future__ import annotations

from autograder.check.feedforward_layernorm.blocks import block, mistake, same
from autograder.oracle.feedforward_layernorm import post_norm, pre_norm


def _stream_normalised(x, ln_1, attn, ln_2, ffn):
    x = ln_1(x)
    x = ln_2(x + attn(x))
    return x + ffn(x)


def _norm_of_the_write(x, ln_1, attn, ln_2, ffn):
    x = x + ln_1(attn(x))
    return x + ln_2(ffn(x))


def _no_residual_at_attention(x, ln_1, attn, ln_2, ffn):
    x = attn(ln_1(x))
    return x + ffn(ln_2(x))


PRE_NORM_BLOCK = block(
    "PreNormBlock",
    pre_norm,
    mistakes=(
        mistake(
            "post_norm",
            post_norm,
            "It is the post-norm block: the stream itself is normalised after each addition.",
            "x + attn(ln_1(x)): only the copy that the sub-layer reads is normalised.",
        ),
        mistake(
            "stream_normalised",
            _stream_normalised,
            "The stream is replaced by its normalised copy before the sub-layer's write is added.",
            "x = ln_1(x) loses the stream; write x + attn(ln_1(x)).",
        ),
        mistake(
            "parallel",
            lambda x, ln_1, attn, ln_2, ffn: x + attn(ln_1(x)) + ffn(ln_2(x)),
            "The feed-forward network reads x, and not what attention has made of it.",
            "The second sub-layer reads ln_2(x'), with x' = x + attn(ln_1(x)).",
        ),
        mistake(
            "second_sum_from_x",
            lambda x, ln_1, attn, ln_2, ffn: x + ffn(ln_2(x + attn(ln_1(x)))),
            "The second sum starts from x instead of x': what attention wrote is lost.",
            "x' + ffn(ln_2(x')), with x' = x + attn(ln_1(x)).",
        ),
        mistake(
            "no_residual",
            lambda x, ln_1, attn, ln_2, ffn: ffn(ln_2(attn(ln_1(x)))),
            "There is no residual: each sub-layer's output replaces the stream.",
            "Each sub-layer's output is added to the stream.",
        ),
        mistake(
            "no_residual_at_attention",
            _no_residual_at_attention,
            "The output of attention replaces the stream instead of being added to it.",
        ),
        mistake(
            "no_residual_at_feed_forward",
            lambda x, ln_1, attn, ln_2, ffn: ffn(ln_2(x + attn(ln_1(x)))),
            "The output of the feed-forward network replaces the stream.",
        ),
        mistake(
            "one_norm",
            lambda x, ln_1, attn, ln_2, ffn: pre_norm(x, ln_1, attn, ln_1, ffn),
            "ln_1 is used twice, and ln_2 never.",
        ),
        mistake(
            "norms_swapped",
            lambda x, ln_1, attn, ln_2, ffn: pre_norm(x, ln_2, attn, ln_1, ffn),
            "ln_1 and ln_2 have changed places.",
        ),
        mistake(
            "feed_forward_first",
            lambda x, ln_1, attn, ln_2, ffn: pre_norm(x, ln_2, ffn, ln_1, attn),
            "The feed-forward network comes before attention.",
        ),
        mistake(
            "sublayers_swapped",
            lambda x, ln_1, attn, ln_2, ffn: pre_norm(x, ln_1, ffn, ln_2, attn),
            "The feed-forward network comes before attention, and reads ln_1.",
        ),
        mistake(
            "no_norm",
            lambda x, ln_1, attn, ln_2, ffn: pre_norm(x, same, attn, same, ffn),
            "Neither LayerNorm is used.",
        ),
        mistake(
            "attention_unnormalised",
            lambda x, ln_1, attn, ln_2, ffn: pre_norm(x, same, attn, ln_2, ffn),
            "Attention reads x as it is, and not ln_1(x).",
        ),
        mistake(
            "feed_forward_unnormalised",
            lambda x, ln_1, attn, ln_2, ffn: pre_norm(x, ln_1, attn, same, ffn),
            "The feed-forward network reads x' as it is, and not ln_2(x').",
        ),
        mistake(
            "norm_of_the_write",
            _norm_of_the_write,
            "LayerNorm is applied to what a sub-layer writes, not to what it reads.",
            "x + attn(ln_1(x)), not x + ln_1(attn(x)).",
        ),
    ),
)
