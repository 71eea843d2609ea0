"""A report as a notebook shows it: HTML that a light and a dark theme can both carry."""

from __future__ import annotations

from html import escape

from autograder.judge.picture import Picture

RIGHT, WRONG = "#1a7f37", "#b35900"
CELL = "padding:.1em .6em;text-align:right;font-family:monospace;border:1px solid #8886"
OFF = "background:#f5a62355"  # a wrong entry
FIRST = "outline:2px solid #b35900;outline-offset:-2px;font-weight:bold"
HIDDEN = "background:repeating-linear-gradient(45deg,#8883 0 3px,transparent 3px 6px)"  # masked


def box(passed: bool, head: str, body: str) -> str:
    colour = RIGHT if passed else WRONG
    return (
        f'<div style="border-left:4px solid {colour};padding-left:.8em"><b>{escape(head)}</b>'
        f"{body}</div>"
    )


def lines(said: list[str]) -> str:
    return "".join(f'<div style="margin:.2em 0">{escape(line)}</div>' for line in said)


def code(text: str) -> str:
    return f'<div style="margin:.4em 0 0"><code>{escape(text)}</code></div>' if text else ""


def fold(title: str, said: list[str]) -> str:
    """What is shown when it is asked for."""
    if not said:
        return ""
    text = escape("\n".join(said))
    return (
        f'<details style="margin:.3em 0"><summary>{escape(title)}</summary>'
        f'<pre style="margin:.3em 0;white-space:pre-wrap">{text}</pre></details>'
    )


def side_by_side(picture: Picture) -> str:
    """Two tables of the same entries; wrong ones are coloured and told to a screen reader."""
    want, got = picture.written()
    want = _table(picture, f"expected {picture.place}", want, mark=False)
    got = _table(picture, "yours", got, mark=True)
    return f'<div style="display:flex;flex-wrap:wrap;gap:1.5em;margin:.4em 0">{want}{got}</div>'


def _table(picture: Picture, caption: str, values, mark: bool) -> str:
    head = "".join(_heading(c, "col") for c in picture.columns)
    corner = "<td></td>" if picture.rows else ""
    body = ""
    for r, row in enumerate(values):
        cells = "".join(_cell(picture, r, c, x, mark) for c, x in enumerate(row))
        label = _heading(picture.rows[r], "row") if picture.rows else ""
        body += f"<tr>{label}{cells}</tr>"
    return (
        '<table style="border-collapse:collapse;margin:0;color:inherit;font-size:inherit">'
        '<caption style="text-align:left;color:inherit">'
        f"{escape(caption)}</caption><tr>{corner}{head}</tr>{body}</table>"
    )


def _heading(i: int, scope: str) -> str:
    return f'<th scope="{scope}" style="padding:.1em .6em;font-weight:normal;opacity:.75">{i}</th>'


def _cell(picture: Picture, r: int, c: int, x: str, mark: bool) -> str:
    wrong, styles, title = mark and picture.wrong[r][c], [CELL], ""
    if picture.hidden[r][c]:
        styles.append(HIDDEN)
        title = ' title="masked"'
    if wrong:
        styles.append(OFF)
        title = ' title="differs"'
        if (r, c) == picture.first:
            styles.append(FIRST)
            title = ' title="the first that differs"'
    return f'<td style="{";".join(styles)}"{title}>{x}</td>'
