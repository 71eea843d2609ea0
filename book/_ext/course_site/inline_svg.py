"""SVG figures become part of the page, so that they take its colours in light and dark.

A figure paints with the custom properties --fig-…. Its own <style> gives them values for when the
file is looked at alone; in the page that element is dropped and assets/course.css decides.
"""

import hashlib
import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.writers.html5 import HTML5Translator

_NOT_DRAWN = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<style>.*?</style>", re.DOTALL)
_OPENING_TAG = re.compile(r"<svg\b[^>]*>")
_REPLACED = re.compile(r'\s(?:width|height|role|aria-[a-z]+)="[^"]*"')


def _with_own_ids(svg: str, key: str) -> str:
    """Prefix every id, since two figures on a page may both have an `arrow`."""
    prefix = "fig" + hashlib.sha256(key.encode()).hexdigest()[:8] + "-"
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}\1"', svg)
    return re.sub(r'(url\(#|href="#)', rf"\1{prefix}", svg)


def for_page(svg: str, alt: str, key: str) -> str:
    """The figure as an element of a page; `key` must differ between the figures of the page."""
    svg = _with_own_ids(_NOT_DRAWN.sub("", svg).strip(), key)
    opening = _OPENING_TAG.match(svg).group()
    named = f' class="course-figure" role="img" aria-label="{escape(alt)}">'
    return svg.replace(opening, _REPLACED.sub("", opening)[:-1] + named, 1)


def visit_image(self, node):
    path = Path(self.builder.srcdir, node["uri"])
    if path.suffix != ".svg" or not path.is_file():
        HTML5Translator.visit_image(self, node)
        return
    key = f"{self.builder.current_docname} {node['uri']}"
    figure = for_page(path.read_text(encoding="utf8"), node.get("alt", ""), key)
    width = f' style="max-width:{escape(node["width"])}"' if node.get("width") else ""
    self.body.append(f'<div class="course-figure-frame"{width}>{figure}</div>')
    raise nodes.SkipNode


def depart_image(self, node):
    HTML5Translator.depart_image(self, node)
