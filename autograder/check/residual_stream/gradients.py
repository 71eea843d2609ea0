"""gradient_norms: how much of the gradient arrives at each depth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from autograder.check.component import Component
from autograder.check.draw import normal
from autograder.check.findings import failure
from autograder.check.parts import Fixture, Property
from autograder.check.properties.common import python_numbers, unchanged
from autograder.check.properties.varied import property_of
from autograder.check.residual_stream.gradient_mistakes import MISTAKES
from autograder.check.residual_stream.sublayers import call_with, silent, sizes, stack
from autograder.judge import Trouble
from autograder.judge.compare import difference, form
from autograder.oracle import residual_stream as oracle

IN_PLACE = "Write x = x + write rather than x += write, which changes a stream that you keep."


@dataclass(frozen=True)
class OfAList(Component):
    """Its numbers are shown together, as one list."""

    def difference(self, got: Any, want: Any) -> Trouble | None:
        return super().difference(np.asarray(got, np.float64), np.asarray(want, np.float64))


def _steep(inputs):
    """Larger weights: some entries of the gradient are negative even where the residual adds 1."""
    state = {k: 3 * v if k.endswith("W") else v for k, v in inputs["state"].items()}
    return inputs | {"state": state}


def gradient_fixtures(rng):
    B, T, d, L = sizes(rng)
    x = partial(normal, rng, B, T, d)
    layers = ["tanh"] * L
    return [
        Fixture("two sub-layers", _steep(stack(rng, x(), "tanh", "tanh")), weight=1.0),
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


def _leaves(c, inputs):
    return [replace(c.call(inputs), probe="residual_stream:gradient_norms_leaves")]


def _leaves_verdict(c, inputs, answers):
    (answer,) = answers
    if answer.failure:
        return failure(answer, "when it is called")
    if not answer.value:
        return None
    return Trouble(
        "It turns on x.requires_grad for the x that it was given.",
        "All that the caller computes with this x is recorded from then on.",
        "Start from x.detach().requires_grad_(): a tensor of your own.",
    )


GRADIENT_NORMS = OfAList(
    "gradient_norms",
    gradient_fixtures,
    oracle.gradient_norms,
    call=call_with("gradient_norms"),
    properties=(
        unchanged,
        Property("x records no gradients afterwards", _leaves, _leaves_verdict, weight=0.5),
        python_numbers(float),
        property_of(
            silent,
            "sub-layers that write zero: all norms are equal",
            "Every stream is then the start itself, and each gradient all ones.",
            weight=0.5,
        ),
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
    mistakes=MISTAKES,
    needs=("residual_add", "run_stream"),
    outputs="the list of norms",
    raises={
        "NoneType": "After backward() only leaves have a .grad: call retain_grad() on every stream "
        "before it, or use torch.autograd.grad.",
        "does not require grad": "Start from x.detach().requires_grad_(), and detach nothing after it.",
        "not have been used": "Each tensor that you differentiate by must lie on the way to x_L: keep "
        "the streams themselves, the first is x.detach().requires_grad_().",
        "second time": "torch.autograd.grad(x_L.sum(), streams) gives all gradients in one pass; several "
        "passes need retain_graph=True.",
        "in-place operation": IN_PLACE,
        "inplace operation": IN_PLACE,
        "scalar outputs": "Differentiate one number: the sum of all entries of x_L.",
    },
)
