"""One notebook's checks in a process that may hang or die, and what became of each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from autograder.errors import CourseError
from autograder.notebooks import CourseNotebook, Definition

ROOT = Path(__file__).resolve().parents[2]
PAUSE = 0.02  # seconds between two looks at a worker
START = 120.0  # seconds that a slow machine may take to load torch


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
    with tempfile.TemporaryDirectory(prefix="autograder-") as folder:
        task, events, errors = (Path(folder, n) for n in ("todo.json", "events", "errors"))
        task.write_text(json.dumps(todo), encoding="utf-8")
        events.touch()
        with open(errors, "wb") as stderr:
            worker = subprocess.Popen(
                [sys.executable, "-m", "autograder.survey.worker", str(task), str(events)],
                cwd=notebook.path.resolve().parent,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
            )
            try:
                in_time = _wait(worker, events, limit, stop)
            finally:
                worker.kill()
                worker.wait()
        told = events.read_text(encoding="utf-8")
        lines = told[: told.rfind("\n") + 1].splitlines()  # the last one may be cut off
        said = errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return [json.loads(line) for line in lines], _ending(worker.returncode, in_time, limit, said)


def _environment() -> dict[str, str]:
    paths = [str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(p for p in paths if p),
        "MPLBACKEND": "Agg",
        "OMP_NUM_THREADS": "1",
        "AUTOGRADER_STANDINS": "1",  # a mistake in an earlier notebook is told once, there
    }


def _wait(worker: subprocess.Popen, events: Path, limit: float, stop: Event) -> bool:
    """Wait for the worker's end; False if it made no progress for `limit` seconds."""
    size, since = 0, time.monotonic()
    while worker.poll() is None and not stop.is_set():
        now = events.stat().st_size
        if now != size:
            size, since = now, time.monotonic()
        elif time.monotonic() - since > (limit if size else max(limit, START)):
            return False
        time.sleep(PAUSE)
    return True


def _ending(code: int, in_time: bool, limit: float, said: list[str]) -> str:
    if not in_time:
        return f"It ran longer than {limit:g} seconds and was stopped: a loop without end?"
    if code < 0:
        return f"It ended Python with signal {-code}."
    return f"It ended Python (exit status {code}){': ' + said[-1] if code and said else '.'}"
