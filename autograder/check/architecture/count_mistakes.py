"""What is counted too often, too seldom or not at all in a GPT-2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.check.mistake import Mistake, altered
from autograder.oracle.architecture import FIELDS, tensors


def _in_blocks(of_one):
    """(d, H) -> the shapes in one block, as a function of the configuration."""
    return lambda c: of_one(c["d_model"], c["n_head"]) * c["n_layer"]


def _once(part):
    """The shapes of one block."""
    return lambda c: tensors(c | {"n_layer": 1})[part]


def _norms(edit):
    """`edit` of the number of blocks and of one norm's shapes, gamma and beta."""
    return lambda c: edit(c["n_layer"], [(c["d_model"],)] * 2)


def _unembedding(tied, untied):
    """(V, d) -> shapes, with tying and without."""

    def shapes(c):
        return (tied if c["tie_weights"] else untied)(c["vocab_size"], c["d_model"])

    return shapes


def _nothing(V, d):
    return []


def _matrix(V, d):
    return [(d, V)]


BLOCKS = "Multiply by n_layer: every one of the L blocks has its own."
ATTENTION = "In each block: W_Q, W_K, W_V, W_O of d x d and b_Q, b_K, b_V, b_O of d: 4 d^2 + 4 d."
FEEDFORWARD = "In each block: W_up d x 4d, b_up 4d, W_down 4d x d, b_down d: 8 d^2 + 5 d."
NORMS = "A norm has gamma and beta, 2 d. Two in each block and one after the last: 2 L + 1 norms."
TIED = "0 if config.tie_weights else d * vocab_size"
TOTAL = "The total is the sum of all six parts: sum(parts.values()), before it is put in itself."


def mistakes_of(right: Callable[..., Any]) -> tuple[Mistake, ...]:
    """The table for a function that has the switches of the oracle's `count_parameters`."""

    def mistake(name: str, says: str, look: str, why: str, **switches: Any) -> Mistake:
        return Mistake(name, altered(right, **switches), says, look, why)

    return (
        mistake(
            "no_biases",
            "No bias is counted: 4 d^2 and 8 d^2 in a block are the matrices alone.",
            "b_Q, b_K, b_V, b_O have d entries each, b_up has 4d and b_down d.",
            "In GPT-2 small they are 82,944 of 124 million: few, but a file of weights has them all, "
            "and a count that is to check a model must be exact.",
            attention=_in_blocks(lambda d, H: [(d, d)] * 4),
            feedforward=_in_blocks(lambda d, H: [(d, 4 * d), (4 * d, d)]),
        ),
        mistake(
            "no_attention_biases",
            "Attention is counted without its biases b_Q, b_K, b_V and b_O.",
            ATTENTION,
            "Many newer models have none there. GPT-2 has, 36,864 of them in the small model.",
            attention=_in_blocks(lambda d, H: [(d, d)] * 4),
        ),
        mistake(
            "one_attention_bias",
            "Attention is counted with one bias of d entries; it has four.",
            ATTENTION,
            "Each of the four linear maps adds a bias of its own. The small model has 27,648 more "
            "parameters than this.",
            attention=_in_blocks(lambda d, H: [(d, d)] * 4 + [(d,)]),
        ),
        mistake(
            "no_b_O",
            "Attention is counted with three biases: b_O is missing.",
            ATTENTION,
            "b_O belongs to W_O, which mixes what the heads have found: 9,216 entries in GPT-2 small.",
            attention=_in_blocks(lambda d, H: [(d, d)] * 4 + [(d,)] * 3),
        ),
        mistake(
            "no_W_O",
            "Attention is counted with three matrices: W_O and b_O are missing.",
            ATTENTION,
            "W_O brings the heads' results back into the stream: a quarter of attention, 7.1 million "
            "parameters in GPT-2 small.",
            attention=_in_blocks(lambda d, H: [(d, d), (d,)] * 3),
        ),
        mistake(
            "full_width_heads",
            "Each head is counted with W_Q, W_K and W_V of its own size d x d.",
            "The H heads share the width: all of them together make W_Q, of shape (d, d).",
            "Attention in GPT-2 small would have 37 matrices a block instead of 4. How many heads "
            "there are does not change the count at all.",
            attention=_in_blocks(lambda d, H: [(d, d), (d,)] * (3 * H + 1)),
        ),
        mistake(
            "times_heads",
            "Attention is multiplied by the number of heads.",
            "The H heads share the width: all of them together make the four matrices of d x d.",
            "Attention in GPT-2 small would have 340 million parameters instead of 28 million. How "
            "many heads there are does not change the count at all.",
            attention=_in_blocks(lambda d, H: [(d, d), (d,)] * 4 * H),
        ),
        mistake(
            "one_head",
            "Attention is counted for one head, of width d / H, in place of all H.",
            "All heads together: W_Q, W_K, W_V and W_O are d x d, whatever H is.",
            "That is about a twelfth of attention in GPT-2 small, of which each head's share is d x 64 in "
            "W_Q, W_K and W_V, and 64 x d in W_O.",
            attention=_in_blocks(lambda d, H: [(d, d // H), (d // H,)] * 3 + [(d // H, d), (d,)]),
        ),
        mistake(
            "attention_once",
            "Attention is counted for one block, not for all L.",
            BLOCKS,
            "A layer that is counted once is a layer that all blocks share. GPT-2's do not: in the "
            "small model 26 million parameters are missing from this count.",
            attention=_once("attention"),
        ),
        mistake(
            "no_feedforward_biases",
            "The feedforward network is counted without its biases b_up and b_down.",
            FEEDFORWARD,
            "Many newer models have none there. GPT-2 has, 46,080 of them in the small model.",
            feedforward=_in_blocks(lambda d, H: [(d, 4 * d), (4 * d, d)]),
        ),
        mistake(
            "narrow_b_up",
            "b_up is counted with d entries. It is added to a vector of width 4d.",
            FEEDFORWARD,
            "A bias is as wide as what comes out of its matrix: xW + b. One of d entries could not "
            "even be added there.",
            feedforward=_in_blocks(lambda d, H: [(d, 4 * d), (4 * d, d), (d,), (d,)]),
        ),
        mistake(
            "wide_b_down",
            "b_down is counted with 4d entries. It is added to a vector of width d.",
            FEEDFORWARD,
            "A bias is as wide as what comes out of its matrix: xW + b. One of 4d entries could not "
            "even be added there.",
            feedforward=_in_blocks(lambda d, H: [(d, 4 * d), (4 * d, d), (4 * d,), (4 * d,)]),
        ),
        mistake(
            "no_b_up",
            "b_up is not counted.",
            FEEDFORWARD,
            "b_up shifts where each of the 4d hidden features begins to respond: 36,864 parameters "
            "in GPT-2 small.",
            feedforward=_in_blocks(lambda d, H: [(d, 4 * d), (4 * d, d), (d,)]),
        ),
        mistake(
            "no_b_down",
            "b_down is not counted.",
            FEEDFORWARD,
            "Both linear maps have a bias; b_down has 9,216 entries in all blocks of GPT-2 small.",
            feedforward=_in_blocks(lambda d, H: [(d, 4 * d), (4 * d, d), (4 * d,)]),
        ),
        mistake(
            "not_widened",
            "The feedforward network is counted as d -> d -> d.",
            "It widens to 4d in between: W_up is d x 4d, b_up 4d, W_down 4d x d, b_down d.",
            "In GPT-2 the feedforward networks hold twice as many parameters as attention, "
            "57 million in the small model. This count gives 14 million.",
            feedforward=_in_blocks(lambda d, H: [(d, d), (d,)] * 2),
        ),
        mistake(
            "one_way",
            "Only W_up and b_up are counted: the way back from 4d to d is missing.",
            FEEDFORWARD,
            "What is added to the stream must be d wide again. W_down alone has 28 million "
            "parameters in GPT-2 small.",
            feedforward=_in_blocks(lambda d, H: [(d, 4 * d), (4 * d,)]),
        ),
        mistake(
            "feedforward_once",
            "The feedforward network is counted for one block, not for all L.",
            BLOCKS,
            "A layer that is counted once is a layer that all blocks share. GPT-2's do not: in the "
            "small model 52 million parameters are missing from this count.",
            feedforward=_once("feedforward"),
        ),
        mistake(
            "one_block",
            "The parts of one block are counted once, not n_layer times.",
            "Multiply attention, feedforward and the block's two layer norms by n_layer.",
            "The blocks share nothing but their form. One of them has 7,087,872 parameters in GPT-2 "
            "small, all twelve 85 million.",
            as_if=lambda c: c | {"n_layer": 1},
        ),
        mistake(
            "no_final_norm",
            "The layer norm after the last block is not counted.",
            NORMS,
            "Without it the logits would grow with the depth of the stream, so GPT-2 has one more "
            "before the unembedding: 1,536 parameters in the small model.",
            layer_norm=_norms(lambda L, norm: norm * 2 * L),
        ),
        mistake(
            "final_norm_in_each",
            "Three layer norms are counted in each block: the last one of the model is among them.",
            NORMS,
            "The final norm stands outside the blocks. L * (4 d + 2 d) has 2 d (L - 1) too many, "
            "L * 4 d + 2 d is right.",
            layer_norm=_norms(lambda L, norm: norm * 3 * L),
        ),
        mistake(
            "one_norm_a_block",
            "One layer norm a block is counted; there are two, one before each sub-layer.",
            NORMS,
            "Attention and the feedforward network each read the stream through a norm of their own, "
            "with other gammas and betas.",
            layer_norm=_norms(lambda L, norm: norm * (L + 1)),
        ),
        mistake(
            "norms_once",
            "The layer norms of one block are counted, not those of all L.",
            NORMS,
            "GPT-2 small has 25 layer norms, this counts 3 of them.",
            layer_norm=_norms(lambda L, norm: norm * 3),
        ),
        mistake(
            "no_beta",
            "A layer norm is counted with d parameters: it has a gamma and a beta.",
            NORMS,
            "A norm with a scale alone is RMSNorm, as in newer models. GPT-2's LayerNorm also shifts.",
            layer_norm=_norms(lambda L, norm: norm[:1] * (2 * L + 1)),
        ),
        mistake(
            "final_without_beta",
            "The last layer norm is counted with d parameters: it has a gamma and a beta, too.",
            NORMS,
            "The norm after the last block is like the others; 768 parameters of the small model are "
            "missing.",
            layer_norm=_norms(lambda L, norm: norm * 2 * L + norm[:1]),
        ),
        mistake(
            "tables_swapped",
            "The two tables have changed places: V d parameters are those of the token embedding.",
            "E has vocab_size rows, P has n_positions rows; each row has d entries.",
            "The total does not show it. In GPT-2 small the tokens take 38.6 million parameters, the "
            "positions 0.8 million.",
            token_embedding=lambda c: [(c["n_positions"], c["d_model"])],
            position_embedding=lambda c: [(c["vocab_size"], c["d_model"])],
        ),
        mistake(
            "position_for_each_token",
            "The position embedding is counted with a row for each token of the vocabulary.",
            "P has n_positions rows: n_positions * d_model.",
            "A position vector depends on the place alone: 1024 rows are enough for 50257 tokens.",
            position_embedding=lambda c: [(c["vocab_size"], c["d_model"])],
        ),
        mistake(
            "tied_counted_twice",
            "The unembedding is counted although it is tied: then it is E itself.",
            TIED,
            "A tied GPT-2 small has 124,439,808 parameters; with E counted twice it would be "
            "163,037,184.",
            unembedding=_unembedding(_matrix, _matrix),
        ),
        mistake(
            "never_untied",
            "The unembedding is never counted; without tying it is a matrix of its own.",
            TIED,
            "An untied GPT-2 small has 163,037,184 parameters, 31 % more than the tied one.",
            unembedding=_unembedding(_nothing, _nothing),
        ),
        mistake(
            "tie_reversed",
            "It is the wrong way round: the unembedding counts when it is not tied.",
            TIED,
            "To tie two matrices is to have only one: tying saves 38,597,376 parameters in GPT-2 "
            "small.",
            unembedding=_unembedding(_matrix, _nothing),
        ),
        mistake(
            "unembedding_bias",
            "The unembedding is counted with a bias; it has none.",
            "d * vocab_size: W_U alone.",
            "nn.Linear has a bias unless one says bias=False; GPT-2's logits are a product alone.",
            unembedding=_unembedding(_nothing, lambda V, d: [(d, V), (V,)]),
        ),
        mistake(
            "always_small",
            "The numbers are those of GPT-2 small, whatever the configuration says.",
            "Read all sizes from the argument: config.vocab_size, config.n_layer, config.d_model …",
            "The point of a count is to know a model before it is built, and there are four of them "
            "and as many as you like of your own.",
            as_if=lambda c: FIELDS,
        ),
        mistake(
            "total_without_positions",
            "The total leaves out the position embedding.",
            TOTAL,
            "GPT-2 small would come out as 123,653,376. nanoGPT reports that number, but a file of weights "
            "has the table all the same.",
            left_out=("position_embedding",),
        ),
        mistake(
            "total_without_tables",
            "The total leaves out the embeddings.",
            TOTAL,
            "In GPT-2 small the two tables are 39 of 124 million parameters.",
            left_out=("token_embedding", "position_embedding", "unembedding"),
        ),
        mistake(
            "total_without_norms",
            "The total leaves out the layer norms.",
            TOTAL,
            "They are 38,400 of 124 million in GPT-2 small: only an exact comparison shows that they are "
            "missing.",
            left_out=("layer_norm",),
        ),
        mistake(
            "total_without_unembedding",
            "The total leaves out the unembedding.",
            TOTAL,
            "Without tying it is a matrix of its own: 38,597,376 parameters in GPT-2 small.",
            left_out=("unembedding",),
        ),
        mistake(
            "total_doubled",
            "The total is twice the sum of the parts.",
            "sum(parts.values()) while the dict holds a total already adds that to itself: take the "
            "sum first, of the six parts.",
            "GPT-2 small would have 248,879,616 parameters, a gigabyte in float32 instead of half of "
            "one.",
            total=lambda counts: 2 * sum(counts),
        ),
    )
