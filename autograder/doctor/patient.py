"""The file under examination: its functions, a text, and small models of the doctor's own making."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import torch
from torch import Tensor, nn

from autograder.errors import CourseError
from autograder.training.defaults import Settings
from autograder.training.file_text import file_text
from autograder.training.loop import REQUIRED, build, config_of
from autograder.training.tale_text import tale_text
from autograder.training.text import Text

# Small enough for some 2,000 steps a minute on one core. No two of the sizes are the same.
SETTINGS = Settings(
    context=48,
    n_layer=2,
    n_head=4,
    d_model=64,
    steps=0,  # as many as the time allows
    batch_size=16,
    lr=3e-3,
    min_lr=3e-4,
    warmup=0,  # a tenth of the steps
    eval_every=0,
    save_every=0,
    held_out=64,
    tales=1500,
)
LEAST = 8  # tokens in a window
T = 8  # tokens that the probes before the training look at


class Patient:
    """Makes models and batches; each probe gets fresh ones, so that none disturbs another."""

    def __init__(self, module: ModuleType, text: Text, settings: Settings, device: str = "cpu"):
        missing = [name for name in REQUIRED if not callable(getattr(module, name, None))]
        if missing:
            raise CourseError(
                f"{module.__file__} does not define {', '.join(missing)}: training needs "
                f"{'them' if len(missing) > 1 else 'it'}. `autograder assemble` puts them in."
            )
        self.module, self.text, self.settings = module, text, settings
        self.device = torch.device(device)
        self.V = len(text.vocabulary)

    def model(self, **changes) -> nn.Module:
        """A fresh model on the CPU, from the seed; `changes` are fields of GPT2Config."""
        torch.manual_seed(self.settings.seed)
        return build(self.module, config_of(self.settings, self.V) | changes)

    @torch.no_grad()
    def stirred(self, **changes) -> nn.Module:
        """A model with weights of a trained one's size: fresh ones hide mistakes, since biases
        are 0, gamma is 1 and all scores are near 0."""
        model, generator = self.model(**changes), self.generator(1)
        for p in model.parameters():
            noise = torch.randn(p.shape, generator=generator)
            p.copy_(0.15 * noise if p.dim() >= 2 else p + 0.2 * noise)
        return model

    def ids(self, rows: int = 4, length: int = T, seed: int = 0) -> Tensor:
        """Random tokens (rows, length)."""
        return torch.randint(self.V, (rows, length), generator=self.generator(seed))

    def windows(self, rows: int) -> tuple[Tensor, Tensor]:
        """x and y (rows, context) of the training text, drawn by the doctor."""
        found = self.text.sampled
        picked = found[torch.randint(len(found), (rows,), generator=self.generator(2))]
        return picked[:, :-1], picked[:, 1:]

    def generator(self, seed: int) -> torch.Generator:
        return torch.Generator().manual_seed(1000 * self.settings.seed + seed)


def loss_and_norm(result) -> tuple[float, float]:
    """What train_step returned, as numbers."""
    if not (isinstance(result, tuple) and len(result) == 2):
        raise TypeError(f"train_step returns {type(result).__name__}, not (loss, norm)")
    try:
        loss, norm = (p.detach() if isinstance(p, Tensor) else p for p in result)
        return float(loss), float(norm)
    except (TypeError, ValueError):
        kinds = " and ".join(type(part).__name__ for part in result)
        raise TypeError(f"train_step returns {kinds}, not two numbers (loss, norm)") from None


def attempt(probe: Callable, *args):
    """What a probe that only narrows a cause down finds; None where the file is built otherwise."""
    try:
        return probe(*args)
    except Exception:  # a student's code may raise anything
        return None


def text_of(path: str | None, settings: Settings) -> tuple[Text, Settings]:
    """The text and the settings that fit it. CourseError: too short, or nothing to predict."""
    if path is None:
        return tale_text(settings), settings
    file = Path(path)
    if file.is_file():
        length = len(file.read_text(encoding="utf-8-sig", errors="replace"))
        if 0 < length < 10 * (LEAST + 1):
            raise CourseError(
                f"{path} has {length} characters; the doctor needs {10 * (LEAST + 1)} or more, "
                "since a tenth is held out. Take a longer text, or leave --text out for the tales."
            )
        settings = replace(settings, context=min(settings.context, length // 10 - 1))
    text = file_text(path, settings)
    if len(text.vocabulary) < 2:
        raise CourseError(
            f"{path} holds a single character, {text.vocabulary.tokens[0]!r}, again and again: "
            "there is nothing to predict. Take another text."
        )
    return text, settings
