"""The checks that a notebook calls: `check.softmax(softmax)` says what is right and what is not."""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from typing import Any

from autograder.course import COMPONENTS
from autograder.judge import Report

__all__ = ["run", *COMPONENTS]


@cache
def find(name: str):
    """The Component of that name, from its chapter's module."""
    if name not in COMPONENTS:
        raise ValueError(f"no component is called {name!r}; there are: {', '.join(COMPONENTS)}")
    chapter = import_module(f"autograder.check.{COMPONENTS[name].notebook}")
    return next(c for c in chapter.COMPONENTS if c.name == name)


def run(name: str, target: Any, seed: int = 0) -> Report:
    """Check a student's function or class against the component called `name`."""
    return find(name).check(target, seed)


def __getattr__(name: str) -> Any:
    if name in COMPONENTS:
        return partial(run, name)
    raise AttributeError(f"there is no check called {name!r}; there are: {', '.join(COMPONENTS)}")


def __dir__() -> list[str]:
    return list(__all__)
