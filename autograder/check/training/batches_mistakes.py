"""What goes wrong in get_batch."""

from __future__ import annotations

import numpy as np

from autograder.check.mistake import entries
from autograder.oracle import training as oracle


def describe(data: np.ndarray, starts: np.ndarray | None, x: np.ndarray, y: np.ndarray) -> tuple:
    """Of a single place to start, a row; of more, how often each is drawn. Where windows start, how
    x runs on from there, and y's lead over x."""
    order = np.argsort(data)
    at, ahead = (order[np.searchsorted(data, rows, sorter=order)] for rows in (x, y))
    share = np.bincount(at[:, 0], minlength=len(data)) / len(x)
    runs = 1.0 * (share > 0), (at - at[:, :1]).mean(0), (ahead - at).mean(0)
    none = np.zeros(0)
    if starts is None or len(starts) > 1:
        return none, none, *runs, share
    i = at[:, 0].argmin()
    return x[i], y[i], *runs, none


def expected(data, batch_size, T, starts, generator, **switches):
    return describe(data, starts, *oracle.windows(data, T, starts, **switches))


mistake = entries(expected)


FORETELLS_LATE = (
    "The model learns to leave out every other word: it foretells the second next token without "
    "knowing the next one, and its loss stays high."
)
SEES_NOTHING = (
    "Every position would have to foretell a token T places on. It sees none of the T - 1 tokens "
    "between them, so there is little to learn."
)
MISTAKES = (
    mistake(
        "not_shifted",
        "The targets y are the same tokens as x; they should be those one place later in data.",
        "Where y is taken: data[s + t] -> data[s + t + 1], with t = 0, ..., T - 1.",
        "The model would learn to repeat its input. Its loss falls to almost 0, and it cannot "
        "foretell a single word.",
        lag=0,
    ),
    mistake(
        "shifted_twice",
        "The targets y lie two tokens ahead of x, not one; at the last place they run past the end "
        "of data.",
        "Where y is taken: data[s + t + 2] -> data[s + t + 1]. Then T + 1 tokens are enough for both.",
        FORETELLS_LATE,
        lag=2,
    ),
    mistake(
        "shifted_twice_within_data",
        "The targets y lie two tokens ahead of x, not one, and the last place to start is left out "
        "to make room for them.",
        "Two lines: where y is taken, data[s + t + 2] -> data[s + t + 1]; where s is drawn, "
        "randint(N - T - 1) -> randint(N - T).",
        FORETELLS_LATE,
        lag=2,
        beyond=-1,
    ),
    mistake(
        "swapped",
        "x and y are swapped: x is one token later than y; y should be one token later than x.",
        "return y, x -> return x, y. (If the return is right: x begins at s, and y at s + 1.)",
        "The token before is in the model's input already, so the loss falls to almost 0, and "
        "nothing is learnt about what comes next.",
        shift=1,
        lag=-1,
    ),
    mistake(
        "rolled",
        "The last target of each row is the row's own first token, as torch.roll gives it; it should "
        "be the next token of data.",
        "Take y from data, not from x: torch.roll(x, ...) -> data[s + t + 1].",
        "The model learns to end every window with its first token again: when T tokens stand "
        "before it, what it writes next is wrong.",
        wrap=True,
    ),
    mistake(
        "next_block",
        "y is the next block, data[s + T + t], which at the last places runs past the end of data; "
        "it should be data[s + t + 1].",
        "Where y is taken: data[s + T + t] -> data[s + t + 1]. It begins one token after x, not T.",
        SEES_NOTHING,
        lag="T",
    ),
    mistake(
        "next_block_within_data",
        "y is the next block, data[s + T + t], and the last places are left out to make room for it; "
        "it should be data[s + t + 1].",
        "Two lines: where y is taken, data[s + T + t] -> data[s + t + 1]; where s is drawn, "
        "randint(N - 2 * T + 1) -> randint(N - T).",
        SEES_NOTHING,
        lag="T",
        beyond="1 - T",
    ),
    mistake(
        "last_window_missing",
        "The last window is never drawn; place N - T - 1 should be drawn as often as any other.",
        "Where s is drawn: randint(N - T - 1) -> randint(N - T), which ends at N - T - 1: randint "
        "leaves its upper end out.",
        "The last token of the text is then never a target. On a long text nobody notices; a "
        "text of T + 1 tokens has no window left, and randint raises.",
        beyond=-1,
    ),
    mistake(
        "first_window_missing",
        "The window at place 0 is never drawn; it should be drawn as often as any other.",
        "Where s is drawn, begin at 0, not at 1: randint(1, N - T) -> randint(N - T).",
        "The first token of the text is then never seen. On a long text nobody notices; a text "
        "of T + 1 tokens has no window left.",
        first=1,
    ),
    mistake(
        "only_multiples",
        "Windows begin only at multiples of T; they should begin at any place from 0 to N - T - 1.",
        "Where s is drawn: no factor T and no steps of T, but randint(N - T).",
        "With T = 1024 the text has 1024 times fewer windows, and a token always stands at the "
        "same position, with the same tokens before it.",
        every="T",
    ),
    mistake(
        "starts_ignored",
        "`starts` is not used: windows begin anywhere. Where it is given, they should begin only at "
        "its entries.",
        "If starts is not None, draw from it: s = torch.randint(N - T, ...) -> "
        "s = starts[torch.randint(len(starts), ...)].",
        "Whoever hands in the starts of documents wants windows that begin there, and gets "
        "such as begin in the middle of a sentence.",
        drawn="anywhere",
    ),
    mistake(
        "starts_not_looked_up",
        "The number drawn below len(starts) is taken as the place s; s should be the entry of starts "
        "with this number.",
        "If starts is given: s = torch.randint(len(starts), ...) -> "
        "s = starts[torch.randint(len(starts), ...)].",
        "All windows come from the first few tokens of the text. Most of the text is never read.",
        drawn="numbers of starts",
    ),
)
