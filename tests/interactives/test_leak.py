"""The interactive leak: what changes with the mask and without it, as PyTorch computes it."""

import pytest
from browser import Interactive
from course_site.interactives import parts
from readings import shown
from torch_says import SENTENCE, stages

from autograder import example

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("interactives")]


@pytest.fixture
def leaking(page):
    return Interactive(page, "leak")


def likeliest(probs):
    rounded = [round(p, 9) for p in probs.tolist()]
    i = rounded.index(max(rounded))
    return f"“{example.words[i]}” {parts.fixed(probs[i].item(), 2)}"


def see_leak(element, place, word, causal):
    changed = [word if t == place else old for t, old in enumerate(SENTENCE)]
    before, after = stages(SENTENCE, causal), stages(changed, causal)
    gaps = (before["X1"] - after["X1"]).abs().amax(-1).tolist()
    texts = shown(element)
    for t, gap in enumerate(gaps):
        assert texts[f"read-{t}"] == changed[t]
        assert texts[f"before-{t}"] == likeliest(before["probs"][t])
        assert texts[f"after-{t}"] == likeliest(after["probs"][t])
        exact = gap < 1e-12
        assert texts[f"difference-{t}"] == ("0" if exact else parts.small(gap))
        verdict = "the same" if exact else "changed: leak" if t < place else "changed"
        assert texts[f"verdict-{t}"] == verdict
        row = element.find(f'[data-row="{t}"]').get_attribute("class") or ""
        assert ("tf-altered" in row) == (not exact)
    return gaps


def test_both_cases_are_told_without_scripts(asleep):
    element = Interactive(asleep, "leak")
    see_leak(element, 4, "cat", True)
    text = element.find(":scope > *").all_inner_texts()
    assert any("This is a leak" in t for t in text) and any("exactly 0" in t for t in text)


def test_with_the_mask_nothing_earlier_changes_and_without_it_all_may(leaking):
    see_leak(leaking, 4, "cat", True)
    assert leaking.finding() == (
        "Position 4 now reads “cat” in place of “mouse”. With the mask, positions 0 to 3 compute what "
        "they computed before: the largest difference is exactly 0."
    )
    leaking.press('[data-name="causal"]', "Space")
    gaps = see_leak(leaking, 4, "cat", False)
    assert leaking.finding() == (
        "Position 4 now reads “cat” in place of “mouse”. Without the mask 4 of the 4 positions before "
        f"it change as well, by up to {parts.small(max(gaps[:4]))}: they read what comes after them. "
        "This is a leak."
    )
    assert "exactly 0" in shown(leaking)["other"]
    leaking.choose("place", "ArrowLeft", "ArrowLeft")
    see_leak(leaking, 2, "cat", False)
    leaking.choose("word", "ArrowLeft")
    see_leak(leaking, 2, "a", False)
    leaking.press('[data-name="causal"]', "Space")
    see_leak(leaking, 2, "a", True)
    assert "positions 0 to 1 compute" in leaking.finding()
    leaking.choose("word", "ArrowRight", "ArrowRight")
    see_leak(leaking, 2, "hid", True)
    assert "nothing changes anywhere: both have the same row in E" in leaking.finding()
    leaking.choose("place", "ArrowLeft")
    see_leak(leaking, 1, "hid", True)
    assert "position 0 computes what it computed before" in leaking.finding()
    leaking.press('[data-name="causal"]', "Space")
    see_leak(leaking, 1, "hid", False)
    assert "Without the mask position 0 changes as well" in leaking.finding()
    leaking.choose("place", "ArrowLeft")
    see_leak(leaking, 0, "hid", False)
    assert "No position stands before it" in leaking.finding()
    leaking.choose("word", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    see_leak(leaking, 0, "the", False)
    assert leaking.finding().endswith("as before: nothing was changed.")


def test_paper_tells_both_cases_of_now(page, leaking):
    leaking.choose("word", "ArrowRight")
    leaking.press('[data-name="causal"]', "Space")
    page.emulate_media(media="print")
    paper = page.locator("tf-leak").inner_text()
    assert "into\nhid" in paper and paper.count("now reads “hid”") == 2


def test_the_zero_is_exact_for_every_change(gpt2):
    """Bit for bit, in JavaScript: what is called exactly 0 is no rounded number."""
    ids = example.ids.tolist()
    for place in range(1, 5):
        for word in range(len(example.words)):
            changed = [word if t == place else old for t, old in enumerate(ids)]
            before, after = gpt2([ids, changed])
            assert before["X1"][:place] == after["X1"][:place]
            assert before["probs"][:place] == after["probs"][:place]
