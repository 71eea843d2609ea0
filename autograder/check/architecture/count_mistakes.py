"""What is counted too often, too seldom or not at all in a GPT-2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.check.mistake import Mistake, entries
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


TOTAL = 'parts["total"] = sum(parts.values()), taken while parts holds the six and no total yet.'


def mistakes_of(right: Callable[..., Any]) -> tuple[Mistake, ...]:
    """The table for a function that has the switches of the oracle's `count_parameters`."""

    mistake = entries(right)
    return (
        mistake(
            "no_biases",
            "The biases of attention and feedforward are not counted: 12 * d * d in a block are the "
            "matrices alone. The biases are 4 * d and 5 * d more.",
            "In a block: attention 4 * d * d -> 4 * d * d + 4 * d, feedforward 8 * d * d -> "
            "8 * d * d + 5 * d.",
            "In GPT-2 small they are 82,944 of 124 million: few, but a file of weights has them all, "
            "and a count that is to check a model must be exact.",
            attention=_in_blocks(lambda d, H: [(d, d)] * 4),
            feedforward=_in_blocks(lambda d, H: [(d, 4 * d), (4 * d, d)]),
        ),
        mistake(
            "no_attention_biases",
            "Attention is counted without biases; in each block b_Q, b_K, b_V and b_O have d entries "
            "each.",
            "Attention in a block: 4 * d * d -> 4 * d * d + 4 * d.",
            "Many newer models have none there. GPT-2 has, 36,864 of them in the small model.",
            attention=_in_blocks(lambda d, H: [(d, d)] * 4),
        ),
        mistake(
            "one_attention_bias",
            "Attention is counted with one bias of d entries in each block; it should be four: b_Q, "
            "b_K, b_V and b_O.",
            "Attention in a block: 4 * d * d + d -> 4 * d * d + 4 * d.",
            "Each of the four linear maps adds a bias of its own. The small model has 27,648 more "
            "parameters than this.",
            attention=_in_blocks(lambda d, H: [(d, d)] * 4 + [(d,)]),
        ),
        mistake(
            "no_b_O",
            "Attention is counted with three biases of d entries in each block; it should be four: b_O "
            "is missing, W_O is there.",
            "Attention in a block: 4 * d * d + 3 * d -> 4 * d * d + 4 * d.",
            "b_O belongs to W_O, which mixes what the heads have found: 9,216 entries in GPT-2 small.",
            attention=_in_blocks(lambda d, H: [(d, d)] * 4 + [(d,)] * 3),
        ),
        mistake(
            "no_W_O",
            "Attention is counted without W_O and b_O: three matrices and three biases in each block. "
            "It should be four and four.",
            "Attention in a block: 3 * (d * d + d) -> 4 * (d * d + d).",
            "W_O brings the heads' results back into the stream: a quarter of attention, 7.1 million "
            "parameters in GPT-2 small.",
            attention=_in_blocks(lambda d, H: [(d, d), (d,)] * 3),
        ),
        mistake(
            "full_width_heads",
            "Each head is counted with a full W_Q, W_K, W_V (d x d) and b_Q, b_K, b_V (d) of its own; "
            "all heads together should have one of each.",
            "The H heads share one W_Q, W_K, W_V of d x d, and their biases: no factor n_head.",
            "Attention in GPT-2 small would have 37 matrices a block instead of 4. How many heads "
            "there are does not change the count at all.",
            attention=_in_blocks(lambda d, H: [(d, d), (d,)] * (3 * H + 1)),
        ),
        mistake(
            "full_width_matrices",
            "Each head is counted with a full W_Q, W_K, W_V (d x d) of its own; all heads together "
            "should have one of each. The biases are right.",
            "The H heads share one W_Q, W_K, W_V of d x d: no factor n_head before d * d.",
            "Attention in GPT-2 small would have 37 matrices a block instead of 4. How many heads "
            "there are does not change the count at all.",
            attention=_in_blocks(lambda d, H: [(d, d)] * (3 * H + 1) + [(d,)] * 4),
        ),
        mistake(
            "times_heads",
            "The whole of attention, matrices and biases, is multiplied by n_head; it should be "
            "multiplied by n_layer alone.",
            "Leave out the factor n_head: four matrices of d x d serve all H heads.",
            "Attention in GPT-2 small would have 340 million parameters instead of 28 million. How "
            "many heads there are does not change the count at all.",
            attention=_in_blocks(lambda d, H: [(d, d), (d,)] * 4 * H),
        ),
        mistake(
            "matrices_times_heads",
            "The four matrices of attention are multiplied by n_head; they should not be. The biases "
            "are right.",
            "Leave out the factor n_head before 4 * d * d: one W_O, and one W_Q, W_K, W_V for all "
            "heads.",
            "Attention in GPT-2 small would have 340 million parameters instead of 28 million. How "
            "many heads there are does not change the count at all.",
            attention=_in_blocks(lambda d, H: [(d, d)] * 4 * H + [(d,)] * 4),
        ),
        mistake(
            "one_head",
            "Attention is counted for one head only: W_Q, W_K, W_V are d x d/H, W_O is d/H x d, and "
            "b_Q, b_K, b_V have d/H entries. All heads should be counted.",
            "All H heads together are d wide: d // n_head -> d, in the four matrices and in b_Q, b_K, "
            "b_V.",
            "That is about a twelfth of attention in GPT-2 small, of which each head's share is d x 64 in "
            "W_Q, W_K and W_V, and 64 x d in W_O.",
            attention=_in_blocks(lambda d, H: [(d, d // H), (d // H,)] * 3 + [(d // H, d), (d,)]),
        ),
        mistake(
            "attention_once",
            "Attention is counted for one block; it should be counted for all L blocks.",
            "In the entry of attention, the factor n_layer is missing, around matrices and biases.",
            "A layer that is counted once is a layer that all blocks share. GPT-2's do not: in the "
            "small model 26 million parameters are missing from this count.",
            attention=_once("attention"),
        ),
        mistake(
            "no_feedforward_biases",
            "The feedforward network is counted without biases; in each block b_up has 4 * d entries "
            "and b_down d.",
            "Feedforward in a block: 8 * d * d -> 8 * d * d + 5 * d.",
            "Many newer models have none there. GPT-2 has, 46,080 of them in the small model.",
            feedforward=_in_blocks(lambda d, H: [(d, 4 * d), (4 * d, d)]),
        ),
        mistake(
            "narrow_b_up",
            "b_up is counted with d entries, as b_down is; it has 4 * d, since it is added to a vector "
            "of that width.",
            "Feedforward in a block, the biases: d + d -> 4 * d + d.",
            "A bias is as wide as what comes out of its matrix: xW + b. One of d entries could not "
            "even be added there.",
            feedforward=_in_blocks(lambda d, H: [(d, 4 * d), (4 * d, d), (d,), (d,)]),
        ),
        mistake(
            "wide_b_down",
            "b_down is counted with 4 * d entries, as b_up is; it has d, since it is added to a vector "
            "of that width.",
            "Feedforward in a block, the biases: 4 * d + 4 * d -> 4 * d + d.",
            "A bias is as wide as what comes out of its matrix: xW + b. One of 4d entries could not "
            "even be added there.",
            feedforward=_in_blocks(lambda d, H: [(d, 4 * d), (4 * d, d), (4 * d,), (4 * d,)]),
        ),
        mistake(
            "no_b_up",
            "b_up is not counted; it has 4 * d entries in each block. b_down is counted.",
            "Feedforward in a block: 8 * d * d + d -> 8 * d * d + 5 * d.",
            "b_up shifts where each of the 4d hidden features begins to respond: 36,864 parameters "
            "in GPT-2 small.",
            feedforward=_in_blocks(lambda d, H: [(d, 4 * d), (4 * d, d), (d,)]),
        ),
        mistake(
            "no_b_down",
            "b_down is not counted; it has d entries in each block. b_up is counted.",
            "Feedforward in a block: 8 * d * d + 4 * d -> 8 * d * d + 5 * d.",
            "Both linear maps have a bias; b_down has 9,216 entries in all blocks of GPT-2 small.",
            feedforward=_in_blocks(lambda d, H: [(d, 4 * d), (4 * d, d), (4 * d,)]),
        ),
        mistake(
            "not_widened",
            "The feedforward network is counted as d -> d -> d, all matrices d x d, both biases d. It "
            "should be d -> 4d -> d.",
            "The width in the middle, d -> 4 * d: in both matrices and in b_up.",
            "In GPT-2 the feedforward networks hold twice as many parameters as attention, "
            "57 million in the small model. This count gives 14 million.",
            feedforward=_in_blocks(lambda d, H: [(d, d), (d,)] * 2),
        ),
        mistake(
            "one_way",
            "Only W_up and b_up are counted; W_down (4d x d) and b_down (d) should be counted too.",
            "Feedforward in a block: 4 * d * d + 4 * d -> 8 * d * d + 5 * d.",
            "What is added to the stream must be d wide again. W_down alone has 28 million "
            "parameters in GPT-2 small.",
            feedforward=_in_blocks(lambda d, H: [(d, 4 * d), (4 * d,)]),
        ),
        mistake(
            "feedforward_once",
            "The feedforward network is counted for one block; it should be counted for all L blocks.",
            "In the entry of feedforward, the factor n_layer is missing, around matrices and biases.",
            "A layer that is counted once is a layer that all blocks share. GPT-2's do not: in the "
            "small model 52 million parameters are missing from this count.",
            feedforward=_once("feedforward"),
        ),
        mistake(
            "one_block",
            "Attention, feedforward and the two layer norms of a block are counted for one block; they "
            "should be counted for all L.",
            "In three entries the factor n_layer is missing. The norm after the last block stays "
            "outside of it.",
            "The blocks share nothing but their form. One of them has 7,087,872 parameters in GPT-2 "
            "small, all twelve 85 million.",
            as_if=lambda c: c | {"n_layer": 1},
        ),
        mistake(
            "no_final_norm",
            "2 * L layer norms are counted, those of the blocks; it should be 2 * L + 1: one more after "
            "the last block.",
            "In the entry of layer_norm: + 2 * d, outside the factor n_layer.",
            "Without it the logits would grow with the depth of the stream, so GPT-2 has one more "
            "before the unembedding: 1,536 parameters in the small model.",
            layer_norm=_norms(lambda L, norm: norm * 2 * L),
        ),
        mistake(
            "final_norm_in_each",
            "3 * L layer norms are counted: the model's last norm is taken as a third one in every "
            "block. It should be 2 * L + 1.",
            "(2 * L + 1) * 2 * d: two in each block, one after the last.",
            "The final norm stands outside the blocks. L * (4 d + 2 d) has 2 d (L - 1) too many, "
            "L * 4 d + 2 d is right.",
            layer_norm=_norms(lambda L, norm: norm * 3 * L),
        ),
        mistake(
            "one_norm_a_block",
            "L + 1 layer norms are counted, one in each block and the last; it should be 2 * L + 1, two "
            "in each block and the last.",
            "Layer norms in a block: 2 * d -> 4 * d, a norm before each of the two sub-layers.",
            "Attention and the feedforward network each read the stream through a norm of their own, "
            "with other gammas and betas.",
            layer_norm=_norms(lambda L, norm: norm * (L + 1)),
        ),
        mistake(
            "norms_once",
            "3 layer norms are counted: the two of one block and the last; each of the L blocks has "
            "two.",
            "Multiply the two norms of a block by n_layer, not the last one.",
            "GPT-2 small has 25 layer norms, this counts 3 of them.",
            layer_norm=_norms(lambda L, norm: norm * 3),
        ),
        mistake(
            "no_beta",
            "Each layer norm is counted with d parameters; it should be 2 * d, d in gamma and d in "
            "beta.",
            "Parameters of one norm: d -> 2 * d. The number of norms, 2 * L + 1, is right.",
            "A norm with a scale alone is RMSNorm, as in newer models. GPT-2's LayerNorm also shifts.",
            layer_norm=_norms(lambda L, norm: norm[:1] * (2 * L + 1)),
        ),
        mistake(
            "final_without_beta",
            "The last layer norm is counted with d parameters, those of the blocks with 2 * d; it "
            "should have 2 * d too, gamma and beta.",
            "Behind the norms of the blocks: + d -> + 2 * d.",
            "The norm after the last block is like the others; 768 parameters of the small model are "
            "missing.",
            layer_norm=_norms(lambda L, norm: norm * 2 * L + norm[:1]),
        ),
        mistake(
            "tables_swapped",
            "The two tables are swapped: token_embedding is n_positions * d and position_embedding is "
            "vocab_size * d. Tokens should have vocab_size rows.",
            "Swap vocab_size and n_positions in these two entries.",
            "The total does not show it. In GPT-2 small the tokens take 38.6 million parameters, the "
            "positions 0.8 million.",
            token_embedding=lambda c: [(c["n_positions"], c["d_model"])],
            position_embedding=lambda c: [(c["vocab_size"], c["d_model"])],
        ),
        mistake(
            "position_for_each_token",
            '"position_embedding" is vocab_size * d; it should be n_positions * d. "token_embedding" is '
            "right.",
            "In the entry of position_embedding: vocab_size -> n_positions.",
            "A position vector depends on the place alone: 1024 rows are enough for 50257 tokens.",
            position_embedding=lambda c: [(c["vocab_size"], c["d_model"])],
        ),
        mistake(
            "tied_counted_twice",
            '"unembedding" is d * V whatever tie_weights is; it should be 0 when tie_weights is True, since '
            "it is then E itself.",
            '"unembedding": 0 if config.tie_weights else config.d_model * config.vocab_size',
            "A tied GPT-2 small has 124,439,808 parameters; with E counted twice it would be "
            "163,037,184.",
            unembedding=_unembedding(_matrix, _matrix),
        ),
        mistake(
            "never_untied",
            '"unembedding" is always 0; when tie_weights is False it should be d * V, a matrix of its '
            "own.",
            '"unembedding": 0 -> 0 if config.tie_weights else config.d_model * config.vocab_size',
            "An untied GPT-2 small has 163,037,184 parameters, 31 % more than the tied one.",
            unembedding=_unembedding(_nothing, _nothing),
        ),
        mistake(
            "tie_reversed",
            "The unembedding is counted when tie_weights is True and left out when it is False; it "
            "should be counted when tie_weights is False.",
            "In the entry of unembedding, swap the two cases: 0 belongs to tie_weights=True.",
            "To tie two matrices is to have only one: tying saves 38,597,376 parameters in GPT-2 "
            "small.",
            unembedding=_unembedding(_matrix, _nothing),
        ),
        mistake(
            "unembedding_bias",
            "The unembedding is counted with a bias of V entries, d * V + V; it has none and should be "
            "d * V.",
            "In the entry of unembedding: leave out + config.vocab_size, or (d + 1) * V -> d * V.",
            "nn.Linear has a bias unless one says bias=False; GPT-2's logits are a product alone.",
            unembedding=_unembedding(_nothing, lambda V, d: [(d, V), (V,)]),
        ),
        mistake(
            "always_small",
            "All seven numbers are those of GPT2Config(), whatever the argument says; they should be "
            "those of the argument.",
            "Read each size from the argument: config.d_model, not GPT2Config.d_model, 768 or a new "
            "GPT2Config().",
            "The point of a count is to know a model before it is built, and there are four of them "
            "and as many as you like of your own.",
            as_if=lambda c: FIELDS,
        ),
        mistake(
            "total_without_positions",
            "The total leaves out position_embedding; it should be the sum of all six parts.",
            "In the sum for the total, position_embedding is missing: sum(parts.values()) of the six "
            "has it.",
            "GPT-2 small would come out as 123,653,376. nanoGPT reports that number, but a file of weights "
            "has the table all the same.",
            left_out=("position_embedding",),
        ),
        mistake(
            "total_without_tables",
            "The total leaves out token_embedding, position_embedding and unembedding; it should be the "
            "sum of all six parts.",
            "In the sum for the total, three of six are missing: the two embeddings and the unembedding.",
            "In GPT-2 small the two tables are 39 of 124 million parameters.",
            left_out=("token_embedding", "position_embedding", "unembedding"),
        ),
        mistake(
            "total_without_embeddings",
            "The total leaves out token_embedding and position_embedding; it should be the sum of all "
            "six parts. The unembedding is in it.",
            "In the sum for the total, the two embeddings are missing.",
            "In GPT-2 small the two tables are 39 of 124 million parameters.",
            left_out=("token_embedding", "position_embedding"),
        ),
        mistake(
            "total_without_norms",
            "The total leaves out layer_norm; it should be the sum of all six parts.",
            "In the sum for the total, layer_norm is missing.",
            "They are 38,400 of 124 million in GPT-2 small: only an exact comparison shows that they are "
            "missing.",
            left_out=("layer_norm",),
        ),
        mistake(
            "total_without_unembedding",
            "The total leaves out unembedding; it should be the sum of all six parts. The two "
            "differ only when tie_weights is False.",
            "In the sum for the total, unembedding is missing. Is it put into the dict after the sum?",
            "Without tying it is a matrix of its own: 38,597,376 parameters in GPT-2 small.",
            left_out=("unembedding",),
        ),
        mistake(
            "total_doubled",
            "The total is twice the sum of the six parts; it should be their sum.",
            'Was sum(parts.values()) taken again with "total" already in the dict? Take it once, '
            "before that.",
            "GPT-2 small would have 248,879,616 parameters, a gigabyte in float32 instead of half of "
            "one.",
            total=lambda counts: 2 * sum(counts),
        ),
    )
