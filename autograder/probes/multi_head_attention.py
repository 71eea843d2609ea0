"""Chapter 4: functions that take a whole attention layer as an argument."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch

from autograder import standins
from autograder.probes.call import Answer, Call, build, plain_call
from autograder.probes.plain import to_plain


def with_layer(target, call: Call) -> Answer:
    """target(attn, *args) for a layer that the library made, with the parameters of the call."""
    attn = build(standins.MultiHeadAttention, call)
    before = {k: p.clone() for k, p in attn.named_parameters()}
    answer = plain_call(partial(target, attn), replace(call, init=None, state=None))
    return replace(answer, changed=answer.changed + _changed(before, attn, call.device))


def n_head(target, call: Call) -> Answer:
    """The attribute of a fresh layer."""
    return Answer(value=to_plain(getattr(build(target, call), "n_head", None)))


def _changed(before: dict, attn: torch.nn.Module, device: str) -> tuple[str, ...]:
    if device != "cpu":
        return ()
    now = dict(attn.named_parameters())
    return tuple(
        f"attn.{k}" for k, p in before.items() if k not in now or not torch.equal(p, now[k])
    )
