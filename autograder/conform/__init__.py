"""`autograder conform gpt2.py`: every number of a gpt2.py against independent references.

The error of a row is max|a - b| / max(1, max|b|), where b is the reference: absolute for small
numbers, relative to the largest entry of the array for large ones.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import torch

# the order of these imports is the order of the table
from autograder.conform import (  # noqa: F401
    structure,
    numbers,
    behaviour,
    training,
    generation,
    loading,
)
from autograder.conform.command import add_arguments, run  # noqa: F401
from autograder.conform.load import load_module, require_names
from autograder.conform.row import PROPERTIES, Property, Row, measure
from autograder.conform.subject import Subject


def rows(
    module_or_path: ModuleType | str | Path, device: str = "cpu", only: Collection[str] = ()
) -> list[Row]:
    """Every row of the table, or those named. CourseError: cannot be imported, lacks names."""
    return list(each_row(open_subject(module_or_path, device), only))


def each_row(
    subject: Subject, only: Collection[str] = (), say: Callable[[Property], None] = lambda p: None
) -> Iterator[Row]:
    """The rows one by one; `say` is told each before it is measured."""
    with quiet_torch():
        for p in PROPERTIES:
            if not only or p.name in only:
                say(p)
                yield measure(p, subject)


def open_subject(module_or_path: ModuleType | str | Path, device: str) -> Subject:
    module = module_or_path
    if not isinstance(module, ModuleType):
        module = load_module(module_or_path)
    require_names(module)
    return Subject(module, device)


@contextmanager
def quiet_torch():
    """Own random state, and one thread: on models this small more threads only cost time."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng():
            yield
    finally:
        torch.set_num_threads(threads)
