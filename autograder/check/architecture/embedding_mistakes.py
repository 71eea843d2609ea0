"""What goes wrong between ids and vectors: for `embed`, and for the module around it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from array_api_compat import array_namespace

from autograder.check.mistake import Mistake, entries


def _side_by_side(tokens, places, tokens_first=True):
    xp = array_namespace(tokens)
    both = [tokens, xp.broadcast_to(places, tokens.shape)]
    return xp.concat(both if tokens_first else both[::-1], axis=-1)


def _backwards(ids, P):
    return array_namespace(P).flip(P[: ids.shape[-1]], axis=0)


def _by_sentence(ids, P):
    """The row of the sentence's number in the batch, for all of its tokens."""
    rows = P[: ids.shape[0]]
    return rows.reshape(rows.shape[:1] + (1,) * (ids.ndim - 1) + rows.shape[1:])


def _running_on(ids, P):
    """The second sentence of a batch starts where the first ended."""
    xp = array_namespace(ids)
    return P[xp.reshape(xp.arange(math.prod(ids.shape)), ids.shape)]


def _squeezed(x):
    return x.reshape([n for n in x.shape if n != 1])


def mistakes_of(right: Callable[..., Any]) -> tuple[Mistake, ...]:
    """The table for a function that has the switches of the oracle's `embed`."""

    mistake = entries(right)
    return (
        mistake(
            "no_positions",
            "P is not added: the result is E[ids] alone. It should be E[ids] + P[:T].",
            "Add the first T rows of P to E[ids], where T is ids.shape[-1].",
            "Attention averages what it sees, and an average has no order: at the last word of "
            "'dog bites man here', the first block computes the same as for 'man bites dog here'.",
            join=lambda tokens, places: tokens,
        ),
        mistake(
            "no_tokens",
            "E is not added: every text gives P[:T], whatever its ids are. It should be "
            "E[ids] + P[:T].",
            "Add E[ids]: a tensor of ids is an index, and takes a row of E for each id.",
            "Two texts of the same length look alike: the model can learn at most which tokens are "
            "frequent at each place.",
            join=lambda tokens, places: places + 0 * tokens,
        ),
        mistake(
            "positions_alone",
            "Only P[:T] is returned, of shape (T, d) without the batch; it should be E[ids] + P[:T].",
            "In the return, E[ids] is missing, and with it the axes of the batch.",
            "Two texts of the same length look alike: the model can learn at most which tokens are "
            "frequent at each place.",
            join=lambda tokens, places: places,
        ),
        mistake(
            "off_by_one",
            "The positions start at 1: P[1:T + 1] is added, so the first token gets row 1 of P. It "
            "should be P[:T], from row 0 on.",
            "P[1:T + 1] -> P[:T], or torch.arange(1, T + 1) -> torch.arange(T).",
            "GPT-2 has learnt row t for place t, and gets each of them wrong. A text of 1024 tokens, "
            "which it can take, has no row for its last one.",
            places=lambda ids, P: P[1 : 1 + ids.shape[-1]],
        ),
        mistake(
            "position_by_id",
            "P is read at the token ids, P[ids]; it should be read at the places 0 to T - 1, P[:T].",
            "The index of P: ids -> :T, where T is ids.shape[-1].",
            "The sum then depends on the token alone, and the order is lost. GPT-2's ids run to "
            "50256 and P has 1024 rows, so most tokens raise an IndexError.",
            places=lambda ids, P: P[ids],
        ),
        mistake(
            "swapped",
            "The two indices are swapped: E is read at the places and P at the ids, E[:T] + P[ids]. It "
            "should be E[ids] + P[:T].",
            "Swap the names of the two tables: ids is an index into E, :T one into P.",
            "P has 1024 rows in GPT-2, and an id above 1023 raises an IndexError. Below, it gets "
            "the vector of a place, and the place gets that of a token.",
            swap=True,
        ),
        mistake(
            "one_row_for_all",
            "One row, P[T], is added to every token; the token at place t should get row t.",
            "A colon is missing: P[T] -> P[:T]. P[T] is one row, P[:T] the first T rows.",
            "The same vector everywhere tells no place from another: no order is left. And a text "
            "of n_positions tokens raises an IndexError.",
            places=lambda ids, P: P[ids.shape[-1]],
        ),
        mistake(
            "all_positions",
            "The whole table P is added, all of its rows; it should be its first T rows.",
            "In the sum: P -> P[:T], where T is ids.shape[-1].",
            "The shapes fit by chance when a text has exactly n_positions tokens, 1024 in GPT-2. A "
            "single token comes back as 1024 vectors, and other lengths raise an error.",
            places=lambda ids, P: P,
        ),
        mistake(
            "last_rows",
            "The last T rows of P are added, P[-T:]; it should be the first T rows.",
            "P[-T:] -> P[:T]: P[:T] is the first T rows, P[-T:] the last T.",
            "The first token's row is then n_positions - T: with each token that is generated, "
            "all earlier ones get another vector.",
            places=lambda ids, P: P[-ids.shape[-1] :],
        ),
        mistake(
            "reversed_positions",
            "The first T rows of P are added in reverse order: the last token gets row 0. The first "
            "token should get it.",
            "Leave out the flip of P[:T], or let the count run up, torch.arange(T).",
            "The first token's row is then T - 1: with each token that is generated, all earlier "
            "ones get another vector.",
            places=_backwards,
        ),
        mistake(
            "scaled",
            "The token vectors are multiplied by sqrt(d) before P is added; they should be added as "
            "they are.",
            "Leave out the factor beside E[ids]: E[ids] * math.sqrt(d) -> E[ids].",
            "sqrt(768) is 27.7. With GPT-2's tables the tokens would drown the positions, and every "
            "layer after them is trained for the sum as it is.",
            scale=lambda E: E.shape[-1] ** 0.5,
        ),
        mistake(
            "sum_scaled",
            "The whole sum E[ids] + P[:T] is multiplied by sqrt(d); it should be returned as it is.",
            "Leave out the factor math.sqrt(d) outside the sum, in the return.",
            "The stream starts 27.7 times too large at d = 768. A layer norm hides that from the "
            "sub-layers, but what they add is then small beside it.",
            join=lambda tokens, places: (tokens + places) * tokens.shape[-1] ** 0.5,
        ),
        mistake(
            "multiplied",
            "The two vectors are multiplied, E[ids] * P[:T]; they should be added.",
            "The operator between E[ids] and P[:T]: * -> +.",
            "Entries of about 0.02 become 0.0004 at the start. And where one of the two is near 0, "
            "nothing is left of the other.",
            join=operator.mul,
        ),
        mistake(
            "concatenated",
            "The two vectors are joined side by side (torch.cat, E[ids] first, width 2 * d); they "
            "should be added.",
            "Not torch.cat([E[ids], ...], dim=-1) but a sum with +, of width d.",
            "All later layers read and write d features, 768 in GPT-2 small. A stream of 1536 fits "
            "none of its weights.",
            join=_side_by_side,
        ),
        mistake(
            "concatenated_positions_first",
            "The two vectors are joined side by side (torch.cat, those of P first, width 2 * d); they "
            "should be added.",
            "Not torch.cat([..., E[ids]], dim=-1) but a sum with +, of width d.",
            "All later layers read and write d features, 768 in GPT-2 small. A stream of 1536 fits "
            "none of its weights.",
            join=lambda tokens, places: _side_by_side(tokens, places, tokens_first=False),
        ),
        mistake(
            "length_of_batch",
            "T is the first axis of ids, the batch: P[:len(ids)] is added. T should be the last axis.",
            "The length: len(ids) or ids.shape[0] -> ids.shape[-1].",
            "In a batch of one every token gets row 0 of P, and no error says so. With more texts "
            "the shapes do not fit, or fit by chance.",
            places=lambda ids, P: P[: len(ids)],
        ),
        mistake(
            "by_sentence",
            "P is read along the batch: every token of sentence b gets row b. The token at place t "
            "should get row t.",
            "Add P[:ids.shape[-1]] as it is, without [:, None] and without ids.shape[0].",
            "The order of the tokens is lost, and what a sentence means to the model depends on "
            "where in the batch it stands.",
            places=_by_sentence,
        ),
        mistake(
            "positions_run_on",
            "The positions are counted on through the batch: sentence 1 starts at row T of P. "
            "Every sentence should start at row 0.",
            "torch.arange(ids.numel()).reshape(ids.shape) -> torch.arange(ids.shape[-1]), without"
            " the reshape; or simply P[:ids.shape[-1]].",
            "The result for one sentence depends on its place in the batch, and 1024 positions are "
            "used up by a batch of 16 sentences of 64 tokens.",
            places=_running_on,
        ),
        mistake(
            "id_minus_one",
            "E is read at ids - 1; it should be read at ids: ids are counted from 0, as rows are.",
            "The index of E: E[ids - 1] -> E[ids].",
            "With GPT-2's table, id 0, an exclamation mark, would read row -1: the last one, which "
            "is the end of text.",
            tokens=lambda ids, E: E[ids - 1],
        ),
        mistake(
            "squeezed",
            "squeeze() takes every axis of size 1 out of the result; the result should keep them.",
            "Leave out squeeze(), behind the sum, behind ids or behind E[ids]: the sum has the "
            "right shape for every ids.",
            "A batch of one text, or a text of one token, as in the first step of a generation, comes "
            "back without that axis, and the next layer takes another axis for it.",
            after=_squeezed,
        ),
    )
