"""Chapter 5: a block, and the attention layer within it."""

from __future__ import annotations

from autograder.probes.call import Answer, Call, build
from autograder.probes.plain import to_plain, to_tensors


def attention(target, call: Call) -> Answer:
    """What the block's own attention layer gives for the arguments."""
    block = build(target, call)
    return Answer(value=to_plain(block.attn(*to_tensors(call.args, call.device))))
