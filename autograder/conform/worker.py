"""Import a gpt2.py and measure its rows, in a process of its own: the file may hang or crash."""

import os
from dataclasses import asdict

from autograder.conform.process import PUBLISHED
from autograder.errors import CourseError
from autograder.survey.child import work


def main(todo: dict, tell) -> None:
    os.chdir(todo["here"])
    from autograder import conform  # torch is loaded before the file can be at fault
    from autograder.conform.diagnosis import diagnoses
    from autograder.conform.published import load_file, published_rows

    limit, failed = todo["limit"], False
    try:
        parameters = load_file(todo["weights"]) if todo["weights"] else None
        tell("import")
        subject = conform.open_subject(todo["file"], todo["device"])
    except CourseError as error:
        tell("refused", why=str(error))
        return

    def measuring(p, limit: float) -> None:
        known = {"group": p.group, "name": p.name, "compared": p.compared}
        tell("measure", limit=limit, row=known | {"tolerance": p.tolerance})

    for row in conform.each_row(subject, say=lambda p: measuring(p, limit)):
        tell("row", row=asdict(row))
        failed |= row.failed
    if failed:
        for found in diagnoses(subject.module, say=lambda c: tell("diagnose", component=c)):
            tell("diagnosis", component=found.component, diagnosis=asdict(found))
    elif parameters is not None:
        for row in published_rows(
            subject, parameters, say=lambda p: measuring(p, PUBLISHED * limit)
        ):
            tell("row", row=asdict(row))


if __name__ == "__main__":
    work(main)
