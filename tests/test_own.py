"""Building on one's own earlier components, outside of grading."""

import importlib
import shutil

import pytest
import torch
from course_copy import ROOT

from autograder import own, standins
from autograder.errors import CourseError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A student's folder, with the notebook on attention done and the others as released."""
    for path in (ROOT / "exercises").glob("*/*.ipynb"):
        (tmp_path / path.parent.name).mkdir(exist_ok=True)
        shutil.copy(path, tmp_path / path.parent.name)
    shutil.copy(
        ROOT / "solutions/03_self_attention/self_attention.ipynb", tmp_path / "03_self_attention"
    )
    monkeypatch.chdir(tmp_path / "04_multi_head_attention")
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.delenv("AUTOGRADER_STANDINS", raising=False)
    return tmp_path


def test_own_component_with_what_it_uses(folder):
    from autograder.own import attention

    assert attention is not standins.attention
    Q = torch.randn(2, 3, 4)
    for mine, theirs in zip(attention(Q, Q, Q), standins.attention(Q, Q, Q)):
        torch.testing.assert_close(mine, theirs)


ATTENTION = "03_self_attention/self_attention.ipynb"


@pytest.mark.parametrize(
    "name, right, changed, says",
    [
        (
            "attention",
            "d_k = Q.shape[-1]",
            "d_k = Q.shape[-1] ** 2",
            "divided by d_k; it should be sqrt(d_k)",
        ),
        ("attention", "d_k = Q.shape[-1]", "raise NotImplementedError", "not started"),
    ],
    ids=["wrong", "half written"],
)
def test_what_does_not_pass_its_check_comes_with_a_warning(
    folder, capsys, name, right, changed, says
):
    path = folder / ATTENTION
    text = path.read_text(encoding="utf-8")
    assert right in text
    path.write_text(text.replace(right, changed), encoding="utf-8")
    assert callable(getattr(own, name))
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{name} of 03_self_attention does not pass its check (")
    assert says in line and line.endswith("); results here may be wrong because of it.")
    getattr(own, name)
    assert not capsys.readouterr().out  # said once


def test_what_passes_is_handed_out_in_silence(folder, capsys):
    assert own.attention is not standins.attention
    assert not capsys.readouterr().out


def test_what_is_not_written_is_refused_with_a_way_out(folder):
    with pytest.raises(CourseError, match="from autograder.standins import gelu"):
        own.gelu


def test_what_is_no_component_is_no_attribute(folder):
    with pytest.raises(AttributeError, match="no component"):
        own.perceptron


@pytest.mark.parametrize("variable", own.GRADING)
def test_grading_uses_stand_ins(folder, monkeypatch, variable):
    monkeypatch.setenv(variable, "autograde")
    assert own.attention is standins.attention
    assert importlib.import_module("autograder.own").softmax is standins.softmax
