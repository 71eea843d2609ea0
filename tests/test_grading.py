"""nbgrader as it comes, on the reference notebooks and on untouched ones."""

import csv
import re
import shutil
import subprocess
import sys

import pytest
from book_source import BOOK, console_lines
from course_copy import ROOT, course_copy

from autograder.course import ASSIGNMENTS
from autograder.grading.nbgrader_api import run
from autograder.grading.reference import scores
from autograder.grading.release import release

pytestmark = pytest.mark.slow
MAKEFILE = (ROOT / "Makefile").read_text()


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_reference_earns_all_and_blank_nothing(assignment, tmp_path):
    root = course_copy(tmp_path, assignment.name)
    name = assignment.name
    run(root, "generate_assignment", name, force=True, create=True)
    for student, source in (("reference", "solutions"), ("blank", "exercises")):
        shutil.copytree(root / source / name, root / "autograder" / "submitted" / student / name)
        run(root, "autograde", name, student, force=True, create=True)

    full, blank = scores(root, name, "reference"), scores(root, name, "blank")
    assert [c.removeprefix("test-") for c in full] == list(assignment.components)
    assert {cell: earned for cell, (earned, _) in full.items()} == {
        cell: possible for cell, (_, possible) in full.items()
    }
    assert sum(possible for _, possible in full.values()) == 100
    assert {earned for earned, _ in blank.values()} == {0}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """One assignment by the very commands of the page for instructors, in a copy as it is handed over."""
    release, *grading = console_lines(BOOK / "instructors.md")
    root = course_copy(tmp_path_factory.mktemp("course") / "root", *(a.name for a in ASSIGNMENTS))
    for a in ASSIGNMENTS:
        (root / "exercises" / a.path).parent.mkdir(parents=True)
        shutil.copy(ROOT / "exercises" / a.path, root / "exercises" / a.path)

    def type_in(*command):
        done = subprocess.run(command, cwd=root, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout + done.stderr

    assert release == "make release"  # by its recipe: the copy has no environment of its own
    (recipe,) = re.findall(r"^release: .*\n.*\n\t@\$\(BIN\)/python (.*)$", MAKEFILE, re.M)
    assert "kept" not in type_in(sys.executable, *recipe.split())
    half_done = (root / "solutions/03_self_attention/self_attention.ipynb").read_text()
    half_done = half_done.replace(
        "K.transpose(-2, -1) / math.sqrt(d_k)", "K.transpose(-2, -1) / d_k"
    )
    for student in ("ada", "ben"):
        folder = root / "autograder/submitted" / student / "03_self_attention"
        shutil.copytree(root / "solutions/03_self_attention", folder)
    (root / "autograder/submitted/ben/03_self_attention/self_attention.ipynb").write_text(half_done)
    for line in grading:
        assert "Skipping" not in type_in(*line.split())
    assert "Skipping existing assignment" in type_in(*grading[0].split())
    return root


def test_the_readme_has_the_same_commands():
    block = (ROOT / "README.md").read_text().split("## To teach")[1].split("Every assignment")[0]
    typed = [line.split("#")[0].strip() for line in block.splitlines() if line.startswith("    ")]
    assert typed == console_lines(BOOK / "instructors.md")


def test_commands_grade_export_and_give_feedback(graded):
    with (graded / "grades.csv").open() as file:
        rows = {(row["assignment"], row["student_id"]): row for row in csv.DictReader(file)}
    score = {key: float(row["score"]) for key, row in rows.items()}
    assert score["03_self_attention", "ada"] == 100
    assert 50 < score["03_self_attention", "ben"] < 100
    assert score["04_multi_head_attention", "ada"] == 0  # not handed in


def test_feedback_says_what_is_wrong_and_why(graded):
    page = graded / "autograder/feedback/ben/03_self_attention/self_attention.html"
    text = page.read_text()
    assert "The scores are divided by d_k; it should be sqrt(d_k)." in text
    assert "03-self-attention.html#sec-attention" in text


def test_a_mistake_is_paid_for_once(graded):
    """AttentionHead uses the wrong attention of its notebook, and is right all the same."""
    ben = scores(graded, "03_self_attention", "ben")
    wrong = [cell for cell, (earned, possible) in ben.items() if earned < possible]
    assert wrong == ["test-attention"]


def test_release_in_the_repository_is_fresh(tmp_path):
    """exercises/ is what solutions/ give today, to the byte."""
    root = course_copy(tmp_path, *(a.name for a in ASSIGNMENTS))
    assert set(release(root).values()) == {"written anew"}
    for a in ASSIGNMENTS:
        fresh = (root / "exercises" / a.path).read_bytes()
        assert fresh == (ROOT / "exercises" / a.path).read_bytes(), f"run `make release`: {a.path}"
    made = {p.relative_to(root) for p in (root / "exercises").rglob("*") if p.is_file()}
    assert made == {
        p.relative_to(ROOT)
        for p in (ROOT / "exercises").rglob("*")
        if p.is_file() and ".ipynb_checkpoints" not in p.parts
    }


def test_release_leaves_work_alone(tmp_path, monkeypatch):
    """A notebook that somebody has written in or run is kept unless it is to be replaced."""
    one, two = ASSIGNMENTS[1:3]
    monkeypatch.setattr("autograder.grading.release.ASSIGNMENTS", (one, two))
    root = course_copy(tmp_path, one.name, two.name)
    release(root)
    path = root / "exercises" / two.path
    blank = path.read_text()
    stub = 'raise NotImplementedError(\\"write this part\\")'
    assert stub in blank
    path.write_text(worked := blank.replace(stub, "return x.softmax(dim)", 1))
    (root / "solutions" / one.path).write_text(
        (root / "solutions" / one.path).read_text().replace("## One question", "## A question")
    )
    assert release(root) == {one.name: "written anew", two.name: "kept"}
    assert path.read_text() == worked
    assert not (root / "autograder" / "released").exists()
    assert release(root) == {one.name: "as it was", two.name: "kept"}
    assert release(root, overwrite=True) == {one.name: "as it was", two.name: "written anew"}
    assert path.read_text() == blank
