"""One thing that a check looked at."""

from __future__ import annotations

import re
from dataclasses import dataclass

from autograder.judge.picture import Picture

CODE = re.compile(
    r"""[b-z]\b                            # a name of one letter: x, k
    | [a-z]\w*\s[-=+*/@<>≤≥·×⊙∈≈^|]      # an operator after a name: mask = …
    | a\s[A-Z]+_                          # a W_Q: a name before a name
    | (gamma|beta|logits|logsumexp)\b""",
    re.VERBOSE,
)


def sentence(line: str) -> str:
    """A capital at the start, unless the line starts with code such as `torch.exp` or `x = y`."""
    if CODE.match(line) or not re.match(r"[a-z]+[ ,:]", line):
        return line
    return line[0].upper() + line[1:]


def lower(line: str) -> str:
    """The inverse, for a sentence that comes to stand behind a colon or a comma."""
    return line[0].lower() + line[1:] if re.match(r"[A-Z][a-z]+ ", line) else line


@dataclass(frozen=True)
class Trouble:
    """What is wrong, the evidence for it, and where to look; a line each."""

    what: str
    evidence: str = ""
    look: str = ""
    relation: str = ""  # of the wrong numbers to the right ones; no news where the cause is known
    mistake: str = ""  # the name of the known mistake that gives these numbers, or of two: "a + b"
    sure: str = ""  # how well they agree with it: EXACT or CLOSE
    why: str = ""  # why it matters; told below the rest
    picture: Picture | None = None
    seen: str = ""  # what was wrong, where `what` tells the cause of it
    code: str = ""  # the call that shows it, as one could type it

    @property
    def slight(self) -> bool:
        """Whether what differs can hardly be seen in the picture."""
        return self.picture is not None and self.picture.slight

    def lines(self) -> list[str]:
        evidence = self.evidence if self.mistake else f"{self.evidence} {self.relation}".strip()
        said = [sentence(line) for line in (self.what, evidence) if line]
        return said + ([f"Look: {self.look}"] if self.look else [])


EXACT, CLOSE = "exact", "close"


@dataclass(frozen=True)
class Finding:
    """The verdict on one part of a component.

    `weight` is its share of the points. A part with `evidence` compares numbers that a constant
    could not produce; the others count only when one of these has passed.
    """

    part: str
    trouble: Trouble | None = None
    weight: float = 1.0
    evidence: bool = False
    skipped: bool = False  # not looked at, since something it rests on failed

    @property
    def passed(self) -> bool:
        return self.trouble is None and not self.skipped
