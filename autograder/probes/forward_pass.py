"""Chapter 6: what fills a model with initial weights, and the model itself."""

from __future__ import annotations

import copy
from typing import Any

import torch

from autograder import standins
from autograder.probes import initial
from autograder.probes.call import Answer, Call, build, gradients, plain_call
from autograder.probes.plain import to_plain, to_tensors

UNTOUCHED = 0.5  # what every entry holds before init_weights


def init_weights(target: Any, call: Call) -> Answer:
    """Init: the sizes of a model. kwargs: groups, and possibly a generator. -> statistics."""
    groups, generator = call.kwargs["groups"], to_tensors(call.kwargs.get("generator"))
    model = untouched(call)
    target(model) if generator is None else target(model, generator)
    return Answer(value=initial.statistics(model, **groups))


def init_in_place(target: Any, call: Call) -> Answer:
    """-> for each parameter, by name: whether it is still the same tensor, whether it can be
    trained, and its first three entries; and the type of what was returned."""
    model = untouched(call)
    before = dict(model.named_parameters())
    returned = target(model)
    after = dict(model.named_parameters())
    return Answer(
        value={
            "kept": {k: after.get(k) is p for k, p in before.items()},
            "trainable": {k: p.requires_grad and p.is_leaf for k, p in after.items()},
            "first": {k: to_plain(p.flatten()[:3]) for k, p in after.items() if p.dim() > 1},
            "returned": type(returned).__name__,
        }
    )


def untouched(call: Call) -> torch.nn.Module:
    """A model of the library, its parameters all at one value."""
    model = standins.GPT2(standins.GPT2Config(**call.init_kwargs))
    with torch.no_grad():
        for p in model.parameters():
            p.fill_(UNTOUCHED)
    return model


def configured(target: Any):
    """The student's class, to be made from the fields of a config."""
    return lambda **fields: target(standins.GPT2Config(**fields))


def parameters(target: Any, call: Call) -> Answer:
    """-> the shape of every entry of the state_dict, as a str; for a tensor that has been named
    before, that name."""
    model = build(configured(target), call)
    if not isinstance(model, torch.nn.Module):
        return Answer(value=to_plain(model))
    first: dict[int, str] = {}
    found = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        known = first.setdefault(id(tensor), name)
        found[name] = str(tuple(tensor.shape)) if known == name else f"the same as {known}"
    return Answer(value={"the state_dict": found})


def logits(target: Any, call: Call) -> Answer:
    return plain_call(configured(target), call)


def loss(target: Any, call: Call) -> Answer:
    """args: ids, targets."""
    model = build(configured(target), call)
    value = model.loss(*to_tensors(call.args))
    grads = gradients(value, call.cotangent, dict(model.named_parameters()))
    return Answer(value=to_plain(value), grads=grads)


def reloaded(target: Any, call: Call) -> Answer:
    """Logits of a copy of the model, after a state_dict with E doubled has been loaded into it."""
    model = copy.deepcopy(build(configured(target), call))
    state = {k: v * (2 if k == "E" else 1) for k, v in model.state_dict().items()}
    model.load_state_dict(state)
    return Answer(value=to_plain(model(*to_tensors(call.args))))


def fresh(target: Any, call: Call) -> Answer:
    return initial.values(configured(target), call)


def counts(target: Any, call: Call) -> Answer:
    """args: fields of a config, several times. -> the number of parameters of each model."""
    found = []
    for fields in call.args:
        with torch.device("meta"):  # shapes without memory
            model = configured(target)(**fields)
        found.append(sum(p.numel() for p in model.parameters()))
    return Answer(value=tuple(found))
