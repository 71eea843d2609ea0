"""The search for blind spots: its operators, its runner, and a sample of its mutants.

PYTHONPATH=tests python -m mutation.run looks at all mutants, in some minutes.
"""

import ast
import hashlib
import time

import pytest
from mutation import run, trial
from mutation.mutants import Mutant, mutants
from mutation.operators import OPERATORS
from mutation.reference import references
from mutation.survivors import ARGUED

from autograder import check
from autograder.course import COMPONENTS
from autograder.judge import Report

SAMPLE = 3  # mutants of each component
SOME = ["--component", "softmax", "--processes", "1", "--limit-per-component", "20"]

# operator -> a body, and what it makes of its lines, among others
MAKES = {
    "arithmetic": ("a + b; a / b; a += b", "a - b; b / a; a -= b"),
    "terms": ("y = a + b", "y = a; y = b"),
    "comparison": ("y = a < b; y = a is b", "y = a <= b; y = a >= b; y = a is not b"),
    "boolean": ("y = a and b; y = -a; y = not b", "y = a or b; y = a; y = b"),
    "condition": ("y = a if b else 0", "y = a if not b else 0; y = a if True else 0"),
    "constant": (
        "y = -1; y = 0.5; y = True; y = 'key'",
        "y = -2; y = 0; y = 1; y = 0.55; y = 0.0; y = -0.5; y = False; y = ''",
    ),
    "default": ("f = lambda x=1: x", "f = lambda x=None: x"),
    "arguments": ("f(a, b, k=1)", "f(b, a, k=1); f(a, k=1); f(a, b)"),
    "call": (
        "y = math.sqrt(a); y = a.abs(); y = max(a, b); y = a.var()",
        "y = a; y = b; y = a.var(correction=0)",
    ),
    "sibling": (
        "a.triu(1); a.amax(-1); a.mul_(b); a.exp(); model.eval()",
        "a.tril(1); a.amin(-1); a.mul(b); a.add_(b); a.exp_(); a.exp2(); model.train()",
    ),
    "like": (
        "y = self.W_Q; y = self.W_K; y = self.ln_1; y = self.ln_2; y = self.gamma; y = self.beta",
        "y = self.W_K; y = self.W_Q; y = self.ln_2; y = self.ln_1; y = self.beta; y = self.gamma",
    ),
    "variable": ("c = a; c = b", "c = b; c = a; c = c"),
    "loop": (
        "y = [i for i in range(n)]; y = [i for i in a]; y = [i for i in enumerate(a)]",
        "y = [i for i in range(n - 1)]; y = [i for i in range(1, n)]; "
        "y = [i for i in list(a)[1:]]; y = [i for i in list(a)[::-1]]; "
        "y = [i for i in enumerate(a, 1)]",
    ),
    "subscript": ("y = a[1:n]; y = b.T", "y = a; y = a[:n]; y = a[1:]; y = b"),
    "order": ("y = (a, b); p, q = a", "y = (b, a); q, p = a"),
    "statement": (
        "a = b; a += b; f(a); raise ValueError('no'); return a",
        "pass; raise RuntimeError('no')",
    ),
    "assignment": ("a += b; a = a * b", "a = b; a *= b"),
    "no_grad": ("with torch.no_grad():\n        a()", "if True:"),
}


def of(body: str, operator: str) -> list[Mutant]:
    found = mutants("f", f"def f(a, b):\n    {body}\n")
    return [m for m in found if m.operator == operator]


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


def test_every_operator_is_tried():
    assert set(MAKES) == {operator.__name__ for operator in OPERATORS}


@pytest.mark.parametrize("operator", MAKES)
def test_an_operator_makes_what_it_says(operator):
    body, wanted = MAKES[operator]
    before = lines(ast.unparse(ast.parse(f"def f(a, b):\n    {body}")))
    made = set()
    for mutant in of(body, operator):
        made |= {new for new, old in zip(lines(mutant.source), before) if new != old}
    assert set(wanted.split("; ")) <= made


def test_nothing_is_made_twice_and_all_of_it_is_valid():
    for name, reference in references().items():
        found = mutants(name, reference.source)
        texts = {m.source for m in found}
        assert len(texts) == len(found) and ast.unparse(ast.parse(reference.source)) not in texts
        assert len({m.id for m in found}) == len(found)
        assert len(found) >= 5, name


def test_what_is_no_code_is_left_alone():
    source = '''
@torch.no_grad()
def f(x: Float[Tensor, "1 d"] = 1, n: int = 2) -> int:
    """Adds 1."""
    if x:
        raise ValueError(f"{x + 1} is not 1")
    return {"a": 3}["a"]
'''
    for m in mutants("f", source):
        assert '"""Adds 1."""' in m.source and "Tensor, '1 d'" in m.source and "-> int" in m.source
        assert "''" not in m.source  # what a key would become
        assert "is not 1" in m.source or m.after == "pass"
        assert "@torch.no_grad()" in m.source or m.operator == "no_grad"
    (m,) = [m for m in mutants("f", source) if m.operator == "no_grad"]
    assert m.id == "f:3: @torch.no_grad() -> nothing"


def test_an_id_tells_what_reads_the_same_apart():
    ids = [m.id for m in of("return a * 2 + b * 2", "constant")]
    assert "f:2: 2 -> 3" in ids and "f:2: 2 -> 3 (2)" in ids


def sample() -> list[Mutant]:
    """Some mutants of each component, the same ones in every run."""
    argued = {i for _, ids in ARGUED for i in ids}
    chosen = []
    for name, reference in references().items():
        found = [m for m in mutants(name, reference.source) if m.id not in argued]
        # a hash whose sample has none of the blind spots that were known when this was written
        found.sort(key=lambda m: hashlib.sha512(m.id.encode()).hexdigest())
        chosen += found[:SAMPLE]
    return chosen


def test_a_sample_is_killed():
    fared = {m.id: outcome for m, outcome in trial.outcomes(sample(), processes=1)}
    assert len(fared) == SAMPLE * len(COMPONENTS)
    assert {i: o for i, o in fared.items() if o == trial.SURVIVED or "check itself" in o} == {}


def test_every_argument_is_about_a_mutant():
    made = {m.id for name, r in references().items() for m in mutants(name, r.source)}
    ids = [i for _, ids in ARGUED for i in ids]
    assert set(ids) <= made and len(set(ids)) == len(ids)
    assert all(why.endswith(".") and len(why) > 40 for why, _ in ARGUED)


def test_a_blind_check_is_told(monkeypatch, capsys):
    monkeypatch.setattr(check, "run", lambda name, *_: Report(name, (), ""))
    assert Report("softmax", (), "").passed
    assert run.main(SOME) == 1
    assert "survives: softmax:4: x.amax -> x.amin" in capsys.readouterr().out


def test_an_argument_that_does_not_hold_is_told(monkeypatch, capsys):
    killed, absent = "softmax:4: x.amax -> x.amin", "softmax:999: x -> y"
    monkeypatch.setattr(run, "ARGUED", [*ARGUED, ("It makes no difference.", (killed, absent))])
    assert run.main(SOME) == 1
    said = capsys.readouterr().out
    assert f"wrong: {killed}" in said and f"wrong: {absent}" in said


def test_a_check_that_fails_itself_kills_nothing(monkeypatch, capsys):
    def broken(*args):
        raise LookupError("a fixture is missing")

    monkeypatch.setattr(check, "run", broken)
    assert run.main(SOME) == 1
    said = capsys.readouterr().out
    assert "wrong: softmax:0: the reference" in said and "a fixture is missing" in said


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("while True: pass", "timeout"),
        ("import os; os._exit(3)", "died: 3"),
        ("1 / 0", "definition"),
    ],
)
def test_what_hangs_or_dies_is_killed(text, wanted):
    mutant = Mutant("softmax", 1, "a", "b", text, "constant")
    start = time.monotonic()
    ((_, outcome),) = trial.outcomes([mutant], processes=1, limit=2.0)
    assert outcome.startswith(wanted) and time.monotonic() - start < 20
