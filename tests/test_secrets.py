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


def hidden_lines(path):
    """Lines inside solution and hidden-test regions that tell something, without white space."""
    inside = [m.group(2) for source in cells(path) for m in REGION.finditer(source)]
    assert inside, f"{path} has no solution region"
    lines = {squeeze(line) for text in inside for line in text.splitlines()}
    return {line for line in lines if len(line) >= 16 and not line.startswith(("#", '"""'))}


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_no_solution_or_hidden_test_is_released(assignment):
    released = squeeze("\n".join(p.read_text() for p in RELEASED))
    for line in hidden_lines(ROOT / "solutions" / assignment.path):
        assert json.dumps(line)[1:-1] not in released, f"released: {line}"


def test_no_markers_seeds_or_oracle_are_released():
    for path in RELEASED:
        text = path.read_text()
        for secret in ("BEGIN SOLUTION", "BEGIN HIDDEN", "seed=", "oracle", "autograder.check."):
            assert secret not in text.replace("torch.manual_seed=", ""), f"{secret} in {path}"


def test_only_notebooks_are_released():
    assert {p.suffix for p in RELEASED} == {".ipynb"}
