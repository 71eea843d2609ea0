"""What is measured in place of the gradient at every depth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.check.mistake import entries
from autograder.oracle import residual_stream as oracle

_mistake = entries(oracle.gradient_norms)


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


def _but_the_first(x, kinds, state, residual=True):
    """Of the sum of x_1 to x_L: that of all streams, less the ones that x_0 adds itself."""
    first, *rest = oracle.stream_gradients(x, kinds, state, residual, all_streams=True)
    return [first - 1, *rest]


def _past_the_write(norms: tuple, residual: bool) -> tuple:
    """What arrives when no gradient goes through a sub-layer."""
    return norms[-1:] * len(norms) if residual else (0.0,) * (len(norms) - 1) + norms[-1:]


def _last_ones(n: int) -> Callable[[tuple, bool], tuple]:
    """Zeros in place of all norms but the last n."""
    return lambda norms, residual: (0.0,) * (len(norms) - n) + norms[-n:]


MISTAKES = (
    _mistake(
        "residual_ignored",
        "The residual is always added; when `residual` is False, x_{l+1} should be f_l(x_l) alone.",
        "In the loop, if residual is False: x = f(x), not x = x + f(x).",
        "The picture below the exercise would show the same curve twice, and not what the addition "
        "is good for.",
        before=lambda i: {"residual": True},
    ),
    _mistake(
        "never_residual",
        "The residual is never added; when `residual` is True, x_{l+1} should be x_l + f_l(x_l).",
        "In the loop, if residual is True: x = x + f(x), not x = f(x).",
        "The product of the Jacobians shrinks with the depth; adding the identity to each of them is "
        "what this experiment is about.",
        before=lambda i: {"residual": False},
    ),
    _mistake(
        "residual_negated",
        "The two cases are swapped: the residual is left out when `residual` is True and added when "
        "it is False. It should be added when `residual` is True.",
        "The condition in the loop: if not residual -> if residual.",
        "The two curves below the exercise change places, as if the addition made gradients vanish.",
        before=lambda i: {"residual": not _residual(i)},
    ),
    _mistake(
        "no_else",
        "When `residual` is False every stream is x_0: the write is dropped. It should become the next "
        "stream.",
        "`if residual:` needs an `else:`, in which the stream becomes the write.",
        "Every stream is then the start, and every norm the same. A deep stack without residuals "
        "would look harmless.",
        listed=_streams_stay,
    ),
    _mistake(
        "skip_cut",
        "The x that is added is detached, x.detach() + f(x): gradients go through the sub-layers "
        "only. It should be x itself.",
        "In the sum of the loop: x.detach() or x.data -> x.",
        "The stream's way back is the identity in I + J. Without it the gradient is the product of "
        "the Jacobians, as if there were no addition.",
        skip=False,
    ),
    _mistake(
        "write_detached",
        "The x that the sub-layer reads is detached, f(x.detach()), so no gradient flows through "
        "the sub-layers. It should be x itself.",
        "In the call of the sub-layer: f(x.detach()) or f(x.data) -> f(x).",
        "The gradient is then all ones at every depth, whatever the sub-layers do: as if it could "
        "neither vanish nor grow.",
        listed=_past_the_write,
    ),
    _mistake(
        "cut",
        "Every entry but the last is 0: each new stream is detached from the one before it. It "
        "should stay connected.",
        "In the loop: no detach() around the new stream. Only x_0 is detached, before the loop.",
        "A detached tensor is a constant to autograd. In training, nothing below it would learn.",
        listed=_last_ones(1),
    ),
    _mistake(
        "cut_before_reading",
        "Every entry but the last two is 0: in each turn the stream is detached before the sub-layer "
        "reads it. It should stay connected.",
        "Detach x_0 before the loop, and nothing in it: a line x = x.detach().requires_grad_() at the "
        "top of the loop cuts all earlier streams off.",
        "A detached tensor is a constant to autograd. In training, nothing below it would learn.",
        listed=_last_ones(2),
    ),
    _mistake(
        "reversed",
        "The norms are in reverse order, that of x_L first; that of x_0 should be first.",
        "Leave out the turning: [::-1], reversed(...), or insert(0, norm) in place of append(norm).",
        "Read so, a gradient that vanishes on its way down seems to vanish on its way up.",
        listed=lambda norms, residual: norms[::-1],
    ),
    _mistake(
        "final_missing",
        "The norm at x_L is missing: the list holds those at x_0 to x_{L-1}. It should hold L + 1 "
        "norms, up to that at x_L.",
        "If x is appended before the update, append the last x once more below the loop. Or start"
        " with streams = [x] and append after the update. No streams[:-1].",
        "The last norm is the one that is known: the gradient at x_L is all ones, so it is the root "
        "of the number of entries. It is a test of the rest.",
        after=lambda norms: norms[:-1],
    ),
    _mistake(
        "start_missing",
        "The norm at x_0 is missing: the list holds those at x_1 to x_L. It should hold L + 1 norms, "
        "from that at x_0 on.",
        "Before the loop: streams = [] -> streams = [x], where x is the start that autograd tracks.",
        "How much reaches the embedding is the very question: it decides how fast the first layers "
        "learn.",
        after=lambda norms: norms[1:],
    ),
    _mistake(
        "all_at_start",
        "Every entry is the norm of the gradient at x_0; entry l should be that at x_l.",
        "Where the gradients are taken: streams[0] for every l -> streams[l].",
        "A flat curve looks as if nothing were lost on the way.",
        listed=lambda norms, residual: norms[:1] * len(norms),
    ),
    _mistake(
        "all_at_end",
        "Every entry is the norm of the gradient at x_L; entry l should be that at x_l.",
        "Where the gradients are taken: streams[-1] for every l -> streams[l].",
        "A flat curve looks as if nothing were lost on the way; at x_L the gradient is all ones, "
        "whatever the sub-layers do.",
        listed=lambda norms, residual: norms[-1:] * len(norms),
    ),
    _mistake(
        "streams",
        "Entry l is the norm of the stream x_l itself; it should be the norm of the gradient at x_l.",
        "In the return: not stream.norm() but gradient.norm(), for the gradients that autograd gives.",
        "A stream can be long where hardly any gradient arrives, and the other way round.",
        where=oracle.streams,
    ),
    _mistake(
        "one_step",
        "Entry l comes from d sum(x_{l+1}) / d x_l, the next stream by this one; it should come from "
        "d sum(x_L) / d x_l, the last stream by this one.",
        "What is differentiated: streams[l + 1].sum() -> streams[-1].sum(), for every l.",
        "Vanishing is a product: 40 factors of 0.5 are 1e-12, and none of them alone looks bad.",
        through=False,
    ),
    _mistake(
        "at_the_start",
        "Entry l comes from d sum(x_l) / d x_0, this stream by the first; it should come from "
        "d sum(x_L) / d x_l, the last stream by this one.",
        "torch.autograd.grad(streams[l].sum(), streams[0]) -> (streams[-1].sum(), streams[l]).",
        "That says how far the start reaches. What decides how fast a layer learns is how much of the "
        "loss comes back to it.",
        where=_at_the_start,
    ),
    _mistake(
        "accumulated",
        "It differentiates the sum of all streams, x_0 to x_L; it should differentiate the sum of x_L "
        "alone.",
        "What is differentiated: sum(stream.sum() for stream in streams) -> streams[-1].sum().",
        "A loss is read off the end of a model. Here each stream adds ones of its own to the "
        "gradients, so that none of them can vanish.",
        all_streams=True,
    ),
    _mistake(
        "accumulated_but_first",
        "It differentiates the sum of the streams x_1 to x_L; it should differentiate the sum of x_L "
        "alone.",
        "Is x.sum().backward() called in the loop, for every stream? Call it once, below the loop.",
        "A loss is read off the end of a model. Here each stream adds ones of its own to the "
        "gradients, so that none of them can vanish.",
        where=_but_the_first,
    ),
    _mistake(
        "piled_up",
        "Entry l is l + 1 times the right one: backward() runs once per stream, and .grad adds up. "
        "It should run once in all.",
        "Take backward() out of the loop over the norms: one call, before that loop.",
        "The same happens in training without zero_grad(): each step takes the gradients of all steps "
        "before it along.",
        listed=_piled_up,
    ),
    _mistake(
        "of_the_mean",
        "Each norm is divided by the number of entries of x, as for the mean of x_L; it should be "
        "that for the sum of x_L, with no division.",
        "What is differentiated: streams[-1].mean() -> streams[-1].sum(). Or leave out / x.numel().",
        "All norms are divided by the number of entries: the curve has the right form, but compares "
        "with no other size of batch or stream.",
        top=lambda x: 0 * x + 1 / x.size,
    ),
    _mistake(
        "of_the_squares",
        "It differentiates the sum of the squares of x_L; it should be the sum of its entries.",
        "What is differentiated: (x_L ** 2).sum() -> x_L.sum(), where x_L is streams[-1].",
        "The gradient at the end is then 2 x_L: it grows with the stream, and the curve shows both "
        "at once.",
        top=lambda x: 2 * x,
    ),
    _mistake(
        "of_the_norm",
        "It differentiates the norm of x_L; it should be the sum of its entries.",
        "What is differentiated: x_L.norm() -> x_L.sum(), where x_L is streams[-1]. The norm is "
        "taken later, of each gradient.",
        "The gradient of a norm has length 1 at the end, whatever the size of the stream, and points "
        "along the stream.",
        top=lambda x: x / oracle.norm(x),
    ),
    _mistake(
        "squared",
        "Each entry is the square of the norm, the sum of squares; it should be the norm, the root "
        "of that sum.",
        "(gradient ** 2).sum() -> gradient.norm(). Or leave out the ** 2 behind the norm.",
        "Squares double every slope of the logarithmic picture: a gradient of 1e-12 seems to be 1e-24.",
        of=lambda g: oracle.norm(g) ** 2,
    ),
    _mistake(
        "logarithm",
        "Each entry is the logarithm of the norm; it should be the norm.",
        "In the return: leave out the log.",
        "The axis of the picture is logarithmic by itself, and a norm of 0 has no logarithm.",
        of=_entry(lambda g: np.log(oracle.norm(g))),
    ),
    _mistake(
        "root_mean_square",
        "Each entry is the root of the mean of the squares; it should be the root of their sum.",
        "Sum the squares, not their mean: (gradient ** 2).mean() -> (gradient ** 2).sum(), under the "
        "root.",
        "Each number is divided by the root of the number of entries: right in form, and 1 at x_L "
        "always.",
        of=_entry(lambda g: np.sqrt((g * g).mean())),
    ),
    _mistake(
        "mean_size",
        "Each entry is the mean of the gradient's absolute entries; it should be the norm, the root "
        "of the sum of squares.",
        "Of each gradient: .norm(), not .abs().mean().",
        "An average is the same for a gradient that is spread out and for one that is large at few "
        "places; the length of the step is not.",
        of=_entry(lambda g: np.abs(g).mean()),
    ),
    _mistake(
        "absolute_sum",
        "Each entry is the sum of the gradient's absolute entries; it should be the norm, the root of "
        "the sum of squares.",
        "Of each gradient: .norm(), not .abs().sum() and not .norm(1).",
        "For all ones that is the number of entries N in place of its root: the last norm, which is "
        "known beforehand, shows it.",
        of=_entry(lambda g: np.abs(g).sum()),
    ),
    _mistake(
        "largest",
        "Each entry is the gradient's largest absolute entry; it should be the norm, the root of the "
        "sum of squares.",
        "Of each gradient: .norm(), not .abs().max().",
        "One entry says little of thousands: at x_L it is 1 whatever the size of the stream.",
        of=_entry(lambda g: np.abs(g).max()),
    ),
    _mistake(
        "summed",
        "Each entry is the sum of the gradient's entries, signs included; it should be the norm, the "
        "root of the sum of squares.",
        "Of each gradient: .norm(), not .sum().",
        "Entries of opposite sign cancel: a large gradient can sum to 0.",
        of=_entry(np.sum),
    ),
    _mistake(
        "mean_over_positions",
        "Each entry is the mean of the norms of the single positions; it should be one norm, over all "
        "entries of the gradient.",
        "Of each gradient: .norm(dim=-1).mean() -> .norm(), without dim.",
        "At x_L that is the root of d, not of all entries: it does not grow with batch and text.",
        of=_mean_over_positions,
    ),
    _mistake(
        "first_sequence",
        "Each entry is the norm of gradient[0], the first sequence of the batch; it should be that of "
        "the whole gradient.",
        "Leave out the index: gradient[0].norm() -> gradient.norm().",
        "All other sequences of the batch go uncounted, and without a batch dimension it is the norm "
        "at one position.",
        of=lambda g: oracle.norm(g[0]),
    ),
)
