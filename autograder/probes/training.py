"""Chapter 7: call what trains: several steps, work in place, a small model as an argument."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from autograder.probes.call import Answer, Call, changed
from autograder.probes.models import Named, Small, modes
from autograder.probes.plain import to_plain, to_tensors


def curve(target: Any, call: Call) -> Answer:
    """Args: steps (S,), and what else lr_schedule takes. -> one number a step, as an array.

    Where it returns something else, that."""
    steps, *rest = call.args
    values = [to_plain(target(int(s), *rest)) for s in steps]
    for value in values:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not (number or isinstance(value, np.ndarray) and value.ndim == 0):
            return Answer(value=value)
    return Answer(value=np.array([float(v) for v in values]))


def groups(target: Any, call: Call) -> Answer:
    """Args: values by name, further names of the same parameters, weight_decay.

    -> what was returned, each parameter as its name (or None for a stranger)."""
    values, aliases, weight_decay = call.args
    model = Named(values, aliases)
    names = {id(p): name for name, p in model.named_parameters()}
    found = target(model, weight_decay)
    if isinstance(found, (list, tuple)) and all(isinstance(g, dict) for g in found):
        found = [g | {"params": listed(g["params"], names)} if "params" in g else g for g in found]
    return Answer(value=to_plain(found))


def listed(params: Any, names: dict[int, str]) -> Any:
    """The parameters by name; what can be gone through only once is left as it is."""
    once = iter(params) is params
    return params if once else [names.get(id(p)) for p in params]


def clip(target: Any, call: Call) -> Answer:
    """Args: values by name, gradients by name (or None), max_norm, whether the parameters come as
    a list (else as an iterator). -> what was returned, and the gradients after."""
    values, grads, max_norm, as_list = call.args
    model = Named(values).to(call.device)
    for name, p in model.named_parameters():
        p.grad = to_tensors(grads[name], call.device)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    norm = target(list(model.parameters()) if as_list else model.parameters(), max_norm)
    after = dict(model.named_parameters())
    return Answer(
        value=(to_plain(norm), {name: to_plain(p.grad) for name, p in after.items()}),
        changed=() if call.device != "cpu" else changed(before, after),
    )


def adamw(target: Any, call: Call) -> Answer:
    """Args: param, grads (S, …), lrs (S,), betas, eps, weight_decay.

    -> the parameter after each step (S, …), and the state at the end."""
    param, grads, lrs, *rest = call.args
    p = nn.Parameter(to_tensors(param, call.device))
    grads = to_tensors(grads, call.device)
    before = {"grad": grads.clone()}
    state: dict = {}
    after = []
    for grad, lr in zip(grads, lrs):
        target(p, grad, state, float(lr), *rest)
        after.append(p.detach().clone())
    return Answer(
        value=(to_plain(torch.stack(after)), to_plain(state)),
        changed=() if call.device != "cpu" else changed(before, {"grad": grads}),
    )


def train(target: Any, call: Call) -> Answer:
    """Args: values by name, xs (S, B, T), ys, keep, in training mode, gradients by name that are
    left over from before, weight decay, lrs (S,), betas, eps, max_norm.

    -> losses (S,), norms (S,), the parameters at the end, the mode afterwards, and which tensor
    was returned for a number ("" for none); where a step returns no two numbers, what it did."""
    values, xs, ys, keep, training, old, decay, lrs, *rest = call.args
    model = Small(values, keep).train(training).to(call.device)
    for name, p in model.named_parameters():
        p.grad = to_tensors(old.get(name), call.device)
    by_name = [
        {"params": [p for p in model.parameters() if (p.dim() >= 2) == high], "weight_decay": wd}
        for high, wd in ((True, decay), (False, 0.0))
    ]
    state: dict = {}
    steps, tensor = [], ""
    for x, y, lr in zip(to_tensors(xs, call.device), to_tensors(ys, call.device), lrs):
        returned = target(model, x, y, by_name, state, float(lr), *rest)
        pair = to_plain(returned)
        if not (isinstance(pair, tuple) and len(pair) == 2 and all(map(number, pair))):
            return Answer(value=pair)
        for name, v in zip(("norm", "loss"), returned[::-1]):
            if isinstance(v, torch.Tensor):
                tensor = f"{name} with its graph" if v.requires_grad else name
        steps.append([float(v) for v in pair])
    losses, norms = np.array(steps).T
    after = {name: to_plain(p) for name, p in model.named_parameters()}
    return Answer(value=(losses, norms, after, model.training, tensor))


def number(value: Any) -> bool:
    """Whether plain data is one number."""
    array = isinstance(value, np.ndarray) and value.size == 1
    return array or isinstance(value, (int, float)) and not isinstance(value, bool)


def evaluate(target: Any, call: Call) -> Answer:
    """Args: values by name, batches ((x, y), …), keep, in training mode, whether the batches come
    as a list (else as an iterator). -> what was returned, the mode afterwards, the log, and the
    parts whose mode is another."""
    values, batches, keep, training, as_list = call.args
    model = Small(values, keep).train(training).to(call.device)
    batches, was = [to_tensors(batch, call.device) for batch in batches], modes(model)
    value = target(model, batches if as_list else iter(batches))
    other = tuple(name for name, mode in modes(model).items() if mode != was[name])
    return Answer(value=(to_plain(value), model.training, to_plain(model.log), other))
