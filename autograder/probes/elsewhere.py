"""A device that is not the CPU, and that every machine has.

A tensor "elsewhere" says that it lives on another device; what is done with it is done on the CPU.
As on a GPU, a tensor of the CPU does not go together with it, unless it has no axes or is an index.
PyTorch's `meta` device refuses that too, but its tensors hold no numbers: x.tolist(), x.item() and
x[x > 0], which are right on any real device, fail there.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

# A type of device for which PyTorch accepts the name and loads nothing; gradients of its tensors
# are computed in the thread that asks for them.
ELSEWHERE = "lazy"
aten = torch.ops.aten
MOVES = (aten.copy_, aten._to_copy)
INDEXED = (aten.index, aten.index_put, aten.index_put_, aten._index_put_impl_)


def on(device: str) -> AbstractContextManager:
    """What must surround the calls on a device of this type."""
    return Elsewhere() if device == ELSEWHERE else nullcontext()


class Away(Tensor):
    """A tensor elsewhere; `inner` holds its numbers."""

    @staticmethod
    def __new__(cls, inner: Tensor):
        how = {"strides": inner.stride(), "storage_offset": inner.storage_offset()}
        how |= {"dtype": inner.dtype, "device": torch.device(ELSEWHERE)}
        with torch.inference_mode(False):  # where that is on, PyTorch takes views of other tensors
            return Tensor._make_wrapper_subclass(cls, inner.size(), **how)

    def __init__(self, inner: Tensor):
        self.inner = inner

    def tolist(self):
        return self.inner.tolist()

    def numpy(self, *args, **kwargs):
        raise TypeError("only tensors of the CPU become NumPy arrays: use x.cpu() first")

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return _run(func, args, kwargs or {})


class Elsewhere(TorchDispatchMode):
    """While it is on, tensors can be made elsewhere and moved there."""

    def __enter__(self):
        self.before = torch._C._only_lift_cpu_tensors()
        torch._C._set_only_lift_cpu_tensors(True)  # then torch.tensor(…, device=…) is a move, too
        return super().__enter__()

    def __exit__(self, *exception):
        torch._C._set_only_lift_cpu_tensors(self.before)
        return super().__exit__(*exception)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return _run(func, args, kwargs or {})


def _run(func, args: tuple, kwargs: dict) -> Any:
    """One operation, on what the tensors hold; the results are wrapped again if they stay away."""
    values, spec = tree_flatten((args, kwargs))
    away = [x for x in values if type(x) is Away]
    name, first = func.overloadpacket, args[0] if args else None
    _meet(name, first, values, away)
    to = kwargs.get("device")
    stays = bool(away) if to is None else torch.device(to).type == ELSEWHERE
    if name is aten.copy_:
        stays = type(first) is Away
    args, kwargs = tree_unflatten([_inner(x) for x in values], spec)
    known = {id(x.inner): x for x in away}  # an operation in place returns the tensor it was given

    def outer(x):
        if not isinstance(x, Tensor):
            return x
        return known[id(x)] if id(x) in known else Away(x)

    result = func(*args, **kwargs)
    return tree_map(outer, result) if stays else result


def _inner(x: Any) -> Any:
    if type(x) is Away:
        return x.inner
    return torch.device("cpu") if isinstance(x, torch.device) and x.type == ELSEWHERE else x


def _meet(name, first: Any, values: list, away: list) -> None:
    """An error where tensors of two devices meet."""
    here = [x for x in values if isinstance(x, Tensor) and type(x) is not Away and x.dim()]
    indices = name in INDEXED and type(first) is Away and all(_whole(x) for x in here)
    if here and away and name not in MOVES and not indices:
        raise RuntimeError(
            "Expected all tensors to be on the same device, but one of them is on the CPU "
            f"(in {name.__name__})"
        )


def _whole(x: Tensor) -> bool:
    return x.dtype in (torch.bool, torch.uint8, torch.int32, torch.int64)
