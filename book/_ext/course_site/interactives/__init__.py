"""Interactives: custom elements that arrive drawn, and that assets/interactives/*.js wakes.

Each is a module here, named as the directive's argument, with a TITLE and `draw(prefix)`, which
gives its first state as HTML (`parts.Drawing`); <name>.js holds its element.
"""

import importlib

NAMES = (
    *("softmax", "layernorm", "budget", "activations"),
    *("heads", "forward-pass", "leak", "sampling"),
)


def find(name):
    """The module of an interactive."""
    return importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
