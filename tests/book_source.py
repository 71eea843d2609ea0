"""The book's sources, taken apart for the tests: prose, code cells, directives, labels."""

import re
from pathlib import Path

from course_copy import ROOT

BOOK = ROOT / "book"
PAGES = sorted(BOOK.glob("*.md"))

FENCE = re.compile(r"^(`{3,})(.*?)\n(.*?)^\1\s*$", re.S | re.M)
NOT_PROSE = "\n|\n"  # stands where something was cut out: no run of words goes across it


def code_cells(page: Path) -> list[str]:
    return [body for _, head, body in FENCE.findall(page.read_text()) if "{code-cell}" in head]


def console_lines(page: Path) -> list[str]:
    """Commands that the page tells a reader to type."""
    bodies = [body for _, head, body in FENCE.findall(page.read_text()) if head == "console"]
    return [line[2:] for body in bodies for line in body.splitlines() if line.startswith("$ ")]


def options(directive: str) -> dict[str, str]:
    return dict(re.findall(r"^:(\w+): (.*)$", directive, re.M))


def figures(page: Path) -> list[tuple[dict[str, str], str]]:
    """(options, caption) of each figure or image."""
    return [
        (options(body), re.sub(r"^:\w+:.*$", "", body, flags=re.M).strip())
        for _, head, body in FENCE.findall(page.read_text())
        if re.match(r"\{(figure|image)\}", head)
    ]


def labels(page: Path) -> list[str]:
    """Targets, equation labels and figure names."""
    text = page.read_text()
    return re.findall(r"^\(([\w-]+)\)=$", text, re.M) + re.findall(
        r"^:(?:label|name): (\S+)$", text, re.M
    )


def citations(page: Path) -> set[str]:
    found = re.findall(r"\{cite:\w+\}`([^`]+)`", page.read_text())
    return {key.strip() for keys in found for key in keys.split(",")}


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+(?:['’][a-z]+)?|\|", text.lower())


def prose(page: Path) -> list[str]:
    """The words that a reader reads, in order; "|" where a formula or code stood."""
    text = re.sub(r"\A---\n.*?\n---\n", "", page.read_text(), flags=re.S)
    text = FENCE.sub(
        lambda m: m[3] if m[2].startswith("{figure}") else NOT_PROSE, text
    )  # captions and alt texts are prose
    text = re.sub(r"\{[\w:]+\}`([^`<]*?)(?:\s*<[^`]*>)?`", r"\1", text)
    text = re.sub(r"\$[^$]*\$|`[^`]*`|^:\w+:|^\(.*\)=$", NOT_PROSE, text, flags=re.M)
    return words(text)


def runs(sequence: list[str], length: int) -> set[tuple[str, ...]]:
    """All runs of that many words with nothing cut out between them."""
    windows = zip(*(sequence[i:] for i in range(length)))
    return {run for run in windows if "|" not in run}
