"""Wrong solutions that were written from the exercises' text alone, by one who knew no check.

None may get full marks, and the message has to point at the right place: each solution came with
words of which a good message holds at least one.
"""

import pytest
from novices import NOVICES

from autograder import check
from autograder.course import COMPONENTS

CASES = [(c, name) for c, known in NOVICES.items() for name in known]


def test_there_are_some_for_every_component():
    assert len(CASES) >= 30 and set(NOVICES) == set(COMPONENTS)


@pytest.mark.parametrize("seed", (0, 1))
@pytest.mark.parametrize("component, name", CASES)
def test_it_is_found_and_the_message_points_at_it(component, name, seed):
    novice = NOVICES[component][name]
    report = check.run(component, novice.target, seed)
    assert report.started and not report.passed and report.fraction < 1
    told = " ".join(report.first().trouble.lines()).lower()
    assert any(word in told for word in novice.points_at), told
