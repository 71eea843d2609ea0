"""`autograder train gpt2.py`: train the file's model with the file's own functions."""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path

from autograder.conform.load import load_module
from autograder.errors import CourseError
from autograder.training import checkpoint, curve, options, report, sample, snapshot
from autograder.training import device as devices
from autograder.training.defaults import Settings
from autograder.training.file_text import file_text
from autograder.training.load import RUNS, warn_if_changed
from autograder.training.loop import Diverged, Training
from autograder.training.tale_text import tale_text
from autograder.training.text import Text

INTERRUPTED = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_places(parser)
    options.add_settings(parser)


def run(args: argparse.Namespace) -> int:
    """0 when the run is at its end, 130 when Ctrl-C stopped it; CourseError: it cannot train."""
    folder = args.out or RUNS / (args.text.stem if args.text else "tales")
    job = resumed(args, folder) if args.resume else begun(args, folder)
    print(report.opening(job.training, folder, job.threads, job.levels))
    if job.training.finished:
        print("This run is at its end already.")
    elif not trained(job):
        print(f"\nStopped after step {job.training.step:,}; the checkpoint is in {folder}.")
        print(f"To go on: {resume_command(args.file, folder)}")
        return INTERRUPTED
    print(report.closing(job.training, job.levels))
    print(written(job, args.file))
    print(report.places(folder))
    return 0


def trained(job: Job) -> bool:
    """Train to the end, or until Ctrl-C, and draw the curve: whether it is the end."""
    progress = report.Progress(job.training, job.levels.get("floor"))
    try:
        return job.training.run(progress.on_step, progress.on_evaluation, job.save)
    except Diverged as error:
        raise CourseError(diverged(job, str(error))) from None
    finally:
        progress.close()
        job.draw()


@dataclass
class Job:
    """A run and where it belongs."""

    training: Training
    folder: Path
    path: str  # of the text; "" for the tales
    threads: int
    gpt2: dict
    fingerprint: str
    levels: dict[str, float] = field(default_factory=dict)

    def save(self) -> None:
        record, tensors = snapshot.take(self.training)
        vocabulary = self.training.text.vocabulary
        record |= {
            "gpt2": self.gpt2,
            "device": self.training.device.type,
            "threads": self.threads,
            "text": {
                "title": self.training.text.title,
                "path": self.path,
                "fingerprint": self.fingerprint,
            },
            "levels": self.levels,
            "vocabulary": {
                "kind": vocabulary.kind,
                "start": vocabulary.start,
                "tokens": vocabulary.tokens,
            },
        }
        checkpoint.save(self.folder, record, tensors)

    def draw(self) -> None:
        if len(self.training.history) < 2:
            return  # stopped before there was a curve
        text, name = self.training.text, Path(self.gpt2["path"]).name
        title = f"{name} learns {text.title}"
        curve.draw(self.folder / curve.FILE, self.training.history, self.levels, title, text.unit)


def resume_command(file: str, folder: Path) -> str:
    out = [] if folder == RUNS / "tales" else ["--out", str(folder)]
    return shlex.join(["autograder", "train", file, *out, "--resume"])


def begun(args: argparse.Namespace, folder: Path) -> Job:
    """A new run; CourseError where another one would be lost."""
    settings = options.settings_of(args)
    if checkpoint.exists(folder) and not args.overwrite:
        raise CourseError(
            f"{folder} holds a run already. --resume goes on with it, --overwrite begins anew in "
            "its place, and --out takes another folder."
        )
    device = devices.pick(args.device or "auto")
    threads = args.threads or devices.usual_threads()
    path = str(args.text.resolve()) if args.text else ""
    job = made(args.file, folder, settings, path, device, threads)
    folder.mkdir(parents=True, exist_ok=True)
    checkpoint.remove(folder)
    return job


def resumed(args: argparse.Namespace, folder: Path) -> Job:
    """The run in the folder, as it was at its checkpoint."""
    if not checkpoint.exists(folder):
        raise CourseError(f"{folder} holds no run to resume. Without --resume one begins there.")
    record, tensors = checkpoint.read(folder)
    with checkpoint.reading(folder):
        settings, path = Settings(**record["settings"]), record["text"]["path"]
        fingerprint = record["text"]["fingerprint"]
        place = record["device"], record["threads"]
        warn_if_changed(record, args.file)
    options.require_same(args, settings, path)
    device, threads = devices.pick(args.device or place[0]), args.threads or place[1]
    job = made(args.file, folder, settings, path, device, threads)
    if job.fingerprint != fingerprint:
        raise CourseError(
            f"{path or 'the tales'} changed since the checkpoint in {folder}, so the run "
            "cannot go on as it began. Put the text back, or begin anew with --overwrite."
        )
    with checkpoint.reading(folder):
        snapshot.put_back(job.training, record, tensors)
    if (device.type, threads) != place:
        print(
            "Note: on another device or number of threads the last digits can differ from those "
            "of a run that was never stopped.",
            file=sys.stderr,
        )
    return job


def made(file: str, folder: Path, settings: Settings, path: str, device, threads: int) -> Job:
    """The text, the model and all that belongs to them, at step 0."""
    devices.prepare(device, threads)
    module, gpt2 = load_module(file), snapshot.source(file)
    text: Text = file_text(path, settings) if path else tale_text(settings)
    training = Training(module, text, settings, device)
    levels = report.levels_of(text)
    return Job(training, folder, path, threads, gpt2, text.fingerprint(), levels)


def diverged(job: Job, what: str) -> str:
    """What happened, what is left, what to try."""
    if checkpoint.exists(job.folder):
        step = checkpoint.read(job.folder)[0]["step"]
        left = f"The checkpoint of step {step:,} in {job.folder} is as it was."
    else:
        left = "No checkpoint had been saved yet."
    lr = job.training.settings.lr
    return f"training broke down: {what}. {left} Try a smaller --lr (it was {lr:g})."


def written(job: Job, file: str) -> str:
    """A sample, where the file can make one."""
    module = job.training.module
    if not callable(getattr(module, "generate", None)):
        return f"\nNo sample: {file} does not define generate."
    job.training.model.eval()
    text = sample.write(module, job.training.model, job.training.text.vocabulary)[0]
    more = f"autograder generate {file} --run {job.folder}"
    return f"\nA sample ({more} writes more):\n\n{text}"
