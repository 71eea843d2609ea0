"""What the interactives on the running example share: its stages, its JSON, and tables of numbers."""

import torch

from autograder import example
from autograder.example.trace import run
from course_site.interactives.parts import escape, fixed, out

# In tenths, exactly, and with all the digits that JavaScript has.
WEIGHTS = {name: w.double().mul(10).round().div(10) for name, w in example.weights.items()}
NBSP = "\N{NO-BREAK SPACE}"


def stages(text, causal=True):
    return run(WEIGHTS, example.config["n_head"], example.encode(text), causal)


def model():
    """The model as JSON, for gpt2.js; a whole number takes no decimals."""

    def short(x):
        if isinstance(x, list):
            return [short(each) for each in x]
        return int(x) if x == int(x) else x

    weights = {name: short(w.tolist()) for name, w in WEIGHTS.items()}
    return {"words": example.words, "config": example.config, "weights": weights}


def quoted(word):
    return f"“{word}”"


def best(values):
    """Indices from the largest value down; of equal ones the first comes first."""
    return sorted(range(len(values)), key=lambda i: (-round(values[i], 9), i))


def percent(share, digits=0):
    return f"{fixed(100 * share, digits)}{NBSP}%"


def told(words, weights, t):
    """One row of attention as a sentence; the same as told() of attention.js."""
    name, seen = f"{quoted(words[t])} (position {t})", weights[: t + 1]
    if t == 0:
        return f"{name} sees nothing but itself, and gives itself all its weight."
    if max(seen) - min(seen) < 1e-6:
        same = f"{name} gives the same weight, {percent(seen[0])}, to each of the {t + 1} positions"
        return f"{same} that it sees."
    ranked = sorted(range(t + 1), key=lambda s: -seen[s])[:3]
    named = [s for s in ranked if seen[s] >= 0.03]
    parts = [
        f"{percent(seen[s])} to {'itself' if s == t else f'{quoted(words[s])} ({s})'}"
        for s in named
    ]
    parts[0] = parts[0].replace(" to", " of its weight to", 1)
    if len(named) <= t:
        rest = 1 - sum(seen[s] for s in named)
        parts.append(f"{f'less than 1{NBSP}%' if rest < 0.005 else percent(rest)} to the rest")
    return f"{name} gives {', '.join(parts[:-1])} and {parts[-1]}."


def tinted(key, text, share, classes=""):
    """A cell with a number, and a tint that is as strong as the number is large."""
    return (
        f'<td class="tf-tinted {classes}" data-out="{key}" data-bar="{key}" '
        f'style="--tf-share:{share:.4g}">{escape(text)}</td>'
    )


def masked():
    return '<td class="tf-masked">masked</td>'


def row_choice(prefix, name, value, label, chosen):
    """The header of a row, which chooses it. label: HTML."""
    return (
        f'<th scope="row"><label class="tf-row"><input type="radio" name="{prefix}" '
        f'data-name="{name}" data-label="{value}" value="{value}" autocomplete="off"'
        f'{" checked" if chosen else ""}><span>{label}</span></label></th>'
    )


def open_table(caption, columns, first="", classes=""):
    """caption, first: HTML; columns: HTML each."""
    heads = "".join(f'<th scope="col">{column}</th>' for column in columns)
    corner = f'<th scope="col">{first}</th>' if first else "<td></td>"
    return (
        f'<table class="tf-table tf-heat {classes}"><caption>{caption}</caption>'
        f"<thead><tr>{corner}{heads}</tr></thead><tbody>"
    )


def numbers(key, values, largest):
    """One row of cells."""
    return "".join(
        tinted(f"{key}-{i}", fixed(x, 2), abs(x) / largest) for i, x in enumerate(values)
    )


def by_position(prefix, key, X, words, chosen, caption, columns, hue):
    """The table of X (T, n) with a row for each position that there can be."""
    T, largest = len(X), X.abs().max().item()
    rows = ""
    for t in range(example.config["n_positions"]):
        label = f'{t} {out(f"word-{t}", words[t] if t < T else "")}'
        cells = (
            numbers(f"{key}-{t}", X[t].tolist(), largest)
            if t < T
            else "".join(tinted(f"{key}-{t}-{i}", "", 0) for i in range(X.shape[1]))
        )
        rows += (
            f'<tr data-row="{t}"{" hidden" if t >= T else ""}'
            f'{" class=tf-chosen" if t == chosen else ""}>'
            f"{row_choice(f'{prefix}-{key}', 'position', t, label, t == chosen)}{cells}</tr>"
        )
    return (
        f'<div role="radiogroup" aria-label="Position">'
        f"{open_table(caption, columns, 'position', f'tf-even tf-hue-{hue}')}{rows}</tbody></table></div>"
    )


def by_name(key, rows, caption, hue, columns=None):
    """A table of named vectors. rows: label as HTML -> vector."""
    X = torch.stack(list(rows.values()))
    largest = X.abs().max().item()
    lines = "".join(
        f'<tr><th scope="row">{label}</th>{numbers(f"{key}-{i}", x.tolist(), largest)}</tr>'
        for i, (label, x) in enumerate(rows.items())
    )
    columns = columns or range(X.shape[1])
    return (
        f"{open_table(caption, columns, 'entry', f'tf-even tf-hue-{hue}')}{lines}</tbody></table>"
    )
