"""init_weights: the mistakes that are known by name."""

from __future__ import annotations

from functools import partial

from autograder.check.forward_pass.weights_inputs import ENDINGS, QKV, expected
from autograder.check.mistake import Mistake, altered
from autograder.oracle import forward_pass as oracle

STREAM = (
    "0.02 / math.sqrt(2 * model.config.n_layer) for names that end in W_O or W_down, 0.02 for all "
    "other matrices."
)
MATRICES = ("E", "P", "W_U", QKV, "W_up", "W_O", "W_down")
VECTORS = ("gamma", "beta", "the biases")


SAMPLED = "statistics of random draws: a tolerance is 6 % of the right value"
_wrong = partial(altered, expected)


def _one(L):
    return 1.0


def _less(L):
    return 0.02 * oracle.narrow(L)


MISTAKES = (
    Mistake(
        "writes_not_narrowed",
        _wrong(W_O=_one),
        "W_O and W_down have deviation 0.02, like the other matrices; they should have 0.02 / "
        "sqrt(2 * L), since they write to the stream.",
        '0.02 -> 0.02 / math.sqrt(2 * model.config.n_layer) where name.endswith(("W_O", '
        '"W_down")). A name is "blocks.0.attn.W_O": == "W_O" is never true.',
        "2 L writes add up, and their sum grows as sqrt(2 L). With the 24 writes of GPT-2 small it "
        "would be 4.9 times as large at the start.",
    ),
    Mistake(
        "narrowed_by_L",
        _wrong(W_O=lambda L: L**-0.5),
        "W_O and W_down have deviation 0.02 / sqrt(L); they should have 0.02 / sqrt(2 * L): "
        "each of the L blocks writes twice.",
        "math.sqrt(L) -> math.sqrt(2 * L), where L is model.config.n_layer.",
        "Attention and the feedforward network both write: with sqrt(L) their sum starts 1.41 "
        "times too large at any depth.",
        slight=SAMPLED,
    ),
    Mistake(
        "narrowed_without_root",
        _wrong(W_O=lambda L: 1 / (2 * L)),
        "W_O and W_down have deviation 0.02 / (2 * L); they should have 0.02 / sqrt(2 * L).",
        "0.02 / (2 * L) -> 0.02 / math.sqrt(2 * L), where L is model.config.n_layer.",
        "Variances add up, not deviations. With the 24 writes of GPT-2 small each would start 4.9 "
        "times too small.",
        slight=SAMPLED,
    ),
    Mistake(
        "root_of_L_only",
        _wrong(W_O=lambda L: 0.5 * L**-0.5),
        "W_O and W_down have deviation 0.02 / (2 * sqrt(L)); they should have 0.02 / sqrt(2 * "
        "L).",
        "2 * math.sqrt(L) -> math.sqrt(2 * L), where L is model.config.n_layer.",
        "The writes start 1.41 times too small at any depth.",
        slight=SAMPLED,
    ),
    Mistake(
        "widened",
        _wrong(W_O=lambda L: (2 * L) ** 0.5),
        "W_O and W_down have deviation 0.02 * sqrt(2 * L); they should have 0.02 / sqrt(2 * L).",
        "0.02 * math.sqrt(2 * L) -> 0.02 / math.sqrt(2 * L), where L is model.config.n_layer.",
        "The stream would grow faster with depth than without any factor: in GPT-2 small each "
        "write starts 24 times too large.",
    ),
    Mistake(
        "only_W_O",
        _wrong(W_down=_one),
        "W_O has deviation 0.02 / sqrt(2 * L), but W_down has 0.02; both should have 0.02 / "
        "sqrt(2 * L), since both write to the stream.",
        'name.endswith("W_O") -> name.endswith(("W_O", "W_down"))',
        "Half of the 2 L writes, those of the feedforward networks, would be sqrt(2 L) times too "
        "large: 4.9 times in GPT-2 small.",
    ),
    Mistake(
        "only_W_down",
        _wrong(W_O=_one, W_down=oracle.narrow),
        "W_down has deviation 0.02 / sqrt(2 * L), but W_O has 0.02; both should have 0.02 / "
        "sqrt(2 * L), since both write to the stream.",
        'name.endswith("W_down") -> name.endswith(("W_O", "W_down"))',
        "Half of the 2 L writes, those of attention, would be sqrt(2 L) times too large: 4.9 times "
        "in GPT-2 small.",
    ),
    Mistake(
        "W_up_for_W_down",
        _wrong(W_up=_less, W_down=_one),
        "W_up has deviation 0.02 / sqrt(2 * L) and W_down has 0.02; W_down should have 0.02 / "
        "sqrt(2 * L) and W_up 0.02. W_O is right.",
        'name.endswith(("W_O", "W_up")) -> name.endswith(("W_O", "W_down"))',
        "With W_up 4.9 times too small, in GPT-2 small, GELU sees numbers of size 0.11 at the start "
        "rather than 0.55: there it is nearly a straight line.",
    ),
    Mistake(
        "all_narrowed",
        _wrong(E=_less, P=_less, W_U=_less, qkv=_less, W_up=_less),
        "All matrices, also E, P and W_U, have deviation 0.02 / sqrt(2 * L); only W_O and "
        "W_down should, and all others should have 0.02.",
        "Use 0.02 / math.sqrt(2 * L) only where the name ends in W_O or W_down; for every other "
        "matrix use 0.02.",
        "In GPT-2 small the tables would start 4.9 times too small, and scores, which are products "
        "of queries and keys, 24 times: attention starts as a plain average.",
        slight=SAMPLED,
    ),
    Mistake(
        "blocks_narrowed",
        _wrong(qkv=_less, W_up=_less),
        "All matrices of the blocks have deviation 0.02 / sqrt(2 * L); only W_O and W_down "
        "should, and W_Q, W_K, W_V and W_up should have 0.02.",
        'name.startswith("blocks") -> name.endswith(("W_O", "W_down")), where 0.02 / '
        "math.sqrt(2 * L) is chosen.",
        "Queries and keys 4.9 times too small, as in GPT-2 small, make scores 24 times too small: "
        "attention starts as a plain average.",
        slight=SAMPLED,
    ),
    Mistake(
        "deviation_1",
        _wrong(std=1.0),
        "0.02 is missing: the matrices have deviation 1, W_O and W_down 1 / sqrt(2 * L); it "
        "should be 0.02, and 0.02 / sqrt(2 * L).",
        "1 -> 0.02 in both places: p.normal_(0.0, 0.02), and 0.02 / math.sqrt(2 * L) for W_O and "
        "W_down. p.normal_() without numbers takes 0 and 1.",
        "The matrices are 50 times too large. A tied model of GPT-2 small's size starts with a loss "
        "of more than 100 instead of 10.8.",
    ),
    Mistake(
        "deviation_1_for_all",
        _wrong(std=1.0, W_O=_one),
        "All matrices have deviation 1, W_O and W_down too; it should be 0.02, and "
        "0.02 / sqrt(2 * L) for W_O and W_down.",
        "Give normal_ its two numbers: p.normal_(0.0, 0.02, generator=generator), and "
        "0.02 / math.sqrt(2 * L) for W_O and W_down. Without them it takes 0 and 1.",
        "The matrices are 50 times too large. A tied model of GPT-2 small's size starts with a loss "
        "of more than 100 instead of 10.8.",
    ),
    Mistake(
        "tables_of_deviation_1",
        _wrong(E=1.0, P=1.0),
        "E and P have deviation 1, as in nn.Embedding; they should have 0.02. The other "
        "matrices are right.",
        "Where E and P are drawn: 1 -> 0.02.",
        "A logit is a product with a row of E. In a tied model of GPT-2 small's size the first loss "
        "is then about 530 instead of 10.8.",
    ),
    Mistake(
        "E_of_deviation_1",
        _wrong(E=1.0),
        "E has deviation 1, as in nn.Embedding; it should have 0.02. P and the other matrices "
        "are right.",
        "Where E is drawn: 1 -> 0.02.",
        "A logit is a product with a row of E. In a tied model of GPT-2 small's size the first loss "
        "is then about 740 instead of 10.8.",
    ),
    Mistake(
        "P_of_deviation_0.01",
        _wrong(P=0.01),
        "P has deviation 0.01, as in OpenAI's code; here it should have 0.02, like E.",
        "Where P is drawn: 0.01 -> 0.02.",
        "OpenAI's own code did start P with 0.01. This course keeps to one number for both, as "
        "nanoGPT and others do.",
        slight=SAMPLED,
    ),
    Mistake(
        "variance_of_0.02",
        _wrong(std=0.02**0.5),
        "The root of 0.02 is used: deviation sqrt(0.02), and sqrt(0.02) / sqrt(2 * L) for W_O "
        "and W_down; it should be 0.02, and 0.02 / sqrt(2 * L).",
        "math.sqrt(0.02) -> 0.02: normal_ takes the mean and the deviation, which is 0.02.",
        "sqrt(0.02) = 0.14: the matrices are 7 times too large. The first loss of a tied model of "
        "GPT-2 small's size is then about 18 instead of 10.8.",
    ),
    Mistake(
        "root_of_each",
        _wrong(std=0.02**0.5, W_O=lambda L: (2 * L) ** -0.25),
        "The root of each deviation is used: sqrt(0.02), and sqrt(0.02 / sqrt(2 * L)) for W_O and "
        "W_down; it should be 0.02, and 0.02 / sqrt(2 * L).",
        "In the call of normal_, take out the root around the number: it takes the mean and the "
        "deviation.",
        "The matrices are 7 times too large, and those that write to the stream even more. The first "
        "loss of a tied model of GPT-2 small's size is then far above 10.8.",
    ),
    Mistake(
        "squared",
        _wrong(std=0.02**2, W_O=lambda L: 1 / (2 * L)),
        "Each deviation is squared: 0.02 ** 2, and (0.02 / sqrt(2 * L)) ** 2 for W_O and "
        "W_down; it should be 0.02, and 0.02 / sqrt(2 * L).",
        "In the call of normal_, take out ** 2: it takes the mean and the deviation, not the "
        "variance.",
        "0.0004 is 50 times too small. The stream's variance, 3e-7, is then less than LayerNorm's "
        "eps of 1e-5, which no longer brings it to size 1.",
        slight=SAMPLED,
    ),
    Mistake(
        "squared_0.02",
        _wrong(std=0.02**2),
        "0.02 is squared: deviation 0.02 ** 2, and 0.02 ** 2 / sqrt(2 * L) for W_O and W_down; it "
        "should be 0.02, and 0.02 / sqrt(2 * L).",
        "0.02 ** 2 -> 0.02: normal_ takes the mean and the deviation, not the variance.",
        "0.0004 is 50 times too small. The stream's variance, 3e-7, is then less than LayerNorm's "
        "eps of 1e-5, which no longer brings it to size 1.",
        slight=SAMPLED,
    ),
    Mistake(
        "squared_for_writes",
        _wrong(W_O=lambda L: 0.02 / (2 * L)),
        "W_O and W_down are drawn with the deviation (0.02 / sqrt(2 * L)) ** 2, which is the "
        "variance; it should be 0.02 / sqrt(2 * L).",
        "For W_O and W_down, take out ** 2: normal_ takes the mean and the deviation, not the "
        "variance.",
        "In GPT-2 small the writes would start 245 times too small, so that a fresh block adds next "
        "to nothing to the stream.",
        slight=SAMPLED,
    ),
    Mistake(
        "uniform",
        _wrong(std=0.02 * 3**-0.5, within=3**-0.5),
        "The numbers are uniform between -0.02 and 0.02 (W_O and W_down: 0.02 / sqrt(2 * L)); "
        "they should be normal with that deviation.",
        "p.uniform_(-0.02, 0.02) -> p.normal_(0.0, 0.02), and so for W_O and W_down; or (2 * "
        "torch.rand(...) - 1) -> torch.randn(...).",
        "Their deviation is 0.02 / sqrt(3) = 0.0115 only, so that every layer starts 1.7 times "
        "too small.",
        slight=SAMPLED,
    ),
    Mistake(
        "gamma_is_0",
        _wrong(constant={"gamma": 0.0}),
        "gamma is 0, like beta and the biases; it should be 1.",
        'Of the vectors, p.fill_(1.0) where name.endswith("gamma"), not 0 for all.',
        "All logits are 0, whatever is read. At the first step only the last gamma and beta have a "
        "gradient, and nothing else learns.",
        slight=SAMPLED,
    ),
    Mistake(
        "all_vectors_1",
        _wrong(constant={"beta": 1.0, "biases": 1.0}),
        "beta and the biases are 1, like gamma; they should be 0.",
        'Of the vectors, p.fill_(1.0) only where name.endswith("gamma"), not for all: the '
        "others 0.",
        "Every write would start with a constant: with b_O and b_down at 1, each block of a fresh "
        "model adds 2 to every entry of the stream, 100 times what E holds.",
    ),
    Mistake(
        "beta_is_1",
        _wrong(constant={"beta": 1.0}),
        "beta is 1, like gamma; it should be 0, like the biases.",
        'name.endswith(("gamma", "beta")) -> name.endswith("gamma"), where 1 is chosen; '
        'or "ln" in name -> "gamma" in name.',
        "Every LayerNorm would hand on numbers around 1 instead of 0, and all positions the same "
        "constant part.",
    ),
    Mistake(
        "nothing_changed",
        _wrong(untouched=tuple(ENDINGS)),
        "No parameter is changed: each holds what it held before; each should be filled in "
        "place.",
        "p = ... -> p.normal_(...) and p.fill_(...): an assignment only gives the name p to a new"
        " tensor. If there is none, loop over model.named_parameters(), not over copies.",
        "The model would start with whatever its constructor left there, torch.empty included.",
    ),
    Mistake(
        "matrices_left",
        _wrong(untouched=MATRICES),
        "The matrices hold what they held before, and only the vectors are filled; the "
        "matrices should be drawn in place.",
        "For the matrices, p = ... -> p.normal_(...): p = ... only gives the name p to a new "
        "tensor.",
        "They would start with whatever the constructor left there, torch.empty included.",
    ),
    Mistake(
        "vectors_left",
        _wrong(untouched=VECTORS),
        "gamma, beta and the biases hold what they held before; gamma should be set to 1, beta "
        "and the biases to 0.",
        'In the loop, a branch for vectors is missing: 1 where name.endswith("gamma"), 0 for '
        "all other vectors.",
        "A constructor that makes them with torch.empty leaves any numbers there, even NaN.",
    ),
    Mistake(
        "biases_left",
        _wrong(untouched=("the biases",)),
        "b_Q, b_K, b_V, b_O, b_up and b_down hold what they held before; they should be set to "
        "0. gamma and beta are right.",
        "Set every vector but gamma to 0, not beta alone: the biases have names such as "
        '"blocks.0.attn.b_Q".',
        "A constructor that makes them with torch.empty leaves any numbers there, even NaN.",
    ),
    Mistake(
        "tables_left",
        _wrong(untouched=("E", "P", "W_U")),
        "E, P and W_U hold what they held before; they should be drawn with deviation 0.02. "
        "The blocks are right.",
        "The branch that draws must also take E, P and W_U, as p.dim() == 2 does; W_Q ... W_down "
        "alone, or names that start with 'blocks', are too few.",
        "The tables would start with whatever the constructor left there, torch.empty included.",
    ),
    Mistake(
        "W_U_left",
        _wrong(untouched=("W_U",)),
        "W_U of an untied model holds what it held before; it should be drawn with deviation "
        "0.02, like E.",
        "Loop over all of model.named_parameters(); or add W_U to the names that are drawn.",
        "An untied model would start with whatever the constructor left there, torch.empty "
        "included.",
    ),
)
