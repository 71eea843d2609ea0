"""Call a student's function or module once, as told, and write down everything that happened."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch

from autograder import standins
from autograder.probes.elsewhere import on
from autograder.probes.plain import few, flat, to_plain, to_tensors

PACKAGE = str(Path(__file__).resolve().parents[1])


@dataclass(frozen=True)
class Call:
    """What to do with the student's object; plain data throughout.

    For a function, `args` and `kwargs` are its arguments. For a class, `init` holds the arguments
    of its constructor and `state` the values of its parameters; then the instance is called.
    `probe` names another way to use the object: "module:function" below autograder.probes.
    """

    args: tuple = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    init: tuple | None = None
    init_kwargs: dict[str, Any] = field(default_factory=dict)
    state: dict[str, np.ndarray] | None = None
    cotangent: Any = None  # if given: gradients of sum(output * cotangent)
    device: str = "cpu"  # or ELSEWHERE
    training: bool = False
    probe: str = ""
    standins: tuple[str, ...] = ()  # names in the student's globals to replace for this call
    seed: int = 0  # of torch's global generator

    def __post_init__(self):
        if self.init is None and (self.state is not None or self.init_kwargs):
            raise ValueError("a Call with state or init_kwargs needs init")


@dataclass(frozen=True)
class Failure:
    """An exception in the student's code, with the last line of his that it passed through."""

    type: str
    message: str
    line: str = ""
    function: str = ""  # in which that line stands
    kinds: tuple[str, ...] = ()  # its type, and what this is derived from

    def is_a(self, name: str) -> bool:
        """Whether `except name` catches it, as it does a class of one's own that derives from it."""
        return name in self.kinds

    @property
    def of_sizes(self) -> bool:
        """Whether it is of a kind that comes of shapes and indices, not of names and signatures."""
        return any(map(self.is_a, ("RuntimeError", "IndexError", "ValueError")))

    @property
    def unwritten(self) -> bool:
        """Whether it is the line of a stub. PyTorch raises a NotImplementedError of its own too,
        for what it cannot do with a dtype or on a device."""
        ours = not self.line or ": raise " in self.line
        return self.type == "NotImplementedError" and ours


@dataclass(frozen=True)
class Answer:
    """What came back from one Call."""

    value: Any = None
    failure: Failure | None = None
    grads: dict[str, Any] = field(default_factory=dict)  # by "args.0", or the parameter's name
    changed: tuple[str, ...] = ()  # arguments that were modified in place
    parameters: dict[str, tuple[int, ...]] = field(default_factory=dict)


def ask(target: Any, calls: list[Call]) -> list[Answer]:
    """Answers of `target` to the calls, in order. A stand-in for a student elsewhere may carry
    `__ask__`, and then answers itself: so the judge need not share a process with the student."""
    remote = getattr(target, "__ask__", None)
    if remote is not None:
        return remote(calls)
    with one_thread():
        return [answer(target, call) for call in calls]


@contextmanager
def one_thread():
    """Small tensors are many times slower on two threads of a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def answer(target: Any, call: Call) -> Answer:
    with torch.random.fork_rng(devices=[]), torch.enable_grad(), replaced(target, call.standins):
        torch.manual_seed(call.seed)
        try:
            with on(call.device):
                return probe_of(call)(target, call)
        except Exception as error:  # whatever a student's code may raise
            return Answer(failure=describe(error))


def probe_of(call: Call):
    if not call.probe:
        return plain_call
    module, _, name = call.probe.partition(":")
    return getattr(import_module(f"autograder.probes.{module}"), name)


def plain_call(target: Any, call: Call) -> Answer:
    args = to_tensors(call.args, call.device)
    kwargs = to_tensors(call.kwargs, call.device)
    named = {f"args.{i}": a for i, a in enumerate(args)} | kwargs
    tensors = {k: t for k, t in named.items() if isinstance(t, torch.Tensor)}
    before = {k: t.clone() for k, t in tensors.items()}
    parameters = {}
    if call.init is not None:
        target = build(target, call)
        parameters = dict(target.named_parameters()) if isinstance(target, torch.nn.Module) else {}
    if call.cotangent is not None:
        tensors = {k: t for k, t in tensors.items() if t.is_floating_point()}
        for t in tensors.values():
            t.requires_grad_()
    value = target(*args, **kwargs)
    grads = gradients(value, call.cotangent, tensors | parameters)
    return Answer(
        value=to_plain(value),
        grads=grads,
        changed=() if call.device != "cpu" else changed(before, named),
        parameters={k: tuple(p.shape) for k, p in parameters.items()},
    )


def build(cls: Any, call: Call) -> Any:
    """An instance of the student's class with the given parameter values, made on the CPU and then
    moved to the call's device: what is no parameter and no buffer stays behind."""
    module = cls(*to_tensors(call.init), **to_tensors(call.init_kwargs))
    if not isinstance(module, torch.nn.Module):
        return module
    module.train(call.training)
    if call.state is not None:
        own = dict(module.named_parameters())
        wanted = {k: tuple(v.shape) for k, v in call.state.items()}
        found = {k: tuple(p.shape) for k, p in own.items()}
        if wanted != found:
            raise WrongParameters(wanted, found, plain_tensors(module, wanted))
        with torch.no_grad():
            for k, v in call.state.items():
                own[k].data = to_tensors(v)
    return module.to(call.device)


def plain_tensors(module: torch.nn.Module, names: Iterable[str]) -> list[str]:
    """Those of the names under which the module holds a tensor that is no parameter."""
    found = {}
    for name in names:
        value = module
        for part in name.split("."):
            value = getattr(value, part, None)
        found[name] = isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter)
    return [name for name in found if found[name]]


class WrongParameters(Exception):
    """The module's parameters are not those of the contract."""

    def __init__(self, wanted: dict, found: dict, plain: list[str]):
        missing = [f"{k} {wanted[k]}" for k in wanted if k not in found and k not in plain]
        extra = [f"{k} {found[k]}" for k in found if k not in wanted]
        say = [
            f"{k} has shape {found[k]}, not {wanted[k]}"
            for k in wanted
            if k in found and found[k] != wanted[k]
        ]
        if plain:
            are = (
                "is a plain tensor: wrap it" if len(plain) == 1 else "are plain tensors: wrap each"
            )
            say += [f"{few(plain)} {are} in nn.Parameter"]
        say += [f"missing: {few(missing)}"] * bool(missing)
        say += [f"not expected: {few(extra)}"] * bool(extra)
        super().__init__("; ".join(say))


def gradients(value: Any, cotangent: Any, leaves: dict[str, torch.Tensor]) -> dict[str, Any]:
    """d sum(value * cotangent) / d leaf, for each leaf; None where the graph does not reach it."""
    if cotangent is None:
        return {}
    pairs = zip(flat(value), flat(cotangent), strict=False)
    total = sum((v * to_tensors(w)).sum() for v, w in pairs)
    if not (isinstance(total, torch.Tensor) and total.requires_grad):
        return {k: None for k in leaves}
    found = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
    return {k: to_plain(g) for k, g in zip(leaves, found, strict=True)}


def changed(before: dict[str, torch.Tensor], after: dict[str, Any]) -> tuple[str, ...]:
    return tuple(
        k
        for k, t in before.items()
        if not torch.equal(t.nan_to_num(), after[k].detach().nan_to_num())
    )


@contextmanager
def replaced(target: Any, names: tuple[str, ...]):
    """For one call, let names in the student's globals mean the library's versions of them, so
    that a mistake in one component is not counted again in the next."""
    space = globals_of(target)
    if space is None or not names:
        yield
        return
    absent = object()
    own = {name: space.get(name, absent) for name in names}
    space.update({name: getattr(standins, name) for name in names})
    try:
        yield
    finally:
        for name, value in own.items():
            if value is absent:
                space.pop(name, None)
            else:
                space[name] = value


def globals_of(target: Any) -> dict[str, Any] | None:
    """The globals of a function, or of the methods of a class; below a decorator, which has those
    of the library that it comes from."""
    if not hasattr(target, "__dict__"):
        return None
    inner = (inspect.unwrap(f) for f in (target, *vars(target).values()) if callable(f))
    return next((f.__globals__ for f in inner if hasattr(f, "__globals__")), None)


def describe(error: Exception) -> Failure:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if _students(f.filename)]
    last = frames[-1] if frames else None
    line = f"line {last.lineno}: {last.line}" if last and last.line else ""
    function = last.name if last else ""
    return Failure(type(error).__name__, str(error).strip()[:500], line, function, kinds(error))


def kinds(error: Exception) -> tuple[str, ...]:
    """Its type and all that this is derived from, by name."""
    return tuple(kind.__name__ for kind in type(error).__mro__)


def _students(filename: str) -> bool:
    return not (
        filename.startswith(PACKAGE) or "site-packages" in filename or "lib/python" in filename
    )
