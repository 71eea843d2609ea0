"""The interactive heads: weights that come from what is shown, switched and told row by row."""

import json
import re

import pytest
import torch
from browser import Interactive
from course_site.interactives import heads, model_parts, parts
from readings import spaced
from torch_says import SENTENCE

from autograder import example

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("interactives")]

FACES = [head for group in heads.data()["groups"] for head in group["heads"]]
LOOKS = {  # head -> where positions 1 to 4 look most
    "Positional": [0, 1, 2, 3],
    "Syntactic": [0, 1, 2, 2],
    "Duplicate-token": [1, 2, 0, 4],
    "Head 0": [1, 0, None, 2],
    "Head 1": [1, 2, 1, 4],
}
TABS = "[role=tab]"


@pytest.fixture
def attention(page):
    return Interactive(page, "heads")


def test_rows_of_weights_are_told_alike_on_both_sides(script):
    torch.manual_seed(0)
    words = "the owl saw the mouse .".split()
    for sharpness in (0, 0.5, 3, 20):
        for weights in (torch.randn(6, 6, dtype=torch.float64) * sharpness).softmax(-1).tolist():
            for t in range(6):
                row = [a / sum(weights[: t + 1]) for a in weights[: t + 1]]
                told = script("TransformerAttention.told", words, row, t)
                assert told == model_parts.told(words, row, t)


def test_a_row_is_told_in_one_sentence():
    told = lambda row: spaced(model_parts.told(SENTENCE, row, len(row) - 1))  # noqa: E731
    assert told([0.0, 0.021, 0.931, 0.0, 0.048]) == (
        "“mouse” (position 4) gives 93 % of its weight to “saw” (2), 5 % to itself and 2 % to the rest."
    )
    assert "same weight, 25 %, to each of the 4 positions" in told([0.25] * 4)
    assert told([1.0]).endswith("gives itself all its weight.")
    assert told([0.4, 0.6]).endswith("60 % of its weight to itself and 40 % to “the” (0).")
    assert told([0.001, 0.999]).endswith("less than 1 % to the rest.")


def vectors(texts):
    rows = [re.findall(r"-?[\d.]+", text.replace("−", "-")) for text in texts]
    return torch.tensor([[float(x) for x in row] for row in rows], dtype=torch.float64)


def weights_of(queries, keys):
    scores = queries @ keys.T / queries.shape[1] ** 0.5
    future = torch.ones(len(scores), len(scores), dtype=torch.bool).triu(1)
    return scores.masked_fill(future, -torch.inf).softmax(-1)


@pytest.mark.parametrize("head", FACES, ids=lambda head: head["name"])
def test_weights_come_from_the_queries_and_keys_that_are_shown(head):
    weights = torch.tensor(head["weights"], dtype=torch.float64)
    shown_to_hundredths = head["name"].startswith("Head")
    expected = weights_of(vectors(head["queries"]), vectors(head["keys"]))
    atol = 0.03 if shown_to_hundredths else 1e-8
    torch.testing.assert_close(weights, expected, rtol=0, atol=atol)


@pytest.mark.parametrize("head", FACES, ids=lambda head: head["name"])
def test_heads_look_where_they_are_said_to_look(head):
    for t, s in enumerate(LOOKS.get(head["name"], []), 1):
        if s is not None:
            assert max(range(t + 1), key=lambda i: head["weights"][t][i]) == s
            assert head["weights"][t][s] > 0.6
    if head["name"] == "Global":
        assert all(
            row[: t + 1] == [round(1 / (t + 1), 9)] * (t + 1)
            for t, row in enumerate(head["weights"])
        )


def test_the_trained_heads_are_the_examples():
    for head, weights in zip(FACES[4:], example.stages()["A_0"]):
        torch.testing.assert_close(torch.tensor(head["weights"]), weights, rtol=0, atol=1e-6)
    said = [head["does"] for head in FACES[4:]]
    assert (
        "“mouse” (position 4) at “saw” (2)" in said[0]
        and "“the” (position 3) at “owl” (1)" in said[1]
    )


def see_head(element, i, row):
    head = FACES[i]
    (panel,) = [p for p in element.find("[role=tabpanel]").all() if p.is_visible()]
    rows = panel.locator("tbody tr[data-row]").all()
    for t, (line, weights) in enumerate(zip(rows, head["weights"])):
        cells = line.locator("td").all_text_contents()
        assert cells == [parts.fixed(a, 2) for a in weights[: t + 1]] + ["masked"] * (4 - t)
        assert ("tf-chosen" in (line.get_attribute("class") or "")) == (t == row)
        assert line.locator("input").is_checked() == (t == row)
    vectors_shown = panel.locator("details tbody td").all_text_contents()
    assert vectors_shown == [v for both in zip(head["queries"], head["keys"]) for v in both]
    (tab,) = element.find('[role=tab][aria-selected="true"]').all()
    assert tab.text_content() == head["name"]
    assert panel.get_attribute("id") == tab.get_attribute("aria-controls")
    told = model_parts.told(SENTENCE, head["weights"][row], row)
    assert spaced(element.finding()) == spaced(f"{head['name']}: {told}")


def test_all_heads_are_there_without_scripts(asleep):
    panels = Interactive(asleep, "heads").find(".tf-panel").all()
    for panel, head in zip(panels, FACES, strict=True):
        assert panel.is_visible()
        for t, line in enumerate(panel.locator("tr[data-row]").all()):
            weights = [parts.fixed(a, 2) for a in head["weights"][t][: t + 1]]
            assert line.inner_text().split("\t")[1:] == weights + ["masked"] * (4 - t)


def test_heads_are_switched_by_the_arrow_keys(page, attention):
    see_head(attention, 0, 4)
    attention.press(TABS)
    for key, i in (("ArrowRight", 1), ("End", 3), ("ArrowRight", 3), ("ArrowLeft", 2), ("Home", 0)):
        page.keyboard.press(key)
        see_head(attention, i, 4)
        assert page.evaluate("document.activeElement.textContent") == FACES[i]["name"]
    page.keyboard.press("Tab")  # the second list, whose first tab is not yet chosen
    see_head(attention, 0, 4)
    page.keyboard.press("Enter")
    see_head(attention, 4, 4)
    assert "93 % of its weight to “saw” (2), 5 % to itself" in spaced(attention.finding())
    page.keyboard.press("ArrowRight")
    see_head(attention, 5, 4)
    attention.choose("row", "ArrowUp")
    see_head(attention, 5, 3)
    assert "gives 99 % of its weight to “owl” (1)" in spaced(attention.finding())
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    see_head(attention, 5, 1)
    page.keyboard.press("ArrowUp")
    see_head(attention, 5, 0)
    page.wait_for_timeout(400)
    assert page.locator("[role=status].tf-unseen").text_content().replace(
        "\N{NO-BREAK SPACE}", " "
    ) == spaced(attention.finding())


def test_the_row_under_the_pointer_is_told(attention):
    attention.find("[role=tabpanel]:visible tr[data-row='2'] td").first.hover()
    see_head(attention, 0, 2)


def test_masked_cells_are_hatched(attention):
    cells = attention.find("[role=tabpanel]:visible .tf-masked")
    assert cells.count() == 10
    image = cells.first.evaluate("cell => getComputedStyle(cell).backgroundImage")
    assert image.startswith("repeating-linear-gradient")


def test_paper_tells_the_row_of_now(page, attention):
    attention.press(TABS, "ArrowRight")
    attention.choose("row", "ArrowUp")
    page.emulate_media(media="print")
    paper = page.locator("tf-heads").inner_text()
    assert model_parts.told(SENTENCE, FACES[1]["weights"][3], 3) in paper


def test_heads_of_any_model_can_be_drawn():
    other = json.loads(json.dumps(heads.data()))
    other["words"] = ["<b>", "c"]
    head = {
        **FACES[0],
        "name": "Own",
        "weights": [[1, 0], [0.25, 0.75]],
        "queries": ["(1)"] * 2,
        "keys": ["(1)"] * 2,
    }
    other["groups"] = [{"name": "Mine", "heads": [head]}]
    drawn = heads.drawing("p", other)
    assert "&lt;b&gt;" in drawn.body and "<b>" not in drawn.body and "0.75" in drawn.body
    assert (
        spaced(drawn.finding)
        == "Own: “c” (position 1) gives 75 % of its weight to itself and 25 % to “<b>” (0)."
    )
