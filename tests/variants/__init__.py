"""Solutions to run the checks on: one module a chapter, with RIGHT and WRONG.

RIGHT[component] lists correct solutions, each written in another way. WRONG[component] maps a name
to a wrong solution; where the name is that of a known mistake, the check must name it. A known
mistake of a component that is called plainly needs no entry: `mutant` makes one from the table.
"""

from __future__ import annotations

from importlib import import_module

from autograder import standins
from autograder.check import find
from autograder.check.component import module, plain
from autograder.course import COMPONENTS
from autograder.probes.plain import to_tensors

PLAINLY = (plain, module)


def right(name: str) -> dict[str, object]:
    chapter = _chapter(name)
    written = chapter.RIGHT.get(name, [])
    return {"stand-in": getattr(standins, name)} | {
        f"{getattr(f, '__name__', type(f).__name__)} {i}": f for i, f in enumerate(written)
    }


def wrong(name: str) -> dict[str, object]:
    component = find(name)
    made = {m.name: mutant(component, m) for m in component.mistakes if component.call in PLAINLY}
    return made | _chapter(name).WRONG.get(name, {})


def _chapter(name: str):
    return import_module(f"variants.{COMPONENTS[name].notebook}")


def mutant(component, mistake):
    """The known mistake as a solution in torch."""
    if component.call is plain:

        def function(*args, **kwargs):
            return to_tensors(mistake.wrong(*args, **kwargs))

        return function

    class Module(getattr(standins, component.name)):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.init = args

        def forward(self, *args, **kwargs):
            return mistake.wrong(self.init, dict(self.named_parameters()), *args, **kwargs)

    return Module
