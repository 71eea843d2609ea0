"""Wrong solutions of new students, written from the exercises' text alone: one file a notebook.

NOVICES[component][what is wrong] is a Novice. Each docstring says the slip; those that no table
knew by then have taught it a mistake.
"""

from importlib import import_module

from autograder.course import ASSIGNMENTS

NOVICES = {
    component: known
    for a in ASSIGNMENTS
    for component, known in import_module(f"novices.{a.notebook}").NOVICES.items()
}
