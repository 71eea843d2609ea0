"""A known mistake: the wrong function, and what to say of it; and two mistakes at once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any


@dataclass(frozen=True)
class Mistake:
    """An entry of a component's table.

    name    short and lasting: `autograder explain` and class reports go by it
    wrong   called as the oracle is, with the inputs of a fixture
    says    the cause, in a sentence that a student can act on
    look    where to look, or the line as it should be
    why     why it matters: what such a model would do or fail to do
    slight  why it moves the numbers by less than 20 tolerances, where it does
    """

    name: str
    wrong: Callable[..., Any]
    says: str
    look: str = ""
    why: str = ""
    slight: str = ""


@dataclass(frozen=True)
class Altered:
    """The oracle with switches set, its inputs changed before, or its result changed after.

    before  the inputs by name -> those that take another value
    after   the result (and the inputs by name, if it takes two arguments) -> the wrong result
    """

    right: Callable[..., Any]
    switches: Mapping[str, Any] = field(default_factory=dict)
    before: tuple[Callable[[dict], dict], ...] = ()
    after: tuple[Callable[..., Any], ...] = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        inputs = dict(zip(self._names, args)) | kwargs
        changed = dict(inputs)
        for change in self.before:
            changed |= change(changed)
        result = self.right(**changed | self.switches)
        for change in self.after:
            result = change(result, inputs) if _takes_inputs(change) else change(result)
        return result

    @cached_property
    def _names(self) -> list[str]:
        return list(inspect.signature(self.right).parameters)

    def combined(self, other: Altered) -> Altered | None:
        """Both alterations, unless they set the same switch."""
        if self.right is not other.right or self.switches.keys() & other.switches.keys():
            return None
        return Altered(
            self.right,
            {**self.switches, **other.switches},
            self.before + other.before,
            self.after + other.after,
        )


@cache
def _takes_inputs(change: Callable[..., Any]) -> bool:
    """Whether it asks for a second argument; one with a default is not asked for."""
    parameters = inspect.signature(change).parameters.values()
    return sum(p.default is p.empty and p.kind != p.KEYWORD_ONLY for p in parameters) > 1


def altered(
    right: Callable[..., Any],
    *,
    before: Callable[[dict], dict] | None = None,
    after: Callable[..., Any] | None = None,
    **switches: Any,
) -> Altered:
    """The wrong function of a Mistake, such that two of them can be combined."""
    return Altered(right, switches, (before,) if before else (), (after,) if after else ())


def entries(right: Callable[..., Any]) -> Callable[..., Mistake]:
    """A maker of entries that alter this oracle: (name, says, look, why, **alterations)."""

    def entry(name: str, says: str, look: str, why: str, **alterations: Any) -> Mistake:
        return Mistake(name, altered(right, **alterations), says, look, why)

    return entry


def together(one: Mistake, other: Mistake) -> Mistake | None:
    """Both at once, where each changes another place of the same oracle; else None."""
    if not (isinstance(one.wrong, Altered) and isinstance(other.wrong, Altered)):
        return None
    both = one.wrong.combined(other.wrong)
    if both is None:
        return None
    return Mistake(
        f"{one.name} + {other.name}",
        both,
        f"Two mistakes. {one.says} And: {other.says}",
        ". And: ".join(dict.fromkeys(m.look.rstrip(".") for m in (one, other) if m.look)) + ".",
        " ".join(why for why in (one.why, other.why) if why),
    )
