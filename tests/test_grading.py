"""nbgrader as it comes, on the reference notebooks and on untouched ones."""

import shutil
import subprocess

import pytest
from course_copy import ROOT, course_copy

from autograder.course import ASSIGNMENTS
from autograder.grading.nbgrader_api import run
from autograder.grading.reference import scores
from autograder.grading.release import release

pytestmark = pytest.mark.slow


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
    """One assignment through nbgrader's own commands, without a flag, from the course's root."""
    root = course_copy(tmp_path_factory.mktemp("course") / "root", "03_self_attention")
    half_done = (root / "solutions/03_self_attention/self_attention.ipynb").read_text()
    half_done = half_done.replace(
        "K.transpose(-2, -1) / math.sqrt(d_k)", "K.transpose(-2, -1) / d_k"
    )

    def nbgrader(*args):
        done = subprocess.run(["nbgrader", *args], cwd=root, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]

    nbgrader("generate_assignment", "03_self_attention")
    for student in ("ada", "ben"):
        folder = root / "autograder/submitted" / student / "03_self_attention"
        shutil.copytree(root / "solutions/03_self_attention", folder)
    (root / "autograder/submitted/ben/03_self_attention/self_attention.ipynb").write_text(half_done)
    nbgrader("autograde", "03_self_attention")
    nbgrader("generate_feedback", "03_self_attention")
    nbgrader("export")
    return root


def test_commands_grade_export_and_give_feedback(graded):
    rows = (graded / "grades.csv").read_text().splitlines()
    head = rows[0].split(",")
    by_student = {r.split(",")[head.index("student_id")]: r.split(",") for r in rows[1:]}
    assert float(by_student["ada"][head.index("score")]) == 100
    assert 50 < float(by_student["ben"][head.index("score")]) < 100


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
