"""One notebook's checks in a process that may hang or die, and what became of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event

from autograder.errors import CourseError
from autograder.notebooks import CourseNotebook, Definition
from autograder.survey.child import follow


@dataclass
class Outcome:
    """What the checks of a notebook said, and which definitions could not be executed."""

    checked: dict[str, dict] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


def run_checks(
    notebook: CourseNotebook,
    definitions: list[Definition],
    components: list[str],
    limit: float,
    stop: Event,
) -> Outcome:
    """Check the components; `limit` seconds for each single definition and check.

    What hangs or ends the process is noted and left out, and the rest is done anew.
    """
    outcome = Outcome()
    pending = list(components)
    while pending and not stop.is_set():
        left = [d for d in definitions if d.name not in outcome.failed]
        events, end = _one_process(notebook, left, pending, limit, stop)
        for e in events:
            if e["event"] == "failed":
                outcome.failed[e["name"]] = e["why"]
            elif e["event"] == "checked":
                outcome.checked[e["name"]] = e
                pending.remove(e["name"])
        last = events[-1] if events else {"event": "", "name": ""}
        if last["event"] == "check":
            outcome.checked[last["name"]] = {"passed": False, "started": True, "why": end}
            pending.remove(last["name"])
        elif last["event"] == "define":
            outcome.failed[last["name"]] = end
        elif len(events) < 2:  # it did not even begin
            raise CourseError(f"The checks of {notebook.path} cannot be run: {end}")
    return outcome


def _one_process(notebook, definitions, components, limit, stop) -> tuple[list[dict], str]:
    """The events of one worker, and how it ended."""
    todo = {
        "module": f"notebook_{notebook.index + 1}",
        "definitions": [{"name": d.name, "source": d.source} for d in definitions],
        "components": components,
        "future": notebook.definitions.future,
    }
    environment = {
        "OMP_NUM_THREADS": "1",
        "AUTOGRADER_STANDINS": "1",  # a mistake in an earlier notebook is told once, there
    }
    folder = notebook.path.resolve().parent
    return follow("autograder.survey.worker", todo, limit, folder, stop, environment)
