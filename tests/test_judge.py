"""The judge: comparing, merging, scoring, and what a report says."""

import math

import numpy as np
import pytest

from autograder.judge import Finding, Report, Trouble
from autograder.judge.compare import Tolerance, difference, finite, form
from autograder.probes.plain import Foreign, Listed


def array(*values):
    return np.array(values, dtype=np.float32)


def test_form_tells_what_came_instead():
    want = np.zeros((2, 3), np.float32)
    assert form(want, want) is None
    assert "is None" in form(None, want).what
    assert "shape (3, 2); it should be (2, 3)" in form(want.T, want).what
    assert "is 2 values" in form((want, want), want).what
    assert "is a list" in form(Foreign("list"), want).what
    assert "int64" in form(want.astype(np.int64), want).what
    assert form({"a": 1}, {"a": 1, "b": 2}).evidence == "missing: b."
    assert "should be an int" in form("1", 1).what


def test_a_bool_is_no_number():
    assert form(True, 1.0) is not None


def test_difference_names_the_first_wrong_entry():
    trouble = difference(array(1, 2, 4), array(1, 2, 3), what="the row")
    assert trouble.what == "Wrong values in the row."
    assert trouble.evidence == ("At [2] of the row: expected 3, got 4 (1 of 3 entries differs).")


def test_difference_minds_the_tolerance_and_infinities():
    assert difference(array(1 + 5e-5), array(1)) is None
    assert difference(array(1 + 5e-5), array(1), Tolerance(0, 1e-6)) is not None
    assert difference(array(-math.inf), array(-math.inf)) is None
    assert difference(array(-1e9), array(-math.inf)) is not None
    assert difference(array(math.nan), array(0.0)) is not None


def test_finite_ignores_infinities_that_are_expected():
    assert finite(array(-math.inf, 0), array(-math.inf, 0)) is None
    trouble = finite(array(math.nan, 0), array(1, 0))
    assert "not finite" in trouble.what and "1 of 2 entries is not finite" in trouble.evidence


def test_a_row_that_is_not_finite_from_end_to_end_is_named():
    got, want = np.ones((2, 3, 4)), np.ones((2, 3, 4))
    got[1, 2] = math.nan
    assert "(4 of 24 entries are not finite, the whole of row [1, 2])" in finite(got, want).evidence
    got[1, 2, 3] = 1
    assert "(3 of 24 entries are not finite)" in finite(got, want).evidence
    assert "(24 of 24 entries are not finite)" in finite(math.nan * got, want).evidence


def good(part, evidence=True, weight=1.0):
    return Finding(part, weight=weight, evidence=evidence)


def bad(part, mistake="", evidence=True, weight=1.0):
    return Finding(part, Trouble("It is off.", mistake=mistake), weight, evidence)


def test_points_follow_the_weights():
    report = Report("softmax", (good("a", weight=1), bad("b", weight=3)))
    assert report.fraction == 0.25
    assert report.score(10) == 2.5


def test_parts_that_a_constant_passes_earn_nothing_alone():
    report = Report("softmax", (good("shape", evidence=False), bad("numbers")))
    assert report.fraction == 0


def test_a_skipped_part_is_not_passed():
    assert not Report("softmax", (good("a"), Finding("b", skipped=True))).passed


def test_two_looks_pass_only_what_passes_in_both():
    one = Report("softmax", (good("a"), bad("b"), good("c")), remarks=("r",))
    two = Report("softmax", (bad("a"), good("b"), good("c")), remarks=("r",))
    for both in (one & two, two & one):
        assert [f.passed for f in both.findings] == [False, False, True]
        assert both.remarks == ("r",)
    assert not (one & Report("softmax", (), started=False)).started


def test_a_part_seen_in_one_look_only_counts():
    both = Report("softmax", (good("T = 5"),)) & Report("softmax", (bad("T = 7"),))
    assert [f.part for f in both.findings] == ["T = 5", "T = 7"] and not both.passed


def test_a_named_cause_is_told_first():
    report = Report("softmax", (bad("a"), Finding("b", Trouble("It is base 2.", mistake="base_2"))))
    assert report.summary == "It is base 2."


def test_form_says_floats_lists_and_single_numbers():
    want = np.zeros((2, 3), np.float32)
    assert "dtype bool; it should be a tensor of floats" in form(want > 1, want).what
    assert "is a list of 1 tensor" in form(Listed((want,)), want).what
    assert "has 1 entry; it should have 2" in form(Listed((want,)), (want, want)).what
    assert "is a tuple of 1 tensor" in form((want,), want).what
    assert "should be a single number" in form(want, np.float64(1)).what
    assert form(Listed((want, want)), (want, want)) is None


def test_one_is_singular():
    report = Report("softmax", (good("a"), bad("b")))
    assert "softmax: 1 of 2 parts is wrong" in str(report)
    assert difference(array(2), array(1)).evidence == "At [0]: expected 1, got 2."


def test_what_was_not_looked_at_is_explained():
    legend = "[--]    not looked at"
    assert legend in str(Report("softmax", (bad("a"), Finding("b", skipped=True))))
    assert legend not in str(Report("softmax", (bad("a"), good("b"))))


def test_the_graded_cell_prints_the_points_and_the_cause_only(capsys):
    trouble = Trouble("It is base 2.", "At [0]: 3.", "torch.exp")
    report = Report("softmax", (good("a"), Finding("b", trouble)), "book#sec-softmax")
    report.score(15)
    assert capsys.readouterr().out.splitlines() == [
        "softmax: 1 of 2 parts is wrong, 7.5 of 15 points",
        "  It is base 2.",
        "  At [0]: 3.",
        "  Look: torch.exp",
        "  In the book: book#sec-softmax",
    ]


CODE = (
    "torch.exp, not exp2",
    "d_k is the width",
    "softmax(x) = y",
    "x = ln_1(x) loses the stream; write x + attn(ln_1(x)).",
    "x + attn(ln_1(x)), not x + ln_1(attn(x)).",
    "x W_up ⊙ SiLU(x W_gate)",
    "mask = mask[:T, :T]",
    "gamma is 0",
)


def test_prose_starts_with_a_capital():
    assert Trouble("a mask of zeros").lines() == ["A mask of zeros"]
    assert Trouble("the weights differ").lines() == ["The weights differ"]


@pytest.mark.parametrize("line", CODE)
def test_code_at_the_start_of_a_line_keeps_its_case(line):
    assert Trouble(line).lines() == [line]


def test_the_page_escapes_what_a_student_wrote():
    report = Report("softmax", (Finding("a", Trouble("It raises <script>alert(1)</script>")),))
    assert "<script>" not in report._repr_html_()
