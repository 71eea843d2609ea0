"""The training loop, around the functions that the gpt2.py itself defines.

A step is get_batch, lr_schedule and train_step; losses come from estimate_loss, with dropout off,
on fixed windows of the training text and of the held-out text.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from types import ModuleType

import torch
from torch import Tensor

from autograder.conform.row import describe
from autograder.errors import CourseError
from autograder.training.defaults import Settings
from autograder.training.text import Text

REQUIRED = (
    "GPT2Config",
    "GPT2",
    "get_batch",
    "lr_schedule",
    "decay_groups",
    "train_step",
    "estimate_loss",
)


class Diverged(Exception):
    """The loss, the gradient or a weight is no longer a finite number. The message says which."""


class Training:
    """A run in memory: all that a checkpoint has to keep is an attribute of it."""

    def __init__(self, module: ModuleType, text: Text, settings: Settings, device: torch.device):
        missing = [name for name in REQUIRED if not callable(getattr(module, name, None))]
        if missing:
            raise CourseError(f"{module.__file__} cannot train: it lacks {', '.join(missing)}.")
        self.module, self.text, self.settings, self.device = module, text, settings, device
        torch.manual_seed(settings.seed)
        with self.blame():
            self.model = build(module, config_of(settings, len(text.vocabulary))).to(device)
            self.groups = module.decay_groups(self.model, settings.weight_decay)
        self.adamw: dict = {}  # the state that train_step keeps
        self.batches = torch.Generator().manual_seed(settings.seed)
        self.step = 0
        self.seconds = 0.0
        self.history: list[dict] = []  # one entry an evaluation
        self.data = text.train.to(device)
        self.starts = None if text.starts is None else text.starts.to(device)
        self.windows = {"train": text.sampled, "val": text.held_out}

    @property
    def finished(self) -> bool:
        return self.step >= self.settings.steps

    def run(
        self,
        on_step: Callable[[float], None],
        on_evaluation: Callable[[dict], None],
        save: Callable[[], None],
    ) -> bool:
        """Train to the end and return True, or until Ctrl-C and return False; saves as it goes."""
        s = self.settings
        self.model.train()
        with interrupt() as stop:
            if not self.history:
                on_evaluation(self.evaluate())
            while not self.finished and not stop.is_set():
                on_step(self.one_step())
                if self.finished or self.step % s.eval_every == 0:
                    on_evaluation(self.evaluate())
                if self.finished or self.step % s.save_every == 0:
                    self.require_finite_weights()
                    save()
            if not self.finished:
                self.require_finite_weights()
                save()
        return self.finished

    def one_step(self) -> float:
        """One batch, one update; the batch's loss."""
        s, started = self.settings, time.perf_counter()
        with self.blame():
            lr = self.module.lr_schedule(self.step, s.lr, s.min_lr, s.warmup, s.steps)
            x, y = self.module.get_batch(
                self.data, s.batch_size, s.context, starts=self.starts, generator=self.batches
            )
            loss, norm = self.module.train_step(
                self.model,
                x,
                y,
                self.groups,
                self.adamw,
                lr,
                betas=(s.beta1, s.beta2),
                max_norm=s.max_norm,
            )
            loss, norm = float(loss), float(norm)
        if not (math.isfinite(loss) and math.isfinite(norm)):
            what = (
                f"the gradient's norm is {norm}" if math.isfinite(loss) else f"the loss is {loss}"
            )
            raise Diverged(f"at step {self.step + 1} {what}")
        self.step += 1
        self.seconds += time.perf_counter() - started
        return loss

    def evaluate(self) -> dict:
        """Losses now, appended to the history."""
        started = time.perf_counter()
        entry = {"step": self.step}
        for name, windows in self.windows.items():
            chunks = windows.split(self.settings.batch_size)
            batches = [(w[:, :-1].to(self.device), w[:, 1:].to(self.device)) for w in chunks]
            with self.blame():
                entry[name] = float(self.module.estimate_loss(self.model, batches))
            if not math.isfinite(entry[name]):
                raise Diverged(f"after step {self.step} the {name} loss is {entry[name]}")
        self.model.train()
        self.seconds += time.perf_counter() - started
        entry["seconds"] = round(self.seconds, 2)
        self.history.append(entry)
        return entry

    def require_finite_weights(self) -> None:
        """So that a checkpoint never holds a broken model."""
        for name, p in self.model.named_parameters():
            if not p.isfinite().all():
                raise Diverged(f"after step {self.step} {name} holds numbers that are not finite")

    @contextmanager
    def blame(self):
        """What the gpt2.py raises becomes an error that names its line."""
        try:
            yield
        except Exception as error:  # a student's code may raise anything
            file = self.module.__file__
            raise CourseError(f"{file} cannot train: {describe(error, file)}") from error


def config_of(settings: Settings, vocab_size: int) -> dict:
    return {
        "vocab_size": vocab_size,
        "n_positions": settings.context,
        "n_layer": settings.n_layer,
        "n_head": settings.n_head,
        "d_model": settings.d_model,
        "dropout": settings.dropout,
    }


def build(module: ModuleType, config: dict) -> torch.nn.Module:
    return module.GPT2(module.GPT2Config(**config))


@torch.no_grad()
def losses(model: torch.nn.Module, windows: Tensor, batch_size: int) -> Tensor:
    # windows (W, T + 1) -> (W, T)
    """-log p of each target, dropout off."""
    device = next(model.parameters()).device
    training = model.training
    model.eval()
    found = []
    for w in windows.split(batch_size):
        logits = model(w[:, :-1].to(device)).transpose(1, 2)
        loss = torch.nn.functional.cross_entropy(logits, w[:, 1:].to(device), reduction="none")
        found.append(loss.cpu())
    model.train(training)
    return torch.cat(found)


@contextmanager
def interrupt():
    """An event that the first Ctrl-C sets, so that no step is cut in half; the second one stops."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # signals reach the main thread only
        return

    def on_signal(*_):
        stop.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, on_signal)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
