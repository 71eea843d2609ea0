"""The embedding, as a function and as a module."""

from __future__ import annotations

import re

import numpy as np

from autograder.check.architecture.embedding_mistakes import mistakes_of
from autograder.check.component import Component, module
from autograder.check.draw import choice, normal
from autograder.check.parts import Fixture, Property
from autograder.check.properties.common import COMMON
from autograder.check.properties.initial import initial_values
from autograder.check.properties.varied import batch_dims
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


# Tens come from E and ones from P; a token comes twice, and no id is the number of its place.
EXAMPLE = {
    "ids": np.array([[2, 0, 3], [1, 2, 1]]),
    "E": np.float32([[10, 20], [30, 40], [50, 60], [70, 80]]),
    "P": np.arange(12, dtype=np.float32).reshape(6, 2),
}
TABLES = (
    "Which table is read at what? E has a row for each id, P one for each place: E[ids], P[:T]."
)
RAISES = {
    "must match the size": "P[:T] with T = ids.shape[-1] has the shape (T, d), and broadcasts over a "
    "batch (..., T, d) by itself.",
    "out of bounds": TABLES,
    "out of range in self": TABLES,  # of torch.nn.functional.embedding
}

EMBED = Component(
    "embed",
    embed_fixtures,
    oracle.embed,
    properties=(*batch_dims("ids"), *COMMON),
    mistakes=mistakes_of(oracle.embed),
    example=EXAMPLE,
    raises=RAISES,
)

# ------------------------------------------------------------------ Embedding


def embedding_fixtures(rng):
    def in_module(inputs):
        E, P = inputs["E"], inputs["P"]
        init = (len(E), len(P), E.shape[1])
        return {"init": init, "state": {"E": E, "P": P}, "ids": inputs["ids"]}

    return [
        Fixture("E[i] = 10 * i, P[t] = t, ids = [[2, 0, 3], [1, 2, 1]]", in_module(_plain()), 0.0),
        *(Fixture(f.name, in_module(f.inputs), f.weight) for f in embed_fixtures(rng)),
    ]


def _plain():
    """The example's ids, and tables that a few words can tell."""
    E, P = np.zeros((4, 5), np.float32), np.zeros((6, 5), np.float32)
    E[:], P[:] = 10 * np.arange(4)[:, None], np.arange(6)[:, None]
    return EXAMPLE | {"E": E, "P": P}


def _embedding(init, state, ids, **switches):
    return oracle.embed(ids, state["E"], state["P"], **switches)


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


INITIAL = initial_values(
    (100, 80, 64),
    {"E": (("E",), 0.02), "P": (("P",), 0.02)},
    {},
    look="torch.randn draws with deviation 1: nn.Parameter(0.02 * torch.randn(rows, d_model)).",
)
OWN = (
    "E and P are parameters of the module itself, not modules: self.E = nn.Parameter(…) of shape "
    "(vocab_size, d_model), self.P = nn.Parameter(…) of shape (n_positions, d_model)."
)
EQUAL = (
    "If your own comparison raises it: T = n_positions is allowed, only a larger T is refused. "
    "T is ids.shape[-1], n_positions the number of rows of P."
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
    mistakes=mistakes_of(_embedding),
    needs=("embed",),
    raises=RAISES
    | {part: OWN for part in ("not expected", "missing", "has shape")}
    | {part: EQUAL for part in ("position", "token", "too long")},
)
