"""What holds for each interactive: scripts off, reset, paper, axe, theme, telephone, focus."""

import pytest
from browser import Interactive, opened, violations
from course_site.interactives import NAMES, parts
from readings import all_texts

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("interactives")]

CONTROLS = ":is(input, select, button):not([type=hidden])"
TABS = "[role=tab]"
CAUSAL = '[data-name="causal"]'
CHANGES = {  # name -> what is pressed, and what then stands in the finding
    "softmax": ([("write", "fit-1", "4")], "owl (position 1)"),
    "layernorm": ([("write", "beta", "-2.5")], "the mean to −2.500"),
    "budget": ([("write", "L", "40")], "This model"),
    "activations": ([("write", "x", "2.5")], "At x = 2.5"),
    "heads": ([("press", TABS, "ArrowRight"), ("choose", "row", "ArrowUp")], "“the” (position 3)"),
    "forward-pass": (
        [("act", action) for action in ("next", "append", "append", "remove", "next")]
        + [("press", 'select[data-name="w-1"]', "c")],
        "“.” (position 5)",
    ),
    "leak": ([("choose", "word", "ArrowRight"), ("press", CAUSAL, "Space")], "now reads “hid”"),
    "sampling": ([("write", "temperature", "2.5"), ("act", "draw")], "p cuts 4"),
}
HAVE_PANELS = {"heads": 6, "forward-pass": 6}  # of which one at a time is seen

each_one = pytest.mark.parametrize("name", NAMES)


def change(element, name):
    """Bring it into another state; what its finding says there."""
    presses, said = CHANGES[name]
    for do, *what in presses:
        getattr(element, do)(*what)
    return said


def nothing_is_left_out(element, name):
    """Where nothing can be pressed: no controls and no room for them, and all panels."""
    for control in element.find(CONTROLS).all():
        assert control.bounding_box() is None, "its room is kept"
    panels = element.find(".tf-panel").all()
    assert len(panels) == HAVE_PANELS.get(name, 0)
    assert all(panel.is_visible() for panel in panels)


@each_one
def test_all_is_there_without_scripts(asleep, name):
    element = Interactive(asleep, name)
    nothing_is_left_out(element, name)
    assert name in HAVE_PANELS or element.find(".tf-finding").is_visible()
    texts = element.find(".tf-text").all()
    assert texts or name == "heads"
    for place in texts:
        hidden = place.evaluate("place => !!place.closest('[data-place][hidden]')")
        assert hidden or (place.is_visible() and place.text_content())


@each_one
def test_waking_changes_no_text_and_no_size(browser, tiny, asleep, page, name):
    assert all_texts(Interactive(asleep, name)) == all_texts(Interactive(page, name)) != []
    context = browser.new_context(reduced_motion="reduce")
    context.route(f"**/{name}.js*", lambda route: route.abort())
    unborn = context.new_page()
    unborn.goto((tiny / "all.html").as_uri())
    boxes = [p.locator(f"tf-{name}").bounding_box() for p in (unborn, page)]
    for control in Interactive(unborn, name).find(CONTROLS).all():
        assert not control.is_visible()
    context.close()
    assert boxes[0] == boxes[1]


@each_one
def test_reset_restores(page, name):
    element = Interactive(page, name)
    before = all_texts(element)
    said = change(element, name)
    assert said in element.finding() and all_texts(element) != before
    if element.find('[type="checkbox"]').count():
        element.press('[type="checkbox"]', "Space")
    if element.find('[type="radio"]').count():
        element.press('[type="radio"]', "ArrowRight")
    element.act("reset")
    assert all_texts(element) == before
    for control in element.find("input").all():
        assert control.evaluate("i => i.checked === i.defaultChecked")
        if control.get_attribute("type") != "checkbox":
            assert control.input_value() == control.get_attribute("value")


@each_one
def test_paper_shows_the_state_of_now(page, name):
    element = Interactive(page, name)
    said = change(element, name)
    page.emulate_media(media="print")
    assert said in page.locator(f"tf-{name}").inner_text()
    assert said in element.find(".tf-finding").inner_text()
    for do, key, typed in (press for press in CHANGES[name][0] if press[0] == "write"):
        place = element.find(f'.tf-text[data-out="{key}"]')
        assert place.is_visible() and place.inner_text() == parts.signed(typed)
    nothing_is_left_out(element, name)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(browser, tiny, theme):
    with opened(browser, tiny / "all.html", color_scheme=theme) as page:
        page.wait_for_timeout(1000)  # the theme swaps its icons in after load
        assert page.locator("html").get_attribute("data-theme") == theme
        assert violations(page) == []
        Interactive(page, "layernorm").choose("norm", "ArrowRight")
        Interactive(page, "softmax").write("fit-0", "")
        Interactive(page, "leak").press(CAUSAL, "Space")
        Interactive(page, "sampling").write("temperature", 5)
        page.wait_for_timeout(700)
        assert violations(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_any_panel(page, theme):
    page.evaluate("theme => (document.documentElement.dataset.theme = theme)", theme)
    heads, stepper = (Interactive(page, name) for name in ("heads", "forward-pass"))
    Interactive(page, "leak").press(CAUSAL, "Space")
    for stage in range(1, 6):
        stepper.act("next")
        stepper.find('section:not([hidden]) [data-name="position"]').nth(stage % 4).check()
        heads.find(TABS).nth(stage).click()
        heads.find("summary:visible").click()
        assert violations(page, "article") == []


@each_one
def test_the_theme_recolours_at_once(page, name):
    colours = """name => [...document.querySelectorAll(`tf-${name}, tf-${name} *`)].flatMap(
      (element) => (element.matches(".tf-slider") ? ["accent-color"]
        : ["accent-color", "color", "background-color", "border-bottom-color", "stroke"]
      ).map((property) => `${element.tagName} ${property} ` +
        getComputedStyle(element).getPropertyValue(property)))"""
    seen = []
    for theme in ("light", "dark"):
        page.evaluate("theme => (document.documentElement.dataset.theme = theme)", theme)
        seen.append(page.evaluate(colours, name))
    assert seen[0]
    unpainted = ("rgba(0, 0, 0, 0)", "color(srgb 0 0 0 / 0)", "none", "auto")
    stuck = {a for a, b in zip(*seen) if a == b}
    assert not {a for a in stuck if " color " in a or not a.endswith(unpainted)}


def fits(page, name):
    """Nothing is wider than the page, nor sticks out of the element's padding."""
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    outside = page.locator(f"tf-{name}").evaluate("""within => {
          const padding = parseFloat(getComputedStyle(within).paddingRight);
          const edge = within.getBoundingClientRect().right - padding;
          return [...within.querySelectorAll("*")].filter((part) => {
            const box = part.getBoundingClientRect();
            return (box.width || part.offsetParent) && box.right > edge + 1;
          }).map((part) => part.outerHTML.slice(0, 100));
        }""")
    assert outside == []


def at_its_widest(element, name):
    """Goes through the states with the longest numbers and the widest tables."""
    yield
    if name == "budget":
        for key, longest in (("d", 4096), ("L", 96), ("V", 150257)):
            element.write(key, longest)
        yield
    if name == "layernorm":
        for i in range(5):
            element.write(f"x-{i}", -9.999)
        yield
    if name == "sampling":
        element.write("n", 10000)
        yield
        element.write("temperature", 0)
        for u in (0, 1, 0.123456):
            element.write("u", u)
            yield
    if name == "heads":
        for tab in element.find(TABS).all():
            tab.click()
            element.find("summary:visible").click()
            yield
    if name == "forward-pass":
        element.act("append")
        element.act("append")
        for stage in range(6):
            element.find(f'[data-action="stage-{stage}"]').click()
            yield


@each_one
def test_a_telephone_need_not_scroll_sideways(browser, tiny, name):
    size = {"width": 375, "height": 800}
    with opened(browser, tiny / "all.html", viewport=size) as page:
        for _ in at_its_widest(Interactive(page, name), name):
            fits(page, name)


@each_one
def test_every_control_is_named_and_shows_the_focus(page, name):
    page.keyboard.press("Tab")  # it is the keyboard that is in use
    controls = Interactive(page, name).find(f"{CONTROLS}:enabled:not([hidden] *)").all()
    assert len(controls) > (2 if name == "activations" else 5)
    for control in controls:
        control.focus()
        outline = "e => getComputedStyle(e).outlineStyle + ' ' + getComputedStyle(e).outlineWidth"
        assert control.evaluate(outline) == "solid 3px"
        visible = control.evaluate("""e => {
              const ids = (e.getAttribute("aria-labelledby") ?? "").split(" ").filter(id => id);
              const labels = e.labels?.length ? [...e.labels] : e.tagName === "BUTTON" ? [e] : [];
              return [...labels, ...ids.map(id => document.getElementById(id))]
                .map(label => label.checkVisibility() && label.innerText.trim());
            }""")
        assert visible and all(visible)


def test_nothing_moves_for_those_who_asked_for_that(browser, tiny, page):
    duration = "e => getComputedStyle(e).transitionDuration"
    assert page.locator("tf-softmax .tf-bar").first.evaluate(duration) == "0s"
    with opened(browser, tiny / "all.html", reduced_motion="no-preference") as moving:
        assert moving.locator("tf-softmax .tf-bar").first.evaluate(duration) != "0s"


def test_two_on_a_page_do_not_disturb_each_other(browser, tiny):
    with opened(browser, tiny / "twice.html") as page:
        ids = page.locator("[id^=tf-]").evaluate_all("all => all.map(element => element.id)")
        assert len(ids) == len(set(ids)) > 10
        first, second = (page.locator("tf-softmax").nth(i).locator("[data-out]") for i in (0, 1))
        before = second.all_text_contents()
        softmax = Interactive(page, "softmax")
        softmax.write("fit-0", 3)
        softmax.choose("d_k", "ArrowRight")
        assert second.all_text_contents() == before != first.all_text_contents()
        assert page.locator('[role="status"].tf-unseen').count() == 1
