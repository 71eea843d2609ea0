"""A name that two notebooks use is renamed where it is that name, and nowhere else."""

import re
import sys

import pytest

from autograder.assemble import rename
from autograder.assemble.rename import renamed
from autograder.errors import CourseError

# `h`, `r` and `d` become `h_2`, `r_2` and `d_2` where they stand in «marks».
STRINGS = [
    r"""f"{«h»(x)!r} {«r»!r} {«d»:d} {x:{«h»(1)}.{«d»}f}" """,
    r""""h {h}" f"{«h»(x)} h {{h}}" '{h}'""",
    r"""f"{g(h=1, x=«h»)} {x.h} {x['h']}" """,
    r"""f"{[h for h in «h»]} {(lambda h: h)(«h»)}" """,
    "f'''é{«h»}\n {\n«h»(x)} {«h»!s:>{«d»}}\n'''",
    r"""f"{«h»=} {«h»(x) = !r:>{«d»}}" """,
    r"""f"{f'{«h»} h {{h}}'} {«h»!=«d»} {«h»==«d»} {«h»<=«d»}" """,
    r"""rf"\{«h»}\N{«h»}" Rf'{«h»}'""",
    r"""f"\N{LATIN SMALL LETTER H}\n{«h»} \"{«h»}" """,
    r"""f"{{{«h»}}} {«h» , «d»} {*«h», «d»} { {«h»: «d»} }" """,
    r"""f"{x:%H:%M h{«h»}}" """,
    """(f"a"\n   # {h}\n   f"{«h»}" "é" f'{«h»}')""",
    r"""f"{«h»('}') + '{h}' + '''h'''}" """,
    r"""f"{«h»>«d»} {«h»<«d»} {x[«h»:«d»]} {«d»:>{«h»}}" """,
]
if sys.version_info >= (3, 12):
    STRINGS += ['f"{x["h"]} {«h»("}")} {f"{«h»!r}"}"', 'f"{«h» # h }\n}"']
OTHERS = [
    "def «h»(h): return h",
    "async  def \\\n «h»(x: «d»): return «h»",
    "def f():\n    global x, «h»; «h» = «d»",
    "def f():\n    global \\\n «h»\n    return x.h",
    "def f(x, h=«h»):\n    # h\n    return {h: 'h'}",
]


class Names(dict):
    def __missing__(self, name):
        return f"{name}_2" if name in ("h", "r", "d") else name


@pytest.mark.parametrize("marked", STRINGS + OTHERS)
def test_only_the_name_itself_is_renamed(marked):
    marked = marked.strip()
    assert renamed(re.sub("[«»]", "", marked), Names(h="h_2")) == re.sub("«(.)»", r"\1_2", marked)


def test_a_name_that_python_reads_in_another_way():
    assert renamed("ﬁ = 1\nx = ﬁ", {"fi": "fi_2", "x": "x"}) == "fi_2 = 1\nx = fi_2"


def test_what_cannot_be_renamed_is_refused(monkeypatch):
    """Rather than written wrong."""
    wrong = lambda string, places: [(string.values[0].value, 0, 1)]
    monkeypatch.setattr(rename, "places_in", wrong)
    with pytest.raises(CourseError, match="`h` for different things.*Rename it yourself"):
        renamed("f'{h}'", {"h": "h_2"})
