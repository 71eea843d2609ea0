"""One row of attention, from raw scores to weights, with and without the division by sqrt(d_k)."""

import torch

from autograder import example
from course_site.interactives.parts import (
    Drawing,
    choice,
    field_row,
    fixed,
    measure,
    number,
    out,
    plain,
    small,
    switch,
)

TITLE = "From scores to weights: one row of attention"

WORDS = example.sentence
FITS = [-0.4, 0.9, 1.5, -0.2, 0.6]
D_K = 64  # GPT-2's
LARGEST_GRADIENT = 0.25  # a (1 - a) at a = 1/2

_HEAD = """<table class="tf-table"><thead><tr><th scope="col">position</th>
<th scope="col" id="{prefix}-fit">fit</th><th scope="col">q&nbsp;·&nbsp;k</th>
<th scope="col">into softmax</th><th scope="col">weight</th></tr></thead><tbody>"""


def row(prefix, i, score, weight):
    key = f"{prefix}-word-{i}"
    fit = number(
        f"fit-{i}",
        FITS[i],
        *(-4, 4, 0.1),
        label=f"The fit of position {i}",
        labelled_by=f"{prefix}-fit {key}",
    )
    return (
        f'<tr><th scope="row" id="{key}">{i} {WORDS[i]}</th><td>{fit}</td>'
        f'{out(f"score-{i}", fixed(score, 1), "td")}{out(f"input-{i}", fixed(FITS[i], 2), "td")}'
        f'<td>{measure(f"weight-{i}", fixed(weight, 3), weight, "tf-attention")}</td></tr>'
    )


def draw(prefix):
    fits = torch.tensor(FITS, dtype=torch.float64)
    root = D_K**0.5
    weights = torch.softmax(fits, 0)
    undivided = torch.softmax(fits * root, 0)
    gradient = torch.autograd.functional.jacobian(lambda s: s.softmax(0), fits).abs().max().item()
    first = int(weights.argmax())
    rows = "".join(row(prefix, i, x * root, weights[i].item()) for i, x in enumerate(FITS))
    body = (
        '<p class="tf-note">The query is <em>mouse</em>, position 4. The fit of a position is its '
        "score in units of the spread that scores of random vectors have: q&nbsp;·&nbsp;k = "
        "fit&nbsp;·&nbsp;√d<sub>k</sub>.</p>"
        f"{_HEAD.format(prefix=prefix)}{rows}</tbody></table>"
        + choice(
            prefix,
            "d_k",
            "width of the head, d<sub>k</sub>",
            {n: str(n) for n in (3, 16, 64, 256)},
            D_K,
        )
        + switch("divide", "divide by √d<sub>k</sub>", True)
        + field_row(prefix, "temperature", "temperature", 1, 0.1, 5, 0.1, spoken="The temperature")
        + '<div class="tf-field"><span>largest entry of the gradient ∂a<sub>i</sub>/∂s<sub>j</sub>'
        " = a<sub>i</sub>(1[i&nbsp;=&nbsp;j] − a<sub>j</sub>), at most 0.25</span>"
        f'{measure("gradient", small(gradient), gradient / LARGEST_GRADIENT, "tf-ink")}</div>'
    )
    finding = (
        f"Divided by √{D_K} = {plain(round(root, 2))}, {WORDS[first]} (position {first}) gets the "
        f"largest weight, {fixed(weights[first].item(), 3)}; undivided it would get "
        f"{fixed(undivided[first].item(), 3)}. "
        "The gradient is large enough to learn from."
    )
    return Drawing(body, finding, {"words": WORDS})
