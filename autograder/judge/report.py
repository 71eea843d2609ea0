"""The verdict on one component, as a student reads it and as the gradebook counts it."""

from __future__ import annotations

import html
from dataclasses import dataclass, replace

from autograder.judge.finding import Finding


@dataclass(frozen=True)
class Report:
    """All findings on one component, in the order in which they were looked at."""

    component: str
    findings: tuple[Finding, ...]
    section: str = ""
    remarks: tuple[str, ...] = ()
    started: bool = True

    @property
    def passed(self) -> bool:
        return self.started and all(f.passed for f in self.findings)

    @property
    def fraction(self) -> float:
        """Share of the points: 1 if all passed, 0 unless some numbers agree."""
        if self.passed:
            return 1.0
        if not any(f.passed and f.evidence for f in self.findings):
            return 0.0
        total = sum(f.weight for f in self.findings)
        return sum(f.weight for f in self.findings if f.passed) / total

    @property
    def summary(self) -> str:
        """One line of what is wrong; empty if nothing is."""
        if not self.started:
            return "not started"
        first = self._first()
        return first.trouble.lines()[0] if first else ""

    def score(self, points: float) -> float:
        """Print a line, and what is wrong; the points earned out of `points`, for the gradebook."""
        earned = float(points) if self.passed else round(points * self.fraction, 2)
        head, *causes = self._text(parts=False)
        print("\n".join([f"{head}, {earned:g} of {points:g} points", *causes]))
        return earned

    def __and__(self, other: Report) -> Report:
        """Both looks at the same component: a part passes if it does in both."""
        if not (self.started and other.started):
            return replace(self, started=False)
        theirs = {f.part: f for f in other.findings}
        merged = []
        for f in self.findings:
            other_f = theirs.pop(f.part, f)
            merged.append(other_f if f.passed else f)
        remarks = tuple(dict.fromkeys(self.remarks + other.remarks))
        return replace(self, findings=(*merged, *theirs.values()), remarks=remarks)

    def _first(self) -> Finding | None:
        """The finding to tell about first: one that names the cause, else the earliest."""
        wrong = [f for f in self.findings if f.trouble]
        named = [f for f in wrong if f.trouble.mistake]
        return next(iter(named + wrong), None)

    def _text(self, parts: bool = True) -> list[str]:
        if not self.started:
            return [
                f"{self.component}: not started",
                "  The cell still raises NotImplementedError.",
            ]
        n, good = len(self.findings), sum(f.passed for f in self.findings)
        if self.passed:
            head = [f"{self.component}: right, all {n} parts"]
        else:
            verb = "is" if good == 1 else "are"
            head = [f"{self.component}: {good} of {n} parts {verb} right"]
            head += [f"  {line}" for line in self._first().trouble.lines()]
            if self.section:
                head.append(f"  In the book: {self.section}")
            if parts:
                head += [f"  {_mark(f)} {f.part}" for f in self.findings]
            if parts and any(f.skipped for f in self.findings):
                head.append("  [--] was not looked at: it rests on a part that is wrong.")
        return head + [f"  Remark: {remark}" for remark in self.remarks]

    def __str__(self) -> str:
        return "\n".join(self._text())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        colour = "#1a7f37" if self.passed else "#b35900"
        head, *rest = map(html.escape, self._text())
        return (
            f'<div style="border-left:4px solid {colour};padding-left:.8em"><b>{head}</b>'
            f'<pre style="margin:.3em 0">{chr(10).join(line[2:] for line in rest)}</pre></div>'
        )


def _mark(finding: Finding) -> str:
    return "[ok]   " if finding.passed else "[--]   " if finding.skipped else "[wrong]"
