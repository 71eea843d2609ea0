"""Every page of the built book in a browser, as its readers open it: from the file system, with no network."""

import re

import pytest
from book_source import BOOK
from browser import opened, violations

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("book")]

HEAVIEST = 4_000_000  # bytes of a page with all that it loads, uncompressed
NARROW = {"width": 375, "height": 800}
NAMES = [page.stem for page in sorted(BOOK.glob("*.md"))] + ["search"]

each_page = pytest.mark.parametrize("name", NAMES)


def settle(page):
    """Wait until the formulas are typeset and the icons are in their places."""
    page.wait_for_function("document.readyState === 'complete'")
    page.evaluate("window.MathJax?.startup?.promise")
    page.wait_for_timeout(200)


@each_page
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_stands_in_the_way_of_anybody(browser, site, name, scheme):
    """WCAG 2.2 AA and best practice; no error, and nothing asked of another host (see `opened`)."""
    with opened(browser, site / f"{name}.html", color_scheme=scheme) as page:
        settle(page)
        assert page.locator("html").get_attribute("data-theme") == scheme
        assert violations(page) == []


@each_page
def test_formulas_are_typeset(browser, site, name):
    path = site / f"{name}.html"
    with opened(browser, path) as page:
        settle(page)
        written = len(re.findall(r'class="math\b', path.read_text()))
        assert page.locator("mjx-container").count() == written
        assert page.locator("mjx-merror").count() == 0


@each_page
def test_a_telephone_shows_it_without_scrolling_sideways(browser, site, name):
    with opened(browser, site / f"{name}.html", viewport=NARROW) as page:
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


@each_page
def test_a_page_is_not_heavy(browser, site, name):
    loaded = set()
    with opened(browser, site / f"{name}.html") as page:
        page.on("request", lambda asked: loaded.add(asked.url.split("?")[0].split("#")[0]))
        page.reload()
        settle(page)
    sizes = [
        (site / url.rsplit("/html/", 1)[1]).stat().st_size for url in loaded if "/html/" in url
    ]
    assert len(sizes) > 5 and sum(sizes) <= HEAVIEST, f"{sum(sizes):,} bytes"


@each_page
def test_paper_has_all_of_it_dark_on_light(browser, site, name):
    with opened(browser, site / f"{name}.html", color_scheme="dark") as page:
        settle(page)
        folded = page.locator("article details:not([open])").count()
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        assert page.locator("article details:not([open])").count() == 0
        assert page.locator("html").get_attribute("data-theme") == "light"
        assert page.locator("h1").locator("visible=true").count() == 1
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator("article details:not([open])").count() == folded
        assert page.locator("html").get_attribute("data-theme") == "dark"
