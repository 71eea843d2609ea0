"""What students receive holds no solution, no hidden test and no oracle."""

import json
import re

import pytest
from course_copy import ROOT

from autograder.course import ASSIGNMENTS

REGION = re.compile(r"### BEGIN (SOLUTION|HIDDEN TESTS)\n(.*?)\n\s*### END \1", re.S)
RELEASED = [p for p in (ROOT / "exercises").rglob("*") if p.is_file()]


def cells(path):
    return ["".join(c["source"]) for c in json.loads(path.read_text())["cells"]]


def squeeze(text):
    return re.sub(r"\s+", "", text)


def regions(path):
    """The text inside solution and hidden-test regions, and the text around them."""
    sources = cells(path)
    inside = [m.group(2) for source in sources for m in REGION.finditer(source)]
    assert inside, f"{path} has no solution region"
    return inside, "\n".join(REGION.sub("", source) for source in sources)


def hidden_lines(path):
    """Lines that stand in a region only and tell something, without white space."""
    inside, around = regions(path)
    lines = {squeeze(line) for text in inside for line in text.splitlines()}
    lines = {line for line in lines if len(line) >= 16 and not line.startswith(("#", '"""'))}
    return {line for line in lines if line not in squeeze(around)}


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_no_solution_or_hidden_test_is_released(assignment):
    released = squeeze("\n".join(source for p in RELEASED for source in cells(p)))
    hidden = hidden_lines(ROOT / "solutions" / assignment.path)
    assert len(hidden) > 10
    for line in hidden:
        assert line not in released, f"released: {line}"


def test_no_markers_hidden_seeds_or_oracle_are_released():
    inside = [text for a in ASSIGNMENTS for text in regions(ROOT / "solutions" / a.path)[0]]
    seeds = set(re.findall(r"check\.\w+\(\w+, (seed=\d+)\)", "\n".join(inside)))
    assert len(seeds) == sum(len(a.components) for a in ASSIGNMENTS)
    for path in RELEASED:
        text = path.read_text()
        for secret in ("BEGIN SOLUTION", "BEGIN HIDDEN", "oracle", "autograder.check", *seeds):
            assert secret not in text, f"{secret} in {path}"


def test_only_notebooks_are_released():
    assert {p.suffix for p in RELEASED} == {".ipynb"}


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_no_hint_is_the_answer(assignment):
    """What stands in a region as a whole stands nowhere else in its notebook."""
    inside, around = regions(ROOT / "solutions" / assignment.path)
    for region in map(squeeze, inside):
        assert len(region) < 30 or region not in squeeze(around), region
