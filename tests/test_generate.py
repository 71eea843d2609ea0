"""`autograder generate`: a trained run writes."""

import os
import random
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from autograder.cli import main
from autograder.errors import CourseError
from autograder.training import options, sample, tales
from autograder.training.defaults import TALES
from autograder.training.load import load_run
from autograder.training.vocabulary import Words

TINY = (
    "--n-layer 1 --n-head 2 --d-model 16 --context 16 --batch-size 4 --steps 2 --threads 1 "
    "--device cpu"
).split()


@pytest.fixture(scope="module")
def folder(reference_path, tmp_path_factory):
    """A folder with two runs: tales, and the newer letters."""
    folder = tmp_path_factory.mktemp("runs")
    text = folder / "letters.txt"
    text.write_text("".join(random.Random(0).choices("abcd \n", k=400)))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(options, "TALES", replace(TALES, tales=60, held_out=8))
        assert main(["train", str(reference_path), *TINY]) == 0
        assert main(["train", str(reference_path), *TINY, "--text", str(text)]) == 0
    os.utime(folder / "runs/tales/checkpoint.json", (1, 1))
    return folder


def a_word():
    return next(word for word in tales.VOCABULARY if word.isalpha())


@pytest.fixture
def generate(folder, reference_path, monkeypatch, capsys):
    monkeypatch.chdir(folder)

    def generate(*args, file=reference_path):
        status = main(["generate", str(file), *map(str, args)])
        return status, *capsys.readouterr()

    return generate


def test_the_newest_run_writes(generate):
    status, out, err = generate("--prompt", "ab", "--max-new-tokens", 30)
    assert status == 0 and "runs/letters, step 2" in err
    assert out.startswith("ab") and len(out) == 33 and set(out) <= set("abcd \n")
    assert generate("--prompt", "ab", "--max-new-tokens", 30)[1] == out
    assert generate("--prompt", "ab", "--max-new-tokens", 30, "--seed", 1)[1] != out


def test_several_at_once_and_the_safest(generate):
    args = ("--prompt", "c", "--num", 3, "--max-new-tokens", 12)
    status, out, _ = generate(*args, "--top-k", 3, "--top-p", 0.9)
    assert status == 0 and len(out) == 3 * 13 + 2 * 2 + 1
    safest = generate(*args, "--temperature", 0)[1]
    assert safest[:13] == safest[15:28] == safest[30:43]


def test_a_tale_from_another_run(generate):
    status, out, _ = generate("--run", "runs/tales", "--max-new-tokens", 20)
    assert status == 0 and tales.START not in out
    name = a_word()
    out = generate("--run", "runs/tales", "--prompt", name.upper(), "--max-new-tokens", 20)[1]
    assert out.startswith(name)


@pytest.mark.parametrize("run", ["letters", "tales"])
def test_a_prompt_of_unknown_words(run, generate):
    status, out, err = generate("--run", f"runs/{run}", "--prompt", "xyzzy")
    assert status == 2 and out == "" and "are not among them" in err
    assert "`autograder generate gpt2.py --vocabulary`" in err
    status, out, _ = generate("--run", f"runs/{run}", "--vocabulary")
    assert status == 0 and ("'\\n'" in out if run == "letters" else a_word() in out)


def test_no_run(generate, tmp_path, monkeypatch):
    (tmp_path / "checkpoint.json").write_text('{"format": 1, "tensors": {"file": 1}}')
    status, _, err = generate("--run", tmp_path)
    assert status == 2 and "is damaged" in err
    (tmp_path / "checkpoint.json").unlink()
    status, _, err = generate("--run", tmp_path)
    assert status == 2 and "holds no checkpoint" in err
    monkeypatch.chdir(tmp_path)
    status, _, err = generate()
    assert status == 2 and "no trained run below runs/" in err and "autograder train" in err


@pytest.mark.parametrize(
    "old, new, says",
    [
        ("def generate(", "def other(", "does not define generate"),
        ("self.W_up", "self.W_1", "of another model: its parameters have other names or shapes"),
        ("next_id = sample_next(", "next_id = sample(", "cannot generate: line"),
        ("def check_ids", "1 / 0\n    def check_ids", "ZeroDivisionError"),
    ],
)
def test_a_file_that_does_not_fit(old, new, says, generate, reference_path, tmp_path):
    file = tmp_path / "gpt2.py"
    file.write_text(reference_path.read_text().replace(old, new))
    status, _, err = generate(file=file)
    assert status == 2 and says in err and "Traceback" not in err


def test_the_model_and_its_vocabulary_from_python(folder, reference_path):
    model, vocabulary = load_run(reference_path, folder / "runs" / "tales")
    ids = torch.tensor([vocabulary.encode(f"{tales.START} {a_word()}")])
    assert model(ids).shape == (1, 2, len(vocabulary))
    with pytest.raises(CourseError, match="no such file"):
        load_run(folder / "none.py", folder / "runs" / "tales")


# ------------------------------------------------------------------ where a tale ends

WORDS = Words(("<s>", "a", "b", "."), "<s>")


class Scripted:
    """In place of a module: its "generate" goes on with a script."""

    __file__ = "scripted.py"

    def __init__(self, *rows):
        self.rows, self.calls = torch.tensor([WORDS.encode(row) for row in rows]), []

    def generate(self, model, ids, new, generator=None):
        self.calls.append(new)
        return torch.cat([ids, self.rows[:, ids.shape[1] : ids.shape[1] + new]], dim=1)


def test_a_tale_ends_where_the_next_begins():
    model = torch.nn.Linear(1, 1)
    pad = " a" * 100
    script = Scripted("<s> a b . <s> b" + pad + " a" * 38, "<s> a" + " b" * 40 + " . <s>" + pad)
    first, second = sample.write(script, model, WORDS, "a", max_new_tokens=90, count=2)
    assert first == "a b."
    assert second.replace("\n", " ") == "a" + " b" * 40 + "."
    assert script.calls == [32, 32], "no more than both need"
    (cut,) = sample.write(Scripted("<s> a" + pad), model, WORDS, "<s>", max_new_tokens=3)
    assert cut == "a a a ..."


def test_a_tale_is_cut_where_its_beginning_would_be_out_of_sight():
    model = torch.nn.Linear(1, 1)
    model.config = SimpleNamespace(n_positions=40)
    script = Scripted("<s> a b" + " a" * 200)
    (cut,) = sample.write(script, model, WORDS, max_new_tokens=90)
    assert cut.replace("\n", " ") == "a b" + " a" * 38 + " ..." and script.calls == [32, 8]
    (whole,) = sample.write(Scripted("<s> a b" + " a" * 37 + " <s>"), model, WORDS)
    assert not whole.endswith("..."), "its end was the last that could come"
    (long,) = sample.write(script, model, WORDS, "a b" + " a" * 50, max_new_tokens=10)
    assert long.count("a") == 61, "a longer prompt is gone on with as it was asked"
