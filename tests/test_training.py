"""`autograder train`: tiny runs, stopped in every way and taken up again."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
import safetensors.torch
import torch
from conftest import ROOT

from autograder.cli import main
from autograder.training import checkpoint, device, gpu_check, options
from autograder.training.defaults import CHARACTERS, TALES
from autograder.training.load import load_run

MODEL = "--n-layer 1 --n-head 2 --d-model 16 --context 16 --batch-size 4".split()
TINY = [*MODEL, *"--steps 12 --eval-every 4 --save-every 4 --threads 1 --device cpu".split()]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """A small file with something to learn in it."""
    path = tmp_path_factory.mktemp("text") / "little.txt"
    words = "the cat sat on a mat and so did the dog".split()
    path.write_text(" ".join(random.Random(0).choices(words, k=600)))
    return path


@pytest.fixture
def train(reference_path, text, tmp_path, monkeypatch, capsys):
    """Train in an empty folder: (exit status, what was printed, what was complained of)."""
    monkeypatch.chdir(tmp_path)

    def train(*args, file=reference_path, what=("--text", text)):
        status = main(["train", str(file), *map(str, what), *map(str, args)])
        return status, *capsys.readouterr()

    return train


def state(folder):
    """Record and tensors, without what depends on the clock or the place."""
    record, tensors = checkpoint.read(folder)
    record["history"] = [{k: v for k, v in e.items() if k != "seconds"} for e in record["history"]]
    return {k: record[k] for k in ("step", "history", "adamw", "config", "settings")}, tensors


def require_equal(folder, other):
    (record, tensors), (record_2, tensors_2) = state(folder), state(other)
    assert record == record_2
    assert tensors.keys() == tensors_2.keys()
    assert all(torch.equal(t, tensors_2[name]) for name, t in tensors.items())


def edited(reference_path, tmp_path, old, new):
    source = reference_path.read_text()
    assert old in source
    path = tmp_path / "gpt2.py"
    path.write_text(source.replace(old, new))
    return path


# ------------------------------------------------------------------ a run


def test_a_run_from_start_to_end(train, tmp_path, reference_path):
    status, out, err = train(*TINY, "--lr", 0.02)
    assert status == 0 and err == ""
    folder = tmp_path / "runs" / "little"
    assert {p.name for p in folder.iterdir()} == {
        "checkpoint.json",
        "checkpoint-000012.safetensors",
        "curve.png",
    }
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")
    record = json.loads((folder / "checkpoint.json").read_text())
    history = record["history"]
    assert [entry["step"] for entry in history] == [0, 4, 8, 12]
    assert history[-1]["val"] < history[0]["val"] - 0.1
    rows = re.findall(r"^ +(\d+) +([\d.]+) +([\d.]+) +\d+:\d\d$", out, re.M)
    assert rows == [
        (str(e["step"]), f"{e['train']:.4f}", f"{e['val']:.4f}") for e in history
    ], "a plain line for each evaluation"
    assert f"held-out loss {history[-1]['val']:9.4f}" in out and "A sample" in out
    for name in ("checkpoint.json", "checkpoint-000012.safetensors", "curve.png"):
        assert f"runs/little/{name}" in out
    assert record["settings"]["lr"] == 0.02
    assert record["settings"]["min_lr"] == pytest.approx(0.002), "its share of another --lr"
    assert record["gpt2"]["path"] == str(reference_path)

    tensors = safetensors.torch.load_file(folder / "checkpoint-000012.safetensors")
    model, vocabulary = load_run(reference_path, "runs/little")
    assert not model.training and vocabulary.kind == "characters"
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, tensors[name])
        assert tensors[f"adamw.m.{name}"].shape == weight.shape


def test_tales_are_the_default_and_have_a_floor(train, tmp_path, monkeypatch):
    monkeypatch.setattr(options, "TALES", replace(TALES, tales=60, held_out=8))
    status, out, _ = train(*TINY, what=())
    assert status == 0
    levels = json.loads((tmp_path / "runs/tales/checkpoint.json").read_text())["levels"]
    assert list(levels)[0] == "unigram" and list(levels)[-1] == "floor"
    last = re.search(r"^ +12 +[\d.]+ +([\d.]+) +([\d.]+) +([\d.]+) +\d+:\d\d$", out, re.M)
    val, floor, above = map(float, last.groups())
    assert floor == pytest.approx(levels["floor"], abs=1e-4)
    assert above == pytest.approx(val - floor, abs=2e-4)
    parts = re.search(r"above the floor +([\d.]+)   grammar (\S+), .*fact (\S+)", out)
    assert float(parts[1]) == above
    assert sum(map(float, re.findall(r"[a-z-]+ (-?\d\.\d+)", parts[0]))) == pytest.approx(
        above, abs=5e-4
    )
    status, out, _ = train(what=("--resume",))
    assert status == 0 and "at its end already" in out


def test_the_seed_decides(train, tmp_path):
    for name, extra in {"a": [], "b": [], "c": ["--seed", "1"]}.items():
        assert train(*TINY, *extra, "--steps", 4, "--out", name)[0] == 0
    require_equal(tmp_path / "a", tmp_path / "b")
    one, other = state(tmp_path / "a")[1]["E"], state(tmp_path / "c")[1]["E"]
    assert not torch.equal(one, other)


# ------------------------------------------------------------------ stopped, and taken up again


@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_killed_and_resumed_it_ends_as_if_never_stopped(
    dropout, train, tmp_path, text, reference_path
):
    long = [*TINY, "--steps", "300", "--save-every", "7", "--eval-every", "60"]
    long += ["--dropout", str(dropout)]
    record = tmp_path / "killed" / "checkpoint.json"
    command = ["train", str(reference_path), "--text", str(text), *long, "--out", "killed"]
    process = subprocess.Popen(
        [sys.executable, "-m", "autograder", *command],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
    )
    try:
        while not (record.exists() and json.loads(record.read_text())["step"] >= 70):
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.005)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == -signal.SIGKILL
    assert 70 <= json.loads(record.read_text())["step"] < 300
    assert train("--out", "killed", "--resume")[0] == 0
    assert train(*long, "--out", "straight")[0] == 0
    require_equal(tmp_path / "killed", tmp_path / "straight")


def test_ctrl_c_saves_and_says_how_to_go_on(train, tmp_path, reference_path):
    """The signal comes in the middle of step 6, which is finished first."""
    clip = "    norm = clip_grad_norm(params, max_norm)\n"
    mark = tmp_path / "mark"
    press = (
        "    import os, signal\n"
        f"    with open({str(mark)!r}, 'a') as f:\n        f.write('x')\n"
        f"    if os.path.getsize({str(mark)!r}) == 6:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
    )
    file = edited(reference_path, tmp_path, clip, press + clip)
    before = signal.getsignal(signal.SIGINT)
    status, out, _ = train(*TINY, "--out", "stopped", file=file)
    assert status == 130
    assert "Stopped after step 6; the checkpoint is in stopped." in out
    assert f"To go on: autograder train {file} --out stopped --resume" in out
    assert signal.getsignal(signal.SIGINT) == before
    assert train("--out", "stopped", "--resume", file=file)[0] == 0
    assert train(*TINY, "--out", "straight")[0] == 0
    require_equal(tmp_path / "stopped", tmp_path / "straight")


def test_ctrl_c_before_the_first_step(train, tmp_path, reference_path):
    mark = tmp_path / "mark"
    press = (
        "    import os, pathlib, signal\n"
        f"    if not os.path.exists({str(mark)!r}):\n"
        f"        pathlib.Path({str(mark)!r}).touch()\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
    )
    evaluation = "    training = model.training\n    model.eval()\n    total"
    file = edited(reference_path, tmp_path, evaluation, press + evaluation)
    status, out, _ = train(*TINY, "--out", "stopped", file=file)
    assert status == 130 and "Stopped after step 0; the checkpoint is in stopped." in out
    assert train("--out", "stopped", "--resume", file=file)[0] == 0
    assert train(*TINY, "--out", "straight")[0] == 0
    require_equal(tmp_path / "stopped", tmp_path / "straight")


def test_killed_between_the_two_files_the_last_pair_is_whole(train, tmp_path, monkeypatch):
    assert train(*TINY, "--steps", 4, "--out", "run")[0] == 0
    folder = tmp_path / "run"
    record, tensors = checkpoint.read(folder)

    class Killed(BaseException):
        pass

    moves = []

    def replace_once(source, target):
        moves.append(target)
        if len(moves) == 2:
            raise Killed
        os_replace(source, target)

    os_replace = os.replace
    monkeypatch.setattr(os, "replace", replace_once)
    with pytest.raises(Killed):
        checkpoint.save(folder, record | {"step": 5}, {"E": torch.zeros(2)})
    monkeypatch.undo()
    assert (folder / "checkpoint-000005.safetensors").exists()
    again, tensors_again = checkpoint.read(folder)
    assert again["step"] == 4 and all(torch.equal(t, tensors_again[n]) for n, t in tensors.items())
    checkpoint.save(folder, record | {"step": 6}, tensors)
    left = {p.name for p in folder.iterdir()}
    assert left == {"checkpoint.json", "checkpoint-000006.safetensors", "curve.png"}


def test_a_resumed_run_keeps_its_settings(train):
    assert train(*TINY, "--steps", 4)[0] == 0
    assert train("--resume", "--steps", 4, "--d-model", 16)[0] == 0
    status, _, err = train("--resume", "--lr", 0.5, "--n-layer", 2)
    assert status == 2
    assert f"--lr 0.5 (the run has {CHARACTERS.lr:g}), --n-layer 2 (the run has 1)" in err
    status, _, err = train("--resume", "--out", "runs/little", what=("--text", "other.txt"))
    assert status == 2 and "--text other.txt (the run learns " in err


def test_another_run_is_never_overwritten_silently(train, tmp_path):
    assert train(*TINY, "--steps", 4)[0] == 0
    before = (tmp_path / "runs/little/checkpoint.json").read_bytes()
    (tmp_path / "runs/little/checkpoint-notes.txt").write_text("mine")
    status, _, err = train(*TINY)
    assert status == 2 and "--resume" in err and "--overwrite" in err
    assert (tmp_path / "runs/little/checkpoint.json").read_bytes() == before
    assert train(*TINY, "--steps", 8, "--overwrite")[0] == 0
    assert {p.name for p in (tmp_path / "runs/little").glob("*.safetensors")} == {
        "checkpoint-000008.safetensors"
    }
    assert (tmp_path / "runs/little/checkpoint-notes.txt").read_text() == "mine"


def test_a_changed_file_is_told(train, tmp_path, reference_path):
    assert train(*TINY, "--steps", 4)[0] == 0
    file = edited(reference_path, tmp_path, "GPT-2 in one file", "A GPT-2 in one file")
    status, _, err = train("--resume", file=file)
    assert status == 0 and f"Warning: {file} is not the file" in err


def test_a_changed_text_is_an_error(train, text, tmp_path):
    mine = tmp_path / "mine.txt"
    mine.write_text(text.read_text())
    assert train(*TINY, "--steps", 4, what=("--text", mine))[0] == 0
    mine.write_text(text.read_text() + " the end")
    status, _, err = train("--resume", what=("--text", mine))
    assert status == 2 and "changed since the checkpoint" in err
    mine.unlink()
    status, _, err = train("--resume", what=("--text", mine))
    assert status == 2 and f"{mine}: no such file" in err


def cut_record(folder):
    path = folder / "checkpoint.json"
    path.write_bytes(path.read_bytes()[:500])


def lose_settings(folder):
    path = folder / "checkpoint.json"
    record = json.loads(path.read_text())
    del record["settings"]["lr"]
    path.write_text(json.dumps(record))


def lose_tensors(folder):
    next(folder.glob("*.safetensors")).unlink()


def flip_a_bit(folder):
    path = next(folder.glob("*.safetensors"))
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [cut_record, lose_settings, lose_tensors, flip_a_bit])
def test_a_damaged_checkpoint(damage, train, tmp_path, reference_path):
    assert train(*TINY, "--steps", 4)[0] == 0
    damage(tmp_path / "runs/little")
    status, _, err = train("--resume")
    assert status == 2 and "the checkpoint in runs/little is damaged: " in err
    assert "--overwrite" in err and "Traceback" not in err
    if damage is not lose_settings:  # which writing does not need
        assert main(["generate", str(reference_path)]) == 2


def test_nothing_to_resume(train):
    status, _, err = train("--resume")
    assert status == 2 and "runs/little holds no run to resume" in err


# ------------------------------------------------------------------ what goes wrong


def test_a_loss_that_is_no_number_stops_the_run(train, tmp_path, reference_path):
    breaks = edited(
        reference_path,
        tmp_path,
        "    return loss.item(), norm\n",
        "    steps = max(s['step'] for s in state.values())\n"
        "    return (math.nan if steps > 6 else loss.item()), norm\n",
    )
    status, _, err = train(*TINY, "--lr", 0.02, file=breaks)
    assert status == 2
    assert "training broke down: at step 7 the loss is nan" in err
    assert "The checkpoint of step 4 in runs/little is as it was." in err
    assert "smaller --lr (it was 0.02)" in err
    assert checkpoint.read(tmp_path / "runs/little")[0]["step"] == 4


def test_a_learning_rate_beyond_all_measure(train, tmp_path):
    status, _, err = train(*TINY, "--lr", 1e38, "--warmup", 0)
    assert status == 2 and "training broke down" in err and "No checkpoint had been saved" in err
    assert not checkpoint.exists(tmp_path / "runs/little")


@pytest.mark.parametrize(
    "old, new, says",
    [
        ("def get_batch(", "def batch(", "it lacks get_batch."),
        ("    loss.backward()\n", "    loss.backwards()\n", "`loss.backwards()`: AttributeError"),
        ("state.setdefault(p, {})", "state.setdefault(id(p), {})", "state[parameter] = {...}"),
    ],
)
def test_a_file_that_cannot_train(old, new, says, train, tmp_path, reference_path):
    file = edited(reference_path, tmp_path, old, new)
    status, _, err = train(*TINY, file=file)
    assert status == 2 and says in err and str(file) in err


def test_a_file_without_generate_trains(train, tmp_path, reference_path):
    file = edited(reference_path, tmp_path, "def generate(", "def written(")
    status, out, _ = train(*TINY, "--steps", 4, file=file)
    assert status == 0 and "does not define generate" in out


@pytest.mark.parametrize(
    "args, says",
    [
        (["--n-head", "3"], "--d-model 16 is not a multiple of --n-head 3"),
        (["--min-lr", "0.5"], "--min-lr 0.5 is above --lr"),
        (["--context", "900"], "take a text of 9,010 or more"),
    ],
)
def test_settings_that_do_not_fit(args, says, train):
    status, _, err = train(*TINY, *args)
    assert status == 2 and says in err


@pytest.mark.parametrize(
    "args, says",
    [
        (["--steps", "0"], "'0' is not a whole number from 1 on"),
        (["--lr", "-1"], "'-1' is not a number above 0"),
        (["--lr", "nan"], "'nan' is not a number above 0"),
        (["--dropout", "1"], "'1' is not a number from 0 to below 1"),
        (["--resume", "--overwrite"], "not allowed with argument"),
    ],
)
def test_options_that_are_wrong_in_themselves(args, says, train, capsys):
    with pytest.raises(SystemExit):
        train(*args)
    assert says in capsys.readouterr().err


def test_a_device_that_is_not_there(train, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    status, _, err = train("--device", "cuda")
    assert status == 2 and "no cuda device here; --device can be: auto, cpu." in err
    assert device.pick("auto") == torch.device("cpu")


# ------------------------------------------------------------------ on a GPU


def test_gpu_check_without_a_gpu(reference_path, monkeypatch, capsys):
    monkeypatch.setattr(gpu_check, "gpu", lambda: None)
    assert gpu_check.main([str(reference_path)]) == 0
    assert "no GPU here: skipped" in capsys.readouterr().out


@pytest.mark.parametrize("learnt", [0.0, 100.0])
def test_gpu_check_trains_and_writes(learnt, reference_path, monkeypatch, capsys):
    """Its parts but the first, which has its own tests, on the CPU."""
    monkeypatch.setattr(options, "TALES", replace(TALES, tales=60, held_out=8))
    monkeypatch.setattr(gpu_check, "gpu", lambda: "cpu")
    monkeypatch.setattr(gpu_check, "conforms", lambda file, device: True)
    monkeypatch.setattr(gpu_check, "SETTINGS", TINY[:-2])
    monkeypatch.setattr(gpu_check, "LEARNT", learnt)
    assert gpu_check.main([str(reference_path)]) == (1 if learnt else 0)
    out = capsys.readouterr().out
    assert re.search(r"trains +" + ("FAILED" if learnt else "ok"), out)
    assert re.search(r"writes +ok", out)
