"""What is measured in place of the gradient at every depth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.check.mistake import Mistake, altered
from autograder.oracle import residual_stream as oracle


def _mistake(name: str, says: str, look: str, why: str, **changes: Any) -> Mistake:
    return Mistake(name, altered(oracle.gradient_norms, **changes), says, look, why)


def _residual(inputs: dict) -> bool:
    return inputs.get("residual", True)


def _streams_stay(norms: tuple, residual: bool) -> tuple:
    """Where the residual is asked for all is right; else every stream is the start."""
    return norms if residual else norms[-1:] * len(norms)


def _piled_up(norms: tuple, residual: bool) -> tuple:
    """.grad holds the sum of all backward passes so far."""
    return tuple((i + 1) * norm for i, norm in enumerate(norms))


def _at_the_start(x, kinds, state, residual=True):
    """d sum(x_l) / d x_0."""
    return [
        oracle.stream_gradients(x, kinds[:depth], state, residual)[0]
        for depth in range(len(kinds) + 1)
    ]


def _mean_over_positions(g: np.ndarray) -> float:
    return float(np.sqrt((g * g).sum(-1)).mean())


def _entry(f: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], float]:
    return lambda g: float(f(g))


SCALAR = "One scalar for all gradients: streams[-1].sum()."
NORM = "Root of the sum of squares over all entries of the tensor: gradient.norm().item()."
KEEP = "Keep every stream of the loop in a list, and take the gradient at each."
FORWARD = "x_{l+1} = x_l + f_l(x_l) if residual, else f_l(x_l)."
ALL = "There are L + 1 streams: the list starts with x_0, and each sub-layer appends one."

MISTAKES = (
    _mistake(
        "residual_ignored",
        "It always adds the residual, whatever `residual` says.",
        "Without it, x_{l+1} = f_l(x_l).",
        "The picture below the exercise would show the same curve twice, and not what the addition "
        "is good for.",
        before=lambda i: {"residual": True},
    ),
    _mistake(
        "never_residual",
        "It never adds the residual: the norms are those of plainly stacked layers.",
        "With it, x_{l+1} = x_l + f_l(x_l).",
        "The product of the Jacobians shrinks with the depth; adding the identity to each of them is "
        "what this experiment is about.",
        before=lambda i: {"residual": False},
    ),
    _mistake(
        "residual_negated",
        "It is the wrong way round: it leaves out the residual when `residual` is True.",
        FORWARD,
        "The two curves below the exercise change places, as if the addition made gradients vanish.",
        before=lambda i: {"residual": not _residual(i)},
    ),
    _mistake(
        "no_else",
        "Without the residual the stream never changes: the sub-layer's result is dropped.",
        "When `residual` is False the result replaces the stream: x_{l+1} = f_l(x_l).",
        "Every stream is then the start, and every norm the same. A deep stack without residuals "
        "would look harmless.",
        listed=_streams_stay,
    ),
    _mistake(
        "skip_cut",
        "The gradient goes through the sub-layers only: the stream in x + f(x) is detached.",
        "x_l + f_l(x_l) as it is, without detach() or .data.",
        "The stream's way back is the identity in I + J. Without it the gradient is the product of "
        "the Jacobians, as if there were no addition.",
        skip=False,
    ),
    _mistake(
        "cut",
        "No gradient gets past the last sub-layer: the graph is cut in between.",
        "Detach x once, at the start; the streams after it must stay connected.",
        "A detached tensor is a constant to autograd. In training, nothing below it would learn.",
        listed=lambda norms, residual: (0.0,) * (len(norms) - 1) + norms[-1:],
    ),
    _mistake(
        "reversed",
        "The norms are in reverse order: entry 0 belongs to x_0, the embedding.",
        "The gradients in the order of the streams, x_0 first.",
        "Read so, a gradient that vanishes on its way down seems to vanish on its way up.",
        listed=lambda norms, residual: norms[::-1],
    ),
    _mistake(
        "final_missing",
        "The final stream x_L is missing: there are L + 1 streams, x_0 to x_L.",
        ALL,
        "The last norm is the one that is known: the gradient at x_L is all ones, so it is the root "
        "of the number of entries. It is a test of the rest.",
        after=lambda norms: norms[:-1],
    ),
    _mistake(
        "start_missing",
        "The embedding x_0 is missing: there are L + 1 streams, x_0 to x_L.",
        ALL,
        "How much reaches the embedding is the very question: it decides how fast the first layers "
        "learn.",
        after=lambda norms: norms[1:],
    ),
    _mistake(
        "all_at_start",
        "All entries are the norm at x_0.",
        KEEP,
        "A flat curve looks as if nothing were lost on the way.",
        listed=lambda norms, residual: norms[:1] * len(norms),
    ),
    _mistake(
        "all_at_end",
        "All entries are the norm at x_L.",
        KEEP,
        "A flat curve looks as if nothing were lost on the way; at x_L the gradient is all ones, "
        "whatever the sub-layers do.",
        listed=lambda norms, residual: norms[-1:] * len(norms),
    ),
    _mistake(
        "streams",
        "These are the norms of the streams themselves, not of the gradients there.",
        "torch.autograd.grad(streams[-1].sum(), streams) gives the gradients; take their norms.",
        "A stream can be long where hardly any gradient arrives, and the other way round.",
        where=oracle.streams,
    ),
    _mistake(
        "one_step",
        "Each gradient goes through one sub-layer only, not to the end of the stack.",
        "Differentiate the sum of x_L, the last stream, for every l.",
        "Vanishing is a product: 40 factors of 0.5 are 1e-12, and none of them alone looks bad.",
        through=False,
    ),
    _mistake(
        "at_the_start",
        "It differentiates each stream by x_0. The last stream by each of the streams is asked for.",
        "torch.autograd.grad(streams[-1].sum(), streams): one scalar, all streams.",
        "That says how far the start reaches. What decides how fast a layer learns is how much of the "
        "loss comes back to it.",
        where=_at_the_start,
    ),
    _mistake(
        "accumulated",
        "It differentiates the sum of all streams; the exercise asks for the last one, x_L.",
        SCALAR,
        "A loss is read off the end of a model. Here each stream adds ones of its own to the "
        "gradients, so that none of them can vanish.",
        all_streams=True,
    ),
    _mistake(
        "piled_up",
        "Entry l is l + 1 times too large: backward() runs once for each stream, and .grad adds up.",
        "One backward() before the norms are taken, or torch.autograd.grad, which adds nothing up.",
        "The same happens in training without zero_grad(): each step takes the gradients of all steps "
        "before it along.",
        listed=_piled_up,
    ),
    _mistake(
        "of_the_mean",
        "Each norm is divided by the number of entries, as if the mean of x_L were differentiated.",
        f"{SCALAR} And nothing is to be divided.",
        "All norms are divided by the number of entries: the curve has the right form, but compares "
        "with no other size of batch or stream.",
        top=lambda x: 0 * x + 1 / x.size,
    ),
    _mistake(
        "of_the_squares",
        "It differentiates the sum of the squares of x_L; the exercise asks for the sum.",
        SCALAR,
        "The gradient at the end is then 2 x_L: it grows with the stream, and the curve shows both "
        "at once.",
        top=lambda x: 2 * x,
    ),
    _mistake(
        "of_the_norm",
        "It differentiates the norm of x_L; the exercise asks for the sum of its entries.",
        "First streams[-1].sum() and its gradients; the norm is taken of each gradient.",
        "The gradient of a norm has length 1 at the end, whatever the size of the stream, and points "
        "along the stream.",
        top=lambda x: x / oracle.norm(x),
    ),
    _mistake(
        "squared",
        "These are the squares of the norms.",
        NORM,
        "Squares double every slope of the logarithmic picture: a gradient of 1e-12 seems to be 1e-24.",
        of=lambda g: oracle.norm(g) ** 2,
    ),
    _mistake(
        "logarithm",
        "These are the logarithms of the norms.",
        NORM,
        "The axis of the picture is logarithmic by itself, and a norm of 0 has no logarithm.",
        of=_entry(lambda g: np.log(oracle.norm(g))),
    ),
    _mistake(
        "root_mean_square",
        "Each norm is divided by the root of the number of entries, as in a root mean square.",
        NORM,
        "Each number is divided by the root of the number of entries: right in form, and 1 at x_L "
        "always.",
        of=_entry(lambda g: np.sqrt((g * g).mean())),
    ),
    _mistake(
        "mean_size",
        "It takes the mean of the absolute entries, not the norm.",
        NORM,
        "An average is the same for a gradient that is spread out and for one that is large at few "
        "places; the length of the step is not.",
        of=_entry(lambda g: np.abs(g).mean()),
    ),
    _mistake(
        "absolute_sum",
        "It takes the sum of the absolute entries, not the norm.",
        NORM,
        "For all ones that is the number of entries N in place of its root: the last norm, which is "
        "known beforehand, shows it.",
        of=_entry(lambda g: np.abs(g).sum()),
    ),
    _mistake(
        "largest",
        "It takes the largest absolute entry, not the norm.",
        NORM,
        "One entry says little of thousands: at x_L it is 1 whatever the size of the stream.",
        of=_entry(lambda g: np.abs(g).max()),
    ),
    _mistake(
        "summed",
        "It sums the entries of the gradient; the norm is the root of the sum of squares.",
        NORM,
        "Entries of opposite sign cancel: a large gradient can sum to 0.",
        of=_entry(np.sum),
    ),
    _mistake(
        "mean_over_positions",
        "It averages the norms of the single positions; one norm of the whole is asked for.",
        "gradient.norm() without dim: one number, whatever the shape.",
        "At x_L that is the root of d, not of all entries: it does not grow with batch and text.",
        of=_mean_over_positions,
    ),
    _mistake(
        "first_sequence",
        "It takes the norm for the first sequence of the batch only.",
        "gradient.norm() of the whole tensor: one number, whatever the shape.",
        "All other sequences of the batch go uncounted, and without a batch dimension it is the norm "
        "at one position.",
        of=lambda g: oracle.norm(g[0]),
    ),
)
