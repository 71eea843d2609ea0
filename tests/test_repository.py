"""The shape of the repository: rooms, notebooks, and what the README promises."""

import ast
import json
import re
from pathlib import Path

import pytest
from course_copy import ROOT

from autograder.course import ASSIGNMENTS, COMPONENTS
from autograder.notebooks import dumps, normalise, read

# Each room imports only from itself and from those after it.
ROOMS = (
    ("__main__", "cli"),
    ("doctor",),
    ("grading", "training", "own", "explain"),
    ("conform", "assemble"),
    ("survey",),
    ("check",),
    ("judge",),
    ("probes", "example"),
    ("standins", "oracle", "references", "notebooks"),
    ("output",),
    ("course", "errors"),
)
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
PACKAGE = sorted((ROOT / "autograder").rglob("*.py"))
NOTEBOOKS = [ROOT / top / a.path for top in ("solutions", "exercises") for a in ASSIGNMENTS]


def imported(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("autograder"):
            parts = node.module.split(".")
            rooms |= {parts[1]} if len(parts) > 1 else {a.name for a in node.names}
        elif isinstance(node, ast.Import):
            rooms |= {a.name.split(".")[1] for a in node.names if a.name.startswith("autograder.")}
    return rooms


def room_of(path: Path) -> str:
    return path.relative_to(ROOT / "autograder").parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", PACKAGE, ids=lambda p: str(p.relative_to(ROOT)))
def test_rooms_import_only_downwards(path):
    room = room_of(path)
    if room == "__init__":
        return
    for other in imported(path) - {room, "__version__"}:
        assert LEVEL[other] >= LEVEL[room], f"{room} imports {other}"


@pytest.mark.parametrize("path", PACKAGE, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_can_be_read_in_one_sitting(path):
    assert len(path.read_text().splitlines()) <= 420
    assert ast.get_docstring(ast.parse(path.read_text())), "say what the file holds"


def test_the_probes_and_the_student_side_never_see_the_oracle():
    for path in PACKAGE:
        if room_of(path) in ("probes", "standins"):
            assert imported(path) <= {"probes", "standins"}, path


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: str(p.relative_to(ROOT)))
def test_notebooks_are_committed_normalised_and_without_outputs(path):
    assert path.read_text() == dumps(normalise(read(path))), "run `autograder normalise` on it"
    for cell in json.loads(path.read_text())["cells"]:
        assert not cell.get("outputs") and not cell.get("execution_count")


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_each_component_has_its_cells_and_the_points_add_up(assignment):
    nb = json.loads((ROOT / "solutions" / assignment.path).read_text())
    meta = [c["metadata"].get("nbgrader", {}) for c in nb["cells"]]
    ids = [m.get("grade_id") for m in meta]
    for component in assignment.components:
        assert {component, f"check-{component}", f"test-{component}"} <= set(ids)
    assert sum(m.get("points", 0) for m in meta if m.get("grade")) == 100
    text = "".join("".join(c["source"]) for c in nb["cells"])
    (whole,) = re.findall(r"\*\*Time:\*\* about (\d+) minutes", text)
    minutes = sum(map(int, re.findall(r"^\*Difficulty: \w+ · (\d+) minutes", text, re.M)))
    assert int(whole) == minutes + 15  # for the first cell, the pictures and the last question
    assert [i for i in ids if i and i.startswith("test-")] == [
        f"test-{c}" for c in assignment.components
    ]


def test_hidden_runs_use_seeds_of_their_own():
    text = "".join(p.read_text() for p in NOTEBOOKS if "solutions" in p.parts)
    seeds = re.findall(r"check\.\w+\(\w+, seed=(\d+)\)", text)
    assert len(seeds) == len(set(seeds)) == len(COMPONENTS)
    assert "0" not in seeds


def test_readme_is_short_and_its_commands_exist():
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) < 150
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    assert set(re.findall(r"\bmake ([a-z]+)\b(?= |`)", text)) <= targets | {"sure"}
    for folder in re.findall(r"`(\d\d_\w+)`", text):
        assert (ROOT / "exercises" / folder).is_dir()
    assert set(re.findall(r"^\| `(\d\d_\w+)`", text, re.M)) == {a.name for a in ASSIGNMENTS}


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-test.txt"])
def test_every_requirement_is_pinned(file):
    lines = (ROOT / file).read_text().splitlines()
    packages = [x for x in lines if x and not x.startswith(("#", "-"))]
    assert packages and all(re.match(r"[\w.-]+==[\w.]+(;|$)", x) for x in packages)
    locked = (ROOT / "constraints.txt").read_text()
    for line in packages:
        assert line.split(";")[0].strip() in locked


def test_the_answer_in_the_readme_is_what_the_check_says():
    import math

    import torch

    from autograder import check

    def causal_mask(T, device=None):
        return torch.full((T, T), -math.inf, device=device).triu(2)

    text = (ROOT / "README.md").read_text()
    block = text.split("gets this answer:\n\n")[1].split("\n\nThe cells")[0]
    shown = [line.removeprefix("    ") for line in block.splitlines()]
    assert "autograder explain" in shown[-1]
    assert shown == str(check.causal_mask(causal_mask)).splitlines()[: len(shown)]
