"""Several calls in a row, and what one leaves to the next."""

from __future__ import annotations

from dataclasses import replace

import torch

from autograder.probes.call import Answer, Call, build, probe_of
from autograder.probes.plain import Seed, to_plain, to_tensors


def each(target, call: Call) -> Answer:
    """One instance; args: the arguments of each call, a tuple for each. The results, in order:
    what it keeps from a call must not show in the next."""
    module = build(target, call)
    return Answer(value=tuple(to_plain(module(*to_tensors(a, call.device))) for a in call.args))


def seeds(target, call: Call) -> Answer:
    """args: a Call, and how many times. Its results after so many seeds of torch's generator."""
    once, times = call.args
    results = []
    for seed in range(times):
        torch.manual_seed(seed)
        results.append(probe_of(once)(target, once).value)
    return Answer(value=tuple(results))


def one_generator(target, call: Call) -> Answer:
    """args: a Call that hands in a generator. The results of two such calls with the same one."""
    (once,) = call.args
    made = {id(v): to_tensors(v) for v in (*once.args, *once.kwargs.values()) if type(v) is Seed}
    args = tuple(made.get(id(v), v) for v in once.args)
    kwargs = {k: made.get(id(v), v) for k, v in once.kwargs.items()}
    once = replace(once, args=args, kwargs=kwargs)
    return Answer(value=tuple(probe_of(once)(target, once).value for _ in range(2)))
