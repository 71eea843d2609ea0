"""The verdict on every component of some notebooks."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Event

from autograder.course import COMPONENTS, section
from autograder.notebooks import CourseNotebook, Needs, Place, locate, needs, ordered
from autograder.survey.process import Outcome, run_checks

LIMIT = 60.0  # seconds for a single definition or check
LONGEST = 300  # characters of a reason


@dataclass(frozen=True)
class Verdict:
    """How a component stands: "done", "wrong", "not started" or "missing", and why in a line."""

    component: str
    assignment: str
    notebook: str  # the file; empty if there is none
    status: str
    why: str = ""
    remarks: tuple[str, ...] = ()
    section: str = ""
    mistakes: tuple[str, ...] = ()  # known ones that explain what is wrong

    @property
    def done(self) -> bool:
        return self.status == "done"


def survey(notebooks: list[CourseNotebook], limit: float = LIMIT) -> list[Verdict]:
    """Verdicts in course order on all components of the assignments that have a notebook here,
    and on those that are written in a notebook of no assignment."""
    here = {n.assignment for n in notebooks}
    places = [locate(notebooks, c) for c in COMPONENTS]
    return verdicts([p for p in places if p.definition or COMPONENTS[p.component] in here], limit)


def verdicts(places: list[Place], limit: float = LIMIT) -> list[Verdict]:
    """Check the components where they are; one process for each notebook, some at a time."""
    by_notebook: dict[CourseNotebook, list[Place]] = {}
    for place in places:
        if place.definition and not place.stub:
            by_notebook.setdefault(place.notebook, []).append(place)
    jobs, stop = list(by_notebook.items()), Event()
    with ThreadPoolExecutor(max(1, min(len(jobs), os.cpu_count() or 1))) as pool:
        try:
            done = list(pool.map(lambda job: _check(*job, limit, stop), jobs))
        except BaseException:  # Ctrl-C, say: end the processes rather than wait for them
            stop.set()
            raise
    checked = {c: v for found in done for c, v in found.items()}
    return [checked.get(p.component) or _unchecked(p) for p in places]


def _unchecked(place: Place) -> Verdict:
    return _verdict(place, "not started" if place.stub else "missing", place.why)


def _check(
    notebook: CourseNotebook, places: list[Place], limit: float, stop: Event
) -> dict[str, Verdict]:
    own = {p.component: needs(notebook.definitions, [p.component]) for p in places}
    every = {d for need in own.values() for d in need.definitions.values()}
    outcome = run_checks(notebook, ordered(every), list(own), limit, stop)
    return {p.component: _judge(p, own[p.component], outcome) for p in places}


def _judge(place: Place, need: Needs, outcome: Outcome) -> Verdict:
    answer = outcome.checked[place.component]
    remarks = tuple(answer.get("remarks", ()))
    if answer["passed"]:
        return _verdict(place, "done", "", remarks)
    failed = [
        f"`{n}` cannot be defined: {outcome.failed[n]}"
        for n in need.definitions
        if n in outcome.failed
    ]
    if failed or need.faults:
        return _verdict(place, "wrong", (failed + need.faults)[0], remarks)
    if not answer["started"]:
        return _verdict(place, "not started", "", remarks)
    found = _verdict(place, "wrong", ". ".join([*need.doubts, answer["why"]]), remarks)
    return replace(found, mistakes=tuple(answer.get("mistakes", ())))


def _verdict(place: Place, status: str, why: str, remarks: tuple[str, ...] = ()) -> Verdict:
    return Verdict(
        place.component,
        COMPONENTS[place.component].name,
        str(place.notebook.path) if place.notebook else "",
        status,
        _one_line(why),
        remarks,
        section(place.component),
    )


def _one_line(text: str) -> str:
    """Without line breaks and control characters; the message of an exception may hold any."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
