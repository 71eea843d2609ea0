"""Every check is itself checked: right solutions pass whatever their style, wrong ones do not.

CHAPTER=self_attention pytest tests/test_checks.py looks at one chapter only; SEEDS=20 tries right
solutions on as many seeds.
"""

import os

import pytest
import torch
from variants import right, wrong

from autograder import check
from autograder.check import find
from autograder.course import ASSIGNMENTS
from autograder.judge.finding import EXACT

CHAPTER = os.environ.get("CHAPTER")
COMPONENTS = [c for a in ASSIGNMENTS if CHAPTER in (None, a.notebook) for c in a.components]
SEEDS = range(int(os.environ.get("SEEDS", 3)))


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
            named = [t.mistake for t in troubles_of(report) if t.mistake]
            assert named and set(named) == {variant}, str(report)
            assert {t.sure for t in troubles_of(report) if t.mistake} == {EXACT}


def troubles_of(report):
    return [f.trouble for f in report.findings if f.trouble]


@pytest.mark.parametrize("name", COMPONENTS)
def test_there_are_enough_of_both(name):
    assert len(right(name)) >= 5  # the stand-in, and four that are written differently
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


@pytest.mark.skipif(CHAPTER not in (None, "architecture"), reason="looks at chapter 1")
def test_one_stub_among_methods_costs_its_own_part_only():
    report = check.run("GPT2Config", wrong("GPT2Config")["xl is still a stub"])
    assert report.summary == "stub() still raises NotImplementedError."
    assert [f.part for f in report.findings if not f.passed] == ["runs", "xl()"]
    assert 0.7 < report.fraction < 1


@pytest.mark.skipif(CHAPTER not in (None, "self_attention"), reason="looks at chapter 3")
def test_a_wrong_scale_is_no_wrong_dropout():
    def unscaled(Q, K, V, mask=None, dropout=0.0):
        A = (Q @ K.mT + (0 if mask is None else mask)).softmax(-1)
        return torch.dropout(A, dropout, dropout > 0) @ V, A

    for seed in SEEDS:
        report = check.run("attention", unscaled, seed)
        assert not report.passed
        assert next(f for f in report.findings if f.part == "dropout").passed, str(report)


@pytest.mark.skipif(CHAPTER not in (None, "self_attention"), reason="looks at chapter 3")
def test_what_torch_cannot_do_is_no_stub():
    def attempt(x, dim=-1):
        return torch.empty(3, device="meta").cpu()  # "Cannot copy out of meta tensor; no data!"

    report = check.run("softmax", attempt)
    assert report.started and "Cannot copy out of meta tensor" in report.summary


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


@pytest.mark.skipif(CHAPTER not in (None, "self_attention"), reason="another chapter")
def test_gradients_are_on_whatever_a_cell_has_set():
    import torch

    with torch.no_grad():
        report = check.run("softmax", right("softmax")["stand-in"])
    assert report.passed, str(report)


@pytest.mark.parametrize("error", [TypeError, ValueError, KeyError, AttributeError])
def test_a_verdict_that_cannot_read_a_result_is_a_trouble(error):
    """A result of an odd form costs its own part, and the check goes on."""
    from autograder.check.findings import told
    from autograder.judge import Trouble

    def verdict(result):
        raise error("odd")

    assert isinstance(told(verdict, 1), Trouble) and "odd" in told(verdict, 1).evidence
    with pytest.raises(AssertionError):  # what no result can bring about is not hidden
        told(lambda: (_ for _ in ()).throw(AssertionError()))
