"""The commands as their user meets them: output, exit status, and notebooks that misbehave."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from autograder.assemble import Assembly
from autograder.cli import COMMANDS, Command, main
from autograder.survey import Verdict
from autograder.survey.command import table
from conftest import ROOT
from samples import CAUSAL_MASK, CHAPTER_3, SOFTMAX, cell, save, stub

SCORE_VARIANCE = """\
def score_variance(d_k, n=10_000, scaled=True):
    scores = (torch.randn(n, d_k) * torch.randn(n, d_k)).sum(-1)
    return (scores / math.sqrt(d_k) if scaled else scores).var().item()"""
WRONG_MASK = CAUSAL_MASK.replace("triu(1)", "triu(0)")


def python(*args, **more):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *args], capture_output=True, text=True, env=environment, **more
    )


@pytest.fixture
def check(tmp_path, capsys, monkeypatch):
    """Run `autograder check` on a chapter 3 with changes: (exit status, JSON, output)."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(changes=None, *options):
        save(tmp_path / "self_attention.ipynb", CHAPTER_3 | (changes or {}))
        result = tmp_path / "result.json"
        status = main(["check", str(tmp_path), "--json", str(result), *options])
        return status, json.loads(result.read_text()), capsys.readouterr().out

    return run


# ------------------------------------------------------------------ check


def test_half_done_notebooks(check):
    status, result, out = check(
        {"causal_mask": WRONG_MASK, "attention": stub(CHAPTER_3["attention"])}
    )
    by_name = {c["component"]: c for c in result["components"]}
    assert status == 1
    assert {n: c["status"] for n, c in by_name.items()} == {
        "softmax": "done",
        "causal_mask": "wrong",
        "attention": "not started",
        "AttentionHead": "missing",
        "score_variance": "missing",
    }
    assert "-inf stands on the diagonal too" in by_name["causal_mask"]["why"]
    assert by_name["causal_mask"]["mistakes"] == ["causal_mask.diagonal_masked"]
    assert by_name["softmax"]["mistakes"] == by_name["attention"]["mistakes"] == []
    assert "More on it: autograder explain causal_mask.diagonal_masked" in out
    assert result["next"] == "causal_mask"
    assert "1 of 5 components are done" in out
    assert "Next: causal_mask, in " in out and "03-self-attention.html#sec-causal-mask" in out
    assert "\x1b" not in out and by_name["causal_mask"]["why"] in out


LOOP = "def _w(f):\n    while True:\n        pass\n\n\n@_w\n" + SOFTMAX
EXIT_AT_IMPORT = "import os\n\n\n@(lambda f: os._exit(3))\ndef softmax(x):\n    return x"
NO_MODULE = "import no_such as m\n\n\ndef attention(Q, K, V, mask=None):\n    return m.f(Q)"
DEADLY = [
    {
        "softmax": (LOOP, "`softmax` cannot be defined: It ran longer than 6 seconds"),
        "causal_mask": ("def causal_mask(T):\n    os._exit(0)\n\n\nimport os", "It ended Python"),
        "attention": (
            "def attention(Q, K, V, mask=None):\n    while True:\n        pass",
            "It ran longer than 6 seconds and was stopped",
        ),
    },
    {
        "softmax": (EXIT_AT_IMPORT, "cannot be defined: It ended Python (exit status 3)"),
        "causal_mask": ("def causal_mask(T):\n    exit()", "It calls exit()"),
        "attention": (NO_MODULE, "`m` cannot be defined: ModuleNotFoundError"),
        "AttentionHead": ("AttentionHead = 1 / 0", "ZeroDivisionError"),
    },
]


@pytest.mark.slow
@pytest.mark.parametrize("deadly", DEADLY, ids=["hang", "die"])
def test_a_deadly_component_does_not_take_the_others_along(check, deadly):
    cells = {name: source for name, (source, _) in deadly.items()}
    status, result, _ = check(cells | {"score_variance": SCORE_VARIANCE}, "--limit", "6")
    assert status == 1
    by_name = {c["component"]: c for c in result["components"]}
    assert by_name["score_variance"]["status"] == "done"
    for name, (_, says) in deadly.items():
        assert by_name[name]["status"] == "wrong" and says in by_name[name]["why"]


BEATS = """\
def _w(f):
    import itertools, time
    from pathlib import Path

    for n in itertools.count():
        Path({file!r}).write_text(str(n))
        time.sleep(0.02)


@_w
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL", "SIGINT"])
@pytest.mark.parametrize("command", ["check", "conform"])
def test_no_process_outlives_the_command(command, name, tmp_path):
    """However it ends: the code that it runs writes a number again and again, until it is ended."""
    heart = tmp_path / "heart"
    code = BEATS.format(file=str(heart)) + "def softmax(x, dim=-1):\n    return x"
    path = tmp_path / "gpt2.py"
    path.write_text(code)
    if command == "check":
        path = save(tmp_path / "self_attention.ipynb", CHAPTER_3 | {"softmax": code})
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-m", "autograder", command, str(path)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
        # As at a terminal: a shell has its background jobs ignore SIGINT, and they hand that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        until(heart.exists)
        process.send_signal(getattr(signal, name))
    assert process.returncode == {"SIGTERM": 143, "SIGINT": 130, "SIGKILL": -9}[name]
    until(lambda: heart.read_text() == (time.sleep(0.3), heart.read_text())[1])
    if name != "SIGKILL":
        assert not list(tmp_path.glob("autograder-*"))  # nor do its files


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_only_definitions_are_run_and_the_rest_is_remarked(check, tmp_path):
    mark = tmp_path / "ran"
    status, result, out = check(
        {
            "trial": f"open({str(mark)!r}, 'w')\nwhile True: pass",
            "bad": "def f(:",
            "softmax": "def softmax(x, dim=-1):\n    return x.softmax(dim)",
            "values": "ones = torch.rand(1)",
            "causal_mask": "def causal_mask(T, device=None):\n    return ones",
        }
    )
    softmax, mask, *_ = result["components"]
    assert not mark.exists() and softmax["status"] == "done"
    assert "Remark: self_attention.ipynb: cell 7 is left out" in out
    assert "Remark: softmax: `softmax` of the library" in out
    assert (
        "`causal_mask` uses `ones`, which is no definition but a value that cell 8" in mask["why"]
    )


def test_the_table_folds_at_80_columns():
    why = "The diagonal is masked too: no position may look at itself, and row 0 at nothing. [x]"
    verdict = Verdict("causal_mask", "03_self_attention", "x.ipynb", "wrong", why)
    console = Console(width=80, file=io.StringIO())
    console.print(table([verdict]))
    lines = console.file.getvalue().split("\n")
    assert max(map(len, lines)) <= 80
    assert " ".join(" ".join(lines).split()) == (
        f"03_self_attention 0 of 1 causal_mask wrong {why}"
    )


def unreadable(path):
    path.write_text("{}")
    path.chmod(0)


SPOILT = {
    "a broken link": (lambda path: path.symlink_to("nowhere"), "is a link to nowhere, which does"),
    "a folder": (lambda path: path.mkdir(), "is not a file, but a folder"),
    "no JSON": (lambda path: path.write_text("{"), "is no notebook"),
    "no text": (lambda path: path.write_bytes(b"\xff\xfe\x00\xd8" * 9), "is no notebook"),
    "not yours": (unreadable, "cannot be read: Permission denied"),
}


@pytest.mark.parametrize("name", ["multi_head_attention", "self_attention (1)"])
@pytest.mark.parametrize(
    "spoilt, as_file",
    # a folder that is named is looked into, so only a found one is spoilt
    [(s, f) for s in SPOILT for f in (True, False) if (s, f) != ("a folder", True)],
)
def test_one_spoilt_notebook_is_told_and_the_others_are_read(
    spoilt, name, as_file, tmp_path, capsys, monkeypatch
):
    """Whether it is found in a folder or named, in the place of a good one or beside it."""
    monkeypatch.setenv("COLUMNS", "400")
    spoil, says = SPOILT[spoilt]
    good = save(tmp_path / "self_attention.ipynb", {"softmax": stub(SOFTMAX)})
    spoil(tmp_path / f"{name}.ipynb")
    if spoilt == "not yours":
        usual = Path.read_bytes
        denied = PermissionError(13, "Permission denied")  # which root is not

        def read_bytes(path):
            if path.name.startswith(name):
                raise denied
            return usual(path)

        monkeypatch.setattr(Path, "read_bytes", read_bytes)
    paths = [str(good), str(tmp_path / f"{name}.ipynb")] if as_file else [str(tmp_path)]
    assert main(["check", *paths]) == 1
    out = capsys.readouterr().out
    assert f"{name}.ipynb" in out and says in out
    assert re.search(r"softmax +not started", out)


def test_a_folder_that_cannot_be_read_is_told(tmp_path, capsys, monkeypatch):
    save(tmp_path / "self_attention.ipynb", {"softmax": stub(SOFTMAX)})
    save(tmp_path / "04_multi_head_attention" / "multi_head_attention.ipynb", ["x = 1"])
    usual = os.scandir

    def scandir(path):
        if str(path).endswith("04_multi_head_attention"):
            raise PermissionError(13, "Permission denied", str(path))
        return usual(path)

    monkeypatch.setattr("os.scandir", scandir)
    assert main(["check", str(tmp_path)]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "04_multi_head_attention cannot be read: Permission denied" in out


def test_a_notebook_of_no_assignment(tmp_path, capsys):
    path = save(tmp_path / "notes.ipynb", ["x = 1"])
    assert main(["check", str(path)]) == 2
    assert "No component of the course is defined in" in capsys.readouterr().err


# ------------------------------------------------------------------ assemble


def test_assemble_refuses_and_writes_nothing(tmp_path, capsys):
    save(tmp_path / "in" / "self_attention.ipynb", CHAPTER_3 | {"softmax": stub(SOFTMAX)})
    out = tmp_path / "gpt2.py"
    assert main(["assemble", str(tmp_path / "in"), "-o", str(out)]) == 1
    said = capsys.readouterr().err
    assert not out.exists() and "is not written" in said
    assert "embed, GPT2Config, count_parameters: missing: there is no notebook of" in said
    assert "--fill" in said


@pytest.fixture
def write(monkeypatch, capsys):
    """Run `autograder assemble -o` with a text already made: (exit status, what was said)."""
    made = lambda *_: Assembly("x = 1\n", (), ())
    monkeypatch.setattr("autograder.assemble.command.assemble", made)

    def run(path):
        status = main(["assemble", "anything", "-o", str(path)])
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return status, said.err

    return run


def test_the_file_replaces_an_old_one_whole(write, tmp_path):
    """Its folder is made, its rights stay, and a link still points to it."""
    path = tmp_path / "new" / "folder" / "gpt2.py"
    assert write(path) == (0, "") and path.read_text() == "x = 1\n"
    path.write_text("old")
    path.chmod(0o640)
    link = tmp_path / "link.py"
    link.symlink_to(path)
    assert write(link) == (0, "")
    assert link.is_symlink() and path.read_text() == "x = 1\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in path.parent.iterdir()] == ["gpt2.py"]


@pytest.mark.parametrize(
    "name, says", [("", "is a folder, not a file"), ("file/x.py", "file is a file, not a folder")]
)
def test_where_no_file_can_be_written(write, tmp_path, name, says):
    (tmp_path / "file").write_text("kept")
    status, said = write(tmp_path / name)
    assert status == 2 and says in said and said.count("\n") == 1
    assert (tmp_path / "file").read_text() == "kept" and len(list(tmp_path.iterdir())) == 1


def test_an_output_without_a_name_is_wrong_usage(write, capsys):
    for name, says in (("", "-o/--output: the name of the file is empty"), ("new/", "a folder")):
        with pytest.raises(SystemExit) as stop:
            write(name)
        assert stop.value.code == 2 and says in capsys.readouterr().err


def test_a_failed_write_leaves_the_old_file(write, tmp_path, monkeypatch):
    path = tmp_path / "gpt2.py"
    path.write_text("old")

    def full(self, content):
        with open(self, "wb") as file:
            file.write(content[:2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    status, said = write(path)
    assert status == 2 and "gpt2.py cannot be written: No space left on device" in said
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the devices of Linux")
def test_a_device_is_written_to_and_stays(write, monkeypatch):
    replaced = lambda *_: pytest.fail("a device would be replaced")
    monkeypatch.setattr("os.replace", replaced)  # where root runs this, the machine's own would go
    assert write("/dev/null") == (0, "")
    status, said = write("/dev/full")
    assert status == 2 and "/dev/full cannot be written: No space left" in said
    assert said.count("\n") == 1


# ------------------------------------------------------------------ normalise


def test_normalise(tmp_path, capsys):
    path = save(tmp_path / "a" / "x.ipynb", [cell("a = 1", outputs=[{}], execution_count=3)])
    checkpoint = save(tmp_path / "a" / ".ipynb_checkpoints" / "x-checkpoint.ipynb", ["a = 0"])
    before, old = path.read_bytes(), checkpoint.read_bytes()
    assert main(["normalise", str(tmp_path), "--check"]) == 1
    assert path.read_bytes() == before and str(path) in capsys.readouterr().err
    assert main(["normalise", str(tmp_path)]) == 0
    after = path.read_bytes()
    assert main(["normalise", str(tmp_path), "--check"]) == 0
    assert main(["normalise", str(path)]) == 0
    assert path.read_bytes() == after != before and checkpoint.read_bytes() == old
    assert {p.name for p in path.parent.iterdir()} == {"x.ipynb", ".ipynb_checkpoints"}


def test_normalise_changes_nothing_if_one_is_no_notebook(tmp_path, capsys):
    path = save(tmp_path / "a.ipynb", ["a = 1"])
    before = path.read_bytes()
    (tmp_path / "b.ipynb").write_text("{")
    assert main(["normalise", str(tmp_path)]) == 2
    assert path.read_bytes() == before
    assert "b.ipynb is no notebook" in capsys.readouterr().err


# ------------------------------------------------------------------ all commands


@pytest.mark.parametrize(
    "args", [["check", "nowhere"], ["assemble", "nowhere"], ["normalise", "no"]]
)
def test_user_errors_are_told_without_a_traceback(args, capsys):
    assert main(args) == 2
    said = capsys.readouterr().err
    assert said.startswith("autograder: ") and "does not exist" in said and "Traceback" not in said


@pytest.mark.parametrize(
    "lines, says",
    [
        ("import no_such_library", "'no_such_library'. Install what the course needs"),
        ("import autograder.no_such_part", "a part of the course. Fetch the course anew."),
        ("from autograder.errors import no_such_name", "'train' cannot be loaded: cannot import"),
    ],
)
def test_a_command_that_cannot_be_loaded_is_told_in_a_line(
    lines, says, tmp_path, monkeypatch, capsys
):
    (tmp_path / "broken_command.py").write_text(lines)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_command", raising=False)
    monkeypatch.setitem(COMMANDS, "train", Command("broken_command", "train"))
    assert main(["train"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("autograder: ") and says in said and said.count("\n") == 1


@pytest.mark.parametrize("args", [[], ["no-such-command"], ["check"], ["assemble", "a", "--what"]])
def test_wrong_usage(args, capsys):
    with pytest.raises(SystemExit) as stop:
        main(args)
    assert stop.value.code == 2 and "usage: autograder" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "1e9", "soon", ""])
@pytest.mark.parametrize("command", [["check", "."], ["assemble", "."], ["conform", "gpt2.py"]])
def test_a_limit_is_a_time(command, value, capsys):
    with pytest.raises(SystemExit) as stop:
        main([*command, f"--limit={value}"])
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert f"--limit: {value!r} is not a number of seconds above 0" in said


@pytest.mark.parametrize(
    "command, options",
    [
        ("train", "seed steps batch-size lr min-lr warmup weight-decay dropout n-layer n-head "
         "d-model context eval-every save-every threads"),
        ("generate", "max-new-tokens temperature top-k top-p seed num"),
    ],
)  # fmt: skip
def test_no_number_may_be_senseless(command, options, capsys):
    for option in options.split():
        for value in ("-1", "nan", "soon"):
            with pytest.raises(SystemExit) as stop:
                main([command, "gpt2.py", f"--{option}={value}"])
            said = capsys.readouterr().err
            assert stop.value.code == 2 and f"--{option}: {value!r} is not a" in said


@pytest.mark.parametrize("command", [["check", str(ROOT)], ["conform", "gpt2.py"]])
def test_a_json_file_that_cannot_be_written_is_told_at_once(command, tmp_path, capsys):
    assert main([*command, "--json", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "is a folder, not a file" in said and said.count("\n") == 1


def test_help_lists_all_commands_and_loads_none():
    code = "import sys; from autograder.cli import parser; parser(None).print_help(); "
    done = python("-c", code + "print('torch' in sys.modules, 'rich' in sys.modules)")
    assert all(f"    {name}" in done.stdout for name in COMMANDS)
    assert done.stdout.endswith("False False\n")


@pytest.mark.parametrize("name", ["check", "assemble", "normalise"])
def test_commands_start_without_torch(name):
    code = f"import sys; from autograder.cli import parser; parser({name!r}); "
    done = python("-c", code + "print('torch' in sys.modules)")
    assert done.stdout == "False\n", done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_describes_itself(name, capsys):
    with pytest.raises(SystemExit) as stop:
        main([name, "--help"])
    out = capsys.readouterr().out
    assert stop.value.code == 0 and out.startswith(f"usage: autograder {name}")


def test_it_runs_as_a_module():
    done = python("-m", "autograder", "--version", cwd=ROOT)
    assert done.stdout.startswith("autograder ") and done.returncode == 0


@pytest.mark.parametrize("code", [0, 3])
def test_a_file_that_exits_while_imported_is_no_verdict(tmp_path, capsys, code):
    path = tmp_path / "gpt2.py"
    path.write_text(f"raise SystemExit({code})\n")
    assert main(["conform", str(path)]) == 2
    assert "cannot be imported" in capsys.readouterr().err


@pytest.mark.parametrize("code", [0, 3])
def test_a_command_that_a_students_code_ends_is_no_verdict(monkeypatch, capsys, code):
    monkeypatch.setattr("autograder.notebooks.command.run", lambda args: sys.exit(code))
    assert main(["normalise", "x.ipynb"]) == 2
    assert "calls exit()" in capsys.readouterr().err


def test_a_reader_who_leaves_is_no_fault_of_the_code(tmp_path):
    """`autograder check . | head -1`."""
    path = save(tmp_path / "self_attention.ipynb", {"softmax": stub(SOFTMAX)})
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "autograder", "check", str(path)]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


def test_an_ascii_terminal_is_no_error(tmp_path):
    """Letters that the output lacks come out escaped."""
    save(tmp_path / "größe ∞.ipynb", {"setup": "import math"})
    env = os.environ | {"PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "autograder", "normalise", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    assert "gr\\xf6\\xdfe \\u221e.ipynb normalised" in done.stdout
