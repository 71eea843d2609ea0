"""A mistake is paid for once: a right component is right whatever the others of its notebook do."""

import pytest
from course_copy import ROOT

from autograder import check
from autograder.course import ASSIGNMENTS
from autograder.notebooks import find, needs, ordered

PAIRS = [(a, c) for a in ASSIGNMENTS for c in a.components if check.find(c).needs]


def stub(*args, **kwargs):
    raise NotImplementedError("write this part")


def wrong(*args, **kwargs):
    return "nonsense"


@pytest.fixture(scope="module")
def modules():
    """The namespaces of the reference notebooks' definitions, made when first asked for."""
    made = {}

    def of(assignment):
        if assignment.name not in made:
            (notebook,) = find([ROOT / "solutions" / assignment.path])
            found = notebook.definitions
            need = needs(found, assignment.components).definitions.values()
            space = made[assignment.name] = {"__name__": assignment.notebook}
            for definition in ordered(need):
                exec(definition.source, space)
        return made[assignment.name]

    return of


@pytest.mark.parametrize("other", [stub, wrong])
@pytest.mark.parametrize("assignment, name", PAIRS, ids=lambda p: getattr(p, "notebook", p))
def test_right_beside_wrong_and_unwritten_components(assignment, name, other, modules):
    space = modules(assignment)
    others = {c: space[c] for c in assignment.components if c != name}
    space.update(dict.fromkeys(others, other))
    try:
        report = check.run(name, space[name])
    finally:
        space.update(others)
    assert report.passed, str(report)


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.notebook)
def test_what_the_reference_calls_is_replaced(assignment, modules):
    """Of a component that has no `needs`, the reference calls no other."""
    space = modules(assignment)
    for name in assignment.components:
        if not check.find(name).needs:
            others = {c: space[c] for c in assignment.components if c != name}
            space.update(dict.fromkeys(others, stub))
            try:
                assert check.run(name, space[name]).passed, name
            finally:
                space.update(others)
