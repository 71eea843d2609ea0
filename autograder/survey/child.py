"""A process for code that may hang, crash or end Python: what it tells, event by event, and its end.

The process is `python -m MODULE todo.json events`; MODULE calls `work`. An event is a dict, a line
of JSON in the file of events, written at once: from these lines its parent reads how far it came.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from threading import Event

from autograder.errors import CourseError

ROOT = Path(__file__).resolve().parents[2]
PAUSE = 0.02  # seconds between two looks at a process
START = 120.0  # seconds that a slow machine may take to load torch

# ------------------------------------------------------------------ the parent's side


def follow(
    module: str,
    todo: dict,
    limit: float,
    folder: Path | None = None,
    stop: Event | None = None,
    environment: dict[str, str] | None = None,
    heard: Callable[[dict], None] = lambda event: None,
    quiet: bool = True,
) -> tuple[list[dict], str]:
    """The events of one process, and in a sentence how it ended.

    `limit`: seconds without an event after which it is stopped; an event may set another with the
    key "limit". `heard` gets each event as it comes; `quiet` keeps what the code prints.
    CourseError: the process has told "refused", and why.
    """
    with tempfile.TemporaryDirectory(prefix="autograder-") as place:
        task, told, errors = (Path(place, n) for n in ("todo.json", "events", "errors"))
        task.write_text(json.dumps(todo), encoding="utf-8")
        told.touch()
        with open(errors, "wb") as kept, open(told, "rb") as lines:
            process = subprocess.Popen(
                [sys.executable, "-m", module, str(task), str(told)],
                cwd=folder,
                env=_environment() | (environment or {}),
                stdin=subprocess.PIPE,  # never written to: its end tells the process of ours
                stdout=subprocess.DEVNULL if quiet else None,
                stderr=kept if quiet else None,
            )
            watch = _Watch(lines, limit, heard)
            try:
                in_time = watch.wait(process, stop or Event())
            finally:
                process.kill()
                process.wait()
                process.stdin.close()
            watch.read()
        said = errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return watch.events, _ending(process.returncode, in_time, watch.limit, said)


def _environment() -> dict[str, str]:
    paths = [str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return os.environ | {"PYTHONPATH": os.pathsep.join(p for p in paths if p), "MPLBACKEND": "Agg"}


class _Watch:
    """Reads the events as they come, and the clock since the last one."""

    def __init__(self, lines, limit: float, heard: Callable[[dict], None]):
        self.lines, self.usual, self.limit, self.heard = lines, limit, limit, heard
        self.events: list[dict] = []
        self.rest = b""

    def wait(self, process: subprocess.Popen, stop: Event) -> bool:
        """Wait for its end or its last event; False if none came for `limit` seconds."""
        since = time.monotonic()
        while process.poll() is None and not stop.is_set():
            if self.read():
                since = time.monotonic()
                if self.events[-1]["event"] == "end":
                    break
            limit = self.limit if self.events else max(self.limit, START)
            if time.monotonic() - since > limit:
                return False
            time.sleep(PAUSE)
        return True

    def read(self) -> int:
        """Take the lines that are new and whole; how many."""
        *whole, self.rest = (self.rest + self.lines.read()).split(b"\n")
        for line in whole:
            event = json.loads(line)
            self.limit = event.get("limit", self.usual)
            self.events.append(event)
            if event["event"] == "refused":
                raise CourseError(event["why"])
            self.heard(event)
        return len(whole)


def _ending(code: int, in_time: bool, limit: float, said: list[str]) -> str:
    if not in_time:
        return f"It ran longer than {limit:g} seconds and was stopped: a loop without end?"
    if code < 0:
        return f"It ended Python with signal {-code} ({_signal(-code)})."
    return f"It ended Python (exit status {code}){': ' + said[-1] if code and said else '.'}"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


# ------------------------------------------------------------------ the process's side


def work(do: Callable[[dict, Callable], None]) -> None:
    """Call do(todo, tell) for what the command line names, and end at once.

    `tell(event, **more)` writes an event; todo["folder"] is a place for files. What the code left
    running, a thread say, is not awaited.
    """
    task, told = map(Path, sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C: the parent ends this process
    _die_with_parent()
    todo = json.loads(task.read_text(encoding="utf-8")) | {"folder": str(task.parent)}
    status = 1
    with open(told, "a", encoding="utf-8") as file:

        def tell(event: str, **more) -> None:
            file.write(json.dumps({"event": event, **more}, default=float) + "\n")
            file.flush()

        try:
            do(todo, tell)
            tell("end")
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)


def _die_with_parent() -> None:
    """End this process when the pipe to its parent does, however the parent ended.

    Standard input, which was that pipe, is empty for the code that will run.
    """
    pipe = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)

    def wait() -> None:
        while os.read(pipe, 1):
            pass
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
