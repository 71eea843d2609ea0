"""autograder conform: load_gpt2_weights, and --weights with published files."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from autograder import conform, references
from autograder.cli import main
from autograder.conform import published
from autograder.conform.row import OK
from autograder.oracle import model as oracle


def run(*argv) -> int:
    return main(["conform", *map(str, argv)])


# ---------------------------------------------------------------- load_gpt2_weights

LOADER = """

@torch.no_grad()
def load_gpt2_weights(model, state_dict):
    outer = {"E": "wte.weight", "P": "wpe.weight"}
    outer |= {"ln_f.gamma": "ln_f.weight", "ln_f.beta": "ln_f.bias"}
    inner = {"ffn.W_up": "mlp.c_fc.weight", "ffn.b_up": "mlp.c_fc.bias",
             "ffn.W_down": "mlp.c_proj.weight", "ffn.b_down": "mlp.c_proj.bias",
             "attn.W_O": "attn.c_proj.weight", "attn.b_O": "attn.c_proj.bias"}
    for i in (1, 2):
        inner |= {f"ln_{i}.gamma": f"ln_{i}.weight", f"ln_{i}.beta": f"ln_{i}.bias"}
    given = {name.removeprefix("transformer."): tensor for name, tensor in state_dict.items()}
    for name, p in model.named_parameters():
        if name in outer:
            p.copy_(given[outer[name]])
            continue
        _, layer, rest = name.split(".", 2)
        if rest in inner:
            p.copy_(given[f"h.{layer}.{inner[rest]}"])
        else:
            kind = "weight" if "W_" in rest else "bias"
            packed = given[f"h.{layer}.attn.c_attn.{kind}"]
            p.copy_(packed.chunk(3, -1)["QKV".index(rest[-1])])
"""
LOADED_WRONG = {  # what is replaced by what, and what is said of it
    "Q, K, V interleaved": (
        '.chunk(3, -1)["QKV"',
        '.unflatten(-1, (-1, 3)).movedim(-1, 0)["QKV"',
        "every third column of c_attn",
    ),
    "W_O transposed": (
        '{inner[rest]}"])',
        '{inner[rest]}"].T if rest == "attn.W_O" else given[f"h.{layer}.{inner[rest]}"])',
        ", loaded transposed: blocks.",
    ),
    "K and V swapped": ('"QKV".index', '"QVK".index', "with the numbers of blocks."),
    "first block everywhere": ("h.{layer}.{inner", "h.0.{inner", "with the numbers of blocks.0."),
    "beta forgotten": (
        'ln_{i}.beta": f"ln_{i}.bias"',
        'ln_{i}.nothing": ""',
        "",
    ),
    "LayerNorms left out": (
        "if rest in inner:",
        'if rest in inner and "ln_" in rest: continue\n        if rest in inner:',
        ", still with its first values: blocks.",
    ),
    "no prefix": ('name.removeprefix("transformer.")', "name", ""),
    "c_attn.bias dropped with the buffers": (
        "in state_dict.items()",
        'in state_dict.items() if not name.endswith("attn.bias")',
        "",
    ),
}


def test_load_gpt2_weights_is_compared_when_it_is_there(reference_source, tmp_path):
    file = tmp_path / "gpt2.py"
    file.write_text(reference_source + LOADER)
    (row,) = conform.rows(file, only=["load_gpt2_weights"])
    assert row.status == OK, row.detail


@pytest.mark.parametrize("name", LOADED_WRONG)
def test_wrong_loading_is_rejected(name, reference_source, tmp_path):
    old, new, said = LOADED_WRONG[name]
    assert old in LOADER
    file = tmp_path / "gpt2.py"
    file.write_text(reference_source + LOADER.replace(old, new))
    (row,) = conform.rows(file, only=["load_gpt2_weights"])
    assert row.failed and said in row.detail, row.detail


# ---------------------------------------------------------------- published weights


@pytest.fixture(scope="module")
def tiny() -> published.Printed:
    """Printed numbers of a small model, as if others had published it."""
    r = references.load("full")
    s, p = r.sizes, r.parameters
    tokens = np.random.default_rng(0).integers(s.V, size=2 * 5 + 1)
    x, y = tokens[:-1].reshape(2, 5), tokens[1:].reshape(2, 5)
    losses, _, _ = oracle.train(p, x, y, s.H, 10, 1e-4, (0.9, 0.95), 1e-8, 0.0, 1e9)
    run = {"name": "tiny", "betas": [0.9, 0.95], "decay_of_all": 0.0, "losses": losses}
    steps = {"B": 2, "T": 5, "lr": 1e-4, "eps": 1e-8, "tokens": tokens.tolist(), "runs": [run]}
    ids = r["ids"][:1]
    logits = oracle.forward(p, ids, s.H).logits
    sizes = dict(vocab_size=s.V, n_positions=s.n_positions, n_layer=s.L, n_head=s.H, d_model=s.d)
    return published.Printed(
        name="tiny",
        config=sizes,
        loss_ids=tuple(ids[0]),
        loss=float(oracle.loss(logits[:, :-1], ids[:, 1:])),
        greedy=tuple(oracle.greedy(p, ids[:, :2], s.H, 6)[0]),
        last_ids=tuple(ids[0]),
        last_logits=tuple(logits[0, -1, :5]),
        steps=steps,
    )


@pytest.fixture(scope="module")
def weights(tmp_path_factory) -> dict:
    """The same weights as a safetensors file, a PyTorch file, and folders that hold them."""
    state = {k: torch.tensor(a) for k, a in references.load("full").published.items()}
    folder = tmp_path_factory.mktemp("weights")
    paths = {"a": folder / "a" / "model.safetensors", "b": folder / "b" / "pytorch_model.bin"}
    for path in paths.values():
        path.parent.mkdir()
    save_file(state, paths["a"])
    torch.save({k.removeprefix("transformer."): a for k, a in state.items()}, paths["b"])
    return {
        "safetensors": paths["a"],
        "bin": paths["b"],
        "folder": folder / "a",
        "old": folder / "b",
    }


@pytest.mark.parametrize("kind", ["safetensors", "bin", "folder", "old"])
def test_published_rows(kind, tiny, weights, reference_path):
    subject = conform.open_subject(reference_path, "cpu")
    parameters = published.load_file(weights[kind], tiny)
    rows = list(published.published_rows(subject, parameters, tiny))
    assert len(rows) == 4 and all(row.status == OK for row in rows), rows


def test_published_rows_reject_other_numbers(tiny, weights, reference_path):
    subject = conform.open_subject(reference_path, "cpu")
    parameters = published.load_file(weights["bin"], tiny)
    greedy = (*tiny.greedy[:-1], (tiny.greedy[-1] + 1) % 37)
    losses = [{**run, "losses": [0.1 + x for x in run["losses"]]} for run in tiny.steps["runs"]]
    other = replace(
        tiny,
        loss=tiny.loss + 0.01,
        greedy=greedy,
        last_logits=tuple(x + 0.01 for x in tiny.last_logits),
        steps={**tiny.steps, "runs": losses},
    )
    assert all(row.failed for row in published.published_rows(subject, parameters, other))


def test_weights_of_another_size_are_refused(weights, reference_path, capsys):
    assert run(reference_path, "--weights", weights["folder"]) == 2
    assert "is not GPT-2 small" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin", "other.bin"])
def test_files_that_are_no_weights_are_refused(name, tmp_path, reference_path, capsys):
    file = tmp_path / name
    if name == "other.bin":
        torch.save({"encoder.weight": torch.zeros(3)}, file)
    else:
        file.write_bytes(b"not weights")
    assert run(reference_path, "--weights", file) == 2
    err = capsys.readouterr().err
    assert str(file) in err and "Traceback" not in err


def test_a_folder_without_weights(tmp_path, reference_path, capsys):
    assert run(reference_path, "--weights", tmp_path) == 2
    assert "model.safetensors" in capsys.readouterr().err


def test_the_printed_numbers_are_whole():
    small = published.SMALL
    assert len(small.steps["tokens"]) == 4 * 64 + 1
    assert [len(run["losses"]) for run in small.steps["runs"]] == [10, 10]
    assert len(small.greedy) == 20 and small.greedy[:2] == (464, 3290)
