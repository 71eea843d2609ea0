"""GELU in both forms, SiLU and ReLU, with a point to move; and the gap between the two GELUs."""

from functools import partial

import torch
from torch.nn.functional import gelu, relu, silu

from course_site.interactives.parts import Drawing, field_row, fixed, out, plain, small

TITLE = "Activation functions, and the two forms of GELU"

CURVES = {  # name, formula, function
    "gelu": ("GELU, exact", "x (1 + erf(x/√2)) / 2", gelu),
    "tanh": (
        "GELU, tanh form",
        "x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2",
        partial(gelu, approximate="tanh"),
    ),
    "silu": ("SiLU", "x σ(x)", silu),
    "relu": ("ReLU", "max(x, 0)", relu),
}
X, LOW, HIGH = -1.0, -4, 4
WIDTH, LEFT, RIGHT = 360, 50, 350
PLOTS = {
    "curves": {"top": 10, "bottom": 220, "least": -0.5, "most": 4},
    "gap": {"top": 10, "bottom": 220, "least": -6e-4, "most": 6e-4},
}


def across(x):
    return LEFT + (x - LOW) / (HIGH - LOW) * (RIGHT - LEFT)


def down(plot, y):
    p = PLOTS[plot]
    return p["bottom"] - (y - p["least"]) / (p["most"] - p["least"]) * (p["bottom"] - p["top"])


def axes(plot, ticks):
    """Lines at the ticks, with their numbers. ticks: y -> label."""
    top, bottom = PLOTS[plot]["top"], PLOTS[plot]["bottom"]
    for y, label in ticks.items():
        height = down(plot, y)
        weight = "tf-axis" if y == 0 else "tf-grid"
        yield f'<path class="{weight}" d="M{LEFT} {height:.1f}H{RIGHT}"/>'
        yield f'<text x="{LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">{label}</text>'
    for x in range(LOW, HIGH + 1, 2):
        weight = "tf-axis" if x == 0 else "tf-grid"
        yield f'<path class="{weight}" d="M{across(x):.1f} {top}V{bottom}"/>'
        yield f'<text x="{across(x):.1f}" y="{bottom + 18}" text-anchor="middle">{plain(x)}</text>'


def curve(plot, name, x, y):
    points = " ".join(
        f"{across(a):.1f},{down(plot, b):.1f}" for a, b in zip(x.tolist(), y.tolist())
    )
    return f'<polyline class="tf-curve tf-curve-{name}" points="{points}"/>'


def mark(plot, name, y):
    place = f"translate({across(X):.2f} {down(plot, y):.2f})"
    return f'<circle class="tf-mark" data-mark="{name}" r="4" transform="{place}"/>'


def guide(plot):
    """The upright line through the point."""
    line = f"M0 {PLOTS[plot]['top']}V{PLOTS[plot]['bottom']}"
    return (
        f'<path class="tf-guide" data-guide d="{line}" transform="translate({across(X):.2f} 0)"/>'
    )


def svg(plot, alt, drawn):
    height = PLOTS[plot]["bottom"] + 24
    return (
        f'<svg class="tf-plot" data-plot="{plot}" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{alt}">{"".join(drawn)}</svg>'
    )


def row(name, value):
    label, formula, _ = CURVES[name]
    sample = (
        '<svg class="tf-sample" viewBox="0 0 40 10" aria-hidden="true">'
        f'<path class="tf-curve tf-curve-{name}" d="M0 5H40"/></svg>'
    )
    return (
        f'<tr><th scope="row">{sample} {label}</th><td>{formula}</td>'
        f"{out(name, fixed(value, 5), 'td')}</tr>"
    )


def draw(prefix):
    x = torch.linspace(LOW, HIGH, 161, dtype=torch.float64)
    here = torch.tensor(X, dtype=torch.float64)
    curves = {name: function(x) for name, (_, _, function) in CURVES.items()}
    values = {name: function(here).item() for name, (_, _, function) in CURVES.items()}
    fine = torch.linspace(LOW, HIGH, 80_001, dtype=torch.float64)
    gaps = CURVES["tanh"][2](fine) - CURVES["gelu"][2](fine)
    worst = int(gaps.abs().argmax())
    largest, at = gaps[worst].abs().item(), abs(fine[worst].item())
    gap = values["tanh"] - values["gelu"]
    first = svg(
        "curves",
        "ReLU bends at 0. GELU and SiLU dip below 0 on its left and approach x on its right. "
        "The two forms of GELU cannot be told apart here.",
        (
            *axes("curves", {y: str(y) for y in range(5)}),
            *(curve("curves", name, x, curves[name]) for name in ("relu", "silu", "gelu", "tanh")),
            guide("curves"),
            *(mark("curves", name, values[name]) for name in CURVES),
        ),
    )
    second = svg(
        "gap",
        f"The tanh form minus the exact form: waves on both sides of 0, up to {small(largest)}.",
        (
            *axes("gap", {y * 1e-4: f"{plain(y)}e−4" if y else "0" for y in (-4, -2, 0, 2, 4)}),
            curve("gap", "gap", x, curves["tanh"] - curves["gelu"]),
            guide("gap"),
            mark("gap", "gap", gap),
        ),
    )
    gap_row = (
        f'<tr><th scope="row">tanh form − exact</th><td>at most {small(largest)}</td>'
        f'{out("gap", small(gap), "td")}</tr>'
    )
    body = (
        '<div class="tf-plots">'
        f'<div><p class="tf-note">The functions on [−4, 4]</p>{first}</div>'
        f'<div><p class="tf-note">tanh form − exact form, magnified: at most {small(largest)}, at '
        f"x = ±{fixed(at, 2)}</p>{second}</div></div>"
        + field_row(prefix, "x", "x", X, LOW, HIGH, 0.05, spoken="x")
        + '<table class="tf-table"><thead><tr><th scope="col">function</th><th scope="col">formula'
        '</th><th scope="col">value at x</th></tr></thead><tbody>'
        + "".join(row(name, values[name]) for name in CURVES)
        + gap_row
        + "</tbody></table>"
    )
    finding = (
        f"At x = {plain(X)} ReLU gives 0 and no gradient, while GELU lets "
        f"{small(values['gelu'])} through and SiLU {small(values['silu'])}. "
        f"The two forms of GELU differ by {small(abs(gap))} here."
    )
    data = {"low": LOW, "high": HIGH, "width": WIDTH, "left": LEFT, "right": RIGHT, "plots": PLOTS}
    return Drawing(body, finding, data)
