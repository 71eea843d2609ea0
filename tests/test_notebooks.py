"""Reading, normalising and taking definitions from notebooks of every origin."""

import json

import nbformat
import pytest

from autograder.notebooks import (
    NotebookError,
    definitions,
    dumps,
    find,
    locate,
    needs,
    normalise,
    ordered,
    read,
)
from autograder.notebooks.locate import is_stub
from autograder.notebooks.scope import references
from samples import CHAPTER_3, CHAPTER_4, SOFTMAX, cell, notebook, save, stub

import ast

# ------------------------------------------------------------------ read


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1"])
def test_any_encoding_is_read(tmp_path, encoding):
    path = tmp_path / "x.ipynb"
    text = json.dumps(notebook(["x = 'é'"]), ensure_ascii=False)
    path.write_bytes(text.encode(encoding))
    assert read(path)["cells"][0]["source"] == "x = 'é'"


def test_cells_without_metadata_or_id_and_sources_as_lists(tmp_path):
    path = tmp_path / "x.ipynb"
    cells = [
        {"cell_type": "code", "source": ["a = 1\r\n", "b = 2"]},
        {"source": "text", "metadata": None},
        {"source": "c = 3", "outputs": []},
        {"cell_type": "code", "source": None},
        "no cell",
    ]
    path.write_text(json.dumps({"cells": cells}))
    got = read(path)["cells"]
    assert [c["cell_type"] for c in got] == ["code", "markdown", "code", "code"]
    assert [c["source"] for c in got] == ["a = 1\nb = 2", "text", "c = 3", ""]


def test_format_3_is_read(tmp_path):
    path = tmp_path / "x.ipynb"
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Title"},
        {"cell_type": "code", "input": ["a = 1"], "outputs": [{"output_type": "pyout"}]},
    ]
    path.write_text(json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3}))
    heading, code = read(path)["cells"]
    assert heading["source"] == "## Title"
    assert (code["source"], code["outputs"]) == ("a = 1", [])


@pytest.mark.parametrize(
    "content, says",
    [
        (b"", "empty"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b'{"cells": [{"cell_type"', "cut off"),
        (b"[1, 2]", "no list of cells"),
        (b'{"cells": 3}', "no list of cells"),
        (b"[" * 200_000, "no notebook"),
    ],
)
def test_what_is_no_notebook_is_named(tmp_path, content, says):
    path = tmp_path / "x.ipynb"
    path.write_bytes(content)
    with pytest.raises(NotebookError, match=says):
        read(path)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(NotebookError, match="does not exist"):
        read(tmp_path / "no.ipynb")
    with pytest.raises(NotebookError, match="not a file"):
        read(tmp_path)


# ------------------------------------------------------------------ normalise


def test_normalising_clears_and_is_idempotent(tmp_path):
    cells = [
        cell("a = 1", "a", outputs=[{"output_type": "stream"}], execution_count=7),
        cell("b = 2", metadata={"collapsed": True, "tags": ["hide"], "vscode": {}}, id="own"),
        cell("copy", id="own"),
        cell("bad", id="not valid!"),
        cell("bad", id=""),
        cell("text", kind="markdown", attachments={"a.png": {}}),
    ]
    path = tmp_path / "x.ipynb"
    nb = notebook(cells) | {"metadata": {"colab": {}, "kernelspec": {"name": "conda"}}}
    path.write_text(json.dumps(nb))
    text = dumps(normalise(read(path)))
    path.write_text(text, encoding="utf-8")
    assert dumps(normalise(read(path))) == text
    got = json.loads(text)
    assert text.endswith("}\n") and not text.endswith("\n\n")
    assert got["metadata"]["kernelspec"]["name"] == "python3" and "colab" not in got["metadata"]
    assert got["cells"][0]["id"] == "a" and got["cells"][1]["id"] == "own"
    ids = [c["id"] for c in got["cells"]]
    assert len(set(ids)) == len(ids)
    assert got["cells"][1]["metadata"] == {"tags": ["hide"]}
    assert all(c["outputs"] == [] for c in got["cells"] if c["cell_type"] == "code")
    assert got["cells"][5]["attachments"] == {"a.png": {}}
    nbformat.validate(nbformat.reads(text, as_version=4))


def test_normalised_text_is_what_nbformat_writes():
    text = dumps(normalise(notebook(CHAPTER_3)))
    assert nbformat.writes(nbformat.reads(text, as_version=4)) + "\n" == text


def test_ids_do_not_depend_on_what_stands_before():
    late = normalise(notebook(["a = 1", "b = 2"]))["cells"][1]["id"]
    assert normalise(notebook(["b = 2"]))["cells"][0]["id"] == late


# ------------------------------------------------------------------ definitions


def defined(*cells):
    return definitions(notebook(list(cells)))


def test_definitions_are_kept_exactly_with_the_comments_above():
    source = "# why\n# it is so\n@dec(1)\ndef f(x):\n    # inside\n    return x  # here\n    # last"
    got = defined("import math, torch.nn.functional as F\n\n" + source + "\n\nprint(f(2))")
    assert list(got.found) == ["math", "F", "f"]
    assert got.found["f"].source == source
    assert got.found["F"].source == "import torch.nn.functional as F"


def test_the_later_definition_wins():
    got = defined("def f():\n    return 1", "EPS = 1", "EPS = 2", "def f():\n    return 2")
    assert "return 2" in got.found["f"].source and got.found["EPS"].source == "EPS = 2"


def test_a_trial_does_not_take_a_function_away():
    got = defined(SOFTMAX, "softmax = softmax(x)", "from torch import softmax", "x, softmax = 1, 2")
    assert got.found["softmax"].kind == "function"
    assert defined(SOFTMAX, "softmax = torch.softmax").found["softmax"].kind == "constant"


def test_constants_are_simple_expressions():
    got = defined("A, B = 1, -2.5\nC: float = math.sqrt(2 / math.pi)\nD = {'a': [A, float('inf')]}")
    assert {n: d.kind for n, d in got.found.items()} == dict.fromkeys("ABCD", "constant")
    got = defined("x = torch.randn(3)\nm = GPT2(c)\nfor i in range(3):\n    y = i\nz = open('f')")
    assert not got.found and set(got.computed) == {"x", "m", "i", "y", "z"}


def test_a_name_changed_elsewhere_is_known():
    got = defined(
        "N = 3", "N += 1", "class A:\n    pass", "A.f = lambda self: 1", "D = {}\nD[1] = 2"
    )
    assert {name: change.cell for name, change in got.computed.items()} == {"N": 2, "A": 4, "D": 5}
    got = defined("class A:\n    pass", "class A(A):\n    pass").computed
    assert str(got["A"]) == "cell 2 (`class A(A):`)"


@pytest.mark.parametrize(
    "source",
    [
        "%matplotlib inline\ndef f(): return 1",
        "%%time\ndef f(): return 1",
        "!pip install 'x\ndef f(): return 1",
        "!pip install a \\\n    b\ndef f(): return 1",
        "files = !ls\nx = %pwd\ndef f(): return 1",
        "f?\n?f\ndef f(): return 1\nf??",
        "if 1:\n    %time g()\ndef f(): return 1",
    ],
)
def test_magics_are_passed_over(source):
    got = defined(source)
    assert got.found["f"].source == "def f(): return 1"


def test_a_percent_sign_in_a_string_is_no_magic():
    source = 'def f():\n    """\n%magic?\n    """\n    return (5\n      % 2)'
    assert defined("%pwd\n" + source).found["f"].source == source


def test_cells_of_other_languages_define_nothing():
    got = defined("%%bash\nimport os", "%%writefile x.py\ndef f(): pass")
    assert not got.found and not got.remarks


def test_a_syntax_error_spoils_its_cell_only():
    got = defined("def g(:\n    pass\ndef h(): pass", "def f(): pass")
    assert list(got.found) == ["f"]
    assert "cell 1" in got.remarks[0] and "cell 1" in got.broken["h"]


def test_two_statements_on_a_line():
    got = defined("a = 1; b = 2")
    assert (got.found["a"].source, got.found["b"].source) == ("a = 1", "b = 2")


def test_imports_of_submodules_add_up():
    assert defined("import os.path", "import os").found["os"].source == "import os.path\nimport os"


# ------------------------------------------------------------------ names and needs


def names(source, early=None):
    found = references(ast.parse(source))
    return {r.name for r in found if early is None or r.early == early}


def test_only_global_names_are_found():
    source = """
@deco
def f(a: Ann, *args, b=DEFAULT, **kw) -> Ret:
    global COUNT
    COUNT += 1
    total = [x * y for x in a for y in inner(x)]
    def g(z):
        nonlocal total
        total = z + free
        return lambda q: q + a
    try:
        import late
    except Exception as error:
        print(error, late)
    if (w := a) and w:
        return f(g, total, kw, args)
    match a:
        case {"k": v, **rest}:
            return v, rest
        case [first, *others] | Some(first) as whole:
            return first, others, whole
"""
    expected = "deco Ann DEFAULT Ret COUNT inner free Exception print f Some".split()
    assert names(source) == set(expected)
    assert names(source, early=True) == {"deco", "Ann", "DEFAULT", "Ret"}


def test_class_bodies_are_read_at_once_and_hidden_from_methods():
    source = """
class C(Base, metaclass=Meta):
    size = SIZE
    twice = size * 2
    def m(self, x=size):
        return size + other
"""
    assert names(source, early=True) == {"Base", "Meta", "SIZE"}
    assert names(source, early=False) == {"size", "other"}


def test_needs_follow_definitions_and_name_what_is_not_defined():
    found = defined(
        "import math\nA = 2\nB = A * 3",
        "def f(x):\n    return g(x) + B",
        "def g(x):\n    return math.exp(x) + table[0] + nowhere",
        "table = compute()",
    )
    need = needs(found, ["f"])
    assert set(need.definitions) == {"f", "g", "B", "A", "math"}
    assert len(need.faults) == 2
    assert "`g` uses `table`" in need.faults[0] and "cell 4" in need.faults[0]
    assert "`nowhere`" in need.faults[1]


def test_a_star_import_is_resolved():
    need = needs(defined("from math import *\ndef f(x):\n    return sqrt(x)"), ["f"])
    assert need.definitions["sqrt"].source == "from math import sqrt"


def test_order_puts_first_what_is_read_at_once():
    found = defined("def f(x=EPS):\n    return x", "def wrap(f):\n    return f", "EPS = 1")
    got = [d.name for d in ordered(found.found.values())]
    assert got.index("EPS") < got.index("f")


# ------------------------------------------------------------------ a folder of notebooks


def test_notebooks_are_found_by_name_in_any_folder(tmp_path):
    save(tmp_path / "self_attention.ipynb", CHAPTER_3)
    save(tmp_path / "04_multi_head_attention" / "multi_head_attention (1).ipynb", CHAPTER_4)
    save(tmp_path / ".ipynb_checkpoints" / "self_attention-checkpoint.ipynb", ["old = 1"])
    got = find([tmp_path])
    assert [n.assignment.notebook for n in got] == ["self_attention", "multi_head_attention"]


def test_a_renamed_notebook_is_known_by_its_content(tmp_path):
    save(tmp_path / "my homework.ipynb", list(CHAPTER_3.values()))
    save(tmp_path / "notes.ipynb", ["x = 1"])
    renamed, notes = find([tmp_path])
    assert renamed.assignment.name == "03_self_attention" and notes.assignment is None


def test_two_notebooks_of_one_assignment(tmp_path):
    save(tmp_path / "self_attention.ipynb", CHAPTER_3)
    copy = save(tmp_path / "self_attention (1).ipynb", CHAPTER_3)
    assert len(find([tmp_path])) == 1
    save(copy, CHAPTER_3 | {"softmax": stub(SOFTMAX)})
    with pytest.raises(NotebookError, match=r"self_attention \(1\).ipynb.*Keep one"):
        find([tmp_path])


def test_an_empty_folder(tmp_path):
    with pytest.raises(NotebookError, match="no notebook"):
        find([tmp_path])


def test_a_moved_component_is_found(tmp_path):
    rest = {k: v for k, v in CHAPTER_3.items() if k != "softmax"}
    save(tmp_path / "self_attention.ipynb", rest)
    save(tmp_path / "multi_head_attention.ipynb", CHAPTER_4 | {"more": SOFTMAX})
    place = locate(find([tmp_path]), "softmax")
    assert place.notebook.assignment.notebook == "multi_head_attention" and not place.stub


def test_the_own_notebook_wins_unless_it_holds_the_stub(tmp_path):
    save(tmp_path / "self_attention.ipynb", CHAPTER_3)
    save(tmp_path / "multi_head_attention.ipynb", CHAPTER_4 | {"more": SOFTMAX})
    assert locate(find([tmp_path]), "softmax").notebook.index == 2
    save(tmp_path / "self_attention.ipynb", CHAPTER_3 | {"softmax": stub(SOFTMAX)})
    assert locate(find([tmp_path]), "softmax").notebook.index == 3


def test_stubs():
    assert is_stub(stub(SOFTMAX)) and not is_stub(SOFTMAX)
    method = "    def f(self):\n        raise NotImplementedError\n"
    assert is_stub("class A:\n" + method) and not is_stub("class A:\n    pass")
    assert not is_stub("class A:\n" + method + "    def g(self):\n        return 1")
