"""One row of the table: a property, its largest error, its tolerance, and what to look at."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

OK, FAIL, UNSEEN, SKIPPED = "ok", "FAIL", "not observable", "skipped"
F32, F64 = 1e-5, 1e-10
F32_OFF_CPU = 1e-4  # where sums are done in another order


def tolerance_on(device: torch.device, tolerance: float) -> float:
    """Elsewhere than on the CPU float32 rows get more room; float64 and counts do not."""
    return F32_OFF_CPU if device.type != "cpu" and tolerance == F32 else tolerance


class Wrong(Exception):
    """The property fails and no number tells it: a shape, a missing key, a wrong type."""


class Unseen(Exception):
    """The file does this in a way that cannot be watched from outside; no fault of the file."""


class Skip(Exception):
    """The row does not apply here, or rests on another row that failed."""


@dataclass
class Worst:
    """The largest error so far, and where it was."""

    error: float = 0.0
    where: str = ""
    stage: tuple[str, float] | None = None  # model, and how far on the way through it

    def add(self, label: str, got, want) -> None:
        """max|got - want| / max(1, max|want|): absolute below 1, relative to the array above."""
        got, want = as_array(got, label), np.asarray(want, np.float64)
        if got.shape != want.shape:
            raise Wrong(f"{label} has shape {got.shape}; expected {want.shape}")
        if want.size == 0:
            return
        off = np.abs(got - want) / max(1.0, np.abs(want).max())
        off = np.where(np.isnan(off), np.inf, off)
        self.note(off.max(), f"{label}{place(off)}")

    def note(self, error: float, where: str) -> None:
        """Keep this error if it is the largest."""
        if error > self.error:
            self.error, self.where = float(error), where


def as_array(value, label: str) -> np.ndarray:
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().double().numpy()
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise Wrong(f"{label} is a {type(value).__name__}, not numbers") from None


def place(off: np.ndarray) -> str:
    """Index of the largest error, as it is written after a name."""
    if off.ndim == 0:
        return ""
    return str([int(i) for i in np.unravel_index(off.argmax(), off.shape)])


@dataclass(frozen=True)
class Property:
    """What a row measures, before it is measured."""

    group: str
    name: str
    compared: str
    tolerance: float
    look: str
    measure: Callable  # (subject) -> Worst


@dataclass(frozen=True)
class Row:
    """A measured property. `error` is None where nothing could be measured."""

    group: str
    name: str
    compared: str
    error: float | None
    tolerance: float
    status: str
    detail: str = ""  # where the largest error was, or what went wrong
    look: str = ""  # what to look at, when it failed
    stage: tuple[str, float] | None = None  # where a failed row of the forward pass first differs

    @property
    def failed(self) -> bool:
        return self.status == FAIL


PROPERTIES: list[Property] = []


def prop(group: str, name: str, compared: str, tolerance: float, look: str):
    """Register a function (subject) -> Worst as a row of the table."""

    def register(measure: Callable) -> Callable:
        PROPERTIES.append(Property(group, name, compared, tolerance, look, measure))
        return measure

    return register


def measure(p: Property, subject) -> Row:
    """Run one property. Whatever the file raises becomes a failed row, not a traceback."""
    tolerance = tolerance_on(subject.device, p.tolerance)
    error, status, detail, stage = None, FAIL, "", None
    try:
        worst = p.measure(subject)
        error, detail, stage = worst.error, worst.where, worst.stage
        status = OK if error <= tolerance else FAIL
    except Wrong as wrong:
        detail = str(wrong)
    except Unseen as unseen:
        status, detail = UNSEEN, str(unseen)
    except Skip as skip:
        status, detail = SKIPPED, str(skip)
    except (Exception, SystemExit) as exception:  # the file's own code may raise anything
        detail = describe(exception, subject.path)
    look = p.look if status == FAIL else ""
    return Row(p.group, p.name, p.compared, error, tolerance, status, detail, look, stage)


def describe(exception: BaseException, path: str | None) -> str:
    """Type and message of an exception, and the last line of the file that it went through."""
    frames = [f for f in traceback.extract_tb(exception.__traceback__) if f.filename == path]
    where = f"line {frames[-1].lineno}, `{frames[-1].line}`: " if frames else ""
    message = " ".join(str(exception).split())
    return f"{where}{type(exception).__name__}: {message[:160]}"
