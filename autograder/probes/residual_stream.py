"""Chapter 2: functions that take sub-layers as arguments.

args of a call: x, and the kinds of its sub-layers; kwargs["state"]: their weights, by "0.W" and so
on. A "tanh" is x -> tanh(x W + b), "itself" returns the very tensor that it was given.
"""

from __future__ import annotations

import torch

from autograder.probes.call import Answer, Call, changed, gradients
from autograder.probes.plain import to_plain, to_tensors


def residual_add(target, call: Call) -> Answer:
    return _run(target, call, one=True)


def run_stream(target, call: Call) -> Answer:
    return _run(target, call)


def residual_add_order(target, call: Call) -> Answer:
    return _order(target, call, one=True)


def run_stream_order(target, call: Call) -> Answer:
    return _order(target, call)


def _run(target, call: Call, one: bool = False) -> Answer:
    x, state, layers, _ = _made(call)
    leaves = {"args.0": x} | state
    before = {"args.0": x.clone()}
    if call.cotangent is not None:
        for leaf in leaves.values():
            leaf.requires_grad_()
    value = target(x, layers[0] if one else layers)
    return Answer(
        value=to_plain(value),
        grads=gradients(value, call.cotangent, leaves),
        changed=() if call.device != "cpu" else changed(before, {"args.0": x}),
    )


def _order(target, call: Call, one: bool = False) -> Answer:
    """The numbers of the sub-layers, in the order in which they were called."""
    x, _, layers, called = _made(call)
    target(x, layers[0] if one else layers)
    return Answer(value=tuple(called))


def gradient_norms(target, call: Call) -> Answer:
    x, layers, residual = _trainable(call)
    before = {"args.0": x.clone()}
    value = to_plain(target(x, layers, *residual))
    return Answer(value=value, changed=changed(before, {"args.0": x}))


def gradient_norms_again(target, call: Call) -> Answer:
    """The result of the second of two equal calls."""
    x, layers, residual = _trainable(call)
    target(x, layers, *residual)
    return Answer(value=to_plain(target(x, layers, *residual)))


def gradient_norms_of_computed(target, call: Call) -> Answer:
    """x is no leaf of the graph: it comes out of a computation, as an embedding does."""
    x, layers, residual = _trainable(call)
    return Answer(value=to_plain(target(1.0 * x.requires_grad_(), layers, *residual)))


def gradient_norms_leaves(target, call: Call) -> Answer:
    """Whether the x that was handed in records gradients afterwards."""
    x, layers, residual = _trainable(call)
    target(x, layers, *residual)
    return Answer(value=x.requires_grad)


def _made(call: Call):
    """x, the weights, the sub-layers, and the list of those that have been called."""
    x, kinds = call.args[:2]
    state = to_tensors(call.kwargs["state"], call.device)
    called: list[int] = []

    def layer(index: int, kind: str):
        def write(x: torch.Tensor) -> torch.Tensor:
            called.append(index)
            if kind == "itself":
                return x
            return torch.tanh(x @ state[f"{index}.W"] + state[f"{index}.b"])

        return write

    layers = [layer(i, kind) for i, kind in enumerate(kinds)]
    return to_tensors(x, call.device), state, layers, called


def _trainable(call: Call):
    """x, sub-layers with weights that are being learnt, and `residual` if the call names it."""
    x, state, layers, _ = _made(call)
    for weight in state.values():
        weight.requires_grad_()
    return x, layers, call.args[2:]
