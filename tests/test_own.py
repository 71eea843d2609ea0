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
