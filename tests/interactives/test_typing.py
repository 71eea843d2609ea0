"""Typing into the interactives' boxes: what is refused, and when something is said."""

import re

import pytest
from browser import Interactive
from course_site.interactives import parts

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("interactives")]

BOXES = {  # name -> a box, what can be typed there, and what cannot
    "softmax": ("fit-1", "4", "99"),
    "layernorm": ("beta", "-2.5", "-99"),
    "budget": ("L", "40", "0"),
    "activations": ("x", "2.5", "99"),
    "sampling": ("k", "1", "9"),
}


@pytest.fixture
def softmax(page):
    return Interactive(page, "softmax")


@pytest.mark.parametrize("typed", ["", "-", "too far"])
@pytest.mark.parametrize("name", BOXES)
def test_what_cannot_be_used_changes_nothing_and_is_told(page, name, typed):
    element = Interactive(page, name)
    key, good, too_far = BOXES[name]
    box = element.find(f'[type="number"][data-name="{key}"]')
    before, held = element.texts(), box.input_value()
    if typed == "too far":
        box.focus()  # at once, since its first digit alone would do
        page.keyboard.press("Control+A")
        page.keyboard.insert_text(too_far)
    else:
        element.write(key, typed)
    page.wait_for_timeout(700)
    assert box.get_attribute("aria-invalid") == "true"
    stays = rf"must be a .*number from \S+ to \S+\. It stays {parts.signed(held)}\.$"
    assert re.search(stays, element.problem())
    page.wait_for_timeout(300)
    assert page.locator("[role=status].tf-unseen").text_content() == element.problem()
    page.keyboard.press("Tab")
    assert box.input_value() == held and box.get_attribute("aria-invalid") is None
    assert element.problem() and element.texts() == before
    element.write(key, good)
    assert element.problem() == "" and element.texts() != before


def test_a_minus_on_its_way_to_a_number_is_not_blamed(softmax):
    softmax.write("fit-0", "-")
    softmax.page.wait_for_timeout(200)
    assert softmax.problem() == ""
    softmax.page.keyboard.type("3")
    softmax.page.wait_for_timeout(700)
    assert softmax.problem() == ""


def test_what_is_spoken_waits_until_all_is_still(softmax):
    softmax.page.evaluate("""() => {
          window.spoken = [];
          const region = document.querySelector("[role=status].tf-unseen");
          new MutationObserver(() => spoken.push(region.textContent))
            .observe(region, { childList: true });
        }""")
    softmax.press('[type="range"][data-name="fit-1"]', *["ArrowRight"] * 15)
    softmax.page.wait_for_timeout(600)
    assert softmax.page.evaluate("spoken") == [softmax.finding()]
