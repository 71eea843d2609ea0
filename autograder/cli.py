"""The commands, each a thin call of the module that does the work and describes its options."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module

from autograder import __version__
from autograder.errors import CourseError


@dataclass(frozen=True)
class Command:
    """A sub-command: its module has `add_arguments(parser)` and `run(args) -> exit status`."""

    module: str
    summary: str


COMMANDS = {
    "check": Command(
        "autograder.survey.command", "say of each component whether it is done, and what is next"
    ),
    "assemble": Command("autograder.assemble.command", "make one gpt2.py out of the notebooks"),
    "conform": Command("autograder.conform", "compare a gpt2.py with the references"),
    "train": Command("autograder.training.train", "train the model of a gpt2.py"),
    "doctor": Command(
        "autograder.doctor.command", "train a gpt2.py for a minute and say what is wrong with it"
    ),
    "generate": Command("autograder.training.generate", "let a trained model write"),
    "explain": Command("autograder.explain", "tell more of a mistake that a check has named"),
    "normalise": Command(
        "autograder.notebooks.command", "clear notebooks of outputs and of what editors add"
    ),
}


class Terminated(KeyboardInterrupt):
    """SIGTERM: taken as Ctrl-C is, so that the processes and files of a command end with it."""


def parser(chosen: str | None) -> argparse.ArgumentParser:
    """The parser of all commands; only the chosen one's module is imported, for its options."""
    top = argparse.ArgumentParser(
        prog="autograder",
        description="From exercise notebooks to a GPT-2 of one's own: check, assemble, train.",
        epilog="autograder COMMAND --help describes a command.",
    )
    top.add_argument("--version", action="version", version=f"autograder {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        sub = commands.add_parser(
            name,
            help=command.summary,
            description=f"{command.summary[0].upper()}{command.summary[1:]}.",
        )
        if name == chosen:
            module = import_module(command.module)
            module.add_arguments(sub)
            sub.set_defaults(run=module.run)
    return top


def main(argv: list[str] | None = None) -> int:
    """Run a command. 0: all is well; 1: the command found something wrong; 2: it could not run."""
    argv = sys.argv[1:] if argv is None else argv
    for stream in (sys.stdout, sys.stderr):  # a terminal that lacks a letter gets an escape for it
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    chosen = next((a for a in argv if not a.startswith("-")), None)
    try:
        args = parser(chosen).parse_args(argv)
        try:
            with _terminated():
                return args.run(args)
        except SystemExit as end:  # of a student's file: it must not pass for a verdict
            if isinstance(end.__context__, BrokenPipeError):  # rich ends a command so
                return 1
            return _fail("the code that was run calls exit(): take that out.")
    except ModuleNotFoundError as error:
        if error.name and error.name.split(".")[0] == "autograder":
            return _fail(f"{error}, a part of the course. Fetch the course anew.")
        return _fail(f"{error}. Install what the course needs: pip install -r requirements.txt")
    except ImportError as error:
        return _fail(f"the command {chosen!r} cannot be loaded: {error}. Is the course complete?")
    except BrokenPipeError:  # the reader of a pipe has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (CourseError, OSError) as error:
        return _fail(str(error))
    except Terminated:
        return _fail("Stopped.", 143)
    except KeyboardInterrupt:
        return _fail("Stopped.", 130)


@contextmanager
def _terminated():
    """SIGTERM raises Terminated inside, the first time; a second one ends Python."""

    def stop(*_) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise Terminated

    if threading.current_thread() is not threading.main_thread():  # it alone may set this
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _fail(message: str, status: int = 2) -> int:
    print(f"autograder: {message}", file=sys.stderr)
    return status
