"""autograder conform: the reference passes, exit codes, messages, JSON, published weights."""

import json
import time
import types
import numpy as np
import pytest
import torch
from gpt2_edits import edit

from autograder import conform, references
from autograder.cli import main
from autograder.conform import generation
from autograder.conform.load import REQUIRED
from autograder.conform.row import OK, PROPERTIES, SKIPPED, UNSEEN, tolerance_on
from autograder.errors import CourseError
from autograder.oracle import model as oracle


def run(*argv) -> int:
    return main(["conform", *map(str, argv)])


def test_the_reference_conforms(reference_path, tmp_path, capsys):
    report = tmp_path / "rows.json"
    assert run(reference_path, "--json", report) == 0
    assert "Conforms" in capsys.readouterr().out
    found = json.loads(report.read_text())
    assert found["conforms"] and found["device"] == "cpu"
    rows = {row["name"]: row for row in found["rows"]}
    assert len(rows) == len(found["rows"]) >= 35
    assert {row["status"] for row in found["rows"]} <= {OK, SKIPPED}
    for name in ("logits", "hidden states", "attention maps", "gradients", "losses of ten steps"):
        assert rows[name]["status"] == OK and rows[name]["error"] <= 1e-5
    for name in ("logits", "hidden states", "attention maps", "gradients"):
        assert rows[f"{name}, float64"]["error"] <= 1e-10
    assert rows["parameter counts"]["error"] == 0


def test_a_wrong_file_exits_with_1_and_says_where_to_look(reference_source, tmp_path, capsys):
    file, report = tmp_path / "gpt2.py", tmp_path / "rows.json"
    file.write_text(edit(reference_source, ("attention", " / math.sqrt(d_k)", "")))
    assert run(file, "--json", report) == 1
    out = capsys.readouterr().out
    assert "Does not conform" in out and "FAIL attention maps" in out and "1/sqrt(d_k)" in out
    found = json.loads(report.read_text())
    failed = {r["name"] for r in found["rows"] if r["status"] == "FAIL"}
    assert "attention maps" in failed and "parameter counts" not in failed
    assert "More on it: autograder explain attention.no_scaling" in out
    (named,) = found["diagnoses"]
    assert (named["component"], named["mistakes"]) == ("attention", ["no_scaling"])


def test_a_check_that_hangs_takes_nothing_from_the_table(reference_source, tmp_path, capsys):
    """The rows are measured by then, and what was named before it stands."""
    file, report = tmp_path / "gpt2.py", tmp_path / "rows.json"
    wrong = edit(reference_source, ("attention", " / math.sqrt(d_k)", ""))
    file.write_text(wrong + "\n\ndef gelu(x):\n    while True: pass\n")
    assert run(file, "--json", report, "--limit", "8") == 1
    found = json.loads(report.read_text())
    assert len(found["rows"]) == len(PROPERTIES)
    first, last = found["diagnoses"]
    assert first["mistakes"] == ["no_scaling"]
    assert last["component"] == "gelu" and "longer than 8 seconds" in last["says"]
    assert "gelu: Its check was ended." in capsys.readouterr().out


def test_nan_is_a_failure_and_json_stays_valid(reference_source, tmp_path):
    file, report = tmp_path / "gpt2.py", tmp_path / "rows.json"
    file.write_text(edit(reference_source, ("causal_mask", "triu(1)", "triu(0)")))
    assert run(file, "--json", report) == 1
    strict = json.loads(report.read_text(), parse_constant=lambda name: pytest.fail(name))
    assert any(row["error"] == "inf" for row in strict["rows"])


def test_what_the_file_raises_is_told_with_its_line(reference_source, tmp_path):
    file = tmp_path / "gpt2.py"
    file.write_text(edit(reference_source, ("merge_heads", "H * d_k", "H * d_k + 1")))
    (row,) = conform.rows(file, only=["logits"])
    assert row.failed and "reshape" in row.detail and "line " in row.detail


@pytest.mark.parametrize(
    "text, message",
    [
        ("def f(:\n", "line 1"),
        ("x = 1\nraise RuntimeError('no luck')\n", "line 2"),
        ("import sys\nsys.exit(3)\n", "SystemExit"),
        ("import no_such_module\n", "no_such_module"),
        ("class GPT2Config: pass\nclass GPT2: pass\n", "does not define generate"),
    ],
)
def test_a_file_that_cannot_be_compared_exits_with_2(text, message, tmp_path, capsys):
    file = tmp_path / "gpt2.py"
    file.write_text(text)
    assert run(file) == 2
    err = capsys.readouterr().err
    assert message in err and "Traceback" not in err


ENDS = {
    "os._exit(0)": ("os._exit(0)", "It ended Python (exit status 0)"),
    "abort": ("os.abort()", "It ended Python with signal 6 (SIGABRT)"),
    "segfault": ("ctypes.string_at(0)", "It ended Python with signal 11 (SIGSEGV)"),
    "loop": ("while True: pass", "It ran longer than 8 seconds and was stopped"),
    "loop in C": ("sum(itertools.count())", "It ran longer than 8 seconds and was stopped"),
    "exit": ("raise SystemExit(0)", "SystemExit"),
}
DEADLY = [("import", how) for how in ENDS if how != "exit"] + [("forward", how) for how in ENDS]


@pytest.mark.slow
@pytest.mark.parametrize("where, how", DEADLY)
def test_a_file_that_hangs_or_ends_python_does_not_conform(
    where, how, reference_source, tmp_path, capsys
):
    """At its import or in a forward pass; exit() at its import is an error like another."""
    code, says = ENDS[how]
    lines = f"    import ctypes, itertools, os\n    {code}\n"
    if where == "import":
        text = reference_source + f"\n\nif True:\n{lines}"
    else:
        text = edit(reference_source, ("causal_mask", "", f"def causal_mask(T, device):\n{lines}"))
    file, report = tmp_path / "gpt2.py", tmp_path / "rows.json"
    file.write_text(text)
    assert run(file, "--json", report, "--limit", "8") == 1
    said = capsys.readouterr()
    out = " ".join(said.out.split())
    assert "Does not conform" in out and says in out and "Traceback" not in said.err
    found = json.loads(report.read_text())
    assert not found["conforms"]
    failed = [row for row in found["rows"] if row["status"] == "FAIL"]
    assert says in failed[0]["detail"]
    if where == "import":
        assert [row["name"] for row in failed] == ["import"]
    elif how != "exit":
        assert len(failed) == 1 and f"ended at the row '{failed[0]['name']}'" in out
        assert {"parameter counts", "logits"} <= {row["name"] for row in found["rows"]}


def test_what_the_file_starts_is_not_waited_for(reference_source, tmp_path):
    file = tmp_path / "gpt2.py"
    threads = "import threading, time\nthreading.Thread(target=time.sleep, args=[600]).start()\n"
    file.write_text(reference_source + threads)
    before = time.monotonic()
    assert run(file) == 0 and time.monotonic() - before < 120


def test_no_such_file(tmp_path, capsys):
    assert run(tmp_path / "absent.py") == 2
    assert "no such file" in capsys.readouterr().err


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")
def test_no_such_device(reference_path, capsys):
    assert run(reference_path, "--device", "cuda") == 2
    assert "no cuda device" in capsys.readouterr().err


def test_missing_names_are_all_listed():
    with pytest.raises(CourseError, match=", ".join(REQUIRED)):
        conform.rows(types.ModuleType("empty"))


def test_wrong_names_fail_one_row_and_skip_what_rests_on_it(reference_source, tmp_path):
    file = tmp_path / "gpt2.py"
    file.write_text(reference_source.replace("b_up", "bias_up"))
    rows = {row.name: row for row in conform.rows(file)}
    assert "no blocks.0.ffn.b_up" in rows["parameter names and shapes"].detail
    assert rows["logits"].status == SKIPPED and rows["parameter counts"].status == OK


def test_sdpa_leaves_the_attention_maps_unobservable(reference_source, tmp_path, capsys):
    sdpa = (
        "def attention(Q, K, V, mask=None, dropout=0.0):\n"
        "    return nn.functional.scaled_dot_product_attention(Q, K, V, mask.to(Q), dropout), None"
    )
    file = tmp_path / "gpt2.py"
    file.write_text(edit(reference_source, ("attention", "", sdpa)))
    assert run(file) == 0
    assert "attention maps, not observable" in capsys.readouterr().out
    (row,) = conform.rows(file, only=["attention maps"])
    assert row.status == UNSEEN and not row.failed


def test_nothing_of_the_caller_is_changed(reference_path):
    torch.manual_seed(5)
    state, threads = torch.random.get_rng_state(), torch.get_num_threads()
    conform.rows(reference_path, only=["logits", "dropout", "fresh weights"])
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.get_num_threads() == threads


def test_off_the_cpu_float32_rows_get_more_room():
    gpu = torch.device("cuda")
    tolerance = {p.name: tolerance_on(gpu, p.tolerance) for p in PROPERTIES}
    assert tolerance["logits"] == tolerance["gradients"] == 1e-4
    assert tolerance["logits, float64"] == 1e-10 and tolerance["parameter counts"] == 0


def test_the_choices_compared_with_are_clear():
    """No greedy choice and no edge of top_k or top_p is a matter of rounding."""
    r = references.load("full")
    ids = oracle.greedy(
        r.parameters, r["ids"][:, : generation.PROMPT], r.sizes.H, r.sizes.n_positions
    )
    for end in range(generation.PROMPT, ids.shape[1]):
        seen = ids[:, max(0, end - r.sizes.n_positions) : end]
        best = np.sort(oracle.forward(r.parameters, seen, r.sizes.H).logits[:, -1])
        assert (best[:, -1] - best[:, -2]).min() > 1e-3
    r = references.load("short")
    prompt = r["ids"][:1, : generation.PROMPT]
    p = np.sort(oracle.softmax(oracle.forward(r.parameters, prompt, r.sizes.H).logits[0, -1]))[::-1]
    assert p[3] - p[4] > 1e-3 and np.abs(p.cumsum() - 0.6).min() > 1e-3
