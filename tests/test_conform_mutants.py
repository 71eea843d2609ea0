"""Wrong gpt2.py files, each rejected by the row that is there for it; right ones, all accepted."""

import pytest
from gpt2_edits import edit
from gpt2_mutants import MUTANTS
from gpt2_rewrites import HARMLESS

from autograder import conform
from autograder.conform.causes import causes
from autograder.conform.diagnosis import diagnoses
from autograder.conform.load import load_module
from autograder.conform.row import FAIL, PROPERTIES

# Rows whose tolerance is statistical, not rounding.
COARSE = ("fresh weights", "initial loss", "sampling")


@pytest.fixture(scope="module")
def write(tmp_path_factory):
    """Write a source to a file of its own."""
    folder = tmp_path_factory.mktemp("files")

    def write(name: str, source: str):
        path = folder / f"{''.join(c if c.isalnum() else '_' for c in name)}.py"
        path.write_text(source)
        return path

    return write


def test_names_and_rows_of_the_table():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 35
    known = {p.name for p in PROPERTIES}
    assert {row for mutant in MUTANTS for row in mutant.rows} <= known


def test_every_row_catches_something():
    """A row that no mutant fails might be a row that cannot fail."""
    caught = {row for mutant in MUTANTS for row in mutant.rows}
    assert {p.name for p in PROPERTIES} - caught == {"load_gpt2_weights"}  # see test_conform.py


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_rejected_by_its_row(mutant, reference_source, write):
    path = write(mutant.name, edit(reference_source, *mutant.edits))
    found = conform.rows(path, only=mutant.rows)
    for row in found:
        assert row.status == FAIL, f"{row.name}: {row.status} {row.error} {row.detail}"
        assert row.detail and row.look
    clear = (r.error is None or r.error >= 100 * r.tolerance or r.name in COARSE for r in found)
    assert any(clear)


@pytest.mark.parametrize("name", HARMLESS)
def test_other_ways_to_be_right_are_accepted(name, reference_source, write):
    path = write(name, edit(reference_source, *HARMLESS[name]))
    assert [(row.name, row.detail) for row in conform.rows(path) if row.failed] == []


@pytest.mark.parametrize(
    "name, roots",
    [
        ("no scaling", {"attention maps"}),
        ("one LayerNorm for both", {"hidden states"}),
        ("eps outside the root", {"attention maps", "quiet stream"}),
        ("no mask", {"attention maps", "leak test"}),
        ("row 0 sees nothing", {"attention maps"}),
        ("sum for mean", {"loss"}),
        ("b_K dropped", {"gradients"}),
        ("eps inside the root", {"adamw_step"}),
    ],
)
def test_what_follows_from_another_row_is_told_apart(name, roots, reference_source, write):
    """One mistake shows in up to twenty rows; only those at its root are explained."""
    mutant = next(mutant for mutant in MUTANTS if mutant.name == name)
    rows = conform.rows(write(name, edit(reference_source, *mutant.edits)))
    assert {row.name for row in rows if row.failed} - set(causes(rows)) == roots


NAMED = {
    "blocks in a list": "GPT2.python_list",
    "one block object": "GPT2.same_block",
    "tied by a second parameter": "GPT2.tied_by_copy",
    "no final LayerNorm": "GPT2.no_final_norm",
    "first block L times": "GPT2.first_block_repeated",
    "softmax before the loss": "GPT2.loss_of_softmax",
    "no positions": "embed.no_positions",
    "E times sqrt(d)": "embed.scaled",
    "no scaling": "attention.no_scaling",
    "mask after softmax": "attention.mask_after_softmax",
    "looks one ahead": "causal_mask.one_too_far",
    "W_O transposed": "MultiHeadAttention.W_O_transposed",
    "b_O once a head": "MultiHeadAttention.b_O_per_head",
    "split without transpose": "split_heads.no_transpose",
    "erf GELU": "FeedForward.exact_gelu",
    "norm over time": "LayerNorm.over_positions",
    "post-norm": "PreNormBlock.post_norm",
    "W_O and W_down not scaled": "init_weights.writes_not_narrowed",
    "sum for mean": "cross_entropy.sum",
    "targets not shifted": "get_batch.not_shifted",
    "everything decays": "decay_groups.all_decay",
    "decay as L2": "adamw_step.decay_in_gradient",
    "no zero_grad": "train_step.not_cleared",
    "mean of means": "estimate_loss.mean_of_means",
    "temperature multiplies": "sample_next.temperature_multiplied",
    "no crop": "generate.not_cropped",
}


@pytest.mark.parametrize("name", NAMED)
def test_the_mistake_is_named_and_no_other_component_is_blamed(name, reference_source, write):
    mutant = next(mutant for mutant in MUTANTS if mutant.name == name)
    found = list(diagnoses(load_module(write(name, edit(reference_source, *mutant.edits)))))
    assert [f"{d.component}.{m}" for d in found for m in d.mistakes] == [NAMED[name]]
    (only,) = found
    assert only.look and only.says and only.sure == "exact"


def test_the_reference_has_no_diagnosis(reference_path):
    assert list(diagnoses(load_module(reference_path))) == []
