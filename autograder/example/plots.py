"""Plots that take the colours of the page they are on, in light and in dark."""

from __future__ import annotations

import io
import re

import matplotlib.pyplot as plt
from IPython.display import SVG

# Names of the book's CSS variables --fig-…, with the colours that stand for them until then.
COLOURS = {
    "ink": "#1f2328",
    "muted": "#59636e",
    "stream": "#0f7037",
    "attention": "#0b5cad",
    "ffn": "#a44400",
    "norm": "#6b3fa0",
}
_STYLE = {
    "svg.fonttype": "none",  # letters stay letters: they can be searched, and take the page's font
    "svg.hashsalt": "the transformer",
    "font.size": 11,
    "lines.linewidth": 2,
    "legend.frameon": False,
    "text.color": COLOURS["ink"],
    "axes.labelcolor": COLOURS["ink"],
    "axes.edgecolor": COLOURS["muted"],
    "xtick.color": COLOURS["muted"],
    "ytick.color": COLOURS["muted"],
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def axes(rows: int = 1, size: tuple[float, float] = (4.8, 2.9)):
    """A figure and its axes, one or several above each other; size in inches.

    Sets the style of this process, for what is drawn into them later is to have it too.
    """
    plt.rcParams.update(_STYLE)
    return plt.subplots(rows, figsize=size, sharex=rows > 1, layout="constrained")


def show(figure) -> SVG:
    """The figure as an SVG in the colours of the page."""
    file = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(file, format="svg", transparent=True, metadata=nothing)
    plt.close(figure)
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", file.getvalue(), flags=re.S)
    for name, colour in COLOURS.items():
        svg = svg.replace(colour, f"var(--fig-{name}, {colour})")
    return SVG(svg)
