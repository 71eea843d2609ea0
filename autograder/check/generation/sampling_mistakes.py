"""sample_next: what its distribution becomes with each known mistake."""

from __future__ import annotations

import numpy as np

from autograder.check.mistake import entries
from autograder.oracle import generation as oracle
from autograder.oracle.self_attention import softmax


def distribution(logits, temperature, top_k, top_p, generator, n, **switches):
    with np.errstate(all="ignore"):
        p = oracle.next_distribution(logits, temperature, top_k, top_p, **switches)
    if np.isnan(p).any():
        raise RuntimeError("nothing is left to draw from")
    return p


mistake = entries(distribution)


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

TEMPERATURE = (
    mistake(
        "divides_by_0",
        "At temperature 0 it fails; it should return the id of the largest logit there, and "
        "divide nothing by 0.",
        "if temperature == 0: return logits.argmax(-1), in a line before the division by "
        "temperature.",
        "z / 0 is infinite, and the softmax of it NaN. Temperature 0 is how one asks for an answer "
        "that is the same each time.",
        zero="divide",
    ),
    mistake(
        "zero_draws",
        "At temperature 0 it draws by chance, from the logits as they are; it should return "
        "the id of the largest.",
        "if temperature == 0: return logits.argmax(-1), in place of a draw.",
        "Temperature 0 is how one asks for an answer that is the same each time. Here it gives what "
        "temperature 1 gives.",
        zero="skipped",
    ),
    mistake(
        "always_greedy",
        "It always returns the largest logit's id; it should do that at temperature 0 only, and "
        "draw by chance otherwise.",
        "argmax -> torch.multinomial(p, 1), with p the probabilities after the cuts, in the "
        "return below all cuts.",
        "A prompt then has one continuation only, whatever the settings, and greedy texts tend to "
        "fall into a loop: the same sentence again and again.",
        temperature=0,
    ),
    mistake(
        "temperature_multiplied",
        "The logits are multiplied by the temperature; they should be divided by it.",
        "logits * temperature -> logits / temperature",
        "Hot and cold change places: temperature 2 makes a token that is ahead by 1 likelier by "
        "e^2 = 7.4 rather than e^0.5 = 1.6. Who asks for variety gets less of it.",
        heat="multiply",
    ),
    mistake(
        "temperature_twice",
        "The logits are divided by the temperature twice; it should be once, before the cuts.",
        "Take out one of the two `/ temperature`: keep logits = logits / temperature before the "
        "cuts, and divide by it in no softmax below.",
        "Temperature 0.5 acts as 0.25, and 2 as 4: texts get duller or wilder than was asked for. "
        "At temperature 1 nothing shows.",
        heat="twice",
    ),
    mistake(
        "temperature_ignored",
        "The temperature changes nothing, apart from 0; the logits should be divided by it.",
        "logits -> logits / temperature, before the cuts. (If it is softmax(logits) / "
        "temperature: -> softmax(logits / temperature).)",
        "Temperatures 0.2 and 2 write texts of the same kind: the setting does nothing.",
        heat="ignored",
    ),
)

TOP_K = (
    mistake(
        "top_k_ignored",
        "top_k cuts nothing; all logits but the k largest of each row should become -inf.",
        "logits.masked_fill(...) -> logits = logits.masked_fill(...), in the cut of top_k. If "
        "there is no cut: where logits < logits.topk(k).values[:, -1:], set -inf.",
        "GPT-2 chooses among 50,257 tokens. Each of the unlikely ones is rare, but there are "
        "thousands of them, and one is enough to lead a text astray.",
        top_k=None,
    ),
    mistake(
        "one_more_than_k",
        "top_k keeps k + 1 tokens; it should keep k.",
        "The k-th largest logit stands at index k - 1 of the sorted ones: index k -> k - 1, or "
        "topk(k + 1) -> topk(k).",
        "top_k = 1 should be greedy, and here it still draws between two.",
        more=1,
    ),
    mistake(
        "one_less_than_k",
        "top_k keeps k - 1 tokens; it should keep k, the k-th largest logit too.",
        "Cut what is < the k-th largest logit, not <= it; or topk(k - 1) -> topk(k).",
        "With top_k = 1 nothing is left to draw from: the softmax of nothing but -inf is NaN.",
        more=-1,
    ),
    mistake(
        "k_least_likely",
        "top_k keeps the k smallest logits; it should keep the k largest.",
        "topk(k, largest=False) -> topk(k), or the sort or the comparison (< for >) the other "
        "way.",
        "The model's best guesses are never written, and its worst always.",
        keeps="smallest",
    ),
    mistake(
        "k_are_cut",
        "top_k cuts the k smallest logits and keeps all others; it should keep the k largest "
        "and cut all others.",
        "In ascending order the smallest logit that stays is at index -k, not k.",
        "Of GPT-2's 50,257 tokens, top_k = 50 would still leave 50,207: hardly a cut at all.",
        keeps="all but k",
    ),
    mistake(
        "one_threshold_for_all_rows",
        "top_k cuts all rows at one logit, the k-th largest of the last row or the lowest of all; "
        "each row should be cut at its own k-th largest.",
        "The bound of all rows, .min() or values[-1, -1] -> logits.topk(k).values[..., -1:], a "
        "column of one bound for each row.",
        "What is written in one row depends on the others in its batch. A batch of one looks right.",
        shared="lowest",
    ),
    mistake(
        "bound_of_one_row",
        "top_k cuts all rows at one logit, the k-th largest of the first row or the largest of all; "
        "each row should be cut at its own k-th largest.",
        "The bound of all rows, values[0, -1] or .max() -> logits.topk(k).values[..., -1:], a "
        "column of one bound for each row.",
        "In the other rows more or fewer than k stay. A row of which none stays is -inf throughout, "
        "and its softmax is nan. A batch of one looks right.",
        shared="first",
    ),
    mistake(
        "rank_for_id_with_top_k",
        "With top_k it returns the place among the k likeliest; it should return the token's "
        "id.",
        "values, ids = logits.topk(k): the pick is a place in `values`; return ids.gather(-1, "
        "pick).",
        "Only ids below k come out. In GPT-2 the first ids are punctuation: 0 is the exclamation "
        "mark, 1 the quotation mark.",
        ranks_with_k=True,
    ),
    mistake(
        "top_k_filled_with_0",
        "The logits that top_k cuts become 0, those that top_p cuts -inf; both should become "
        "-inf, as e**0 = 1 is still drawn.",
        "0 -> -math.inf, in the cut of top_k.",
        BELOW_0,
        fill_k=0.0,
    ),
)

TOP_P = (
    mistake(
        "top_p_ignored",
        "top_p cuts nothing; in each row only the fewest likeliest tokens should stay whose "
        "probabilities reach top_p.",
        "logits.masked_fill(...) -> logits = logits.masked_fill(...), in the cut of top_p. If "
        "that is right already: dim=-1 in the softmax before cumsum. If there is no cut, add one.",
        "The tail stays in: GPT-2 has 50,257 tokens, most of them wrong at any one place, and "
        "together they are drawn often.",
        top_p=None,
    ),
    mistake(
        "top_p_skipped_after_top_k",
        "Where top_k is given, top_p is not used; both should cut, one after the other.",
        "elif top_p is not None -> if top_p is not None",
        "Who sets both, top_k = 50 and top_p = 0.9, gets the 50 even where the model is sure of one "
        "token.",
        before=after_an_else,
    ),
    mistake(
        "p_is_cut",
        "The tokens that stay sum to 1 - top_p, as if top_p were the share to cut; they should "
        "sum to top_p.",
        "1 - top_p -> top_p, in the comparison with the sum from the likeliest token on.",
        "top_p = 0.9, meant to cut a small tail, keeps the fewest that reach 0.1: mostly one token, "
        "so that the text is nearly greedy.",
        before=the_rest_of_p,
    ),
    mistake(
        "crossing_dropped",
        "The token with which the sum reaches top_p is cut, even the likeliest; it should "
        "stay, and only those behind it be cut.",
        "p.cumsum(-1) > top_p -> p.cumsum(-1) - p >= top_p, with p the sorted probabilities: "
        "the sum before the token.",
        "Where one token has more than top_p by itself, nothing is left, and the draw fails: a model "
        "that is 95 % sure cannot go on at top_p = 0.9.",
        crossing="dropped",
    ),
    mistake(
        "crossing_dropped_but_first",
        "The token with which the sum reaches top_p is cut, unless it is the likeliest; it "
        "should stay in every case.",
        "p.cumsum(-1) > top_p -> p.cumsum(-1) - p >= top_p, with p the sorted probabilities; "
        "the first needs no exception then.",
        "With probabilities 0.5 and 0.45, top_p = 0.9 should keep both; here only the first is left.",
        crossing="dropped, but not the first",
    ),
    mistake(
        "one_more_than_p",
        "top_p keeps one token too many; the last that stays should be the token with which the "
        "sum of sorted probabilities reaches top_p.",
        "Cut where p.cumsum(-1) - p >= top_p, p the sorted probabilities; do not shift this by a "
        "place (no cut[:, 1:] = cut[:, :-1]).",
        "Where the model is sure of one token, a second one is still drawn from time to time.",
        crossing="one more",
    ),
    mistake(
        "logits_summed",
        "For top_p it sums the sorted logits; it should sum their probabilities.",
        "ranked.cumsum(-1) -> softmax(ranked).cumsum(-1), with `ranked` the sorted logits.",
        "Logits may be negative and may all be shifted by the same number: what top_p keeps depends "
        "on that shift, which means nothing.",
        summed="logits",
    ),
    mistake(
        "tail_kept",
        "For top_p the tokens are sorted with the least likely first, so these stay; the "
        "likeliest should come first.",
        "logits.sort() -> logits.sort(descending=True)",
        "The model's best guess is the first to go: at top_p = 0.9 wherever its probability is 0.1 "
        "or less. The long tail always stays.",
        by="likeliest last",
    ),
    mistake(
        "not_sorted",
        "For top_p the probabilities are summed in the order of the ids; they should be sorted "
        "first, the largest in front.",
        "softmax(logits).cumsum(-1) -> softmax(ranked).cumsum(-1), with ranked, order = "
        "logits.sort(descending=True).",
        "Which tokens stay has to do with their ids: the tokenizer's first ids always stay, in "
        "GPT-2 punctuation, and the likeliest token may be cut.",
        by="id",
    ),
    mistake(
        "not_put_back",
        "top_p's cut is found in sorted order and used in the order of the ids; it should be "
        "brought back to that first.",
        "masked_fill(beyond, ...) -> masked_fill(beyond.gather(-1, order.argsort(-1)), ...), "
        "where `beyond` is the cut in sorted order.",
        "Which tokens stay has to do with their ids, not with how likely they are: the tokenizer's "
        "first ids always stay.",
        put_back=False,
    ),
    mistake(
        "put_back_forwards",
        "top_p's cut is brought back with `order`; it should be with its inverse, "
        "order.argsort(-1).",
        "gather(-1, order) -> gather(-1, order.argsort(-1))",
        "`order` is its own inverse only where sorting swaps pairs, so a test with few tokens may "
        "pass. With more, likely tokens are cut and unlikely ones kept.",
        put_back="again",
    ),
    mistake(
        "values_back_forwards",
        "After top_p's cut the sorted logits are put back by `order`; they should be put back by "
        "its inverse, order.argsort(-1).",
        "values.gather(-1, order) -> values.gather(-1, order.argsort(-1)), where `values` are the "
        "sorted logits after the cut.",
        "`order` is its own inverse only where sorting swaps pairs, so a test with few tokens may "
        "pass. With more, tokens get the logits of others.",
        put_back="values",
    ),
    mistake(
        "rank_for_id_with_top_p",
        "With top_p it returns the place in the sorted order; it should return the token's id.",
        "ranked, order = logits.sort(descending=True): the pick is a place in `ranked`; return "
        "order.gather(-1, pick).",
        "The likeliest token always comes out as id 0, in GPT-2 the exclamation mark.",
        ranks_with_p=True,
    ),
    mistake(
        "top_p_filled_with_0",
        "The logits that top_p cuts become 0, those that top_k cuts -inf; both should become "
        "-inf, as e**0 = 1 is still drawn.",
        "0 -> -math.inf, in the cut of top_p.",
        BELOW_0,
        fill_p=0.0,
    ),
    mistake(
        "p_before_k",
        "top_p uses the probabilities from before top_k's cut; it should use those of what "
        "top_k left, which sum to 1 again.",
        "For top_p: the softmax of the logits after top_k's masked_fill, not of those before "
        "it.",
        "Where both cuts are on, more tokens stay than should: a text at top_p = 0.9 is wilder than "
        "the same setting gives elsewhere.",
        order="p first",
    ),
    mistake(
        "p_before_temperature",
        "top_p uses the probabilities without the temperature; it should use those after the "
        "division by it.",
        "For top_p: the softmax of logits / temperature, not of logits.",
        "At temperature 2 the distribution is flatter and needs more tokens to reach p. Without it, "
        "fewer stay, and a high temperature has little left to act on.",
        nucleus_of="raw",
    ),
)

DRAW = (
    mistake(
        "filled_with_0",
        "The logits that top_k and top_p cut become 0; they should become -inf, as e**0 = 1 is "
        "still drawn.",
        "0 -> -math.inf, in both cuts.",
        BELOW_0,
        fill_k=0.0,
        fill_p=0.0,
    ),
    mistake(
        "rank_for_id",
        "It returns the place in the sorted order, whatever is cut; it should return the "
        "token's id.",
        "ranked, order = logits.sort(descending=True): the pick is a place in `ranked`; return "
        "order.gather(-1, pick).",
        "The likeliest token always comes out as id 0, the second as 1: in GPT-2 the exclamation "
        "mark and the quotation mark, whatever the text is about.",
        ranks=True,
    ),
    mistake(
        "all_alike",
        "It draws from what is kept as if all were equally likely; it should draw with the "
        "softmax of what is kept.",
        "torch.multinomial(ones for what is kept, 1) -> torch.multinomial(softmax(logits), 1), "
        "with logits as they are after the cuts.",
        "What the model has learnt decides only which tokens may come. Without a cut, every one of "
        "GPT-2's 50,257 tokens is as likely as any other: noise.",
        flat=True,
    ),
    mistake(
        "softmax_twice",
        "It draws from softmax(softmax(logits)), after the cuts; it should draw from "
        "softmax(logits).",
        "One softmax between the cuts and torch.multinomial, not two.",
        "Probabilities lie between 0 and 1, so after a second softmax no token is more than e = 2.7 "
        "times as likely as another, and what was cut comes back.",
        twice=True,
    ),
    mistake(
        "softmax_first",
        "The softmax is taken twice: before the temperature and the cuts, and before the draw; "
        "only the one before the draw should be there.",
        "Take out the softmax that comes before the temperature and the cuts, they work on "
        "logits; keep the softmax in the draw.",
        "Probabilities lie between 0 and 1, so after a second softmax no token is more than e = 2.7 "
        "times as likely as another at temperature 1: the text is nearly noise.",
        before=softmax_first,
    ),
    mistake(
        "last_softmax_over_rows",
        "The softmax for the draw runs over the rows, dim=0 (that for top_p does not); it should run "
        "over the vocabulary, dim=-1.",
        "dim=0 -> dim=-1, in the softmax before torch.multinomial.",
        "What is drawn in a row depends on the other rows. In a batch of one every probability is "
        "1, and all tokens are equally likely.",
        over=0,
    ),
    mistake(
        "softmax_over_rows",
        "The softmaxes for top_p and for the draw both run over the rows, dim=0; they should "
        "run over the vocabulary, dim=-1.",
        "dim=0 -> dim=-1, in both softmaxes.",
        "What is drawn in a row depends on the other rows. In a batch of one every probability is "
        "1, and all tokens are equally likely.",
        over=0,
        top_p=None,
    ),
)

MISTAKES = TEMPERATURE + TOP_K + TOP_P + DRAW
