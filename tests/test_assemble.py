"""From notebooks of every kind to one gpt2.py, or a refusal that names the cause."""

import ast
import importlib.util
import sys

import pytest

from autograder.assemble import assemble, build
from autograder.assemble.shapes import DTYPES, plain
from autograder.course import ASSIGNMENTS, COMPONENTS
from autograder.errors import CourseError
from autograder.survey import Verdict
from conftest import ROOT
from samples import ATTENTION, CHAPTER_3, CHAPTER_4, SETUP, SOFTMAX, cell, save, stub


@pytest.fixture
def only(monkeypatch):
    """Let gpt2.py consist of a few components, and take every check as passed."""

    def choose(*roots, checked=False):
        monkeypatch.setattr(build, "CONTRACT", roots)
        if not checked:
            passed = lambda places, limit: [Verdict(p.component, "", "", "done") for p in places]
            monkeypatch.setattr(build, "verdicts", passed)
            monkeypatch.setattr("autograder.assemble.try_import", lambda text, limit: None)

    return choose


@pytest.fixture
def student(tmp_path):
    """Write chapters 3 and 4 with changes, and give the folder."""

    def write(three=None, four=None):
        save(tmp_path / "03_self_attention" / "self_attention.ipynb", three or CHAPTER_3)
        save(tmp_path / "04" / "multi_head_attention.ipynb", four or CHAPTER_4)
        return tmp_path

    return write


def load(text, tmp_path, name="assembled"):
    path = tmp_path / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reasons(assembly):
    return {p.component: p.reason for p in assembly.problems}


# ------------------------------------------------------------------ the file


def test_the_file_reads_as_if_written_by_hand(only, student):
    only("MultiHeadAttention")
    tmp = student()
    text = assemble(tmp).text
    heads = [line for line in text.split("\n") if line.startswith("# ---")]
    assert [h.split("- ")[1] for h in heads] == ["3 Self-Attention", "4 Multi-Head Attention"]
    imports = text.split('"""\n', 2)[1].split("\n# ---")[0].strip()
    assert imports == "import math\n\nimport torch\nfrom torch import Tensor, nn"
    for debris in ("SOLUTION", "check", "plt", "print", "jaxtyping", "Float", "standins", str(tmp)):
        assert debris not in text, debris
    assert "    # Q (..., T, d_k), K (..., S, d_k), V (..., S, d_v), mask (T, S)" in text
    assert "# rows sum to one" in text
    order = [text.index(f" {name}(") for name in ("softmax", "causal_mask", "attention")]
    assert order == sorted(order)


def test_the_file_runs_alone(only, student, tmp_path):
    import torch

    only("MultiHeadAttention")
    gpt2 = load(assemble(student()).text, tmp_path)
    layer = gpt2.MultiHeadAttention(12, 3)
    assert layer(torch.randn(2, 5, 12)).shape == (2, 5, 12)


def test_the_same_input_gives_the_same_bytes(only, student):
    only("MultiHeadAttention")
    folder = student()
    first = assemble(folder).text
    assert assemble(folder).text == first
    save(folder / "04" / "multi_head_attention.ipynb", [*CHAPTER_4.values(), "print('more')"])
    assert assemble(folder).text == first


def test_nothing_but_definitions_is_run(only, student, tmp_path):
    only("attention")
    mark = tmp_path / "ran"
    more = {"own": f"open({str(mark)!r}, 'w')\nx = open({str(mark)!r}, 'w')", "end": "1 / 0"}
    text = assemble(student(CHAPTER_3 | more)).text
    assert not mark.exists() and "open" not in text


# ------------------------------------------------------------------ what students do


def test_own_functions_and_constants_come_along(only, student, tmp_path):
    import torch

    only("attention")
    changed = CHAPTER_3 | {
        "constants": "from math import sqrt\n\n# added to no score\nNOTHING, ALL = 0.0, -math.inf",
        "more": "def _scores(Q, K):\n    # one row a query\n    return Q @ K.mT / sqrt(Q.shape[-1])",
        "unused": "def unused():\n    pass",
        "attention": """\
def attention(Q, K, V, mask=None, dropout=NOTHING):
    S = _scores(Q, K)
    A = softmax(S if mask is None else S + mask)
    return A @ V, A""",
    }
    text = assemble(student(changed)).text
    assert "from math import sqrt" in text and "unused" not in text
    assert "# added to no score\nNOTHING, ALL = 0.0, -math.inf" in text
    assert "# one row a query" in text
    gpt2 = load(text, tmp_path)
    x = torch.randn(2, 3, 4)
    assert gpt2.attention(x, x, x)[0].shape == (2, 3, 4)


def test_the_component_of_its_own_notebook_is_taken(only, student):
    """Not the stand-in's import, nor a copy pasted into another chapter."""
    only("MultiHeadAttention")
    pasted = {"paste": "def softmax(x, dim=-1):\n    return torch.exp(x)"}
    text = assemble(student(four=pasted | CHAPTER_4)).text
    assert "rows sum to one" in text and text.count("def softmax") == 1
    assert text.count("def attention") == 1


def test_clashing_functions_are_told_apart(only, student, tmp_path):
    import torch

    only("MultiHeadAttention")
    three = CHAPTER_3 | {
        "h": "def _shape(x):\n    return x.shape[-1]",
        "attention": ATTENTION.replace("Q.shape[-1]", "_shape(Q)"),
    }
    four = CHAPTER_4 | {
        "h": "def _shape(x):\n    return x.shape",
        "split_heads": """\
def split_heads(x, n_head):
    *batch, T, d = _shape(x)
    assert d % n_head == 0, f"{_shape(x)!s:>{len(_shape(x))}} and {{_shape}} {n_head}"
    return x.reshape(*batch, T, n_head, d // n_head).transpose(-3, -2)""",
        "merge_heads": """\
def merge_heads(x):
    def inner(_shape):
        return _shape
    *batch, H, T, d_k = inner(_shape(x))
    return x.transpose(-3, -2).reshape(*batch, T, H * d_k)""",
    }
    text = assemble(student(three, four)).text
    assert text.count("def _shape(") == 1 and text.count("def _shape_2(") == 1
    assert 'f"{_shape_2(x)!s:>{len(_shape_2(x))}} and {{_shape}} {n_head}"' in text
    assert "def inner(_shape)" in text and "inner(_shape_2(x))" in text
    layer = load(text, tmp_path).MultiHeadAttention(12, 3)
    assert layer(torch.randn(2, 5, 12)).shape == (2, 5, 12)


def test_a_clash_inside_f_strings(only, student, tmp_path):
    """Keywords, keys, conversions, formats, text and local names are other things than the name."""
    only("MultiHeadAttention")
    three = CHAPTER_3 | {
        "h": "def r(x):\n    return x.shape[-1]",
        "attention": ATTENTION.replace("Q.shape[-1]", "r(Q)"),
    }
    said = """\
def said(x):
    keys = dict(r=1)
    return ("{r} " f"{r(x)!r} {keys['r']} {dict(r=r(x))} {[r for r in keys]} {r(x):9.{len(keys)}f}"
            f"{f'{r(x)!r:>4}'}")"""
    four = CHAPTER_4 | {"h": "def r(x):\n    return x * 1.0", "said": said}
    four["merge_heads"] = CHAPTER_4["merge_heads"].replace("    return", "    said(3)\n    return")
    text = assemble(student(three, four)).text
    assert "def r_2(x)" in text
    said = load(text, tmp_path, "strings").said(3)
    assert said == "{r} 3.0 1 {'r': 3.0} ['r']       3.0 3.0"


def test_the_same_function_in_two_notebooks_is_written_once(only, student):
    only("MultiHeadAttention")
    shared = {"h": "SCALE = 1.0\n\n\ndef _shape(x):\n    return x.shape[-1] * SCALE"}
    three = CHAPTER_3 | shared | {"attention": ATTENTION.replace("Q.shape[-1]", "_shape(Q)")}
    four = dict(CHAPTER_4)
    four["split_heads"] += "\n\n\ndef use(x):\n    return _shape(x)"
    four["merge_heads"] = four["merge_heads"].replace("x.shape\n", "x.shape[:use(x) * 0 or None]\n")
    text = assemble(student(three, four | shared)).text
    assert text.count("def _shape") == 1 and text.count("SCALE = ") == 1
    other = {"h": shared["h"].replace("1.0", "2.0")}
    text = assemble(student(three, four | other)).text
    assert "SCALE_2 = 2.0" in text and "def _shape_2" in text and "x.shape[-1] * SCALE_2" in text


def test_imports_that_clash_are_told_apart(only, student, tmp_path):
    only("MultiHeadAttention")
    three = CHAPTER_3 | {
        "more": "from math import sqrt\nimport torch.nn.functional as F",
        "attention": ATTENTION.replace("math.sqrt", "sqrt").replace(
            "torch.dropout(A, dropout, train=", "F.dropout(A, dropout, training="
        ),
    }
    four = CHAPTER_4 | {"more": "from torch import sqrt\nfrom torch.nn import functional as F"}
    four["merge_heads"] = CHAPTER_4["merge_heads"].replace(
        "    return x.", "    sqrt(F.relu(x)), sum([1])\n    return x."
    )
    text = assemble(student(three, four)).text
    assert (
        "from math import sqrt" in text and "from torch import Tensor, nn, sqrt as sqrt_2" in text
    )
    assert "/ sqrt(Q.shape[-1])" in text and "sqrt_2(F.relu(x))" in text
    assert text.count("functional as F") == 1


def test_a_function_named_like_a_builtin_stays_apart_from_it(only, student):
    only("MultiHeadAttention")
    three = CHAPTER_3 | {
        "h": "def len(x):\n    return x.shape[-1]",
        "attention": ATTENTION.replace("Q.shape[-1]", "len(Q)"),
    }
    four = CHAPTER_4 | {
        "merge_heads": CHAPTER_4["merge_heads"].replace("T, H *", "T, len([H]) * H *")
    }
    text = assemble(student(three, four)).text
    assert "def len_2(x)" in text and "math.sqrt(len_2(Q))" in text and "len([H])" in text


def test_a_library_function_named_like_a_component(only, student):
    """What the student ran in his notebook is what the file does."""
    only("MultiHeadAttention")
    four = CHAPTER_4 | {"more": "from torch.nn.functional import softmax"}
    four["merge_heads"] = CHAPTER_4["merge_heads"].replace("return x.", "return softmax(x, -1).")
    text = assemble(student(four=four)).text
    assert "from torch.nn.functional import softmax as softmax_2" in text
    assert "return softmax_2(x, -1)." in text and "A = softmax(" in text


@pytest.mark.parametrize("source", ["standins", "own"])
def test_an_earlier_component_under_another_name(only, student, source):
    only("MultiHeadAttention")
    four = CHAPTER_4 | {"setup": SETUP + f"\nfrom autograder.{source} import attention as attend"}
    four["MultiHeadAttention"] = CHAPTER_4["MultiHeadAttention"].replace("attention(Q", "attend(Q")
    assert "heads, _ = attention(Q, K, V, causal_mask" in assemble(student(four=four)).text
    four["MultiHeadAttention"] = four["MultiHeadAttention"].replace(
        "heads, _ =", "attention, heads ="
    )
    assert "rename the variable" in reasons(assemble(student(four=four)))["MultiHeadAttention"]


def test_decorators_bases_and_defaults_come_before_their_users(only, student, tmp_path):
    only("attention")
    three = {
        "setup": SETUP,
        "attention": "@traced\n"
        + ATTENTION.replace("dropout: float = 0.0", "dropout: float = RATE"),
        **{k: v for k, v in CHAPTER_3.items() if k in ("softmax", "causal_mask")},
        "late": "from functools import wraps\n\nRATE = 0.0",
        "later": """\
def traced(f):
    class Trace(Base):
        pass
    return wraps(f)(lambda *a, **k: Trace.call(f, *a, **k))

class Base:
    @staticmethod
    def call(f, *a, **k):
        return f(*a, **k)""",
    }
    text = assemble(student(three)).text
    assert "from functools import wraps" in text
    assert load(text, tmp_path).attention.__name__ == "attention"


def test_notebooks_that_editors_saved_without_metadata(only, student):
    only("MultiHeadAttention")
    want = assemble(student()).text
    colab = [
        cell(source, metadata={"id": "zXy", "colab": {"base_uri": "https://colab"}})
        for source in ("%pip install jaxtyping", *CHAPTER_3.values())
    ]
    vscode = [cell(s, metadata={"vscode": {"languageId": "python"}}) for s in CHAPTER_4.values()]
    assert assemble(student(colab, vscode)).text == want


def test_extra_cells_magics_and_a_broken_trial(only, student):
    only("MultiHeadAttention")
    want = assemble(student()).text
    three = {f"extra-{i}": s for i, s in enumerate(("%%time\nx = 1", "if True\n  print(1)", "!ls"))}
    magic = {"softmax": "%load_ext autoreload\n" + SOFTMAX}
    got = assemble(student(three | CHAPTER_3 | magic))
    assert got.text == want
    assert len(got.remarks) == 1 and "cell 2 is left out" in got.remarks[0]


def test_components_in_another_notebook(only, student):
    only("MultiHeadAttention")
    want = assemble(student()).text
    three = {k: v for k, v in CHAPTER_3.items() if k != "softmax"}
    got = assemble(student(three, CHAPTER_4 | {"softmax": SOFTMAX}))
    assert got.text == want


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    "three, component, says",
    [
        ({"softmax": "softmaxx = 1"}, "softmax", "missing: the notebook does not define it"),
        ({"softmax": stub(SOFTMAX)}, "softmax", "not started"),
        ({"softmax": "def softmax(x:\n    pass"}, "softmax", "cell 2 is not valid Python: line 1"),
        ({"softmax": "from torch import softmax"}, "softmax", "imports it and does not define it"),
        ({"softmax": "if 1:\n    def softmax(x):\n        return x"}, "softmax", "cell 2 makes it"),
        (
            {
                "setup": SETUP + "\nimport numpy as np",
                "softmax": "def softmax(x):\n    return np.exp(x)",
            },
            "softmax",
            "imports `numpy`: gpt2.py may import only torch and the standard library",
        ),
        (
            {"softmax": "def softmax(x):\n    import einops\n    return x"},
            "softmax",
            "imports `einops`",
        ),
        (
            {"softmax": "def softmax(x):\n    return check.softmax(x)"},
            "softmax",
            "uses `autograder.check`: gpt2.py must stand without",
        ),
        (
            {
                "h": "def _e(x):\n    return table[x]",
                "softmax": "def softmax(x):\n    return _e(x)",
            },
            "softmax",
            "`_e` uses `table`, which the notebook does not define",
        ),
        (
            {"h": "rows = torch.randn(3)", "softmax": "def softmax(x):\n    return x + rows"},
            "softmax",
            "uses `rows`, which is no definition but a value that cell 7 computes",
        ),
        ({"h": "softmax.cache = {}"}, "softmax", "`softmax` is changed by cell 7"),
    ],
)
def test_a_refusal_names_component_notebook_and_cause(only, student, three, component, says):
    only("attention")
    got = assemble(student(CHAPTER_3 | three))
    assert got.text is None
    (problem,) = got.problems
    assert problem.component == component and says in problem.reason
    assert problem.notebook.endswith("03_self_attention/self_attention.ipynb")


USES = "def softmax(x, dim=-1):\n    return [n for n in NAMES] and x.softmax(dim)"
REGISTER = "NAMES = {}\n\n\ndef register(f):\n    NAMES[f.__name__] = f\n    return f"
NAMED = """\
NAMES = {}


def register(name):
    def add(f):
        NAMES.setdefault(name, f)
        return f
    return add"""
PATCH = """\
def patch(cls):
    def add(f):
        setattr(cls, f.__name__, f)
        return f
    return add"""
BASE = """\
NAMES = []


class Base:
    def __init_subclass__(cls):
        NAMES.append(cls)"""
CLASS = "class Soft:\n    dim = -1\n\n    def __call__(self, x):\n        return x"
SOFT = "def softmax(x, dim=-1):\n    return Soft()(x)"


@pytest.mark.parametrize(
    "cells, statement, says",
    [
        (["NAMES = []", "NAMES.append('a')", USES], "NAMES.append('a')", "changed"),
        (["NAMES = [[]]", "NAMES[0].append('a')", USES], "NAMES[0].append('a')", "changed"),
        (["NAMES = {}", "NAMES |= {'a': 1}", USES], "NAMES |= {'a': 1}", "changed"),
        (["NAMES = {}", "NAMES['a'] = 1", USES], "NAMES['a'] = 1", "changed"),
        (["NAMES = {}", "_ = NAMES.setdefault('a', 1)", USES], "_ = NAMES.setdefault", "changed"),
        (["NAMES = []", "for i in range(3):\n    NAMES.append(i)", USES], "NAMES.append(i)", "chan"),
        (["NAMES = [2, 1]", "import random\nrandom.shuffle(NAMES)", USES], "shuffle(", "changed"),
        (["NAMES = torch.zeros(2)", "NAMES.fill_(1)", USES], "NAMES.fill_(1)", "changed"),
        (["NAMES = torch.zeros(2)", "nn.init.ones_(NAMES)", USES], "ones_(NAMES)", "changed"),
        (["NAMES = [1]", "del NAMES[0]", USES], "del NAMES[0]", "changed"),
        ([CLASS, "setattr(Soft, 'dim', 0)", SOFT], "setattr(Soft, 'dim', 0)", "into the class"),
        ([CLASS, "Soft.dim = 0", SOFT], "Soft.dim = 0", "into the class"),
        ([CLASS, "def f(self, x):\n    pass", "Soft.__call__ = f", SOFT], "Soft.__call__ = f", ""),
        ([CLASS, "for n in 'ab':\n    setattr(Soft, n, 1)", SOFT], "setattr(Soft, n, 1)", ""),
        ([CLASS, "del Soft.dim", SOFT], "del Soft.dim", "changed"),
        ([CLASS, PATCH, "@patch(Soft)\ndef __call__(self, x):\n    return 0", SOFT],
         "@patch(Soft)` on `__call__", "does not come along"),
        ([REGISTER, "@register\ndef gelu(x):\n    return x", USES], "@register` on `gelu", "filled"),
        ([NAMED, "@register('a')\ndef gelu(x):\n    return x", USES], "@register('a')` on", "filled"),
        ([REGISTER, "register(max)", USES], "register(max)", "`register` does not come along"),
        ([NAMED, "register('a')(max)", USES], "register('a')(max)", "filled"),
        ([BASE, "class Gelu(Base):\n    pass", USES], "class Gelu(Base):", "filled"),
        (["NAMES = []", "@NAMES.append\ndef gelu(x):\n    pass", USES], "@NAMES.append", "filled"),
        (["NAMES = []", "def fill():\n    _fill()", "def _fill():\n    NAMES.append(1)", "fill()",
          USES], "fill()", "filled"),
        (["NAMES = []", "def fill(x, to):\n    to.append(x)", "fill(1, to=NAMES)", USES],
         "fill(1, to=NAMES)", "changed"),
        (["NAMES = 1", "def fill():\n    global NAMES\n    NAMES = [2]", "fill()", USES],
         "fill()", "filled"),
        (["NAMES = [1]", "NAMES = list(map(str, NAMES))", USES], "NAMES = list(map(", "bound anew"),
        (["NAMES = [1]", "NAMES = NAMES + [2]", USES], "NAMES = NAMES + [2]", "bound anew"),
        (["NAMES = [1]", "for NAMES in [2], [3]:\n    pass", USES], "for NAMES in", "bound anew"),
        (["NAMES = [1]", "print(NAMES := [2])", USES], "print(NAMES := [2])", "bound anew"),
        ([SOFTMAX, "softmax = torch.compile(softmax)"], "softmax = torch.compile(softmax)", "anew"),
        (["NAMES = 1" + " + 1" * 900, USES], "", "nested too deeply"),
    ],
)  # fmt: skip
def test_what_a_cell_does_to_a_definition_is_named(only, student, cells, statement, says):
    """Its code would be lost, so the refusal names it, its cell, and what to do."""
    only("softmax")
    names = [f"cell-{i}" for i in range(len(cells))]
    got = assemble(student({"setup": SETUP} | dict(zip(names, cells))))
    (problem,) = got.problems
    assert statement in problem.reason and says in problem.reason, problem.reason
    assert "cell " in problem.reason and problem.notebook.endswith("self_attention.ipynb")


@pytest.mark.parametrize(
    "cells",
    [
        ["NAMES = []", "NAMES.append(1)", "NAMES = [1]", USES],
        ["NAMES = [1]", "print(NAMES.index(1), len(NAMES), sorted(NAMES))", USES],
        ["NAMES = [1]", "print([NAMES for NAMES in 'ab'], lambda: NAMES.append(1))", USES],
        ["NAMES = [1]", "def other(NAMES):\n    NAMES.append(1)", "other([])", USES],
        [
            "NAMES = {}",
            USES.replace("return", "NAMES[0] = x\n    return"),
            "softmax(torch.ones(2))",
        ],
        [REGISTER, "@register\ndef gelu(x):\n    return x", USES.replace("[n", "gelu and [n")],
        ["NAMES = []", USES, "import sys\nsys.path.append('.')", "torch.manual_seed(NAMES)"],
        [SOFTMAX, "softmax = softmax(torch.ones(3))", "import numpy\nnumpy.random.seed(0)"],
        [BASE.replace("_subclass", ""), "class Gelu(Base):\n    pass", USES],
        [SOFTMAX, "x = torch.relu_(torch.ones(1))\nx.add_(torch.ones(1))"],
        [SOFTMAX, "import os\nold = os.environ.pop('OLD', torch.ones(1))\nos.path.x = torch"],
        ["losses = []", SOFTMAX, "losses.append(softmax(torch.ones(2)))\nlosses.sort()"],
    ],
)
def test_what_leaves_the_definitions_alone_is_no_refusal(only, student, cells):
    only("softmax")
    names = [f"cell-{i}" for i in range(len(cells))]
    assert assemble(student({"setup": SETUP} | dict(zip(names, cells)))).problems == ()


def test_a_constant_set_twice_is_told_where_its_user_fails(only, student):
    only("softmax", checked=True)
    wrong = "def softmax(x, dim=-1):\n    return x.softmax(dim) * SCALE"
    cells = {"setup": SETUP, "a": "SCALE = 1.0", "softmax": wrong, "b": "SCALE = 2.0"}
    reason = reasons(assemble(student(cells)))["softmax"]
    assert "`SCALE` is set again by cell 4 (`SCALE = 2.0`), and that value counts" in reason


def test_all_causes_at_once(only, student):
    """A whole chapter that is missing does not hide what else is needed."""
    only("MultiHeadAttention")
    four = {"setup": CHAPTER_4["setup"]}
    got = reasons(assemble(student(CHAPTER_3 | {"softmax": stub(SOFTMAX)}, four)))
    assert "does not define it" in got["MultiHeadAttention"]
    (student() / "04" / "multi_head_attention.ipynb").unlink()
    got = reasons(assemble(student().joinpath("03_self_attention")))
    assert got["MultiHeadAttention"] == "missing: there is no notebook of 04_multi_head_attention"


@pytest.mark.slow
def test_half_way_the_refusal_lists_what_fill_would_take(tmp_path):
    """Also what is needed only by code that is not written yet."""
    for a in ASSIGNMENTS:
        source = "solutions" if a.name < "05" else "exercises"
        path = tmp_path / a.path
        path.parent.mkdir()
        path.write_bytes((ROOT / source / a.path).read_bytes())
    refused, filled = assemble(tmp_path), assemble(tmp_path, fill=True)
    assert refused.text is None and refused.problems == filled.problems
    missing = {"FeedForward", "LayerNorm", "PreNormBlock", "init_weights", "cross_entropy", "GPT2"}
    assert missing <= reasons(refused).keys()
    assert "attention" not in reasons(refused)


def test_an_unreadable_notebook_is_a_cause(only, student):
    only("attention")
    folder = student()
    (folder / "03_self_attention" / "self_attention.ipynb").write_text("<html>")
    assert "web page" in reasons(assemble(folder))["attention"]


WRONG = SOFTMAX.replace("dim, keepdim=True)  #", "0, keepdim=True)  #")


def test_a_wrong_component_is_refused_or_filled(only, student, tmp_path):
    only("attention", checked=True)
    folder = student(CHAPTER_3 | {"softmax": WRONG})
    got = assemble(folder)
    assert got.text is None
    assert reasons(got)["softmax"].startswith("failed its check: ") and len(got.problems) == 1

    got = assemble(folder, fill=True)
    assert reasons(got)["softmax"].startswith("failed its check: ")
    assert "course, in place of components that are not done: softmax" in got.text
    comment = got.text[: got.text.index("def softmax")].split("\n\n")[-1].strip()
    assert comment == "# Stand-in of the course for softmax (failed its check)."
    assert "F.softmax(x, dim)" in got.text and "standins" not in got.text
    assert "A = softmax(S if mask" in got.text
    load(got.text, tmp_path)


def test_stand_ins_keep_their_own_imports(only, student):
    only("attention")
    three = CHAPTER_3 | {
        "causal_mask": "F = 3.0\n\n\ndef causal_mask(T, device=None):\n    return F"
    }
    three["attention"] = ATTENTION.replace("S + mask", "S + causal_mask(3)")
    three["softmax"] = stub(SOFTMAX)
    text = assemble(student(three), fill=True).text
    assert "import torch.nn.functional as F" in text
    assert "F_2 = 3.0" in text and "return F_2" in text


def test_fill_without_a_stand_in_is_an_error(only, student, monkeypatch):
    only("attention")
    monkeypatch.setattr(build, "standins", lambda: [])
    with pytest.raises(CourseError, match="softmax: not started. The course has no stand-in"):
        assemble(student(CHAPTER_3 | {"softmax": stub(SOFTMAX)}), fill=True)


# ------------------------------------------------------------------ shapes


@pytest.mark.parametrize(
    "signature, comment",
    [
        ('x: Float[Tensor, "... T d"]) -> Float[Tensor, "... T d"]', "(..., T, d) -> (..., T, d)"),
        ('x: Float[Tensor, "V"], n: int) -> Tensor', "x (V,)"),
        ('T: int) -> Float[Tensor, "T T"]', "-> (T, T)"),
        ('a: Int[Tensor, ""], b: Float[Tensor, "#T *b"] | None', "a (), b (T, *b)"),
        ('a: list[Float[Tensor, "T d"]]) -> tuple[Float[Tensor, "T"], Int[Tensor, "d"]]', "list of (T, d) -> (T,), (d,)"),
        ('a: Float[Tensor, "..."]) -> Float[Tensor, "..."]', None),
        ("a: Tensor, b: int", None),
    ],
)  # fmt: skip
def test_annotations_become_a_comment(signature, comment):
    end = "" if "->" in signature else ")"
    got = plain(f'def f({signature}{end}:\n\n    """Doc."""\n', DTYPES)
    assert "Float" not in got and "Int" not in got
    ast.parse(got)
    assert got.split("\n")[1].strip() == (f"# {comment}" if comment else "")


def test_a_comment_that_is_too_long_breaks_before_the_result():
    args = ", ".join(f'argument_{i}: Float[Tensor, "... T d"]' for i in range(4))
    got = plain(f'def f({args}) -> Float[Tensor, "T d"]:\n    pass', DTYPES).split("\n")
    assert got[2] == "    # -> (T, d)" and all(len(line) <= 100 for line in got[1:])


# ------------------------------------------------------------------ the reference


@pytest.mark.skipif(
    not all((ROOT / "solutions" / a.path).exists() for a in ASSIGNMENTS),
    reason="solutions/ does not have all its notebooks",
)
def test_the_reference(tmp_path):
    got = assemble(ROOT / "solutions")
    assert got.problems == () and got.remarks == ()
    assert got.text.count("\n") <= 450
    module = load(got.text, tmp_path)
    assert all(hasattr(module, name) for name in build.CONTRACT if name in COMPONENTS)
    assert "SOLUTION" not in got.text and "Float[" not in got.text


def test_own_earlier_components_are_taken_from_their_notebook(only, student):
    """`from autograder.own import ...` means the same as the import of the stand-in."""
    only("MultiHeadAttention")
    plain_text = assemble(student()).text
    own = {k: v.replace("autograder.standins", "autograder.own") for k, v in CHAPTER_4.items()}
    assert own != CHAPTER_4
    assert assemble(student(four=own)).text == plain_text


def test_helpers_may_have_any_name(only, student, tmp_path):
    """Letters beyond ASCII, and a definition over two lines."""
    only("attention")
    soft = SOFTMAX.replace("softmax(x: F", "Φ_größe(x: F")
    three = {"setup": SETUP, "φ": soft, "attention": ATTENTION.replace("softmax(S", "Φ_größe(S")}
    three["attention"] = three["attention"].replace("def attention", "def \\\n  attention")
    text = assemble(student(three)).text
    assert "def Φ_größe(x" in text
    load(text, tmp_path, "letters")
