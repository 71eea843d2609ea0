"""The interactive forward-pass shows PyTorch's numbers for any sentence."""

import re

import pytest
import torch
from browser import Interactive
from course_site.interactives import forward_pass, parts
from readings import shown, spaced, two
from torch_says import SENTENCE, WEIGHTS, forward, stages, texts_of

from autograder import example

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("interactives")]


@pytest.fixture
def stepper(page):
    return Interactive(page, "forward-pass")


def expected_of(words, t, head):
    """All that the stepper shows for a sentence, a position and a head."""
    s = stages(words)
    T, x, keep = len(words), s["X0"][t], forward_pass.ALIVE
    texts = {f"word-{i}": word for i, word in enumerate(words)}
    texts |= {f"w-{i}": word for i, word in enumerate(words)}
    texts |= {f"shape-{i}": f"({T}, {8 if i == 5 else 6})" for i in range(6)}
    texts["T"] = str(T)
    texts |= {"id": str(example.words.index(words[t])), "t": str(t), "head-name": str(head)}
    texts |= {"name": f"“{words[t]}”", "head": f"head {head}"}
    for key, name in {"X0": "X0", "ln": "ln_1_0", "attn": "attn_0", "mid": "mid_0"}.items():
        texts |= two(key, s[name])
    texts |= two("X1", s["X1"]) | two("probs", s["probs"])
    spread = (x - x.mean()) / (x.var(correction=0) + 1e-5).sqrt()
    bias = WEIGHTS["blocks.0.attn.b_O"]
    for key, rows in {
        "embed": (WEIGHTS["E"][example.words.index(words[t])], WEIGHTS["P"][t], x),
        "norm": (x, x - x.mean(), spread, s["ln_1_0"][t]),
        "write": (*s["writes_0"][:, t], bias, s["attn_0"][t]),
        "residual": (x, s["attn_0"][t], x + s["attn_0"][t]),
        "units": (s["up_0"][t][keep], s["act_0"][t][keep]),
        "ffn": (s["mid_0"][t], s["ln_2_0"][t], s["ffn_0"][t], s["mid_0"][t] + s["ffn_0"][t]),
        "final": (s["ln_f"][t],),
    }.items():
        texts |= two(key, torch.stack(rows))
    texts |= two("q", s["Q_0"][head, t]) | two("k", s["K_0"][head]) | two("v", s["V_0"][head])
    texts |= two("mixed", (s["A_0"] @ s["V_0"])[head, t]) | two("logit", s["logits"][t])
    for i in range(T):
        seen = i <= t
        texts[f"score-{i}"] = parts.fixed(s["S_0"][head, t, i].item(), 2) if seen else "masked"
        texts[f"weight-{i}"] = parts.fixed(s["A_0"][head, t, i].item(), 2) if seen else "masked"
    texts |= {f"p-{i}": parts.fixed(p, 3) for i, p in enumerate(s["probs"][t].tolist())}
    return texts | {f"said-{i}": a for i, a in enumerate(forward_pass.said(s, words, t, head))}


def see_pass(element, words, t, head, stage):
    """Numbers, sentences, the marked stage, and that rows beyond the sentence are hidden."""
    texts, expected = shown(element), expected_of(words, t, head)
    assert {key: texts[key] for key in expected} == expected
    rest = [re.fullmatch(r"[a-zX01]+-(\d)(-\d)?", key) for key in set(texts) - set(expected)]
    assert all(key and int(key[1]) >= len(words) for key in rest)
    assert spaced(element.finding()) == spaced(expected[f"said-{stage}"])
    marked = element.find('[aria-current="step"]').evaluate_all(
        "all => all.map(b => b.dataset.action)"
    )
    assert marked == [f"stage-{stage}"]
    (panel,) = [p for p in element.find("section").all() if p.is_visible()]
    assert panel.get_attribute("data-stage") == str(stage)
    assert panel.locator('[data-name="position"]:visible').count() == len(words)
    assert element.find("select:visible").count() == len(words)
    (checked,) = panel.locator('[data-name="position"]:checked').all()
    assert checked.get_attribute("value") == str(t)
    shares = element.find('[data-bar^="p-"]').evaluate_all(
        "all => all.map(bar => Number(bar.style.getPropertyValue('--tf-share')))"
    )
    expected_shares = stages(words)["probs"][t]
    torch.testing.assert_close(torch.tensor(shares).double(), expected_shares, rtol=1e-4, atol=1e-6)


def test_all_stages_are_there_without_scripts(asleep):
    element = Interactive(asleep, "forward-pass")
    texts, expected = shown(element), expected_of(SENTENCE, 4, 0)
    assert {key: texts[key] for key in expected} == expected
    panels = element.find(".tf-panel").all()
    for i, panel in enumerate(panels):
        assert panel.is_visible() and expected[f"said-{i}"] in panel.inner_text()
    assert len(panels) == 6


def test_the_stages_are_walked_by_arrow_keys_and_by_buttons(stepper):
    see_pass(stepper, SENTENCE, 4, 0, 0)
    stepper.press(".tf-stage")
    for key, stage in (
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("End", 5),
        ("ArrowRight", 5),
        ("ArrowLeft", 4),
        ("Home", 0),
    ):
        stepper.page.keyboard.press(key)
        see_pass(stepper, SENTENCE, 4, 0, stage)
    for stage in (1, 2, 3, 4, 5, 5):
        stepper.act("next")
        see_pass(stepper, SENTENCE, 4, 0, stage)
    next_ = stepper.find('[data-action="next"]')
    assert next_.get_attribute("aria-disabled") == "true" and next_.evaluate(
        "b => b === document.activeElement"
    )
    stepper.act("previous")
    see_pass(stepper, SENTENCE, 4, 0, 4)


def test_position_and_head_are_chosen_by_the_keyboard(stepper):
    for action in ("next", "next"):
        stepper.act(action)
    stepper.press('section:not([hidden]) [data-name="head"]', "ArrowRight")
    see_pass(stepper, SENTENCE, 4, 1, 2)
    stepper.press('section:not([hidden]) [data-name="position"]', "ArrowUp")
    see_pass(stepper, SENTENCE, 3, 1, 2)
    assert "99 % of its weight to “owl”" in spaced(stepper.finding())
    hatched = stepper.find(".tf-look .tf-unseen-row")
    assert hatched.evaluate_all("all => all.map(row => row.dataset.look)") == ["4"]
    for t in (2, 1, 0):
        stepper.page.keyboard.press("ArrowUp")
        see_pass(stepper, SENTENCE, t, 1, 2)


def test_any_sentence_is_computed(stepper):
    words = list(SENTENCE)
    for place, word in ((1, "cat"), (2, "hid"), (0, "a")):
        stepper.press(f'select[data-name="w-{place}"]', word[0])
        words[place] = word
        see_pass(stepper, words, 4, 0, 0)
    stepper.act("append")
    words.append(".")
    see_pass(stepper, words, 5, 0, 0)
    stepper.act("append")
    words.append(example.words[stages(words)["probs"][-1].argmax()])
    see_pass(stepper, words, 6, 0, 0)
    append = stepper.find('[data-action="append"]')
    assert append.get_attribute("aria-disabled") == "true"
    stepper.act("append")
    see_pass(stepper, words, 6, 0, 0)
    for _ in range(7):
        stepper.act("remove")
        words = words[:-1] or words
        see_pass(stepper, words, len(words) - 1, 0, 0)
    assert words == ["a"]


def test_appending_writes_what_the_model_finds_likeliest(stepper):
    for _ in range(4):
        stepper.act("remove")
    words = ["the"]
    for _ in range(6):
        stepper.act("append")
        best = stages(words)["probs"][-1]
        words.append(
            example.words[[round(p, 9) for p in best.tolist()].index(round(best.max().item(), 9))]
        )
    see_pass(stepper, words, 6, 0, 0)


def test_paper_shows_all_stages_of_now(page, stepper):
    for action in ("next", "append", "append", "remove", "next"):
        stepper.act(action)
    stepper.press('select[data-name="w-1"]', "c")
    page.emulate_media(media="print")
    words = ["the", "cat", *SENTENCE[2:], "."]
    paper = page.locator("tf-forward-pass").inner_text()
    assert all(said in paper for said in forward_pass.said(stages(words), words, 5, 0))
    sentence = stepper.find(".tf-word:visible .tf-text").all_inner_texts()
    assert sentence == words


def test_units_that_are_not_listed_are_always_zero():
    dead = [j for j in range(24) if j not in forward_pass.ALIVE]
    for ids in texts_of(7):
        act = forward(ids)["act_0"]
        assert not act[:, dead].any()
    assert len(dead) == 18
