"""sample_next: what its distribution becomes with each known mistake."""

from __future__ import annotations

import numpy as np

from autograder.check.mistake import Mistake, altered
from autograder.oracle import generation as oracle
from autograder.oracle.self_attention import softmax


def distribution(logits, temperature, top_k, top_p, generator, n, **switches):
    with np.errstate(all="ignore"):
        p = oracle.next_distribution(logits, temperature, top_k, top_p, **switches)
    if np.isnan(p).any():
        raise RuntimeError("nothing is left to draw from")
    return p


def mistake(name, says, look, why, before=None, **switches):
    return Mistake(name, altered(distribution, before=before, **switches), says, look, why)


def after_an_else(inputs):
    return {"top_p": inputs["top_p"] if inputs["top_k"] is None else None}


def softmax_first(inputs):
    return {"logits": softmax(inputs["logits"])}


def the_rest_of_p(inputs):
    return {"top_p": None if inputs["top_p"] is None else 1 - inputs["top_p"]}


MINUS_INFINITY = "Set the logits of what is cut to -inf, and take the softmax of the rest."
NUCLEUS = "Keep a token while the probabilities of the likelier ones sum to less than top_p."
ONE_STAYS = "At least one token stays in every row: the likeliest."
BELOW_0 = (
    "A logit of 0 is no probability of 0: where those that stay are below 0, what is cut becomes "
    "likelier than they are."
)
RANK = (
    "With ranked, order = logits.sort(descending=True) the pick is a place in `ranked`; the token is "
    "order.gather(-1, pick)."
)

TEMPERATURE = (
    mistake(
        "divides_by_0",
        "Temperature 0 raises an error; it should give the id of the largest logit, undivided.",
        "Return logits.argmax(-1) where temperature == 0, before anything is divided by it.",
        "z / 0 is infinite, and the softmax of it NaN. Temperature 0 is how one asks for an answer "
        "that is the same each time.",
        zero="divide",
    ),
    mistake(
        "zero_draws",
        "With temperature 0 it still draws by chance, from the logits as they are.",
        "Return logits.argmax(-1) where temperature == 0, before anything else.",
        "Temperature 0 is how one asks for an answer that is the same each time. Here it gives what "
        "temperature 1 gives.",
        zero="skipped",
    ),
    mistake(
        "always_greedy",
        "It always takes the largest logit.",
        "Draw with torch.multinomial(p, 1): one id for each row of probabilities.",
        "A prompt then has one continuation only, whatever the settings, and greedy texts tend to "
        "fall into a loop: the same sentence again and again.",
        temperature=0,
    ),
    mistake(
        "temperature_multiplied",
        "The logits are multiplied by the temperature.",
        "logits / temperature: a high temperature makes them more alike.",
        "Hot and cold change places: temperature 2 makes a token that is ahead by 1 likelier by "
        "e^2 = 7.4 rather than e^0.5 = 1.6. Who asks for variety gets less of it.",
        heat="multiply",
    ),
    mistake(
        "temperature_twice",
        "The logits are divided by the temperature twice.",
        "logits = logits / temperature once; from there on work with these logits alone.",
        "Temperature 0.5 acts as 0.25, and 2 as 4: texts get duller or wilder than was asked for. "
        "At temperature 1 nothing shows.",
        heat="twice",
    ),
    mistake(
        "temperature_ignored",
        "The temperature is not used, apart from 0.",
        "logits = logits / temperature, before everything else. A probability that is divided by it "
        "changes nothing: all are divided alike.",
        "Temperatures 0.2 and 2 write texts of the same kind: the setting does nothing.",
        heat="ignored",
    ),
)

TOP_K = (
    mistake(
        "top_k_ignored",
        "The argument top_k is not used: no logit is cut by it.",
        "logits.masked_fill(logits < kth, -math.inf), with kth the last of logits.topk(k).values. "
        "It makes a new tensor: use what it returns.",
        "GPT-2 chooses among 50,257 tokens. Each of the unlikely ones is rare, but there are "
        "thousands of them, and one is enough to lead a text astray.",
        top_k=None,
    ),
    mistake(
        "one_more_than_k",
        "It keeps k + 1 tokens.",
        "The k-th largest is at index k - 1 of the sorted logits, the last of topk(k). Cut what is "
        "smaller than it.",
        "top_k = 1 should be greedy, and here it still draws between two.",
        more=1,
    ),
    mistake(
        "one_less_than_k",
        "It keeps k - 1 tokens.",
        "The k-th largest itself stays: cut logits < kth, not <=.",
        "With top_k = 1 nothing is left to draw from: the softmax of nothing but -inf is NaN.",
        more=-1,
    ),
    mistake(
        "k_least_likely",
        "top_k keeps the k least likely tokens.",
        "The k largest: logits.topk(k), or sort(descending=True).",
        "The model's best guesses are never written, and its worst always.",
        keeps="smallest",
    ),
    mistake(
        "k_are_cut",
        "top_k cuts the k least likely tokens, and keeps all others.",
        "k is how many stay. In ascending order the smallest that stays is at index -k, not k.",
        "Of GPT-2's 50,257 tokens, top_k = 50 would still leave 50,207: hardly a cut at all.",
        keeps="all but k",
    ),
    mistake(
        "one_threshold_for_all_rows",
        "top_k cuts all rows at one logit, the lowest of all their k-th largest.",
        "Each row has its own: logits.topk(k).values[..., -1:] is a column of them.",
        "What is written in one row depends on the others in its batch. A batch of one looks right.",
        shared=True,
    ),
    mistake(
        "rank_for_id_with_top_k",
        "With top_k it returns the place among the k likeliest, not the token's id.",
        "With values, ids = logits.topk(k) the pick is a place in `values`; the token is "
        "ids.gather(-1, pick).",
        "Only ids below k come out. In GPT-2 the first ids are punctuation: 0 is the exclamation "
        "mark, 1 the quotation mark.",
        ranks_with_k=True,
    ),
    mistake(
        "top_k_filled_with_0",
        "The logits that top_k cuts are set to 0, and e^0 = 1 is still drawn.",
        MINUS_INFINITY,
        BELOW_0,
        fill_k=0.0,
    ),
)

TOP_P = (
    mistake(
        "top_p_ignored",
        "The argument top_p is not used: no logit is cut by it.",
        NUCLEUS + " Use what masked_fill returns.",
        "The tail stays in: GPT-2 has 50,257 tokens, most of them wrong at any one place, and "
        "together they are drawn often.",
        top_p=None,
    ),
    mistake(
        "top_p_skipped_after_top_k",
        "Where top_k is given, top_p is not used.",
        "Two cuts, one after the other: `if top_p is not None`, not `elif`.",
        "Who sets both, top_k = 50 and top_p = 0.9, gets the 50 even where the model is sure of one "
        "token.",
        before=after_an_else,
    ),
    mistake(
        "p_is_cut",
        "top_p is used as the share that is cut: what stays sums to 1 - p.",
        NUCLEUS + " In ascending order: cut while the sum is at most 1 - top_p.",
        "top_p = 0.9, meant to cut a small tail, keeps the fewest that reach 0.1: mostly one token, "
        "so that the text is nearly greedy.",
        before=the_rest_of_p,
    ),
    mistake(
        "crossing_dropped",
        "The token with which the sum crosses top_p is cut, too.",
        "p.cumsum(-1) - p >= top_p: the sum before the token, not with it.",
        "Where one token has more than top_p by itself, nothing is left, and the draw fails: a model "
        "that is 95 % sure cannot go on at top_p = 0.9.",
        crossing="dropped",
    ),
    mistake(
        "crossing_dropped_but_first",
        "The token with which the sum crosses top_p is cut, unless it is the likeliest.",
        "p.cumsum(-1) - p >= top_p: the sum before the token, not with it. Then the first needs no "
        "exception.",
        "With probabilities 0.5 and 0.45, top_p = 0.9 should keep both; here only the first is left.",
        crossing="dropped, but not the first",
    ),
    mistake(
        "one_more_than_p",
        "It keeps one token more than top_p needs.",
        "p.cumsum(-1) - p >= top_p; shifted once more it would be the sum before the token before.",
        "Where the model is sure of one token, a second one is still drawn from time to time.",
        crossing="one more",
    ),
    mistake(
        "logits_summed",
        "For top_p it sums the sorted logits, not their probabilities.",
        "Sum probabilities: softmax(ranked).cumsum(-1), with `ranked` the sorted logits.",
        "Logits may be negative and may all be shifted by the same number: what top_p keeps depends "
        "on that shift, which means nothing.",
        summed="logits",
    ),
    mistake(
        "tail_kept",
        "With top_p it keeps the least likely tokens: they are sorted the wrong way round.",
        "logits.sort(descending=True).",
        "The model's best guess is the first to go: at top_p = 0.9 wherever its probability is 0.1 "
        "or less. The long tail always stays.",
        by="likeliest last",
    ),
    mistake(
        "not_sorted",
        "For top_p it sums the probabilities in the order of the ids: they are not sorted.",
        "ranked, order = logits.sort(descending=True), then softmax(ranked).cumsum(-1).",
        "Which tokens stay has to do with their ids: the tokenizer's first ids always stay, in "
        "GPT-2 punctuation, and the likeliest token may be cut.",
        by="id",
    ),
    mistake(
        "not_put_back",
        "The cut of top_p is found in the sorted order and applied in the order of the ids.",
        "Bring it back: beyond.gather(-1, order.argsort(-1)), or scatter it along `order`.",
        "Which tokens stay has to do with their ids, not with how likely they are: the tokenizer's "
        "first ids always stay.",
        put_back=False,
    ),
    mistake(
        "put_back_forwards",
        "The cut of top_p is brought back with `order`, where its inverse is needed.",
        "beyond.gather(-1, order.argsort(-1)): argsort of `order` says at which rank each id stands.",
        "`order` is its own inverse only where sorting swaps pairs, so a test with few tokens may "
        "pass. With more, likely tokens are cut and unlikely ones kept.",
        put_back="again",
    ),
    mistake(
        "rank_for_id_with_top_p",
        "With top_p it returns the place in the sorted order, not the token's id.",
        RANK,
        "The likeliest token always comes out as id 0, in GPT-2 the exclamation mark.",
        ranks_with_p=True,
    ),
    mistake(
        "top_p_filled_with_0",
        "The logits that top_p cuts are set to 0, and e^0 = 1 is still drawn.",
        MINUS_INFINITY,
        BELOW_0,
        fill_p=0.0,
    ),
    mistake(
        "p_before_k",
        "top_p looks at the probabilities before the cut of top_k.",
        "Take the softmax of what top_k left: its probabilities sum to 1 again, and reach top_p "
        "sooner.",
        "Where both cuts are on, more tokens stay than should: a text at top_p = 0.9 is wilder than "
        "the same setting gives elsewhere.",
        order="p first",
    ),
    mistake(
        "p_before_temperature",
        "top_p looks at the probabilities without the temperature.",
        "logits = logits / temperature first of all, and both cuts after it.",
        "At temperature 2 the distribution is flatter and needs more tokens to reach p. Without it, "
        "fewer stay, and a high temperature has little left to act on.",
        nucleus_of="raw",
    ),
)

DRAW = (
    mistake(
        "filled_with_0",
        "The logits of what is cut are set to 0, and e^0 = 1 is still drawn.",
        MINUS_INFINITY,
        BELOW_0,
        fill_k=0.0,
        fill_p=0.0,
    ),
    mistake(
        "rank_for_id",
        "It returns the place in the sorted order, not the token's id.",
        RANK,
        "The likeliest token always comes out as id 0, the second as 1: in GPT-2 the exclamation "
        "mark and the quotation mark, whatever the text is about.",
        ranks=True,
    ),
    mistake(
        "all_alike",
        "It draws from what is kept as if all were equally likely.",
        "torch.multinomial(softmax(logits), 1), on the logits after the cuts.",
        "What the model has learnt decides only which tokens may come. Without a cut, every one of "
        "GPT-2's 50,257 tokens is as likely as any other: noise.",
        flat=True,
    ),
    mistake(
        "softmax_twice",
        "The softmax is taken twice.",
        "torch.multinomial takes probabilities: one softmax before it.",
        "Probabilities lie between 0 and 1, so after a second softmax no token is more than e = 2.7 "
        "times as likely as another, and what was cut comes back.",
        twice=True,
    ),
    mistake(
        "softmax_first",
        "The softmax comes before the temperature and the cuts, and once more before the draw.",
        "Temperature and cuts work on the logits; one softmax after them gives the probabilities.",
        "Probabilities lie between 0 and 1, so after a second softmax no token is more than e = 2.7 "
        "times as likely as another at temperature 1: the text is nearly noise.",
        before=softmax_first,
    ),
    mistake(
        "softmax_over_rows",
        "The softmax runs over the rows of the batch, not over the vocabulary.",
        "softmax(logits, dim=-1): the probabilities of one row sum to 1.",
        "What is drawn in a row depends on the other rows. In a batch of one every probability is "
        "1, and all tokens are equally likely.",
        over=0,
        top_p=None,
    ),
)

MISTAKES = TEMPERATURE + TOP_K + TOP_P + DRAW
