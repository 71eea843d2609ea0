"""gradient_norms: how much of the gradient arrives at each depth."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from autograder.check.component import Component
from autograder.check.findings import failure
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture, Property
from autograder.check.draw import normal
from autograder.check.properties import python_numbers, unchanged
from autograder.check.varied import property_of
from autograder.check.residual_stream.sublayers import call_with, silent, sizes, stack
from autograder.judge.compare import difference, form
from autograder.oracle import residual_stream as oracle


def gradient_fixtures(rng):
    B, T, d, L = sizes(rng)
    x = partial(normal, rng, B, T, d)
    layers = ["tanh"] * L
    return [
        Fixture("one sub-layer", stack(rng, x(), "tanh"), weight=1.0),
        Fixture("without the residual", stack(rng, x(), *layers) | {"residual": False}),
        Fixture("with the residual", stack(rng, x(), *layers), weight=3.0),
    ]


def also(probe: str, name: str, where: str, look: str) -> Property:
    """The same numbers must come under the circumstances that another probe makes."""

    def calls(c, inputs):
        return [replace(c.call(inputs), probe=f"residual_stream:{probe}")]

    def verdict(c, inputs, answers):
        (answer,) = answers
        if answer.failure:
            return replace(failure(answer, where), look=look)
        want = c.expected(inputs)
        trouble = form(answer.value, want, c.outputs)
        trouble = trouble or difference(answer.value, want, c.tolerance, c.outputs)
        return (
            replace(trouble, what=f"{trouble.what} (Seen {where}.)", look=look) if trouble else None
        )

    return Property(name, calls, verdict, weight=0.5, exact=True)


def _reduced(of):
    return partial(oracle.gradient_norms, of=of)


def _sequence(f):
    """`f` of the right list of norms."""
    return lambda *args, **kwargs: tuple(f(oracle.gradient_norms(*args, **kwargs)))


def _residual(value):
    return lambda x, kinds, state, residual=True: oracle.gradient_norms(x, kinds, state, value)


def _accumulated(x, kinds, state, residual=True):
    """The gradient of the sum of all streams."""
    total = [0.0] * (len(kinds) + 1)
    for top in range(len(kinds) + 1):
        for i, g in enumerate(oracle.stream_gradients(x, kinds[:top], state, residual)):
            total[i] = total[i] + g
    return tuple(map(oracle.norm, total))


GRADIENT_NORMS = Component(
    "gradient_norms",
    gradient_fixtures,
    oracle.gradient_norms,
    call=call_with("gradient_norms"),
    properties=(
        unchanged,
        python_numbers(float),
        property_of(silent, "sub-layers that write zero: all norms are equal", "", weight=0.5),
        also(
            "gradient_norms_again",
            "the same numbers when it is called again",
            "in the second of two calls",
            "backward() adds to .grad, also to that of the x it was given. Start from "
            "x.detach().requires_grad_(), or use torch.autograd.grad.",
        ),
        also(
            "gradient_norms_of_computed",
            "x may come out of a computation",
            "on an x that is the result of a computation",
            "Only leaves keep their .grad. Start from x.detach().requires_grad_(), or call "
            "retain_grad() on every stream, or use torch.autograd.grad.",
        ),
    ),
    mistakes=(
        Mistake(
            "residual_ignored",
            _residual(True),
            "It always adds the residual, whatever `residual` says.",
            "Without it, x_{l+1} = f_l(x_l).",
        ),
        Mistake(
            "never_residual",
            _residual(False),
            "It never adds the residual: the norms are those of plainly stacked layers.",
            "With it, x_{l+1} = x_l + f_l(x_l).",
        ),
        Mistake(
            "residual_negated",
            lambda x, kinds, state, residual=True: oracle.gradient_norms(
                x, kinds, state, not residual
            ),
            "It is the wrong way round: it leaves out the residual when `residual` is True.",
        ),
        Mistake(
            "reversed",
            _sequence(reversed),
            "The norms are in reverse order: entry 0 belongs to x_0, the embedding.",
        ),
        Mistake(
            "final_missing",
            _sequence(lambda norms: norms[:-1]),
            "The final stream x_L is missing: there are L + 1 streams, x_0 to x_L.",
        ),
        Mistake(
            "start_missing",
            _sequence(lambda norms: norms[1:]),
            "The embedding x_0 is missing: there are L + 1 streams, x_0 to x_L.",
        ),
        Mistake(
            "all_at_start",
            _sequence(lambda norms: norms[:1] * len(norms)),
            "All entries are the norm at x_0.",
            "Keep every stream of the loop, and take the gradient at each.",
        ),
        Mistake(
            "all_at_end",
            _sequence(lambda norms: norms[-1:] * len(norms)),
            "All entries are the norm at x_L.",
            "Keep every stream of the loop, and take the gradient at each.",
        ),
        Mistake(
            "cut",
            _sequence(lambda norms: (0.0,) * (len(norms) - 1) + norms[-1:]),
            "No gradient gets past the last sub-layer: the graph is cut in between.",
            "Detach x once, at the start; the streams after it must stay connected.",
        ),
        Mistake(
            "streams",
            lambda *args, **kwargs: tuple(map(oracle.norm, oracle.streams(*args, **kwargs))),
            "These are the norms of the streams themselves, not of the gradients there.",
        ),
        Mistake(
            "one_step",
            altered(oracle.gradient_norms, through=False),
            "Each gradient goes through one sub-layer only, not to the end of the stack.",
            "Differentiate the sum of x_L, for every l.",
        ),
        Mistake(
            "accumulated",
            _accumulated,
            "It differentiates the sum of all streams; the exercise asks for the last one, x_L.",
            "One scalar, x_L.sum(), for all gradients.",
        ),
        Mistake(
            "of_the_mean",
            altered(oracle.gradient_norms, top=lambda x: 0 * x + 1 / x.size),
            "It differentiates the mean of x_L; the exercise asks for the sum.",
        ),
        Mistake(
            "of_the_squares",
            altered(oracle.gradient_norms, top=lambda x: 2 * x),
            "It differentiates the sum of the squares of x_L; the exercise asks for the sum.",
        ),
        Mistake(
            "squared",
            _reduced(lambda g: oracle.norm(g) ** 2),
            "These are the squares of the norms.",
        ),
        Mistake(
            "mean_size",
            _reduced(lambda g: float(np.abs(g).mean())),
            "It takes the mean of the absolute entries, not the norm.",
            "Root of the sum of squares: tensor.norm().",
        ),
        Mistake(
            "largest",
            _reduced(lambda g: float(np.abs(g).max())),
            "It takes the largest entry, not the norm.",
            "Root of the sum of squares: tensor.norm().",
        ),
        Mistake(
            "summed",
            _reduced(lambda g: float(g.sum())),
            "It sums the entries of the gradient; the norm is the root of the sum of squares.",
        ),
        Mistake(
            "mean_over_positions",
            _reduced(lambda g: float(np.sqrt((g * g).sum(-1)).mean())),
            "It averages the norms of the single positions; one norm of the whole is asked for.",
        ),
    ),
    needs=("residual_add", "run_stream"),
    outputs="the list of norms",
    raises={
        "NoneType": "After backward() only leaves have a .grad: call retain_grad() on every stream "
        "before it, or use torch.autograd.grad."
    },
)
