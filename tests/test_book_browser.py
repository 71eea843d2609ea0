"""Every page of the built book in a browser, as its readers open it: from the file system, with no network."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from book_source import BOOK
from browser import opened, violations

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("book")]

HEAVIEST = 4_000_000  # bytes of a page with all that it loads, uncompressed
NARROW = {"width": 375, "height": 800}
PAPER = {"width": 718, "height": 1000}  # A4 without its margins, in CSS pixels
SMALL = {"width": 1200, "height": 800}  # a small laptop: the text has both sidebars beside it
CUT = """() => [...document.querySelectorAll(
    "article :is(div.math mjx-container, pre, .pst-scrollable-table-container)"
)].filter(e => e.offsetParent && e.scrollWidth > e.clientWidth + 1).map(e => e.textContent.trim())"""
NAMES = [page.stem for page in sorted(BOOK.glob("*.md"))] + ["search"]


def settle(page):
    """Wait until the formulas are typeset and the icons are in their places."""
    page.wait_for_function("document.readyState === 'complete'")
    page.evaluate("window.MathJax?.startup?.promise")
    page.wait_for_timeout(200)


def opening(browser, site, name, **options):
    with opened(browser, site / f"{name}.html", **options) as page:
        settle(page)
        yield page


@pytest.fixture(scope="module", params=NAMES)
def light(request, browser, site):
    yield from opening(browser, site, request.param, color_scheme="light")


@pytest.fixture(scope="module", params=NAMES)
def dark(request, browser, site):
    yield from opening(browser, site, request.param, color_scheme="dark")


# A page is opened once for each colour scheme; what changes it comes last, and puts it back.


def test_nothing_stands_in_the_way_of_anybody(light):
    """WCAG 2.2 AA and best practice; no error, and nothing asked of another host (see `opened`)."""
    assert light.locator("html").get_attribute("data-theme") == "light"
    assert violations(light) == []


def test_nothing_stands_in_the_way_in_the_dark(dark):
    assert dark.locator("html").get_attribute("data-theme") == "dark"
    assert violations(dark) == []


def test_formulas_are_typeset(light):
    source = Path(unquote(urlsplit(light.url).path)).read_text()
    assert light.locator("mjx-container").count() == len(re.findall(r'class="math\b', source))
    assert light.locator("mjx-merror").count() == 0


def test_a_page_is_not_heavy(light, site):
    loaded = set()
    light.on("request", lambda asked: loaded.add(asked.url.split("?")[0].split("#")[0]))
    light.reload()
    settle(light)
    sizes = [
        (site / url.rsplit("/html/", 1)[1]).stat().st_size for url in loaded if "/html/" in url
    ]
    assert len(sizes) > 5 and sum(sizes) <= HEAVIEST, f"{sum(sizes):,} bytes"


def test_nothing_is_cut_off_beside_the_sidebars(light):
    before = light.viewport_size
    light.set_viewport_size(SMALL)
    assert light.evaluate(CUT) == []
    light.set_viewport_size(before)


def test_paper_has_all_of_it_dark_on_light(dark):
    folded = dark.locator("article details:not([open])").count()
    before = dark.viewport_size
    dark.set_viewport_size(PAPER)
    dark.evaluate("dispatchEvent(new Event('beforeprint'))")
    dark.emulate_media(media="print")
    assert dark.locator("article details:not([open])").count() == 0
    assert dark.evaluate(CUT) == []
    # What fades in when it is opened is not there yet when the paper is drawn.
    fades = (
        "e => [...e.querySelectorAll('*')].some(c => getComputedStyle(c).animationName != 'none')"
    )
    assert not any(opened.evaluate(fades) for opened in dark.locator("details.hide").all())
    assert dark.locator("html").get_attribute("data-theme") == "light"
    assert dark.locator("h1").locator("visible=true").count() == 1
    dark.evaluate("dispatchEvent(new Event('afterprint'))")
    assert dark.locator("article details:not([open])").count() == folded
    assert dark.locator("html").get_attribute("data-theme") == "dark"
    dark.set_viewport_size(before)


@pytest.mark.parametrize("name", NAMES)
def test_a_telephone_shows_it_without_scrolling_sideways(browser, site, name):
    with opened(browser, site / f"{name}.html", viewport=NARROW) as page:
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
