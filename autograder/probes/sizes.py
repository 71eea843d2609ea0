"""How large the tensors are that a student's code makes on its way."""

from __future__ import annotations

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from autograder.probes.call import Answer, Call, plain_call


class Largest(TorchDispatchMode):
    """While it is on, `numbers` is how many the largest tensor holds that an operation has given."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        sizes = [x.numel() for x in tree_leaves(result) if isinstance(x, Tensor)]
        self.numbers = max([self.numbers, *sizes])
        return result


def largest(target, call: Call) -> Answer:
    """The numbers in the largest tensor of a plain call."""
    with Largest() as seen:
        plain_call(target, call)
    return Answer(value=seen.numbers)
