"""Properties that many components share: what must hold whatever the numbers are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from autograder.check.component import Component
from autograder.check.findings import failure
from autograder.check.parts import Inputs, Property, double
from autograder.check.properties.tensors import any_device, any_order, keeps_dtype
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance, difference, form, index, kind, leaves, number
from autograder.probes import Answer, Call
from autograder.probes.plain import flat, to_plain, to_tensors

LEAVE_IT = "Leave the parameters as they are, and compute the result from what the layer gives."
LEAK = 1e-5  # largest change of an earlier output that rounding can explain


def _main(c: Component, inputs: Inputs) -> list[Call]:
    return [c.call(inputs)]


def _unchanged(c: Component, inputs: Inputs, answers: list[Answer]) -> Trouble | None:
    if not answers[0].changed:
        return None
    names = [k for k in inputs if k not in ("init", "state")]
    which = [names[int(k[5:])] if k.startswith("args.") else k for k in answers[0].changed]
    look = "Write x = x + y rather than x += y: the caller still needs the old values."
    if all("." in name for name in which):  # parameters of a module that was handed in
        look = LEAVE_IT
    return Trouble(f"It changes {', '.join(which)} in place.", look=look)


unchanged = Property("its arguments are left as they were", _main, _unchanged, weight=0.5)


def _cotangent(want) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(1)
    return tuple(rng.standard_normal(w.shape).astype(np.float32) for w in flat(want))


def _with_gradient(c: Component, inputs: Inputs) -> list[Call]:
    return [replace(c.call(inputs), cotangent=_cotangent(c.expected(inputs)))]


@torch.enable_grad()  # whatever a student's cells have set
def oracle_gradients(c: Component, inputs: Inputs) -> dict[str, np.ndarray]:
    """Gradients of sum(output * cotangent) by autograd through the oracle, in float64."""
    tensors = to_tensors(double(inputs))
    leaves = {}
    for i, (name, v) in enumerate((k, v) for k, v in tensors.items() if k not in ("init", "state")):
        if isinstance(v, torch.Tensor) and v.is_floating_point():
            leaves[f"args.{i}"] = v
    leaves |= tensors.get("state") or {}
    for t in leaves.values():
        t.requires_grad_()
    pairs = zip(flat(c.oracle(**tensors)), _cotangent(c.expected(inputs)))
    total = sum((v * torch.from_numpy(w)).sum() for v, w in pairs)
    found = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
    return {k: to_plain(g) for k, g in zip(leaves, found)}


def _gradient_verdict(c: Component, inputs: Inputs, answers: list[Answer]) -> Trouble | None:
    (answer,) = answers
    if answer.failure:
        in_place = "inplace" in answer.failure.message or "in-place" in answer.failure.message
        look = "Write x = x + y rather than x += y: autograd still needs the old values."
        trouble = failure(answer, "while gradients are recorded")
        return replace(trouble, look=look) if in_place else trouble
    names = [k for k in inputs if k not in ("init", "state")]
    for key, want in oracle_gradients(c, inputs).items():
        said = names[int(key[5:])] if key.startswith("args.") else key
        if want is None or said in c.constants:
            continue
        got = answer.grads.get(key)
        if got is None:
            return Trouble(
                f"No gradient reaches {said}.",
                f"Something cuts the graph, or {said} is never used.",
                "What cuts the graph: .data, .detach(), .item(), torch.tensor(...), no_grad.",
            )
        trouble = difference(got, want, Tolerance(1e-3, 1e-4), f"the gradient of {said}")
        if trouble:
            look = "The values are right, so look for what cuts a part of the graph: .detach(), no_grad."
            return replace(trouble, look=look)
    return None


gradients = Property("gradients", _with_gradient, _gradient_verdict, exact=True)


def causal(name: str = "x", axis: int = -2, output: int | None = None) -> Property:
    """The leak test: change the input at one position; no earlier output may move.

    `output` picks one of several results; positions lie along `axis` of input and output.
    """

    def touched(inputs: Inputs, t: int) -> Inputs:
        x = np.moveaxis(inputs[name].copy(), axis, 0)
        if x.dtype.kind == "i":  # each id becomes the next that occurs
            occur = np.unique(x)
            x[t:] = np.roll(occur, -1)[np.searchsorted(occur, x[t:])]
        else:
            signs = np.arange(x[t:].size).reshape(x[t:].shape) % 2
            x[t:] += np.asarray([1.0, -2.0], x.dtype)[signs]
        return inputs | {name: np.moveaxis(x, 0, axis)}

    def calls(c: Component, inputs: Inputs) -> list[Call]:
        T = inputs[name].shape[axis]
        return [c.call(inputs)] + [c.call(touched(inputs, t)) for t in (1, T // 2, T - 1)]

    def verdict(c: Component, inputs: Inputs, answers: list[Answer]) -> Trouble | None:
        T = inputs[name].shape[axis]
        first, *rest = (
            a.value if output is None or a.failure else a.value[output] for a in answers
        )
        for t, got, answer in zip((1, T // 2, T - 1), rest, answers[1:]):
            if answer.failure:
                return failure(answer, f"after a change at position {t}")
            early = np.moveaxis(np.abs(got - first), axis, 0)[:t]
            if not early.max() <= LEAK:  # NaN too
                s = int(np.argwhere(~(early.reshape(t, -1).max(1) <= LEAK))[0, 0])
                return Trouble(
                    f"The future leaks: position {s} changes when position {t} does.",
                    f"It moves by {number(early.max())}; it must not depend on later positions.",
                    "Look at what may see what: the mask, and any reshape that mixes positions.",
                )
        return None

    return Property("no leak from later positions", calls, verdict)


OUT_OF_A_TENSOR = ".item() takes the number out of a tensor, .tolist() all of them."
WHOLE = "Division with / gives a float, as does a factor such as 1e6; // divides whole numbers."


def python_numbers(wanted: type, output: int | None = None) -> Property:
    """Each number of the result (or of one of several results) is a Python one, not a tensor."""

    def verdict(c: Component, inputs: Inputs, answers: list[Answer]) -> Trouble | None:
        value, want, what = answers[0].value, c.expected(inputs), c.outputs
        if output is not None:
            value, want, what = value[output], want[output], what[output]
        for name, got, _ in leaves(value, want, what):
            if type(got) is not wanted:
                a_float = type(got) is float
                found = f"a float, {got!r}" if a_float else kind(got)
                said = f"{name} is {found}; it should be a Python {wanted.__name__}."
                return Trouble(said, look=WHOLE if a_float else OUT_OF_A_TENSOR)
        return None

    name = f"Python {wanted.__name__}s, no tensors"
    return Property(name, _main, verdict, weight=0.5, exact=True)


def several_lengths(name: str = "x", axis: int = -2, lengths=(6, 3, 8)) -> Property:
    """One instance of a module, called with more and with fewer positions than before."""

    def changed(inputs: Inputs) -> list[Inputs]:
        x = inputs[name]
        T = x.shape[axis]
        return [inputs | {name: np.take(x, np.arange(n) % T, axis)} for n in lengths]

    def calls(c: Component, inputs: Inputs) -> list[Call]:
        args = tuple(c.call(i).args for i in changed(inputs))
        return [replace(c.call(inputs), args=args, probe="repeat:each")]

    def verdict(c: Component, inputs: Inputs, answers: list[Answer]) -> Trouble | None:
        (answer,) = answers
        order = f"{', then '.join(map(str, lengths))} positions"
        look = f"One instance was called with {order}. Make what depends on T in each call anew."
        if answer.failure:
            return replace(failure(answer, "when one instance is called again"), look=look)
        for n, got, want in zip(lengths, answer.value, map(c.expected, changed(inputs))):
            what = f"the result on {n} positions"
            trouble = form(got, want, what) or difference(got, want, c.tolerance, what)
            if trouble:
                return replace(trouble, look=look)
        return None

    return Property("one instance, called with several lengths", calls, verdict, exact=True)


def sums_to_one(axis: int, output: int | None, what: str, look: str) -> Property:
    def verdict(c: Component, inputs: Inputs, answers: list[Answer]) -> Trouble | None:
        value = answers[0].value if output is None else answers[0].value[output]
        total = value.sum(axis)
        wrong = ~np.isclose(total, 1.0, atol=1e-4)
        if not wrong.any():
            return None
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        return Trouble(
            f"{what} do not sum to 1.", f"At {index(at)} the sum is {number(total[at])}.", look
        )

    return Property(f"{what} sum to 1", _main, verdict)


COMMON = (unchanged, any_device, any_order, keeps_dtype, gradients)
