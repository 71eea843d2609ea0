"""One instance, called several times: what it keeps from a call must not show in the next."""

from __future__ import annotations

from autograder.probes.call import Answer, Call, build
from autograder.probes.plain import to_plain, to_tensors


def each(target, call: Call) -> Answer:
    """args: the arguments of each call, a tuple for each. The results, in order."""
    module = build(target, call)
    return Answer(value=tuple(to_plain(module(*to_tensors(a, call.device))) for a in call.args))
