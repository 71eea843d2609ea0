"""The built book: both commands, offline, complete, and nothing that students must not see."""

import re
import shutil

import pytest
from book_promises import PROMISES
from book_site import broken, build, can_cut_the_network, fetched_from_outside, read_page, read_site
from book_source import BOOK
from course_copy import ROOT
from test_secrets import hidden_lines, squeeze

from autograder.course import ASSIGNMENTS, COMPONENTS, section

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("book")]


@pytest.fixture(scope="session")
def pages(site):
    return read_site(site)


def test_builds_without_a_network(site):
    if not can_cut_the_network():
        pytest.skip("this machine cannot cut off a process from the network (unshare -rn)")
    assert (site / "index.html").is_file()


def test_the_other_command_makes_the_same_pages(site, tmp_path):
    shutil.copytree(
        site.parent / ".jupyter_cache", tmp_path / "_build" / ".jupyter_cache"
    )  # the cells need not run twice
    other = build(".", tmp_path)
    assert {p.name for p in (other / "book").glob("*.html")} | {"search.html"} == {
        p.name for p in site.glob("*.html")
    }
    pages = read_site(other)
    assert not broken(pages) and not fetched_from_outside(pages)
    assert (other / "_static" / "course.css").is_file()


def test_every_page_is_there(site):
    assert {p.stem for p in site.glob("*.html")} == {p.stem for p in BOOK.glob("*.md")} | {"search"}


@pytest.mark.parametrize("component", COMPONENTS)
def test_the_address_of_each_component_works(pages, site, component):
    page, anchor = section(component).split("#")
    assert anchor in pages[site / page].ids


@pytest.mark.parametrize("page, promise, anchors", PROMISES, ids=lambda value: str(value)[:60])
def test_each_promise_is_kept_where_it_says(pages, site, page, promise, anchors):
    assert anchors
    for anchor in anchors:
        anchor = f"equation-{anchor}" if anchor.startswith("eq-") else anchor
        assert anchor in pages[site / f"{page}.html"].ids, f"{promise}: {page}.html#{anchor}"


def test_links_lead_somewhere(pages):
    assert not broken(pages)


def test_nothing_is_fetched_from_outside(site, pages):
    assert not fetched_from_outside(pages)
    for path in pages:
        assert not re.search(r"unpkg\.com|jsdelivr|cdnjs|googleapis", path.read_text()), path
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//", style.read_text()), style


def test_images_are_named(pages):
    for page in pages.values():
        for image in page.images:
            assert image.get("alt") or image.get("aria-label"), (page.path.name, image)


def test_cells_have_run(pages, site):
    for path in BOOK.glob("*.md"):
        if "{code-cell}" in path.read_text():
            built = (site / f"{path.stem}.html").read_text()
            assert "cell_output" in built, path.name
            assert (
                "Traceback" not in built
            ), path.name  # what fails while it is shown does not stop a build


def test_nothing_of_the_solutions_is_published(site):
    files = [p for p in site.rglob("*") if p.is_file() and "_static" not in p.parts]
    for path in files:
        assert not {"solutions", "autograder"} & set(path.relative_to(site).parts), path
    readable = [p for p in files if p.suffix in (".html", ".md", ".ipynb", ".js", ".txt")]
    assert {p.suffix for p in readable} >= {".html", ".md", ".ipynb", ".js"}
    published = [p.read_text() for p in readable]
    published += ["".join(read_page(p).text) for p in readable if p.suffix == ".html"]
    published = squeeze("\n".join(published))
    for marker in ("###BEGINSOLUTION", "###BEGINHIDDENTESTS"):
        assert marker not in published
    for assignment in ASSIGNMENTS:
        for line in hidden_lines(ROOT / "solutions" / assignment.path):
            assert line not in published, f"{assignment.name}: {line}"


def test_icons_need_no_script(pages, site):
    assert not list(site.rglob("fontawesome.js"))
    assert not any(
        "fontawesome.js" in address for p in pages.values() for _, address in p.references
    )
    assert "fa-solid-900" in (site / "_static/styles/pydata-sphinx-theme.css").read_text()
