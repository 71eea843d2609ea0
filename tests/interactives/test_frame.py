"""What the interactives are made of, and how they stand on the pages of the book."""

import re

import pytest
from book_source import BOOK
from course_site import interactives
from course_site.interactives import NAMES, parts

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("interactives")]

SCRIPTS = BOOK / "assets" / "interactives"
KILOBYTES = 80  # of our own JavaScript, in the whole book


def test_each_has_a_drawing_and_a_script():
    names = interactives.NAMES
    drawn = {p.stem for p in (BOOK / "_ext/course_site/interactives").glob("*.py")}
    modules = {name.replace("-", "_") for name in names}
    assert drawn == modules | {"__init__", "directive", "parts", "model_parts"}
    shared = {"math", "element", "attention", "gpt2"}
    assert {p.stem for p in SCRIPTS.glob("*.js")} == {*names} | shared
    for name in names:
        assert interactives.find(name).TITLE
        assert f'TransformerElement.define("{name}", ' in (SCRIPTS / f"{name}.js").read_text()


def test_scripts_are_small_and_classic():
    scripts = list((BOOK / "assets").rglob("*.js"))
    assert sum(p.stat().st_size for p in scripts) <= KILOBYTES * 1000
    for path in scripts:
        assert not re.search(
            r"^\s*(import|export)\b|\bfetch\(|https?:", path.read_text(), re.M
        ), path


def test_every_class_is_ours():
    """The theme has a `.row` and a `.btn` of its own."""
    for name in NAMES:
        html = parts.frame(name, "title", "p", interactives.find(name).draw("p"))
        found = re.findall(r'class="?([^">]*)', html)
        assert found
        for names in found:
            assert all(each.startswith("tf-") for each in names.split()), names
    sheets = {path.name: path.read_text() for path in SCRIPTS.glob("*.css")}
    assert set(sheets) == {"interactives.css", "model.css"}
    for style in sheets.values():
        style = re.sub(r"/\*.*?\*/", "", style, flags=re.S)
        assert all(name.startswith("tf-") for name in re.findall(r"\.([a-z][\w-]*)", style))
        assert not re.search(r"#[0-9a-f]{3,8}\b|rgb\(", style), "colours are the page's variables"


def test_only_pages_with_interactives_load_them(tiny):
    """Each file once, and in order."""
    loaded = {
        page.stem: re.findall(r"interactives/([\w-]+\.\w+)", page.read_text())
        for page in tiny.glob("*.html")
    }
    assert not loaded["index"] and not loaded["search"]
    assert loaded["twice"] == ["interactives.css", "math.js", "element.js", "softmax.js"]
    names = ("math", "element", "attention", "gpt2", *sorted(NAMES))
    scripts = [f"{name}.js" for name in names]
    assert loaded["all"] == ["interactives.css", "model.css", *scripts]
    html = (tiny / "all.html").read_text()
    deferred = re.findall(r'<script defer="defer" src="_static/interactives/', html)
    assert len(deferred) == len(scripts)


def test_figures_are_numbered_and_captioned(tiny):
    html = (tiny / "all.html").read_text()
    assert re.search(r'href="#fig-softmax"><span[^>]*>Fig. 1</span>', html)
    for number, name in enumerate(NAMES, 1):
        (figure,) = re.findall(rf'<figure [^>]*id="fig-{name}">(.*?)</figure>', html, re.S)
        assert f"<tf-{name} " in figure and f"Fig. {number}" in figure
        assert f"of {name}." in figure
