"""What the book's sources promise; test_book_build.py builds them."""

import json
import re
import shlex

import pytest
import yaml
from book_source import (
    BOOK,
    PAGES,
    citations,
    code_cells,
    console_lines,
    figures,
    labels,
    prose,
    runs,
    words,
)
from book_promises import PAPERS
from course_copy import ROOT

from autograder import example
from autograder.course import ASSIGNMENTS, COMPONENTS, section, where

LESSON = ROOT.parent / "shared" / "lesson" / "lesson-2-the-transformer.txt"
CODE_COLUMNS = 76  # what fits beside both sidebars

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)


def toc(path):
    table = yaml.safe_load(path.read_text())
    return [
        table["root"],
        *(entry["file"] for part in table["parts"] for entry in part["chapters"]),
    ]


def test_both_tables_of_contents_list_the_same_pages():
    pages = toc(BOOK / "_toc.yml")
    assert toc(ROOT / "_toc.yml") == [f"book/{page}" for page in pages]
    assert sorted(pages) == [page.stem for page in PAGES]


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_each_chapter_has_its_title_and_offers_its_notebook(assignment):
    text = (BOOK / f"{assignment.page}.md").read_text()
    number, title = assignment.chapter.split(" ", 1)
    assert f"\n# {title}\n" in text
    assert assignment.page.startswith(f"{int(number):02}-")
    assert f"<../exercises/{assignment.path}>" in text


@pytest.mark.parametrize("component", COMPONENTS)
def test_each_component_has_a_section_where_messages_point(component):
    page, anchor = section(component).split("#")
    text = (BOOK / page.replace(".html", ".md")).read_text()
    assert f"\n({anchor})=\n### `{component}`\n" in text
    number = re.match(r"\d+", COMPONENTS[component].chapter)[0]
    source = f"book/{page.replace('.html', '.md')}"
    assert where(component).startswith(f"chapter {number}, {component} ({source}; ")
    paragraph = text.split(f"({anchor})=")[1].split("\n(sec-")[0]
    assert "*Pitfall:*" in paragraph
    assert "$" in paragraph or "{math}" in paragraph


def test_labels_are_unique():
    found = [label for page in PAGES for label in labels(page)]
    assert len(found) == len(set(found)), sorted({x for x in found if found.count(x) > 1})


@each_page
def test_figures_have_alt_texts(page):
    for option, caption in figures(page):
        alt = option.get("alt", "")
        assert 20 <= len(alt) <= 250, option
        assert alt.lower() != caption.lower()


def test_the_bibliography_lists_what_is_cited():
    entries = re.findall(r"^@\w+\{(\w+),", (BOOK / "references.bib").read_text(), re.M)
    assert len(entries) == len(set(entries))
    assert set(entries) == set.union(*(citations(page) for page in PAGES))


@each_page
def test_the_words_are_not_the_lessons(page):
    if not LESSON.is_file():
        pytest.skip(f"the lesson is not here: {LESSON}")
    shared = runs(prose(page), 8) & runs(words(LESSON.read_text()), 8)
    assert not shared, [" ".join(run) for run in shared]


def test_what_a_cell_prints_in_bursts_is_shown_as_it_was_printed(monkeypatch):
    """Where a kernel cuts a long output depends on the time, so also in the middle of a line."""
    from myst_nb.core import render

    monkeypatch.syspath_prepend(BOOK / "_ext")
    monkeypatch.setattr(render, "coalesce_streams", render.coalesce_streams)  # put back afterwards
    from course_site import streams

    streams.join_bursts(None, None)
    bursts = [
        ("stdout", "table"),
        ("stderr", "a warning\n"),
        ("stdout", "\n\n1  2"),
        ("stdout", "  3\n"),
    ]
    outputs = [{"output_type": "stream", "name": name, "text": text} for name, text in bursts]
    plot = {"output_type": "display_data"}
    table, warning, last = render.coalesce_streams([*outputs, plot])
    assert table["text"] == "table\n\n1  2  3\n"
    assert warning["text"] == "a warning\n" and last is plot


@each_page
def test_code_fits_its_column(page):
    for line in "\n".join(code_cells(page)).splitlines():
        assert len(line) <= CODE_COLUMNS, line


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_each_chapter_follows_the_running_example(assignment):
    cells = "\n".join(code_cells(BOOK / f"{assignment.page}.md"))
    assert "from autograder import example" in cells and "example." in cells


def test_the_sizes_of_the_small_example_are_those_of_its_weights():
    table = (BOOK / "notation.md").read_text().split("## Tensors")[0]
    last = {
        row.split("|")[1].strip(): row.split("|")[-2].strip()
        for row in table.splitlines()
        if "|" in row
    }
    c = example.config
    d, H = c["d_model"], c["n_head"]
    sizes = {"T": len(example.ids), "V": c["vocab_size"], "d": d, "H": H, "L": c["n_layer"]}
    sizes |= {r"T_{\max}": c["n_positions"], "d_k": d // H}
    sizes[r"d_{\text{ff}}"] = example.weights["blocks.0.ffn.b_up"].numel()
    for symbol, size in sizes.items():
        assert last[f"${symbol}$"] == str(size), symbol


def test_addresses_outside_are_in_one_file():
    """By DOI where there is one."""
    for path in [*PAGES, *(BOOK / "figures").glob("*.svg")]:
        addresses = re.findall(r"https?://[^\s\"')]+", path.read_text())
        assert set(addresses) <= {"http://www.w3.org/2000/svg"}, path.name
    entries = re.split(r"^@", (BOOK / "references.bib").read_text(), flags=re.M)[1:]
    for entry in entries:
        assert re.search(r"^  (doi|url) = \{\S+\}", entry, re.M), entry
        assert "arxiv.org" not in entry, entry  # has a DOI


def test_every_paper_that_the_lesson_names_is_cited():
    cited = set.union(*(citations(page) for page in PAGES))
    assert set(PAPERS) <= cited, set(PAPERS) - cited


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_the_first_page_gives_the_minutes_of_the_notebook(assignment):
    cells = json.loads((ROOT / "exercises" / assignment.path).read_text())["cells"]
    minutes = re.search(r"\*\*Time:\*\* about (\d+) minutes", "".join(cells[0]["source"]))[1]
    assert (
        f"<../exercises/{assignment.path}>`, {minutes}\N{NO-BREAK SPACE}min |"
        in (BOOK / "index.md").read_text()
    )


@each_page
def test_commands_exist(page):
    for line in console_lines(page):
        program, *arguments = shlex.split(line)
        if program == "autograder":
            from autograder.cli import parser

            parser(arguments[0]).parse_args(arguments)
        elif program == "nbgrader":
            from nbgrader.apps import NbGraderApp

            assert arguments[0] in NbGraderApp().subcommands
        elif program == "make":
            target = arguments[0] if arguments else "course"
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M)
        else:
            assert program in ("source", "jupyter", "jupyter-book"), line


def test_sizes_in_the_text_are_those_of_the_reference(reference_source):
    reference = {"__name__": "reference"}
    exec(compile(reference_source, "gpt2.py", "exec"), reference)
    text = (BOOK / "01-architecture.md").read_text()
    for name in ("small", "medium", "large", "xl"):
        c = getattr(reference["GPT2Config"], name)()
        sizes = (c.n_layer, c.n_head, c.d_model)
        assert f'"{name}": {sizes}' in text
        cells = " | ".join(map(str, (*sizes, c.d_model // c.n_head)))
        assert f"| `{name}` | {cells} |" in text
    small = reference["GPT2Config"].small()
    assert f"V, T_max = {small.vocab_size}, {small.n_positions}" in text
    assert f"plus {2 * small.n_layer} additions in GPT-2 small" in text
    notation = (BOOK / "notation.md").read_text()
    for size in (small.vocab_size, small.n_positions, small.d_model, small.n_layer):
        assert f" {size} |" in notation


@pytest.mark.parametrize("figure", sorted((BOOK / "figures").glob("*.svg")), ids=lambda p: p.name)
def test_figures_use_the_colours_of_the_pages(figure):
    """Light and dark, alone as in the pages; nothing else is painted."""

    def palettes(css, selectors):
        blocks = [re.search(rf"{re.escape(s)}\s*{{(.*?)}}", css, re.S)[1] for s in selectors]
        return [dict(re.findall(r"(--fig-\w+):\s*(#\w+)", block)) for block in blocks]

    page_css = (BOOK / "assets" / "course.css").read_text()
    light, dark = palettes(page_css, ["html ", 'html[data-theme="dark"] '])
    style, drawing = re.search(r"<style>(.*?)</style>(.*)", figure.read_text(), re.S).groups()
    alone, alone_dark = style.split("@media")
    own_light, own_dark = palettes(alone, ["svg "]) + palettes(alone_dark, ["svg "])
    assert (own_light, own_dark) == (light, dark)
    colours = set(re.findall(r'(?:fill|stroke)="([^"]+)"', drawing)) - {"none"}
    assert colours <= {f"var({name})" for name in light}


def test_scripts_and_styles_are_small():
    assets = [p for p in (BOOK / "assets").iterdir() if p.suffix in (".js", ".css")]
    assert sum(p.stat().st_size for p in assets if p.suffix == ".js") <= 80_000
    for path in assets:
        assert "http" not in path.read_text(), f"{path.name} fetches something"
