"""What was measured of a gpt2.py in a process of its own, and what became of that process."""

import os
from collections.abc import Callable

from autograder.doctor.examine import PARTS, conclude
from autograder.doctor.finding import Finding, Look
from autograder.errors import CourseError
from autograder.survey.child import ROOT, follow


def looks_at(
    file: str,
    text: str | None,
    device: str,
    seed: int,
    seconds: float,
    threads: int,
    limit: float,
    heard: Callable[[dict], None] = lambda event: None,
) -> list[Look]:
    """All looks; where the file hangs or ends Python, that is the last one.

    CourseError: the file cannot be imported or lacks functions, or the text is of no use.
    """
    todo = dict(file=file, text=text, device=device, seed=seed, seconds=seconds, threads=threads)
    # in ROOT, so that no file of the user's folder is taken for a library
    module, todo = "autograder.doctor.worker", todo | {"here": os.getcwd()}
    events, end = follow(module, todo, limit, folder=ROOT, heard=heard, quiet=False)
    measured = {e["part"]: e["data"] for e in events if e["event"] == "measured"}
    looks = conclude(measured)
    if events and events[-1]["event"] == "end":
        return looks
    begun = [e["part"] for e in events if e["event"] == "begin"]
    if not begun:
        raise CourseError(f"{file} cannot be examined: {end}")
    return [*looks, ended(begun[-1], end)]


def ended(part: str, end: str) -> Look:
    functions = PARTS[part][2]
    wrong = Finding(
        "hangs",
        f"{functions} did not come to an end; what comes after was not looked at",
        end,
        f"{functions}: loops that may never end, calls of exit().",
    )
    return Look(part, "no answer", "an answer in time", (wrong,))
