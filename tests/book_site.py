"""The built site: made by either command, and read as a browser would."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from course_copy import ROOT

NO_NETWORK = ["unshare", "-rn", "sh", "-c", 'ip link set lo up && exec "$0" "$@"']
JUPYTER_BOOK = Path(sys.executable).with_name("jupyter-book")


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


LOADED_AT_ONCE = {"script", "link", "img", "iframe", "source", "video", "audio", "object", "embed"}


@dataclass
class Page:
    path: Path
    ids: set[str] = field(default_factory=set)
    references: list[tuple[str, str]] = field(default_factory=list)  # (tag, address)
    images: list[dict] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self, page: Page):
        super().__init__()
        self.page = page

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.page.ids |= {attrs[key] for key in ("id", "name") if attrs.get(key)}
        self.page.references += [(tag, attrs[k]) for k in ("href", "src", "data") if attrs.get(k)]
        if tag == "img" or attrs.get("role") == "img":
            self.page.images.append(attrs)

    def handle_data(self, data):
        self.page.text.append(data)


def read_page(path: Path) -> Page:
    page = Page(path)
    _Reader(page).feed(path.read_text(encoding="utf8"))
    return page


def read_site(root: Path) -> dict[Path, Page]:
    """Every page; _static holds templates of the theme, which no reader sees."""
    files = [p for p in root.rglob("*.html") if "_static" not in p.parts]
    return {path: read_page(path) for path in files}


def broken(pages: dict[Path, Page]) -> list[str]:
    """Links to files or anchors that are not there."""
    found = []
    for page in pages.values():
        for _, address in page.references:
            parts = urlsplit(address)
            if parts.scheme or address == "#":
                continue
            target = page.path
            if parts.path:
                target = (page.path.parent / unquote(parts.path)).resolve()
            if not target.exists():
                found.append(f"{page.path.name} -> {address}: no such file")
            elif (
                parts.fragment
                and target in pages
                and unquote(parts.fragment) not in pages[target].ids
            ):
                found.append(f"{page.path.name} -> {address}: no such anchor")
    return found


def fetched_from_outside(pages: dict[Path, Page]) -> list[str]:
    """What a browser would load from another host as soon as the page is opened."""
    return [
        f"{page.path.name}: <{tag}> {address}"
        for page in pages.values()
        for tag, address in page.references
        if tag in LOADED_AT_ONCE and (urlsplit(address).netloc or address.startswith("//"))
    ]
