"""The verdict on one component, as a student reads it and as the gradebook counts it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autograder.judge import page
from autograder.judge.finding import Finding, sentence

NUMBERS = "Wrong values in"  # a part that says no more than this says nothing new
SMALL = 0.5  # weight of a part, such as the device or the type, that says least of what is wrong


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
        first = self.first()
        return first.trouble.lines()[0] if first else ""

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The known mistakes that explain the results, as `autograder explain` takes them."""
        first = self.first()
        named = first.trouble.mistake if first else ""
        return tuple(f"{self.component}.{name}" for name in named.split(" + ") if name)

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

    def first(self) -> Finding | None:
        """The finding to tell about first: one that names the cause, if possible with a picture
        of it; else the earliest, small matters last."""
        wrong = [f for f in self.findings if f.trouble]
        named = [f for f in wrong if f.trouble.mistake]
        shown = [f for f in named if f.trouble.picture]
        # What is plain to see before what is not, and what can be typed before what cannot.
        shown.sort(key=lambda f: (f.trouble.slight, not f.trouble.code))
        large = [f for f in wrong if f.evidence or not 0 < f.weight <= SMALL]
        return next(iter(shown + named + large + wrong), None)

    def _head(self) -> str:
        n, wrong = len(self.findings), sum(f.trouble is not None for f in self.findings)
        if not self.started:
            return f"{self.component}: not started"
        if self.passed:
            return f"{self.component}: right, all {n} parts"
        unseen = sum(f.skipped for f in self.findings)
        aside = f", {unseen} not looked at" if unseen else ""
        return (
            f"{self.component}: {wrong} of {n} parts {'is' if wrong == 1 else 'are'} wrong{aside}"
        )

    def _cause(self) -> tuple[list[str], list[str]]:
        """What is wrong, with the evidence; and where to look. The picture stands in between."""
        if not self.started:
            return ["The cell still raises NotImplementedError."], []
        first = self.first()
        lines = first.trouble.lines() if first else []
        cut = len(lines) - bool(first and first.trouble.look)
        return lines[:cut], lines[cut:]

    def _more(self) -> list[str]:
        """Where all of this is told at length."""
        if not self.started or self.passed:
            return []
        more = [f"In the book: {self.section}"] if self.section else []
        entries = " ".join(self.mistakes)
        return more + ([f"More on it: autograder explain {entries}"] if entries else [])

    def _parts(self) -> list[str]:
        """Those that are wrong, with what was seen of them if it is not told yet; then the rest."""
        if not self.started or self.passed:
            return []
        told, said = self.first().trouble, []
        for f in self.findings:
            if f.trouble:
                said.append(f"[wrong] {f.part}")
                seen = f.trouble.seen or f.trouble.what
                if seen not in (told.what, told.seen) and not seen.startswith(NUMBERS):
                    said.append(f"        {sentence(seen)}")
        for mark, chosen in (
            ("[--]    not looked at, since it rests on what is wrong: ", lambda f: f.skipped),
            ("[ok]    ", lambda f: f.passed),
        ):
            names = [f.part for f in self.findings if chosen(f)]
            said += [f"{mark}{'; '.join(names)}"] if names else []
        return said

    def _remarks(self) -> list[str]:
        return [f"Remark: {remark}" for remark in self.remarks]

    def _text(self, parts: bool = True) -> list[str]:
        below = self._more() + (self._parts() if parts else []) + self._remarks()
        return [self._head(), *(f"  {line}" for line in self._told() + below)]

    def _told(self) -> list[str]:
        """The cause, with the picture below its evidence."""
        (wrong, look), first = self._cause(), self.first()
        drawn = []
        if first and first.trouble.picture:
            drawn = [first.trouble.code] * bool(first.trouble.code) + first.trouble.picture.lines()
        return wrong + [f"  {line}" for line in drawn] + look

    def __str__(self) -> str:
        return "\n".join(self._text())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        (wrong, look), first = self._cause(), self.first()
        drawn, why = "", []
        if first and first.trouble.picture:
            drawn = page.code(first.trouble.code) + page.side_by_side(first.trouble.picture)
        if first and first.trouble.why:
            why = [first.trouble.why]
        body = page.lines(wrong) + drawn + page.lines(look)
        body += page.fold("Why it matters", why) + page.lines(self._more())
        body += page.fold("All parts", self._parts())
        return page.box(self.passed, self._head(), body + page.lines(self._remarks()))
