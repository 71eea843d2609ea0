"""What interactives are drawn with: numbers as text, controls, bars.

element.js writes the same numbers in the same way when a control is moved. Controls are asleep
until it wakes them; without scripts and on paper the text in [data-out] stands in their place.
"""

import json
from dataclasses import dataclass
from html import escape


@dataclass
class Drawing:
    """The first state of an interactive. buttons: (action, label), beside "Reset"."""

    body: str
    finding: str
    data: dict | None = None
    buttons: tuple = ()


def signed(text):
    return text.replace("-", "\N{MINUS SIGN}")


def fixed(x, digits):
    text = f"{x:.{digits}f}"
    return signed(text.replace("-", "") if float(text) == 0 else text)


def small(x):
    if x == 0 or abs(x) >= 0.001:
        return fixed(x, 4)
    mantissa, exponent = f"{x:.1e}".split("e")
    return signed(f"{mantissa}e{int(exponent)}")


def count(x):
    return signed(f"{x:,}")


def plain(x):
    return signed(f"{x:.15g}")


def out(key, text, tag="span", classes=""):
    """A place that put(key, …) of the element writes to."""
    named = f' class="{classes}"' if classes else ""
    return f'<{tag}{named} data-out="{key}">{escape(str(text))}</{tag}>'


def bar(key, share, classes=""):
    """A bar of that share of its track; the number must stand beside it."""
    return (
        f'<span class="tf-track {classes}" aria-hidden="true">'
        f'<span class="tf-bar" data-bar="{key}" style="--tf-share:{share:.6g}"></span></span>'
    )


def measure(key, text, share, classes=""):
    """A number, and the bar that draws it."""
    return f'<span class="tf-measure">{out(key, text)}{bar(key, share, classes)}</span>'


def number(name, value, low, high, step, *, label, labelled_by, entry_step="any", slider_low=None):
    """A slider, and beside it a box for numbers that the slider's steps miss.

    label: how messages name it. labelled_by: ids of the visible text that names it.
    """
    value = f"{value:.15g}"
    shared = f'data-name="{name}" aria-labelledby="{labelled_by}" autocomplete="off"'
    return (
        '<span class="tf-number">'
        f'<input type="range" class="tf-slider" {shared} min="{slider_low or low}" max="{high}" '
        f'step="{step}" value="{value}">'
        f'<span class="tf-entry"><input type="number" {shared} data-label="{escape(label)}" '
        f'min="{low}" max="{high}" step="{entry_step}" value="{value}">'
        f'{out(name, signed(value), classes="tf-text")}</span></span>'
    )


def field_row(prefix, name, label, value, low, high, step, **options):
    """A control with its label on the left. label: HTML."""
    key = f"{prefix}-{name}"
    spoken = options.pop("spoken", label)
    control = number(
        name, value, low, high, step, label=spoken, labelled_by=f"{key}-label", **options
    )
    return (
        f'<div class="tf-field"><span class="tf-label" id="{key}-label">{label}</span>'
        f"{control}</div>"
    )


def switch(name, label, on):
    """A check box. label: HTML."""
    return (
        f'<div class="tf-field tf-switch"><label><input type="checkbox" data-name="{name}" '
        f'autocomplete="off"{" checked" if on else ""}> <span>{label}</span></label>'
        f'{out(name, "yes" if on else "no", classes="tf-text")}</div>'
    )


def choice(prefix, name, legend, options, chosen):
    """Radio buttons. legend: HTML; options: value -> label."""
    key = f"{prefix}-{name}"
    radios = "".join(
        f'<label><input type="radio" name="{key}" data-name="{name}" value="{value}" '
        f'data-label="{escape(text)}" autocomplete="off"'
        f'{" checked" if value == chosen else ""}> {escape(text)}</label>'
        for value, text in options.items()
    )
    return (
        f'<div class="tf-field tf-choice" role="radiogroup" aria-labelledby="{key}-label">'
        f'<span class="tf-label" id="{key}-label">{legend}</span>'
        f'<span class="tf-radios">{radios}</span>'
        f'{out(name, options[chosen], classes="tf-text")}</div>'
    )


def button(action, label, pressed=None):
    """pressed: True or False if the button shows whether its action's result is there."""
    state = "" if pressed is None else f' aria-pressed="{str(pressed).lower()}"'
    return (
        f'<button type="button" class="tf-button" data-action="{action}"{state}>'
        f"{escape(label)}</button>"
    )


def frame(name, title, prefix, drawing):
    """The custom element with everything in it."""
    buttons = (*drawing.buttons, ("reset", "Reset"))
    data = ""
    if drawing.data is not None:
        text = json.dumps(drawing.data).replace("<", "\\u003c")
        data = f'<script type="application/json">{text}</script>'
    return (
        f'<tf-{name} class="tf-interactive" role="group" aria-labelledby="{prefix}-title">'
        f'<p class="tf-title" id="{prefix}-title">{title}</p>'
        f"{drawing.body}"
        f'<p class="tf-finding">{escape(drawing.finding)}</p>'
        f'<div class="tf-foot">{"".join(button(*each) for each in buttons)}'
        f'<p class="tf-problem"></p></div>{data}</tf-{name}>'
    )
