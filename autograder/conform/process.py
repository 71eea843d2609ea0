"""The rows of a gpt2.py, measured in a process of its own, and what became of that process."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from autograder.conform.diagnosis import Diagnosis
from autograder.conform.row import FAIL, PROPERTIES, SKIPPED, Row
from autograder.errors import CourseError
from autograder.survey.child import ROOT, follow

IMPORT = {"group": "file", "name": "import", "compared": "the file is run once", "tolerance": 0}
PUBLISHED = 30  # times the limit: ten training steps of GPT-2 small take minutes on a CPU
LOOK = "loops that may never end; calls of exit() or os._exit(); what the file calls in C"


@dataclass(frozen=True)
class Outcome:
    """The rows, and for a file that does not conform what is wrong with its components."""

    rows: list[Row]
    diagnoses: list[Diagnosis]


def outcome_of(
    file: str, device: str, weights: str | None, limit: float, say: Callable[[dict], None]
) -> Outcome:
    """Every row; where one hangs or ends Python it has failed, and those after it are skipped.

    `say` is told each row as it begins. CourseError: the file cannot be imported, lacks names, or
    the weights are not those of GPT-2 small.
    """
    todo = {"file": file, "device": device, "weights": weights, "limit": limit, "here": os.getcwd()}

    def heard(event: dict) -> None:
        if event["event"] == "measure":
            say(event["row"])

    # in ROOT, so that no file of the user's folder is taken for a library
    module = "autograder.conform.worker"
    events, end = follow(module, todo, limit, folder=ROOT, heard=heard, quiet=False)
    rows = [row_of(event["row"]) for event in events if event["event"] == "row"]
    known = [diagnosis_of(e["diagnosis"]) for e in events if e["event"] == "diagnosis"]
    last = events[-1] if events else {"event": "nothing"}
    if last["event"] == "end":
        return Outcome(rows, known)
    if last["event"] in ("diagnose", "diagnosis"):  # what is measured does not depend on it
        return Outcome(rows, known + [Diagnosis(last["component"], f"Its check was ended. {end}")])
    if last["event"] not in ("import", "measure"):
        raise CourseError(f"{file} cannot be compared: {end}")
    at = last.get("row", IMPORT)
    rows.append(Row(**at, error=None, status=FAIL, detail=end, look=LOOK))
    seen, why = {row.name for row in rows}, f"the file was ended at the row '{at['name']}'"
    rows += [
        Row(p.group, p.name, p.compared, None, p.tolerance, SKIPPED, why)
        for p in PROPERTIES
        if p.name not in seen
    ]
    return Outcome(rows, known)


def diagnosis_of(told: dict) -> Diagnosis:
    return Diagnosis(**told | {"mistakes": tuple(told["mistakes"])})


def row_of(told: dict) -> Row:
    return Row(**told | {"stage": told["stage"] and tuple(told["stage"])})
