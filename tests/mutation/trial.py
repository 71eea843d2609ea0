"""Run a component's check on its mutants, each in a process of its own that may hang or die."""

from __future__ import annotations

import multiprocessing
import resource
import time
import warnings
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait

import torch

from autograder import check, standins
from autograder.course import COMPONENTS
from mutation.mutants import Mutant
from mutation.reference import references

SEEDS = (0, 1)
LIMIT = 60.0  # seconds; the slowest check takes half a second
MEMORY = 4 << 30  # bytes; a size that is another number may ask for far more
SURVIVED = "survived"
CRASHED = "the check itself failed"  # which says nothing of the mutant
FORK = multiprocessing.get_context("fork")  # torch is loaded once


def outcome(mutant: Mutant) -> str:
    """How one mutant fares: SURVIVED, CRASHED with the error, or what it was killed by."""
    warnings.simplefilter("ignore")  # of what a mutant does
    try:
        target = references()[mutant.component].define(mutant.source)
    except BaseException as error:
        return f"definition: {type(error).__name__}"
    for seed in SEEDS:
        try:
            report = check.run(mutant.component, target, seed)
        except BaseException as error:  # a probe hands the mutant's on: this one is the check's own
            return f"{CRASHED}, {type(error).__name__}: {error}"
        if not report.passed:
            return f"seed {seed}"
    return SURVIVED


def outcomes(
    mutants: Iterable[Mutant], processes: int, limit: float = LIMIT
) -> Iterator[tuple[Mutant, str]]:
    """Each mutant with its outcome, as they come, some at a time."""
    _load()
    left, running = list(mutants)[::-1], []
    try:
        while left or running:
            while left and len(running) < processes:
                running.append(_Trial(left.pop(), limit))
            wait([t.process.sentinel for t in running], max(0.0, min(t.left for t in running)))
            for trial in [t for t in running if t.over]:
                running.remove(trial)
                yield trial.mutant, trial.end()
    finally:
        for trial in running:
            trial.end()


def _load() -> None:
    """Load all that a check needs, so that no process has to."""
    torch.set_num_threads(1)
    references()
    for component in COMPONENTS:
        check.find(component)
    check.find("causal_mask").check(standins.causal_mask)  # here torch loads a part of itself


class _Trial:
    """One mutant in its process."""

    def __init__(self, mutant: Mutant, limit: float):
        self.mutant = mutant
        self.until = time.monotonic() + limit
        self.answer, theirs = FORK.Pipe(duplex=False)
        self.process = FORK.Process(target=_tell, args=(mutant, theirs), daemon=True)
        self.process.start()
        theirs.close()

    @property
    def left(self) -> float:
        return self.until - time.monotonic()

    @property
    def over(self) -> bool:
        return self.left <= 0 or not self.process.is_alive()

    def end(self) -> str:
        """What became of it; one that still runs is stopped."""
        late = self.process.is_alive()
        self.process.kill()
        self.process.join()
        code = self.process.exitcode
        told = self.answer.recv() if not late and code == 0 else f"died: {code}"
        self.process.close()
        self.answer.close()
        return "timeout" if late else told


def _tell(mutant: Mutant, answer: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    answer.send(outcome(mutant))
