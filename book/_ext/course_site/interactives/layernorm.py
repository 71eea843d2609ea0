"""LayerNorm of a vector of five numbers, step by step, and RMSNorm beside it."""

import torch
from torch.nn.functional import layer_norm

from course_site.interactives.parts import (
    Drawing,
    bar,
    choice,
    field_row,
    fixed,
    measure,
    number,
    out,
)

TITLE = "LayerNorm, step by step"

X = [2.0, -1.0, 0.5, 3.0, -2.0]
GAMMA, BETA, EPS = 1.5, 0.5, 1e-5
BUTTONS = (("equal", "Make all equal"), ("add", "Add 1 to all"), ("double", "Double all"))


def steps(x):
    """The columns of the table, x first."""
    normalised = layer_norm(x, x.shape, eps=EPS)
    weight, bias = torch.full_like(x, GAMMA), torch.full_like(x, BETA)
    return {
        "x": x,
        "centred": x - x.mean(),
        "normalised": normalised,
        "output": layer_norm(x, x.shape, weight, bias, EPS),
    }


def cells(prefix, columns, i, largest):
    key = f"{prefix}-entry-{i}"
    entry = number(
        f"x-{i}",
        X[i],
        *(-10, 10, 0.1),
        label=f"Entry {i} of x",
        labelled_by=f"{prefix}-x {key}",
    )
    share = columns["x"][i].item() / largest
    yield f'<th scope="row" id="{key}">{i}</th>'
    yield f'<td>{entry}{bar(f"x-{i}", share, "tf-signed tf-stream")}</td>'
    for step in ("centred", "normalised", "output"):
        value = columns[step][i].item()
        shown = measure(f"{step}-{i}", fixed(value, 3), value / largest, "tf-signed tf-norm")
        yield f"<td>{shown}</td>"


def draw(prefix):
    x = torch.tensor(X, dtype=torch.float64)
    columns = steps(x)
    largest = max(column.abs().max().item() for column in columns.values())
    variance = x.var(correction=0)
    divisor = (variance + EPS).sqrt().item()
    heads = (
        ("centred", "x − μ"),
        ("normalised", "÷ √(σ² + ε)"),
        ("output", "· γ + β"),
    )
    head = "".join(f'<th scope="col">{out(f"{step}-head", text)}</th>' for step, text in heads)
    rows = "".join(f"<tr>{''.join(cells(prefix, columns, i, largest))}</tr>" for i in range(len(X)))
    facts = (
        ("mean", "mean μ", fixed(x.mean().item(), 3)),
        ("deviation", "deviation σ (divisor d = 5)", fixed(variance.sqrt().item(), 3)),
        ("divisor", "divided by √(σ² + ε) =", fixed(divisor, 6)),
    )
    listed = "".join(
        f"<span>{out(f'{key}-label', label)} <strong>{out(key, text)}</strong></span>"
        for key, label, text in facts
    )
    body = (
        '<p class="tf-note">x is the vector of one position, d = 5, and ε = 0.00001. Each column '
        "is made from the one to its left. Here one γ and one β serve all entries; in a model each "
        "entry has its own.</p>"
        + choice(prefix, "norm", "kind of norm", {"layer": "LayerNorm", "rms": "RMSNorm"}, "layer")
        + f'<p class="tf-facts">{listed}</p>'
        f'<table class="tf-table tf-steps"><thead><tr><th scope="col">i</th>'
        f'<th scope="col" id="{prefix}-x">x</th>{head}</tr></thead><tbody>{rows}</tbody></table>'
        + field_row(prefix, "gamma", "scale γ", GAMMA, -3, 3, 0.1, spoken="The scale γ")
        + field_row(prefix, "beta", "shift β", BETA, -3, 3, 0.1, spoken="The shift β")
    )
    normalised, output = columns["normalised"], columns["output"]
    finding = (
        "After the division the mean is 0 and the deviation "
        f"{fixed(normalised.std(correction=0).item(), 3)}, whatever x was. "
        f"γ and β then set the deviation to {fixed(output.std(correction=0).item(), 3)} "
        f"and the mean to {fixed(output.mean().item(), 3)}."
    )
    return Drawing(body, finding, buttons=BUTTONS)
