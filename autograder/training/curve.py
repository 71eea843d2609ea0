"""The loss curve as a picture: the run, and the levels to compare it with, each labelled in place."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # a file, no window
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter  # noqa: E402

FILE = "curve.png"
INK, PALE, GRID = "#22313f", "#5d6d7e", "#e8ebee"
HELD_OUT, TRAIN, FLOOR = "#c0392b", "#2471a3", "#1e8449"
LINE_HEIGHT = 0.047  # of the axes: the least distance between two labels


def draw(path: Path, history: list[dict], levels: dict[str, float], title: str, unit: str) -> None:
    """`levels` are losses by name, drawn as horizontal lines; `history` as Training keeps it."""
    steps = [entry["step"] for entry in history]
    fig, ax = plt.subplots(figsize=(9, 5.2), dpi=150, layout="constrained")
    ax.set_yscale("log")  # the first half of the fall and the last few hundredths both show
    labels = []
    for name, loss in levels.items():
        color = FLOOR if name == "floor" else PALE
        wide, style = (1.6, "-") if name == "floor" else (0.9, (0, (5, 4)))
        ax.axhline(loss, color=color, linewidth=wide, linestyle=style, zorder=1)
        labels.append((loss, f"{name} {loss:.2f}", color, "bold" if name == "floor" else "normal"))
    for name, key, color, width in (
        ("held-out", "val", HELD_OUT, 2.6),
        ("training", "train", TRAIN, 1.1),  # the thin one on top: where they agree, both show
    ):
        losses = [entry[key] for entry in history]
        ax.plot(steps, losses, color=color, linewidth=width, zorder=3, solid_capstyle="round")
        ax.plot(steps[-1:], losses[-1:], "o", color=color, ms=2.4 * width, zorder=4, clip_on=False)
        labels.append((losses[-1], f"{name} {losses[-1]:.2f}", color, "bold"))
    _limits(ax, steps, [entry[k] for entry in history for k in ("train", "val")], levels)
    _label(ax, labels)
    ax.set_title(title, loc="left", color=INK, fontsize=13, fontweight="bold", pad=16)
    ax.set_xlabel("step", color=INK)
    ax.set_ylabel(f"loss (nats per {unit}, log scale)", color=INK)
    ax.grid(axis="y", color=GRID, linewidth=0.8)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(PALE)
    ax.tick_params(colors=INK)
    fig.savefig(path)
    plt.close(fig)


def _limits(ax, steps: list[int], losses: list[float], levels: dict[str, float]) -> None:
    every = losses + list(levels.values())
    ax.set_ylim(min(every) / 1.12, max(every) * 1.08)
    ax.set_xlim(0, max(steps[-1], 1))
    low, high = ax.get_ylim()
    marks = [m for m in (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10) if low < m < high]
    ax.set_yticks(marks)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_minor_locator(plt.NullLocator())
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _label(ax, labels: list[tuple]) -> None:
    """Names at the right end of their lines, moved apart where they would overlap."""
    to_axes = ax.transData + ax.transAxes.inverted()
    at = {label: to_axes.transform((1, label[0]))[1] for label in labels}
    ordered = sorted(labels, key=at.get)
    places = _apart([at[label] for label in ordered])
    for (loss, text, color, weight), y in zip(ordered, places):
        ax.annotate(
            text,
            xy=(1, at[loss, text, color, weight]),
            xytext=(1.035, y),
            xycoords="axes fraction",
            color=color,
            fontsize=9.5,
            fontweight=weight,
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": color,
                "linewidth": 0.6,
                "shrinkB": 4,
                "relpos": (0, 0.5),
            },
        )


def _apart(places: list[float]) -> list[float]:
    """Ascending places, moved as little as a few rounds of pushing neighbours apart need."""
    places = list(places)
    for _ in range(200):
        for i in range(len(places) - 1):
            short = LINE_HEIGHT - (places[i + 1] - places[i])
            if short > 1e-6:
                places[i] -= short / 2
                places[i + 1] += short / 2
    return places
