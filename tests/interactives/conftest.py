"""The pages and the scripts that the tests of the interactives share."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from book_source import BOOK
from browser import opened, reason_to_skip
from course_copy import ROOT

sys.path.insert(0, str(BOOK / "_ext"))

from course_site.interactives import NAMES, model_parts  # noqa: E402

pytest.register_assert_rewrite("readings")

SCRIPTS = BOOK / "assets" / "interactives"


@pytest.fixture(scope="session")
def tiny(tmp_path_factory) -> Path:
    """A tiny book with the extension, the theme and the settings of the real one."""
    if reason := reason_to_skip():
        pytest.skip(reason)
    root = tmp_path_factory.mktemp("interactives")
    shutil.copy(ROOT / "_config.yml", root)
    book = root / "book"
    for folder in ("_ext", "assets"):
        shutil.copytree(BOOK / folder, book / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(BOOK / "references.bib", book)
    used = [
        f"```{{interactive}} {name}\n:name: fig-{name}\n\nThe $x$ of {name}.\n```" for name in NAMES
    ]
    first = "```{interactive} softmax\n```"
    pages = {
        "index": "# Without interactives",
        "all": "\n\n".join(["# With all", "See {numref}`fig-softmax`.", *used]),
        "twice": "\n\n".join(["# The same one twice", first, first]),
    }
    for name, text in pages.items():
        (book / f"{name}.md").write_text(text + "\n")
    toc = "format: jb-book\nroot: index\nchapters:\n- file: all\n- file: twice\n"
    (book / "_toc.yml").write_text(toc)
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", str(book), "-W", "-n"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return root / "_build" / "html"


@pytest.fixture
def page(browser, tiny):
    """The page with all interactives, awake and still."""
    with opened(browser, tiny / "all.html", reduced_motion="reduce") as still:
        yield still


@pytest.fixture
def asleep(browser, tiny):
    """The same page where no script runs."""
    with opened(browser, tiny / "all.html", java_script_enabled=False) as drawn:
        yield drawn


@pytest.fixture(scope="session")
def script(browser):
    """Call a function of the scripts that build no page."""
    page = browser.new_page()
    for name in ("math", "element", "attention", "gpt2"):
        page.add_script_tag(path=SCRIPTS / f"{name}.js")

    def call(function, *arguments):
        return page.evaluate(f"arguments => {function}(...arguments)", list(arguments))

    yield call
    page.close()


@pytest.fixture(scope="session")
def gpt2(script):
    """The forward pass of gpt2.js for each of some texts, which are lists of ids."""
    each = "(model, texts, how) => texts.map(ids => TransformerGPT2.forward(model, ids, how))"

    def forward(texts, **how):
        return script(f"({each})", model_parts.model(), texts, *([how] if how else []))

    return forward
