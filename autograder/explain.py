"""`autograder explain`: a known mistake at length, or the list of those of a component."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from collections.abc import Iterator
from difflib import get_close_matches

from autograder.check import find
from autograder.check.component import Component
from autograder.check.mistake import Mistake
from autograder.check.naming import result
from autograder.check.parts import double
from autograder.course import ASSIGNMENTS, COMPONENTS, where
from autograder.errors import CourseError
from autograder.judge import Trouble
from autograder.judge.compare import form

WIDEST = 100
LABEL = 10  # letters before a paragraph


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="a mistake as the check has named it (attention.no_scaling), or a component, whose "
        "mistakes are then listed; without a name, the components",
    )


def run(args: argparse.Namespace) -> int:
    """Print what is asked for; CourseError where a name is unknown."""
    asked = [entry for name in args.names for entry in entries(name)] if args.names else []
    blocks = ["\n".join(told(*entry)) for entry in asked] or ["\n".join(components())]
    print("\n\n".join(dict.fromkeys(blocks)))
    return 0


def entries(name: str) -> list[tuple[Component, Mistake | None]]:
    """The component and mistake that a name means; a mistake's own name may mean several."""
    component, _, mistake = name.partition(".")
    if component in COMPONENTS and not mistake:
        return [(find(component), None)]
    everywhere = [(c, m) for c in map(find, COMPONENTS) for m in c.mistakes]
    met = [(c, m) for c, m in everywhere if name in (f"{c.name}.{m.name}", m.name)]
    if not met:
        raise CourseError(f"no component or mistake is called {name!r}. {advice(name, everywhere)}")
    return met


def advice(name: str, everywhere: list[tuple[Component, Mistake]]) -> str:
    component = name.partition(".")[0]
    if component in COMPONENTS:
        return f"`autograder explain {component}` lists those of {component}."
    known = [*COMPONENTS, *(f"{c.name}.{m.name}" for c, m in everywhere)]
    close = get_close_matches(name, known, n=3, cutoff=0.5)
    meant = f"Is it {' or '.join(close)}? " if close else ""
    return f"{meant}`autograder explain` lists the components."


def components() -> Iterator[str]:
    yield "Components, and how many mistakes of each are known:"
    for a in ASSIGNMENTS:
        yield f"  {a.chapter}"
        yield from paragraph(", ".join(f"{c} ({len(find(c).mistakes)})" for c in a.components), 4)
    yield "To list those of one: autograder explain NAME"


def told(component: Component, mistake: Mistake | None) -> Iterator[str]:
    if mistake is None:
        yield f"{component.name}: {len(component.mistakes)} known mistakes"
        wide = max(len(m.name) for m in component.mistakes)
        for m in component.mistakes:
            yield from paragraph(m.says, wide + 4, f"  {m.name:{wide}}  ")
        yield f"To read more of one: autograder explain {component.name}.NAME"
        return
    yield f"{component.name}.{mistake.name}"
    for label, text in (
        ("What", mistake.says),
        ("Why", mistake.why),
        ("Look", mistake.look),
        ("Book", where(component.name)),
    ):
        yield from paragraph(text, LABEL, f"  {label:{LABEL - 2}}")
    yield from example(component, mistake)


def example(component: Component, mistake: Mistake) -> Iterator[str]:
    """On the first inputs that show it: what is expected, and what comes."""
    for fixture in component.cases(seed=0):
        trouble = shown_by(component, mistake, fixture.inputs)
        if trouble:
            on = component.typed(fixture) or fixture.name
            yield from paragraph(f"For example: {on}", LABEL, "  ")
            yield from paragraph(trouble.evidence or trouble.what, LABEL)
            for line in trouble.picture.lines("with the mistake") if trouble.picture else ():
                yield " " * LABEL + line
            return


def shown_by(component: Component, mistake: Mistake, inputs: dict) -> Trouble | None:
    wrong, want = result(mistake, double(inputs)), component.expected(inputs)
    if isinstance(wrong, Exception):
        return Trouble("Here it gives no result: it raises an exception.")
    return form(wrong, want, component.outputs) or component.difference(wrong, want)


def paragraph(text: str, indent: int, first: str | None = None) -> list[str]:
    width = min(WIDEST, max(40, shutil.get_terminal_size().columns))
    return textwrap.wrap(
        text,
        width,
        initial_indent=" " * indent if first is None else first,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
