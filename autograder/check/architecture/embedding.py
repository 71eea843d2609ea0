"""The embedding, as a function and as a module."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
from array_api_compat import array_namespace

from autograder.check.component import Component, module
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture, Property
from autograder.check.draw import choice, normal
from autograder.check.initial import initial_values
from autograder.check.properties import COMMON
from autograder.check.varied import batch_dims
from autograder.judge import Trouble
from autograder.oracle import architecture as oracle
from autograder.probes import Call

# ------------------------------------------------------------------ embed


def _sizes(rng):
    """B, T, V, n_positions, d."""
    return choice(rng, (2, 5, 11, 8, 6), (3, 4, 10, 7, 5), (2, 6, 13, 9, 4))


def _ids(rng, B, T, V):
    """One id is the last of the vocabulary, and one token comes twice in a row of the batch."""
    ids = rng.integers(0, V, (B, T))
    ids[0, 0] = ids[0, -1] = V - 1
    return ids


def embed_fixtures(rng):
    B, T, V, n, d = _sizes(rng)
    E, P = normal(rng, V, d), normal(rng, n, d)
    few = rng.integers(0, n, (B, 1))  # ids that would also be rows of P
    return [
        Fixture("one token", {"ids": few, "E": E, "P": P}, weight=1.0),
        Fixture(
            "token vectors alone (P = 0)",
            {"ids": _ids(rng, B, T, V), "E": E, "P": np.zeros_like(P)},
            weight=1.0,
        ),
        Fixture(
            "position vectors alone (E = 0)",
            {"ids": rng.integers(0, n, (B, T)), "E": np.zeros_like(E), "P": P},
            weight=1.0,
        ),
        Fixture("as many tokens as P has rows", {"ids": _ids(rng, B, n, V), "E": E, "P": P}),
        Fixture("both tables", {"ids": _ids(rng, B, T, V), "E": E, "P": P}),
    ]


def _concatenated(ids, E, P):
    xp = array_namespace(E)
    tokens = E[ids]
    places = xp.broadcast_to(P[: ids.shape[-1]], tokens.shape)
    return xp.concat([tokens, places], axis=-1)


SUM = "x_t = E[id_t] + P_t: a row of E for the token, a row of P for the place, and their sum."
EMBED_MISTAKES = (
    Mistake(
        "no_positions",
        lambda ids, E, P: E[ids],
        "The position vectors are not added: the same token looks the same everywhere.",
        SUM,
    ),
    Mistake(
        "no_tokens",
        lambda ids, E, P: oracle.embed(ids, E * 0, P),
        "The token vectors are missing: only the positions are left.",
        SUM,
    ),
    Mistake(
        "off_by_one",
        altered(oracle.embed, first=1),
        "The positions start at 1: the first token gets row 1 of P, not row 0.",
        "Positions are counted from 0: the rows 0 to T - 1 of P.",
    ),
    Mistake(
        "position_by_id",
        lambda ids, E, P: E[ids] + P[ids],
        "P is read at the token ids. Its row belongs to the place in the sequence.",
        "The first T rows of P, whatever the tokens are.",
    ),
    Mistake(
        "swapped",
        lambda ids, E, P: P[ids] + E[: ids.shape[-1]],
        "The two tables have changed places: E is read by position and P by token.",
        "E has a row for each token of the vocabulary, P a row for each place.",
    ),
    Mistake(
        "one_row_for_all",
        lambda ids, E, P: E[ids] + P[ids.shape[-1]],
        "Every token gets the same row of P, the one with the index T.",
        "P[T] is one row, P[:T] is the first T rows.",
    ),
    Mistake(
        "last_rows",
        lambda ids, E, P: E[ids] + P[-ids.shape[-1] :],
        "It adds the last T rows of P instead of the first T.",
        "Positions are counted from 0: P[:T].",
    ),
    Mistake(
        "reversed_positions",
        lambda ids, E, P: E[ids] + array_namespace(P).flip(P[: ids.shape[-1]], axis=0),
        "The positions run backwards: the last token gets row 0 of P.",
    ),
    Mistake(
        "scaled",
        lambda ids, E, P: oracle.embed(ids, E, P, scale=E.shape[-1] ** 0.5),
        "The token vectors are multiplied by sqrt(d).",
        "The transformer of 2017 did that; GPT-2 adds the rows as they are.",
    ),
    Mistake(
        "multiplied",
        lambda ids, E, P: E[ids] * P[: ids.shape[-1]],
        "The two vectors are multiplied instead of added.",
        SUM,
    ),
    Mistake(
        "concatenated",
        _concatenated,
        "The two vectors stand side by side (width 2d) instead of being added.",
        SUM,
    ),
    Mistake(
        "length_of_batch",
        altered(oracle.embed, T=len),
        "T is taken from the first axis of ids, which is the batch.",
        "Positions lie along the last axis: ids.shape[-1].",
    ),
)

EMBED = Component(
    "embed",
    embed_fixtures,
    oracle.embed,
    properties=(*batch_dims("ids"), *COMMON),
    mistakes=EMBED_MISTAKES,
)

# ------------------------------------------------------------------ Embedding


def embedding_fixtures(rng):
    def in_module(inputs):
        E, P = inputs["E"], inputs["P"]
        init = (len(E), len(P), E.shape[1])
        return {"init": init, "state": {"E": E, "P": P}, "ids": inputs["ids"]}

    return [Fixture(f.name, in_module(f.inputs), f.weight) for f in embed_fixtures(rng)]


def _embedding(init, state, ids, embed=oracle.embed):
    return embed(ids, state["E"], state["P"])


def _too_long(c, inputs):
    """One token too many; and n_positions = 1, where P[:T] would fit any T by broadcasting."""
    V, n, d = inputs["init"]
    B = len(inputs["ids"])
    one = {"E": inputs["state"]["E"], "P": inputs["state"]["P"][:1]}
    return [
        Call(init=inputs["init"], state=inputs["state"], args=(np.zeros((B, n + 1), int),)),
        Call(init=(V, 1, d), state=one, args=(np.zeros((B, 3), int),)),
    ]


def _too_long_verdict(c, inputs, answers):
    for (n, T), answer in zip(((inputs["init"][1], inputs["init"][1] + 1), (1, 3)), answers):
        look = "Compare T with n_positions before you look anything up, and raise a ValueError."
        if answer.failure is None:
            return Trouble(
                f"With n_positions = {n} it accepts a sequence of {T} tokens.", look=look
            )
        if not answer.failure.is_a("ValueError"):
            return Trouble(
                f"With n_positions = {n} and {T} tokens it raises {answer.failure.type}; "
                "the exercise asks for a ValueError.",
                answer.failure.message,
                look,
            )
        if not {str(T), str(n)} <= set(re.findall(r"\d+", answer.failure.message)):
            return Trouble(
                f"With n_positions = {n} and {T} tokens, the ValueError's message should name "
                "both numbers.",
                f"It says: {answer.failure.message}" if answer.failure.message else "It is empty.",
                'An f-string puts them in: f"{T} tokens, but n_positions is {n_positions}".',
            )
    return None


INITIAL = initial_values((100, 80, 64), {"E": (("E",), 0.02), "P": (("P",), 0.02)}, {})

IN_MODULE = (
    "no_positions",
    "off_by_one",
    "position_by_id",
    "swapped",
    "last_rows",
    "scaled",
    "concatenated",
    "length_of_batch",
)
EMBEDDING = Component(
    "Embedding",
    embedding_fixtures,
    _embedding,
    call=module,
    properties=(
        Property("a ValueError when there are too many tokens", _too_long, _too_long_verdict, 2.0),
        INITIAL,
        *batch_dims("ids"),
        *COMMON,
    ),
    mistakes=tuple(
        Mistake(m.name, partial(_embedding, embed=m.wrong), m.says, m.look)
        for m in EMBED_MISTAKES
        if m.name in IN_MODULE
    ),
    needs=("embed",),
)
