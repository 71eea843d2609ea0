"""What a training run says: at its start, at each evaluation, and at its end."""

from __future__ import annotations

import math
import sys
import textwrap
from pathlib import Path

from tqdm import tqdm

from autograder.training import checkpoint, curve
from autograder.training.loop import Training, losses


class Progress:
    """A bar on a terminal; one line for each evaluation everywhere."""

    def __init__(self, training: Training, floor: float | None):
        self.floor = floor
        self.bar = tqdm(
            total=training.settings.steps,
            initial=training.step,
            unit="step",
            dynamic_ncols=True,
            leave=False,
            disable=not sys.stderr.isatty(),
        )
        columns = ["step", "train", "val"] + (["floor", "above it"] if floor is not None else [])
        self.say("".join(f"{name:>10}" for name in [*columns, "time"]))

    def on_step(self, loss: float) -> None:
        self.bar.set_postfix_str(f"loss {loss:.3f}", refresh=False)
        self.bar.update()

    def on_evaluation(self, entry: dict) -> None:
        numbers = [entry["train"], entry["val"]]
        if self.floor is not None:
            numbers += [self.floor, entry["val"] - self.floor]
        cells = [f"{entry['step']:>10,}", *(f"{x:>10.4f}" for x in numbers)]
        self.say("".join(cells) + f"{duration(entry['seconds']):>10}")

    def say(self, line: str) -> None:
        self.bar.write(line)
        sys.stdout.flush()

    def close(self) -> None:
        self.bar.close()


def opening(training: Training, folder: Path, threads: int, levels: dict[str, float]) -> str:
    s, text = training.settings, training.text
    file = Path(training.module.__file__).name
    count = sum(p.numel() for p in training.model.parameters())
    where = f"cpu, {threads} thread{'s' * (threads > 1)}"
    lines = [
        f"Training {file} on {text.title}: {len(text.train):,} {text.unit}s, "
        f"{len(text.vocabulary)} of them different",
        f"  model   {s.n_layer} blocks, {s.n_head} heads, d_model {s.d_model}, context "
        f"{s.context}: {count:,} parameters",
        f"  steps   {s.steps:,} of {s.batch_size} x {s.context} {text.unit}s each, on "
        f"{where if training.device.type == 'cpu' else training.device.type}",
        f"  folder  {folder}",
    ]
    known = ", ".join(f"{name} {loss:.3f}" for name, loss in levels.items())
    head = f"  losses  to compare with, in nats per {text.unit} on held-out text: "
    lines.append(textwrap.fill(head + known, 96, subsequent_indent=" " * 10))
    if text.remark:
        lines.append(textwrap.fill(f"  note    {text.remark}", 96, subsequent_indent=" " * 10))
    return "\n".join(lines) + "\n"


def levels_of(text) -> dict[str, float]:
    """The losses that a reader of limited skill would have, the worst first."""
    levels = {"unigram": text.unigram(), "bigram": text.bigram()}
    if text.floor is not None:
        levels |= {f"without {name}": loss for name, loss in text.floor.without.items()}
    levels = dict(sorted(levels.items(), key=lambda level: -level[1]))
    return levels if text.floor is None else levels | {"floor": text.floor.loss}


def closing(training: Training, levels: dict[str, float]) -> str:
    """The final losses, and what is still missing."""
    text, last = training.text, training.history[-1]
    unit = f"nats per {text.unit}"
    lines = [
        f"\nFinished: {training.step:,} steps in {duration(training.seconds)} (minutes:seconds).\n",
        f"  training loss   {last['train']:7.4f}   {unit}",
        f"  held-out loss   {last['val']:7.4f}   bigram {levels['bigram']:.4f}, unigram "
        f"{levels['unigram']:.4f}",
    ]
    if text.floor is None:
        bits = last["val"] / math.log(2)
        lines.append(
            f"                  {bits:7.4f}   the same in bits; nobody knows how low it can go"
        )
    else:
        nll = losses(training.model, text.held_out, training.settings.batch_size)
        parts = ", ".join(f"{name} {x:.4f}" for name, x in text.floor.above(nll).items())
        lines += [
            f"  floor           {text.floor.loss:7.4f}   no model can do better on these tales",
            f"  above the floor {last['val'] - text.floor.loss:7.4f}   {parts}",
        ]
    return "\n".join(lines)


def places(folder: Path) -> str:
    record = checkpoint.read(folder)[0]
    files = {
        checkpoint.RECORD: "settings, vocabulary, history",
        record["tensors"]["file"]: "weights by name, and what --resume needs",
        curve.FILE: "the loss curve",
    }
    lines = [f"  {str(folder / name):50} {what}" for name, what in files.items()]
    return "\n".join(["\nWhere everything is:", *lines])


def duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes}:{seconds:02}"
