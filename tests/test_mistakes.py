"""The tables of known mistakes: complete, told apart from each other, and far from any tolerance.

CHAPTER=self_attention pytest tests/test_mistakes.py looks at one chapter only.
"""

import os
import re
from dataclasses import replace

import numpy as np
import pytest
from variants import PLAINLY, mutant

from autograder import check
from autograder.check import find
from autograder.check.mistake import Mistake, altered, together
from autograder.check.naming import Case, agree, cause_of, pairs, result
from autograder.check.parts import double
from autograder.course import ASSIGNMENTS
from autograder.judge.compare import Tolerance, form, leaves
from autograder.judge.finding import CLOSE, EXACT
from autograder.probes import Answer

CHAPTER = os.environ.get("CHAPTER")
COMPONENTS = [c for a in ASSIGNMENTS if CHAPTER in (None, a.notebook) for c in a.components]
MISTAKES = [(c, m) for c in COMPONENTS for m in find(c).mistakes]
FAR = 20  # tolerances that a mistake moves a result by, at least
SEEDS = (0, 1)
SOME_PAIRS = 6  # of each component


def ids(pair):
    return f"{pair[0]}-{pair[1].name}"


def each_mistake():
    return pytest.mark.parametrize("name, mistake", [pytest.param(*m, id=ids(m)) for m in MISTAKES])


def cases(component, seed):
    """Inputs in float64 and the right results, of every fixture."""
    inputs = [double(f.inputs) for f in component.cases(seed)]
    return [(i, component.expected(i)) for i in inputs]


@each_mistake()
def test_an_entry_is_complete(name, mistake):
    for text, longest in ((mistake.says, 170), (mistake.look, 200), (mistake.why, 300)):
        assert 10 <= len(text) <= longest, f"{len(text)} letters: {text!r}"
    assert re.search(r"[.!?]$", mistake.says) and re.search(r"[.!?]$", mistake.why)
    assert re.fullmatch(r"[A-Za-z0-9_.]+", mistake.name)


@pytest.mark.parametrize("name", COMPONENTS)
def test_names_occur_once(name):
    names = [m.name for m in find(name).mistakes]
    assert len(names) == len(set(names)) and len(names) >= 3


@each_mistake()
def test_a_mistake_moves_results_far_beyond_the_tolerance(name, mistake):
    component = find(name)
    for seed in SEEDS:
        moved = max(margin(component, mistake, i, want) for i, want in cases(component, seed))
        if mistake.slight:
            assert 1 < moved < FAR, f"{moved:.3g} tolerances: say no reason why it is slight"
        else:
            assert moved >= FAR, f"only {moved:.3g} tolerances: why?"


def margin(component, mistake, inputs, want):
    """How many tolerances its numbers are off; infinite where it raises or has another form."""
    wrong = result(mistake, inputs)
    if isinstance(wrong, Exception) or form(wrong, want):
        return np.inf
    worst, t = 0.0, component.tolerance
    for _, w, r in leaves(wrong, want, ""):
        if isinstance(r, (bool, str)) or r is None:
            worst = max(worst, 0.0 if w == r else np.inf)
            continue
        w, r = np.asarray(w, np.float64), np.asarray(r, np.float64)
        with np.errstate(invalid="ignore"):
            off = np.where(w == r, 0.0, np.abs(w - r) / (t.atol + t.rtol * np.abs(r)))
        worst = max(worst, np.where(np.isnan(off), np.inf, off).max(initial=0.0))
    return float(worst)


@pytest.mark.parametrize("name", COMPONENTS)
def test_no_two_mistakes_give_the_same(name):
    component = find(name)
    results = {
        m.name: [result(m, i) for seed in SEEDS for i, _ in cases(component, seed)]
        for m in component.mistakes
    }
    names = list(results)
    for i, one in enumerate(names):
        for other in names[:i]:
            same = all(same_result(*two, component) for two in zip(results[one], results[other]))
            assert not same, f"{one} and {other}"


def same_result(one, other, component):
    if isinstance(one, Exception) or isinstance(other, Exception):
        return isinstance(one, Exception) and isinstance(other, Exception)
    return agree(one, other, component.tolerance)


# ------------------------------------------------------------------ two at once


def some_pairs():
    """A few of every component that can be made into a solution by itself, spread evenly."""
    found = []
    for name in COMPONENTS:
        component = find(name)
        if component.call not in PLAINLY:
            continue
        both = list(pairs(component.mistakes))
        step = max(1, len(both) // SOME_PAIRS)
        found += [pytest.param(name, m, id=f"{name}-{m.name}") for m in both[::step]]
    return found


@pytest.mark.parametrize("name, pair", some_pairs())
def test_two_mistakes_at_once_are_named(name, pair):
    component = find(name)
    report = check.run(name, mutant(component, pair))
    named = {f.trouble.mistake for f in report.findings if f.trouble and f.trouble.mistake}
    if report.passed:  # each undoes the other
        assert all(same_result(result(pair, i), w, component) for i, w in cases(component, 0))
        return
    if not named:  # NaN everywhere has too many causes
        assert not any(np.isfinite(result(pair, i)).any() for i, _ in cases(component, 0))
        return
    assert len(named) == 1, str(report)
    (found,) = named
    if found != pair.name:  # one of the two covers the other, or another pair is the same
        other = next(
            m for m in (*component.mistakes, *pairs(component.mistakes)) if m.name == found
        )
        for i, _ in cases(component, 0):
            assert same_result(result(pair, i), result(other, i), component), found


def double_and_add(x, factor=2.0, shift=0.0):
    return factor * x + shift


DOUBLED = Mistake("tripled", altered(double_and_add, factor=3.0), "It triples.", "2 x", "")
SHIFTED = Mistake("shifted", altered(double_and_add, shift=1.0), "It adds 1.", "no + 1", "")
NEGATED = Mistake("negated", altered(double_and_add, after=lambda y: -y), "It negates.", "+", "")
TABLE = (DOUBLED, SHIFTED, NEGATED)


def cause(of, tolerance=Tolerance(), few=0):
    xs = [np.linspace(1.0, 4.0, few or 12), np.linspace(-3.0, 2.0, few or 12)[None]]
    seen = [Case({"x": x}, of(x), double_and_add(x)) for x in xs]
    return cause_of(TABLE, seen, tolerance)


def value(x):
    return Answer(value=x)


def test_one_mistake_is_told_from_two():
    assert cause(lambda x: value(2 * x)) is None
    assert cause(lambda x: value(3 * x)).mistake is DOUBLED
    both = cause(lambda x: value(3 * x + 1))
    assert both.mistake.name == "tripled + shifted" and both.sure == EXACT
    assert both.mistake.says == "Two mistakes. It triples. And: It adds 1."
    assert cause(lambda x: value(-3 * x)).mistake.name == "tripled + negated"
    assert together(DOUBLED, replace(DOUBLED, name="again")) is None  # the same switch


def test_close_is_not_exact_and_far_is_nothing():
    close = cause(lambda x: value(3.05 * x))
    assert close.mistake is DOUBLED and close.sure == CLOSE and 0.9 < close.explains < 1
    assert cause(lambda x: value(2.5 * x)) is None
    assert cause(lambda x: value(3.05 * x), Tolerance(0, 0.01)) is None  # too coarse to say
    assert cause(lambda x: value(3.05 * x), few=4) is None  # too few numbers: it may be chance


def test_a_mistake_that_fits_one_input_only_is_not_named():
    assert cause(lambda x: value(3 * x if x.ndim == 1 else 2 * x)) is None
    assert cause(lambda x: value(3 * x if x.ndim == 1 else 5 * x)) is None


@pytest.mark.parametrize("name", COMPONENTS)
def test_noise_gets_no_name(name):
    """Right results with large random errors match nothing."""
    component, rng = find(name), np.random.default_rng(3)
    seen = [Case(i, Answer(value=noisy(w, rng)), w) for i, w in cases(component, 0)]
    assert cause_of(component.mistakes, seen, component.tolerance) is None


def noisy(want, rng):
    if isinstance(want, tuple):
        return tuple(noisy(w, rng) for w in want)
    if isinstance(want, dict):
        return {k: noisy(w, rng) for k, w in want.items()}
    if isinstance(want, (bool, str)) or want is None:
        return want
    if isinstance(want, int) or (isinstance(want, np.ndarray) and want.dtype.kind in "iu"):
        return want + rng.integers(5, 90, np.shape(want))
    return want + rng.uniform(0.3, 0.9, np.shape(want))


def test_where_all_is_nan_two_mistakes_are_not_made_up():
    """Each alone gives infinities, and both at once NaN; but so does much else."""
    huge = Mistake("huge", altered(double_and_add, factor=np.inf), "It overflows.", "2 x")
    low = Mistake("low", altered(double_and_add, shift=-np.inf), "It falls.", "no shift")
    xs = [np.linspace(1.0, 4.0, 12), np.linspace(2.0, 3.0, 12)]
    both = together(huge, low)
    assert all(np.isnan(result(both, {"x": x})).all() for x in xs)
    seen = [Case({"x": x}, Answer(value=x * np.nan), double_and_add(x)) for x in xs]
    assert cause_of((huge, low), seen, Tolerance()) is None
    seen = [Case({"x": x}, Answer(value=x * np.inf), double_and_add(x)) for x in xs]
    assert cause_of((huge, low), seen, Tolerance()).mistake is huge  # one alone may be named
