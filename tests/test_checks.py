"""Every check is itself checked: right solutions pass whatever their style, wrong ones do not.

CHAPTER=self_attention pytest tests/test_checks.py looks at one chapter only.
"""

import os

import pytest
from variants import right, wrong

from autograder import check
from autograder.check import find
from autograder.course import ASSIGNMENTS

CHAPTER = os.environ.get("CHAPTER")
COMPONENTS = [c for a in ASSIGNMENTS if CHAPTER in (None, a.notebook) for c in a.components]
SEEDS = (0, 1, 2)


def each(kind):
    return [pytest.param(c, v, id=f"{c}-{v}") for c in COMPONENTS for v in kind(c)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name, variant", each(right))
def test_right_solutions_get_full_marks(name, variant, seed):
    report = check.run(name, right(name)[variant], seed)
    assert report.passed, str(report)
    assert report.fraction == 1


@pytest.mark.parametrize("name, variant", each(wrong))
def test_wrong_solutions_get_less_and_known_mistakes_are_named(name, variant):
    target = wrong(name)[variant]
    reports = [check.run(name, target, seed) for seed in SEEDS[:2]]
    known = variant in {m.name for m in find(name).mistakes}
    for report in reports:
        assert report.started
        assert not report.passed and report.fraction < 1, str(report)
        assert report.summary and report.summary in str(report)
        if known:
            named = [f.trouble.mistake for f in report.findings if f.trouble and f.trouble.mistake]
            assert named and set(named) == {variant}, str(report)


@pytest.mark.parametrize("name", COMPONENTS)
def test_there_are_enough_of_both(name):
    assert len(right(name)) >= 3  # the stand-in, and two that are written differently
    assert len(wrong(name)) >= 3
    written = set(wrong(name))
    assert {m.name for m in find(name).mistakes} <= written, "a known mistake without a solution"


def stub(*args, **kwargs):
    raise NotImplementedError("write this part")


@pytest.mark.parametrize("name", COMPONENTS)
def test_a_stub_is_not_started_and_earns_nothing(name):
    report = check.run(name, stub)
    assert not report.started and not report.passed
    assert report.score(10) == 0


@pytest.mark.parametrize("name", COMPONENTS)
@pytest.mark.parametrize("value", [None, 0.0, "text"], ids=str)
def test_a_constant_earns_nothing(name, value):
    report = check.run(name, lambda *args, **kwargs: value)
    assert report.score(10) == 0, str(report)


@pytest.mark.parametrize("name", COMPONENTS)
def test_what_is_no_function_earns_nothing(name):
    assert check.run(name, 3).score(10) == 0


@pytest.mark.parametrize("name", COMPONENTS)
def test_the_same_seed_gives_the_same_report(name):
    target = next(iter(wrong(name).values()))
    assert str(check.run(name, target)) == str(check.run(name, target))
