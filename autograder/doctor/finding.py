"""What the doctor concludes: findings, and the looks that they come from."""

from __future__ import annotations

import math
from dataclasses import dataclass

from autograder.judge.finding import Trouble


@dataclass(frozen=True)
class Finding:
    """Something wrong: its cause as an id, and a line each on what, the evidence, where to look.

    A remark is worth knowing and no fault of the file.
    """

    cause: str
    what: str
    evidence: str
    look: str
    remark: bool = False

    def lines(self) -> list[str]:
        return [*Trouble(self.what, self.evidence).lines(), f"Look at {self.look}"]


@dataclass(frozen=True)
class Look:
    """One thing that was looked at: what was measured, what it has to be, and what came of it."""

    name: str
    measured: str
    bound: str
    findings: tuple[Finding, ...] = ()


def short(value: float | None) -> str:
    """A number as it is read: three digits or so, NaN as NaN."""
    if value is None:
        return "none"
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{value}"
    if abs(value) >= 1000:
        return f"{value:,.0f}" if abs(value) < 1e9 else f"{value:.1e}"
    return f"{value:.3f}" if abs(value) >= 0.01 else f"{value:.2g}"
