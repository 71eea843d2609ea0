"""The built book: both commands, offline, complete, and nothing that students must not see."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from book_site import broken, fetched_from_outside, read_page, read_site
from book_source import BOOK
from course_copy import ROOT
from test_secrets import hidden_lines, squeeze

from autograder.course import ASSIGNMENTS, COMPONENTS, section

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("book")]

NO_NETWORK = ["unshare", "-rn", "sh", "-c", 'ip link set lo up && exec "$0" "$@"']
JUPYTER_BOOK = Path(sys.executable).with_name("jupyter-book")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def can_cut_the_network() -> bool:
    try:
        return subprocess.run([*NO_NETWORK, "true"], capture_output=True).returncode == 0
    except OSError:
        return False


def build(source: str, out: Path, prefix=()) -> Path:
    command = [*prefix, str(JUPYTER_BOOK), "build", source, "-W", "-n", "--keep-going"]
    done = subprocess.run(
        [*command, "--path-output", str(out)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0 and "build succeeded" in done.stdout, done.stdout[-6000:]
    assert "WARNING" not in done.stdout
    return out / "_build" / "html"


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """`jupyter-book build book/` from an empty cache, without a network where that can be done."""
    out = tmp_path_factory.mktemp("book")
    return build("book/", out, NO_NETWORK if can_cut_the_network() else ())


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
            assert "cell_output" in (site / f"{path.stem}.html").read_text(), path.name


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


def test_formulas_are_typeset_from_the_file_system(pages):
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (apt install chromium)")
    for path in pages:
        if 'class="math' in path.read_text():
            dom = open_in_browser(path)
            assert dom.count("<mjx-container") == len(re.findall(r'class="math\b', dom)) > 0
            assert "<mjx-merror" not in dom, path


def open_in_browser(path: Path) -> str:
    """The page's document after its scripts have run, with every host name unknown."""
    flags = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
        "--disable-background-networking --disable-component-update --virtual-time-budget=10000"
    ).split()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        done = subprocess.run(
            [
                *(CHROMIUM, *flags, f"--user-data-dir={profile}"),
                *("--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom", path.as_uri()),
            ],
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
