"""The run on the page "Your GPT-2": what it shows comes out again; and the page's table of weights loads them."""

import json
import math
import re
from types import SimpleNamespace

import pytest
import torch
from book_run import RECORD, doctor, heads
from book_source import BOOK

from autograder import conform
from autograder.conform.load import load_module
from autograder.conform.row import OK
from autograder.training.defaults import TALES
from autograder.training.loop import Training
from autograder.training.report import levels_of
from autograder.training.tale_text import tale_text

SHOWN = json.loads(RECORD.read_text())
FIRST_STEPS = 100  # of its 900
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def text():
    return tale_text(TALES)


@pytest.fixture(scope="module")
def begun(text, reference_path):
    """The same run, up to its second evaluation."""
    training = Training(load_module(reference_path), text, TALES, torch.device("cpu"))
    training.model.train()
    training.evaluate()
    for _ in range(FIRST_STEPS):
        training.one_step()
    training.evaluate()
    return training


def test_the_losses_to_compare_with(text):
    assert SHOWN["levels"] == pytest.approx(levels_of(text), abs=1e-9)
    last = SHOWN["history"][-1]
    assert last["step"] == SHOWN["steps"] == TALES.steps
    assert sum(SHOWN["above"].values()) == pytest.approx(last["val"] - text.floor.loss, abs=1e-4)
    assert SHOWN["levels"]["floor"] < last["val"] < SHOWN["levels"]["floor"] + 0.1


def test_the_run_begins_as_shown(begun):
    assert sum(p.numel() for p in begun.model.parameters()) == SHOWN["parameters"]
    for now, shown in zip(begun.history, SHOWN["history"]):
        assert now["step"] == shown["step"]
        assert (now["train"], now["val"]) == pytest.approx((shown["train"], shown["val"]), abs=0.1)


def test_the_code_looks_into_a_model(begun):
    run = SimpleNamespace(module=begun.module, model=begun.model, vocabulary=begun.text.vocabulary)
    lines, again = heads(run), heads(run)
    assert lines == again and len(lines) == len(SHOWN["heads"]) == TALES.n_layer
    for line, shown in zip(lines, SHOWN["heads"]):
        assert re.sub(r"[\d.]+", "0", line) == re.sub(r"[\d.]+", "0", shown)


def test_the_rows_are_those_of_the_reference(reference_path):
    rows = conform.rows(reference_path)
    same = ("group", "name", "tolerance", "status")
    assert [[row[k] for k in same] for row in SHOWN["conform"]] == [
        [getattr(row, k) for k in same] for row in rows
    ]
    for row in SHOWN["conform"]:
        assert row["error"] is None or row["error"] <= row["tolerance"], row


def test_the_report_on_a_model_without_a_mask(reference_path):
    def cause(report):
        return re.sub(r"[\d.]+", "0", " ".join(" ".join(report).split()).split("This follows")[0])

    assert cause(doctor(reference_path, seconds=1.0)) == cause(SHOWN["doctor"])


# ------------------------------------------------------------------ the published weights


def table() -> dict[str, tuple[str, int | None]]:
    """parameter -> its published name, and which third of the columns, by the page."""
    rows = re.findall(r"^\| `(\w+\..*|E.*)` \| (.*) \|$", (BOOK / "your-gpt2.md").read_text(), re.M)
    found, packed = {}, []
    for ours, published in rows:
        names = re.findall(r"`([^`]+)`", published)
        part = re.search(r"columns (0|\$d\$|\$2d\$) to", published)
        packed = names or packed  # "of the same"
        third = ["0", "$d$", "$2d$"].index(part[1]) if part else None
        found |= {name: (other, third) for name, other in zip(ours.split("`, `"), names or packed)}
    return found


def test_weights_put_where_the_page_says_are_in_their_places(reference_path):
    module, places = load_module(reference_path), table()

    @torch.no_grad()
    def load_gpt2_weights(model, state_dict):
        given = {name.removeprefix("transformer."): w for name, w in state_dict.items()}
        for name, parameter in model.named_parameters():
            block = re.search(r"\.(\d+)\.", name)
            published, third = places[re.sub(r"\.\d+\.", ".0.", name)]
            if block:
                published = published.replace(".0.", f".{block[1]}.")
            weight = given[published]
            parameter.copy_(weight if third is None else weight.chunk(3, -1)[third])

    module.load_gpt2_weights = load_gpt2_weights
    (row,) = conform.rows(module, only=["load_gpt2_weights"])
    assert row.status == OK, row.detail


def test_the_size_of_the_vocabulary(text):
    assert len(text.vocabulary) == 157 and round(math.log(157), 2) == 5.06
