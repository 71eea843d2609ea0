"""What a report tells of wrong numbers: how they relate to the right ones, the picture, the page."""

import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import torch

from autograder import check, standins
from autograder.check.shown import shown
from autograder.judge import Finding, Report, Trouble
from autograder.judge.compare import Tolerance, difference
from autograder.judge.picture import window
from autograder.judge.relation import relation

WANT = np.array([[0.3, -1.2, 2.0, 0.7], [1.1, 0.4, -0.6, 3.0], [-2.0, 0.9, 1.6, -0.1]])


def said(got, want=WANT):
    got = np.asarray(got, float)
    return relation(got, want, ~np.isclose(got, want))


# ------------------------------------------------------------------ relations


@pytest.mark.parametrize(
    "got, sentence",
    [
        (-WANT, "Every entry has the opposite sign."),
        (1.732 * WANT, "Every entry is 1.732 times what it should be."),
        (WANT + 0.5, "Every entry is too large by 0.5."),
        (WANT - 2, "Every entry is too small by 2."),
        (WANT[:, ::-1], "The numbers are right, but in reverse order along the last axis."),
        (WANT[::-1], "The numbers are right, but in reverse order along axis 0."),
        (np.roll(WANT, 1, 1), "The numbers are right, but shifted by 1 along the last axis."),
        (
            WANT.T.reshape(WANT.shape),
            "The numbers are the right ones, but at other places: look at reshapes and axes.",
        ),
        (
            WANT * [[2], [3], [4]],
            "Each row is right up to a factor of its own: 2, 3, 4, …",
        ),
        (WANT + [[2], [3], [4]], "Each row is off by a constant of its own: 2, 3, 4, …"),
        (WANT + [[1, 2, 3, 4], [0] * 4, [0] * 4], "Only row 0 differs; the other rows are right."),
        (WANT + [0, 0, 1, 2] * WANT, "From column 2 on they differ; before it they are right."),
        (WANT + [0, 1, 2, 3] * WANT, "Only column 0 is right; the other columns differ."),
        (
            WANT * (1 + 0.01 * np.sin(np.arange(12)).reshape(3, 4)),
            "All are within 0.7 % of the largest: look for a constant that is slightly off.",
        ),
        (np.sin(37 * WANT), ""),
    ],
    ids=lambda x: x[:30] if isinstance(x, str) else None,
)
def test_a_relation_is_told_where_there_is_one(got, sentence):
    assert said(got) == sentence


def test_a_transpose_is_told():
    square = WANT[:, :3]
    assert said(square.T, square) == "It is the transpose of what it should be."


def test_of_two_or_three_numbers_nothing_is_concluded():
    assert said([2.0, 4.0], np.array([1.0, 2.0])) == ""


def test_infinities_leave_only_the_place():
    want = np.where(np.tri(3), 0.0, -math.inf)
    got = want.copy()
    got[0] = math.nan
    assert said(got, want) == "Only row 0 differs; the other rows are right."


def test_a_known_cause_makes_the_relation_superfluous():
    trouble = difference(2 * WANT, WANT)
    assert "2 times" in trouble.lines()[1]
    known = Trouble(trouble.what, trouble.evidence, relation=trouble.relation, mistake="doubled")
    assert "2 times" not in " ".join(known.lines())


# ------------------------------------------------------------------ the picture


def picture(got, want):
    return window(got, want, ~np.isclose(got, want))


def test_a_picture_is_small_and_holds_the_first_difference():
    want = np.arange(2 * 9 * 8, dtype=float).reshape(2, 9, 8)
    got = want.copy()
    got[1, 6, 5] += 1
    p = picture(got, want)
    assert (p.rows, p.columns, p.place) == ((5, 6, 7), (4, 5, 6), "[1, 5:8, 4:7]")
    assert p.first == (1, 1) and p.got[1][1] == got[1, 6, 5] and p.want[1][1] == want[1, 6, 5]
    assert sum(map(sum, p.wrong)) == 1


def test_at_the_edge_it_stays_inside():
    for at in ((0, 0), (4, 4)):
        want, got = np.zeros((5, 5)), np.zeros((5, 5))
        got[at] = 1
        p = picture(got, want)
        assert p.got[p.first[0]][p.first[1]] == 1 and (len(p.rows), len(p.columns)) == (3, 5)


def test_of_a_vector_it_is_one_row_and_of_a_number_none():
    assert picture(np.array([1.0, 2, 4]), np.array([1.0, 2, 3])).rows == ()
    assert picture(np.array(1.0), np.array(2.0)) is None
    assert picture(np.array([1.0]), np.array([2.0])) is None


def test_as_text_both_stand_side_by_side():
    mask = np.where(np.tri(3), 0.0, -math.inf)
    got = np.where(np.tri(3), 0.0, -1e4)
    assert picture(got, mask).lines() == [
        "  expected [0:3, 0:3]   yours",
        "0  0   -inf   -inf       0  >-10000< >-10000<",
        "1  0      0   -inf       0        0  >-10000<",
        "2  0      0      0       0        0        0",
    ]


def test_masked_entries_are_known():
    mask = np.where(np.tri(2), 0.0, -math.inf)
    assert picture(mask + 1, mask).hidden == ((False, True), (False, False))
    weights = np.array([[1.0, 0.0], [0.3, 0.7]])
    assert picture(weights + 1, weights).hidden == ((False, True), (False, False))


# ------------------------------------------------------------------ the call


def test_a_call_is_shown_where_it_is_short():
    assert shown("softmax", {"x": np.float32([2, 1, 0])}) == "softmax(torch.tensor([2., 1., 0.]))"
    assert shown("f", {"T": 3, "s": "x", "m": None, "b": True}) == "f(3, 'x', None, True)"
    assert shown("f", {"ids": np.array([[3, 1]])}) == "f(torch.tensor([[3, 1]]))"
    assert shown("f", {"x": np.float32([0.25])}) == "f(torch.tensor([0.25]))"
    made = {"init": (3,), "state": None, "x": np.float32([1, 2, 4])}
    assert shown("LayerNorm", made) == "LayerNorm(3)(torch.tensor([1., 2., 4.]))"


@pytest.mark.parametrize(
    "inputs",
    [
        {"x": np.float32([1 / 3])},  # would not be the same number
        {"x": np.zeros(13, np.float32)},
        {"x": np.float32([math.inf])},
        {"init": (3,), "state": {"W": np.zeros(3)}, "x": np.float32([1])},
        {"given": {"a": 1}},
    ],
)
def test_a_call_that_cannot_be_typed_is_not_shown(inputs):
    assert shown("f", inputs) == ""


def test_the_call_that_is_shown_gives_what_is_said():
    """A student who types it sees the numbers of the message."""

    def softmax(x, dim=-1):
        return torch.exp2(x) / torch.exp2(x).sum(dim, keepdim=True)

    trouble = check.softmax(softmax).first().trouble
    got = eval(trouble.code, {"softmax": softmax, "torch": torch})
    assert np.allclose(got, trouble.picture.got[0], atol=1e-5)


# ------------------------------------------------------------------ reports


def attention(Q, K, V, mask=None, dropout=0.0):
    S = Q @ K.mT
    A = (S if mask is None else S + mask).softmax(-1)
    return torch.dropout(A, dropout, dropout > 0) @ V, A


def test_what_is_wrong_stands_in_three_lines_before_the_rest():
    """The cause, the evidence, where to look; between them only the small table."""
    lines = str(check.attention(attention)).splitlines()
    entry = next(m for m in check.find("attention").mistakes if m.name == "no_scaling")
    told = lines[1 : next(i for i, line in enumerate(lines) if "In the book" in line)]
    assert [line for line in told if not line.startswith("    ")] == [
        f"  {entry.says}",
        *(
            line
            for line in told
            if "This one mistake gives your results, on all 4 inputs: at" in line
        ),
        f"  Look: {entry.look}",
    ]
    assert "of the weights" in told[1]  # they arise before the output
    assert lines[lines.index(told[-1]) + 2] == (
        "  More on it: autograder explain attention.no_scaling"
    )


class InAList(standins.GPT2):
    """Blocks in a plain list, and a W_U beside a tied E: no single mistake explains it."""

    def __init__(self, config):
        super().__init__(config)
        blocks = list(self.blocks)
        del self.blocks
        self.blocks = blocks
        self.W_U = torch.nn.Parameter(self.E.detach().T.clone())


class AddsInPlace(standins.PreNormBlock):
    def forward(self, x):
        x += self.attn(self.ln_1(x))
        x += self.ffn(self.ln_2(x))
        return x


class EpsAfterDivision(standins.LayerNorm):
    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        deviation = centred.square().mean(-1, keepdim=True).sqrt()
        return self.gamma * centred / deviation + self.eps + self.beta


LOOKS = {
    "a plain list and more": ("GPT2", InAList, "nn.ModuleList"),
    "the stream in place": ("PreNormBlock", AddsInPlace, "x = x + y"),
    "a missing parenthesis": ("LayerNorm", EpsAfterDivision, "mind the parentheses"),
}


@pytest.mark.parametrize("name", LOOKS)
def test_first_tries_of_readers_are_told_what_to_do(name):
    component, student, part = LOOKS[name]
    trouble = check.run(component, student).first().trouble
    assert part in trouble.look, str(trouble)


class Seen(HTMLParser):
    """Text, open tags, and cells of a page."""

    def __init__(self, text):
        super().__init__()
        self.open, self.cells, self.words, self.tables = [], [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tables += tag == "table"
        if tag == "td":
            self.cells.append(dict(attributes))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_the_page_shows_both_tables_and_marks_the_first_difference():
    def causal_mask(T, device=None):
        return torch.full((T, T), -1e4, device=device).triu(1)

    page = Seen(check.causal_mask(causal_mask)._repr_html_())
    assert page.open == [] and page.tables == 2
    titles = [cell.get("title") for cell in page.cells]
    assert titles.count("the first that differs") == 1 and titles.count("masked") >= 3
    words = " ".join(page.words)
    for expected in ("expected", "yours", "-inf", "-10000", "Why it matters", "All parts"):
        assert expected in words


def test_the_page_says_the_words_of_the_terminal():
    report = check.attention(attention)
    page = " ".join(Seen(report._repr_html_()).words)
    for line in str(report).splitlines():
        if not line.startswith("    "):
            assert line.strip() in page


def test_a_right_report_has_nothing_to_unfold():
    page = check.softmax(lambda x, dim=-1: torch.softmax(x, dim))._repr_html_()
    assert "<details" not in page and "right, all" in page


def test_parts_that_are_wrong_for_another_reason_say_so():
    findings = (
        Finding("numbers", Trouble("It is base 2.", mistake="base_2")),
        Finding("device", Trouble("It stays on the CPU.")),
        Finding("dtype", Trouble("It is base 2.", mistake="base_2")),
    )
    text = str(Report("softmax", findings))
    assert len(re.findall("It is base 2", text)) == 1 and "It stays on the CPU." in text


def test_a_coarse_tolerance_does_not_hide_a_relation():
    trouble = difference(3 * WANT, WANT, Tolerance(0, 0.05))
    assert "3 times" in trouble.lines()[1]


def test_numbers_get_as_many_digits_as_it_takes():
    want = np.array([[0.0, 1.5], [2.25, -0.00002]])
    got = want + [[-0.0, 0.0], [0.0001, 0.0]]
    lines = picture(got, want).lines()
    assert ">2.2501<" in lines[2] and "2.2500" in lines[2]
    assert "-0 " not in lines[1] and "-2e-05" in lines[2]


def test_what_can_be_seen_is_shown_before_what_cannot():
    def part(name, factor):
        return Finding(name, Trouble("Off.", mistake="m", picture=picture(factor * WANT, WANT)))

    assert Report("f", (part("slight", 1.0001), part("plain", 2))).first().part == "plain"


def test_arrays_with_a_short_name_are_shown_by_it():
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    assert shown("split_heads", {"x": x, "n_head": 3}) == (
        "split_heads(torch.arange(24.).reshape(4, 6), 3)"
    )
    assert shown("f", {"V": np.eye(3, dtype=np.float32)}) == "f(torch.eye(3))"


def test_what_was_given_is_told_where_the_call_is_too_long():
    def decay(step, max_lr, min_lr, warmup_steps, max_steps):
        return max_lr

    trouble = check.lr_schedule(decay).findings[-1].trouble
    assert re.search(r"\(.*max_lr 0\.\d+, min_lr 0\.\d+, warmup_steps \d", trouble.evidence)
