"""What goes wrong between ids and vectors: for `embed`, and for the module around it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from array_api_compat import array_namespace

from autograder.check.mistake import Mistake, altered


def _side_by_side(tokens, places):
    xp = array_namespace(tokens)
    return xp.concat([tokens, xp.broadcast_to(places, tokens.shape)], axis=-1)


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


SUM = "x_t = E[id_t] + P_t: a row of E for the token, a row of P for the place, and their sum."
FIRST = "Add P[:T] with T = ids.shape[-1]: one row for each place, from row 0 on."


def mistakes_of(right: Callable[..., Any]) -> tuple[Mistake, ...]:
    """The table for a function that has the switches of the oracle's `embed`."""

    def mistake(name: str, says: str, look: str, why: str, **switches: Any) -> Mistake:
        return Mistake(name, altered(right, **switches), says, look, why)

    return (
        mistake(
            "no_positions",
            "The position vectors are not added: the same token looks the same everywhere.",
            SUM,
            "Attention averages what it sees, and an average has no order: at the last word of "
            "'dog bites man here', the first block computes the same as for 'man bites dog here'.",
            join=lambda tokens, places: tokens,
        ),
        mistake(
            "no_tokens",
            "The token vectors are missing: only the positions are left.",
            SUM,
            "Two texts of the same length look alike: the model can learn at most which tokens are "
            "frequent at each place.",
            join=lambda tokens, places: places + 0 * tokens,
        ),
        mistake(
            "off_by_one",
            "The positions start at 1: the first token gets row 1 of P, not row 0.",
            "Positions are counted from 0: the rows 0 to T - 1, P[:T].",
            "GPT-2 has learnt row t for place t, and gets each of them wrong. A text of 1024 tokens, "
            "which it can take, has no row for its last one.",
            places=lambda ids, P: P[1 : 1 + ids.shape[-1]],
        ),
        mistake(
            "position_by_id",
            "P is read at the token ids. Its row belongs to the place in the sequence.",
            "The first T rows of P, whatever the tokens are: P[:T].",
            "The sum then depends on the token alone, and the order is lost. GPT-2's ids run to "
            "50256 and P has 1024 rows, so most tokens raise an IndexError.",
            places=lambda ids, P: P[ids],
        ),
        mistake(
            "swapped",
            "The two tables have changed places: E is read by position and P by token.",
            "E has a row for each token of the vocabulary, P a row for each place: E[ids] + P[:T].",
            "P has 1024 rows in GPT-2, and an id above 1023 raises an IndexError. Below, it gets "
            "the vector of a place, and the place gets that of a token.",
            swap=True,
        ),
        mistake(
            "one_row_for_all",
            "Every token gets the same row of P, the one with the index T.",
            "P[T] is one row, P[:T] is the first T rows.",
            "The same vector everywhere tells no place from another: no order is left. And a text "
            "of n_positions tokens raises an IndexError.",
            places=lambda ids, P: P[ids.shape[-1]],
        ),
        mistake(
            "all_positions",
            "The whole table P is added, not its first T rows.",
            FIRST,
            "The shapes fit by chance when a text has exactly n_positions tokens, 1024 in GPT-2. A "
            "single token comes back as 1024 vectors, and other lengths raise an error.",
            places=lambda ids, P: P,
        ),
        mistake(
            "last_rows",
            "It adds the last T rows of P instead of the first T.",
            "Positions are counted from 0: P[:T].",
            "The first token's row is then n_positions - T: with each token that is generated, "
            "all earlier ones get another vector.",
            places=lambda ids, P: P[-ids.shape[-1] :],
        ),
        mistake(
            "reversed_positions",
            "The positions run backwards: the last token gets row 0 of P.",
            "Row t of P belongs to position t, counted from the start: P[:T], as it is.",
            "The first token's row is then T - 1: with each token that is generated, all earlier "
            "ones get another vector.",
            places=_backwards,
        ),
        mistake(
            "scaled",
            "The token vectors are multiplied by sqrt(d).",
            "E[ids] as it is: the transformer of 2017 multiplied, GPT-2 does not.",
            "sqrt(768) is 27.7. With GPT-2's tables the tokens would drown the positions, and every "
            "layer after them is trained for the sum as it is.",
            scale=lambda E: E.shape[-1] ** 0.5,
        ),
        mistake(
            "sum_scaled",
            "The whole sum is multiplied by sqrt(d).",
            "The sum as it is: the transformer of 2017 multiplied its token vectors, GPT-2 does not.",
            "The stream starts 27.7 times too large at d = 768. A layer norm hides that from the "
            "sub-layers, but what they add is then small beside it.",
            join=lambda tokens, places: (tokens + places) * tokens.shape[-1] ** 0.5,
        ),
        mistake(
            "multiplied",
            "The two vectors are multiplied instead of added.",
            SUM,
            "Entries of about 0.02 become 0.0004 at the start. And where one of the two is near 0, "
            "nothing is left of the other.",
            join=operator.mul,
        ),
        mistake(
            "concatenated",
            "The two vectors stand side by side (width 2d) instead of being added.",
            SUM,
            "All later layers read and write d features, 768 in GPT-2 small. A stream of 1536 fits "
            "none of its weights.",
            join=_side_by_side,
        ),
        mistake(
            "length_of_batch",
            "T is taken from the first axis of ids, which is the batch.",
            "Positions lie along the last axis: T = ids.shape[-1], not len(ids) or ids.shape[0].",
            "In a batch of one every token gets row 0 of P, and no error says so. With more texts "
            "the shapes do not fit, or fit by chance.",
            places=lambda ids, P: P[: len(ids)],
        ),
        mistake(
            "by_sentence",
            "The row of P is chosen by the sentence's number in the batch, the same for all its tokens.",
            "Positions lie along the last axis of ids: P[:T], of shape (T, d), broadcasts by itself.",
            "The order of the tokens is lost, and what a sentence means to the model depends on "
            "where in the batch it stands.",
            places=_by_sentence,
        ),
        mistake(
            "positions_run_on",
            "The positions run on through the batch: the second sentence starts where the first ended.",
            "Each sentence starts at row 0 of P again: P[:T], with T = ids.shape[-1].",
            "The result for one sentence depends on its place in the batch, and 1024 positions are "
            "used up by a batch of 16 sentences of 64 tokens.",
            places=_running_on,
        ),
        mistake(
            "id_minus_one",
            "E is read at ids - 1: each token gets the row of the one before it in the vocabulary.",
            "Ids are counted from 0, as rows are: E[ids].",
            "With GPT-2's table, id 0, an exclamation mark, would read row -1: the last one, which "
            "is the end of text.",
            tokens=lambda ids, E: E[ids - 1],
        ),
        mistake(
            "squeezed",
            "Axes of size 1 are missing from the result: a squeeze() takes them all away.",
            "E[ids] + P[:T] has the right shape for every ids; leave out the squeeze.",
            "A batch of one text, or a text of one token, as in the first step of a generation, comes "
            "back without that axis, and the next layer takes another axis for it.",
            after=_squeezed,
        ),
    )
