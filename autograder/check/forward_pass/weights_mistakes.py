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
IN_PLACE = (
    "p = … gives the name p to a new tensor; p.normal_(…) and p.fill_(…) change the parameter."
)
ALL = "model.named_parameters() lists all: those with two axes are matrices."
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
        "W_O and W_down have deviation 0.02 like the others; they write to the stream.",
        STREAM,
        "2 L writes add up, and their sum grows as sqrt(2 L). With the 24 writes of GPT-2 small it "
        "would be 4.9 times as large at the start.",
    ),
    Mistake(
        "narrowed_by_L",
        _wrong(W_O=lambda L: L**-0.5),
        "W_O and W_down are divided by sqrt(L); a block writes twice, so it is sqrt(2 L).",
        STREAM,
        "Attention and the feedforward network both write: with sqrt(L) their sum starts 1.41 "
        "times too large at any depth.",
        slight=SAMPLED,
    ),
    Mistake(
        "narrowed_without_root",
        _wrong(W_O=lambda L: 1 / (2 * L)),
        "W_O and W_down are divided by 2 L; the root is missing.",
        STREAM,
        "Variances add up, not deviations. With the 24 writes of GPT-2 small each would start 4.9 "
        "times too small.",
        slight=SAMPLED,
    ),
    Mistake(
        "root_of_L_only",
        _wrong(W_O=lambda L: 0.5 * L**-0.5),
        "W_O and W_down are divided by 2 sqrt(L); the 2 belongs under the root.",
        f"A matter of brackets: 2 * L is the argument of sqrt. {STREAM}",
        "The writes start 1.41 times too small at any depth.",
        slight=SAMPLED,
    ),
    Mistake(
        "widened",
        _wrong(W_O=lambda L: (2 * L) ** 0.5),
        "W_O and W_down are multiplied by sqrt(2 L); they should be divided.",
        STREAM,
        "The stream would grow faster with depth than without any factor: in GPT-2 small each "
        "write starts 24 times too large.",
    ),
    Mistake(
        "only_W_O",
        _wrong(W_down=_one),
        "W_down has deviation 0.02; it writes to the stream, as W_O does.",
        STREAM,
        "Half of the 2 L writes, those of the feedforward networks, would be sqrt(2 L) times too "
        "large: 4.9 times in GPT-2 small.",
    ),
    Mistake(
        "only_W_down",
        _wrong(W_O=_one, W_down=oracle.narrow),
        "W_O has deviation 0.02; it writes to the stream, as W_down does.",
        STREAM,
        "Half of the 2 L writes, those of attention, would be sqrt(2 L) times too large: 4.9 times "
        "in GPT-2 small.",
    ),
    Mistake(
        "W_up_for_W_down",
        _wrong(W_up=_less, W_down=_one),
        "W_up is narrowed in the place of W_down: it reads the stream, and W_down writes to it.",
        STREAM,
        "With W_up 4.9 times too small, in GPT-2 small, GELU sees numbers of size 0.11 at the start "
        "rather than 0.55: there it is nearly a straight line.",
    ),
    Mistake(
        "all_narrowed",
        _wrong(E=_less, P=_less, W_U=_less, qkv=_less, W_up=_less),
        "Everything is divided by sqrt(2 L); only W_O and W_down write to the stream.",
        STREAM,
        "In GPT-2 small the tables would start 4.9 times too small, and scores, which are products "
        "of queries and keys, 24 times: attention starts as a plain average.",
        slight=SAMPLED,
    ),
    Mistake(
        "blocks_narrowed",
        _wrong(qkv=_less, W_up=_less),
        "All matrices of the blocks are divided by sqrt(2 L); only W_O and W_down should be.",
        STREAM,
        "Queries and keys 4.9 times too small, as in GPT-2 small, make scores 24 times too small: "
        "attention starts as a plain average.",
        slight=SAMPLED,
    ),
    Mistake(
        "deviation_1",
        _wrong(std=1.0),
        "The deviation 0.02 is missing: the matrices are drawn with deviation 1.",
        "p.normal_(0.0, 0.02, generator=generator): without numbers, normal_ takes 0 and 1.",
        "The matrices are 50 times too large. A tied model of GPT-2 small's size starts with a loss "
        "of more than 100 instead of 10.8.",
    ),
    Mistake(
        "tables_of_deviation_1",
        _wrong(E=1.0, P=1.0),
        "E and P have deviation 1, as in nn.Embedding: with a tied head the first loss is huge.",
        "The tables are matrices too: 0.02.",
        "A logit is a product with a row of E. In a tied model of GPT-2 small's size the first loss "
        "is then about 530 instead of 10.8.",
    ),
    Mistake(
        "E_of_deviation_1",
        _wrong(E=1.0),
        "E has deviation 1, as in nn.Embedding: with a tied head the first loss is huge.",
        "The tables are matrices too: 0.02.",
        "A logit is a product with a row of E. In a tied model of GPT-2 small's size the first loss "
        "is then about 740 instead of 10.8.",
    ),
    Mistake(
        "P_of_deviation_0.01",
        _wrong(P=0.01),
        "P has deviation 0.01; here both tables have 0.02.",
        "E and P are matrices like the others: 0.02.",
        "OpenAI's own code did start P with 0.01. This course keeps to one number for both, as "
        "nanoGPT and others do.",
        slight=SAMPLED,
    ),
    Mistake(
        "variance_of_0.02",
        _wrong(std=0.02**0.5),
        "0.02 is taken for the variance; it is the deviation.",
        "normal_ takes the mean and the standard deviation: no square root of 0.02.",
        "sqrt(0.02) = 0.14: the matrices are 7 times too large. The first loss of a tied model of "
        "GPT-2 small's size is then about 18 instead of 10.8.",
    ),
    Mistake(
        "squared",
        _wrong(std=0.02**2, W_O=lambda L: 1 / (2 * L)),
        "normal_ is given the variance, the square of the deviation.",
        "N(0, 0.02^2) has deviation 0.02, and normal_ takes the deviation: p.normal_(0.0, 0.02).",
        "0.0004 is 50 times too small. The stream's variance, 3e-7, is then less than LayerNorm's "
        "eps of 1e-5, which no longer brings it to size 1.",
        slight=SAMPLED,
    ),
    Mistake(
        "uniform",
        _wrong(std=0.02 * 3**-0.5, within=3**-0.5),
        "The numbers are uniform between -0.02 and 0.02, not normal with deviation 0.02.",
        "normal_, not uniform_; and torch.randn, not torch.rand.",
        "Their deviation is 0.02 / sqrt(3) = 0.0115 only, so that every layer starts 1.7 times "
        "too small.",
        slight=SAMPLED,
    ),
    Mistake(
        "gamma_is_0",
        _wrong(constant={"gamma": 0.0}),
        "gamma is 0: every LayerNorm then gives the same for all inputs.",
        "Names that end in gamma: 1. Of the vectors, only the others are 0.",
        "All logits are 0, whatever is read. At the first step only the last gamma and beta have a "
        "gradient, and nothing else learns.",
        slight=SAMPLED,
    ),
    Mistake(
        "all_vectors_1",
        _wrong(constant={"beta": 1.0, "biases": 1.0}),
        "beta and the biases are 1 like gamma; they should be 0.",
        "1 only for names that end in gamma.",
        "Every write would start with a constant: with b_O and b_down at 1, each block of a fresh "
        "model adds 2 to every entry of the stream, 100 times what E holds.",
    ),
    Mistake(
        "beta_is_1",
        _wrong(constant={"beta": 1.0}),
        "beta is 1 like gamma; it should be 0.",
        "1 only for names that end in gamma; beta is added and starts at 0.",
        "Every LayerNorm would hand on numbers around 1 instead of 0, and all positions the same "
        "constant part.",
    ),
    Mistake(
        "nothing_changed",
        _wrong(untouched=tuple(ENDINGS)),
        "Nothing was changed in the model: its parameters hold what they held before.",
        IN_PLACE,
        "The model would start with whatever its constructor left there, torch.empty included.",
    ),
    Mistake(
        "matrices_left",
        _wrong(untouched=MATRICES),
        "The matrices are left as they were; only the vectors were changed.",
        IN_PLACE,
        "They would start with whatever the constructor left there, torch.empty included.",
    ),
    Mistake(
        "vectors_left",
        _wrong(untouched=VECTORS),
        "gamma, beta and the biases are left as they were.",
        "gamma becomes 1, every other vector 0, whatever they held before.",
        "A constructor that makes them with torch.empty leaves any numbers there, even NaN.",
    ),
    Mistake(
        "biases_left",
        _wrong(untouched=("the biases",)),
        "The biases are left as they were.",
        "Names such as b_Q, b_O or b_up: 0. Every vector but gamma is 0.",
        "A constructor that makes them with torch.empty leaves any numbers there, even NaN.",
    ),
    Mistake(
        "tables_left",
        _wrong(untouched=("E", "P", "W_U")),
        "E, P and W_U are left as they were: only the blocks are filled.",
        ALL,
        "The tables would start with whatever the constructor left there, torch.empty included.",
    ),
    Mistake(
        "W_U_left",
        _wrong(untouched=("W_U",)),
        "W_U of an untied model is left as it was.",
        ALL,
        "An untied model would start with whatever the constructor left there, torch.empty "
        "included.",
    ),
)
