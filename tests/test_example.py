"""The running example of the book: its weights, its stages, and that it has learnt its grammar."""

import random
import re

import numpy as np
import pytest
import torch
from course_copy import ROOT

from autograder import example
from autograder.example import make
from autograder.example.trace import run
from autograder.oracle import model as oracle
from autograder.standins.architecture import GPT2Config
from autograder.standins.forward_pass import GPT2


@pytest.fixture(scope="module")
def model():
    model = GPT2(GPT2Config(**example.config))
    model.load_state_dict(example.weights)
    return model


def test_the_sentence_has_the_sizes_of_the_book():
    assert (len(example.sentence), len(example.words)) == (5, 8)
    c = example.config
    assert (c["d_model"], c["n_head"], c["n_layer"], c["n_positions"]) == (6, 2, 1, 7)


def test_weights_are_tenths_and_most_are_zero():
    values = torch.cat([w.flatten() for w in example.weights.values()]).double()
    assert ((values * 10) - (values * 10).round()).abs().max() < 1e-5
    assert (values == 0).float().mean() > 0.7


def test_stages_end_in_the_logits_of_the_oracle():
    weights = {name: w.double().numpy() for name, w in example.weights.items()}
    want = oracle.forward(weights, example.ids.numpy()[None], example.config["n_head"])
    got = example.stages()["logits"].numpy()
    np.testing.assert_allclose(got, want.logits[0], atol=1e-5)


def test_stages_end_in_the_logits_of_the_model(model):
    for text in ("the", "a cat hid the owl .", "mouse . the cat saw a owl"):
        got = example.stages(text)
        want = model(example.encode(text)[None])[0]
        torch.testing.assert_close(got["logits"], want, atol=1e-5, rtol=0)
        assert torch.allclose(got["A_0"].sum(-1), torch.ones(2, len(got["X0"])))
        write = got["writes_0"].sum(0) + example.weights["blocks.0.attn.b_O"]
        assert torch.allclose(got["attn_0"], write, atol=1e-6)


def test_it_has_learnt_the_grammar():
    """After an article come the nouns that are possible; a sentence ends after the second noun."""
    for verb in ("saw", "hid"):
        for subject in (nouns := ["cat", "mouse", "owl"]):
            probs = example.stages(f"the {subject} {verb} the")["probs"][-1]
            found = {word: probs[example.words.index(word)].item() for word in example.words}
            others = [found[noun] for noun in nouns if noun != subject]
            assert found[subject] < 0.1 < 0.25 < min(others) and sum(others) > 0.9
            for other in nouns:
                if other != subject:
                    end = example.stages(f"the {subject} {verb} the {other}")["probs"][-1]
                    assert end[example.words.index(".")] > 0.95


def test_unknown_words_are_named():
    with pytest.raises(KeyError, match="dog.*vocabulary is . a cat"):
        example.encode("the dog")


def test_show_prints_words_before_rows(capsys):
    example.show(torch.tensor([[1.0, -0.001], [-torch.inf, 2.345]]), ["the", "owl"], ["x", "y"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [
        ["x", "y"],
        ["the", "1.00", "0.00"],
        ["owl", "-", "2.35"],
    ]
    assert len({len(line) for line in lines}) == 1
    example.show(torch.zeros(3))
    assert capsys.readouterr().out.split() == ["0.00"] * 3


def test_a_text_of_the_grammar():
    told = make.tell(200, random.Random(0))
    for i in range(0, len(told), 6):
        article, subject, verb, other_article, other, stop = told[i : i + 6]
        assert {article, other_article} <= {"a", "the"} and verb in ("hid", "saw") and stop == "."
        assert subject != other
    assert set(told) == set(example.words)


def test_the_weights_can_be_made_again(monkeypatch, tmp_path):
    """A short training: the same form, tenths, and a lower loss than before it."""
    monkeypatch.setattr(make, "STEPS", 60)
    weights = make.train(seed=1)
    assert {n: w.shape for n, w in weights.items()} == {
        n: w.shape for n, w in example.weights.items()
    }
    text = torch.tensor([make.WORDS.index(w) for w in make.tell(20, random.Random(5))])

    def loss(weights):
        out = run(weights, 2, text[:7])["logits"]
        return torch.nn.functional.cross_entropy(out, text[1:8]).item()

    assert loss(weights) < 2.0 and loss(example.weights) < 1.0
    stored = make.to_json(example.weights)
    assert stored == (make.Path(make.__file__).with_name("weights.json")).read_text()


def test_plots_take_the_colours_of_the_page():
    from autograder.example import plots

    figure, axis = plots.axes()
    axis.plot([1, 2], [3, 4], color=plots.COLOURS["stream"], label="a line")
    axis.legend()
    svg = plots.show(figure).data
    assert "var(--fig-stream, #0f7037)" in svg and "var(--fig-ink, #1f2328)" in svg
    assert "a line" in svg and "<style" not in svg and "<metadata" not in svg
    painted = set(re.findall(r"#[0-9a-fA-F]{6}\b", re.sub(r"var\([^)]*\)", "", svg)))
    assert not painted, f"not a colour of the page: {painted}"
    figure, both = plots.axes(rows=2)
    assert len(both) == 2
    plots.show(figure)
    css = (ROOT / "book" / "assets" / "course.css").read_text().split("}")[0]
    assert dict(re.findall(r"--fig-(\w+): (#\w+)", css)).items() >= plots.COLOURS.items()
