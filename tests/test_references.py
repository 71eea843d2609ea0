"""The stored references: complete, of different sizes, reproducible, and equal to the oracle."""

import json

import numpy as np
import pytest

from autograder import references
from autograder.oracle import model as oracle
from autograder.references.names import from_published

NAMES = list(references.about()["references"])


@pytest.fixture(params=NAMES)
def reference(request):
    return references.load(request.param)


def test_at_least_three_with_short_and_full_length():
    sizes = [references.load(name).sizes for name in NAMES]
    assert len(sizes) >= 3
    assert any(s.T < s.n_positions for s in sizes) and any(s.T == s.n_positions for s in sizes)
    assert any(s.tied for s in sizes) and any(not s.tied for s in sizes)


def test_all_sizes_differ_within_a_reference(reference):
    s = reference.sizes
    sizes = {s.B, s.T, s.V, s.n_positions, s.d, s.H, s.L, s.d // s.H, 4 * s.d}
    assert len(sizes) == (8 if s.T == s.n_positions else 9)


def test_whole_and_small(reference):
    s = reference.sizes
    shapes = {"embedding": (s.B, s.T, s.d), "blocks": (s.L, s.B, s.T, s.d), "loss": ()}
    shapes |= {"final_norm": (s.B, s.T, s.d), "attentions": (s.L, s.B, s.H, s.T, s.T)}
    shapes |= {"logits": (s.B, s.T, s.V), "step_losses": (10,), "step_norms": (10,)}
    for dtype in ("float32", "float64"):
        for key, shape in shapes.items():
            assert reference[f"{dtype}/{key}"].shape == shape
        assert set(reference.gradients(dtype)) == set(reference.parameters)
        assert reference[f"{dtype}/logits"].dtype == dtype
    size = sum(path.stat().st_size for path in references.FOLDER.iterdir() if path.is_file())
    assert size < 3e6


def test_weights_are_drawn_wide(reference):
    matrices = [a for a in reference.parameters.values() if a.ndim >= 2]
    if reference.name == "quiet":
        assert sum(a.std() > 0.1 for a in matrices) > len(matrices) / 2
    else:
        assert all(0.1 < a.std() < 0.36 for a in matrices)  # drawn with 0.15 to 0.3
    assert not any((a == 0).any() or (a == 1).any() for a in reference.parameters.values())


def test_quiet_stream_is_quiet():
    quiet = references.load("quiet")
    deviation = quiet["float64/blocks"].std(-1)
    assert np.median(deviation) < 3e-3 and deviation.max() < 1e-2
    assert quiet["float64/embedding"][0, 0].std() == 0


def test_greedy_margin_is_clear(reference):
    assert references.about()["references"][reference.name]["greedy_margin"] > 1e-2
    assert len(np.unique(reference["greedy"])) > 4


def test_float32_and_float64_of_transformers_agree(reference):
    """The noise of float32 is far below the tolerance of 1e-5."""
    for key in ("logits", "blocks", "attentions", "loss", "step_losses"):
        a, b = reference[f"float32/{key}"], reference[f"float64/{key}"]
        assert np.abs(a - b).max() / max(1, np.abs(b).max()) < 2e-6


def test_oracle_equals_transformers(reference):
    r, p, H = reference, reference.parameters, reference.sizes.H
    run = oracle.forward(p, r["ids"], H)
    for key in ("embedding", "blocks", "final_norm", "attentions", "logits"):
        np.testing.assert_allclose(getattr(run, key), r[f"float64/{key}"], rtol=0, atol=1e-12)
    loss, gradients = oracle.gradients(p, r["ids"], r["targets"], H)
    assert loss == pytest.approx(float(r["float64/loss"]), abs=1e-12)
    for name, want in r.gradients("float64").items():
        np.testing.assert_allclose(gradients[name], want, rtol=0, atol=1e-12, err_msg=name)


def test_oracle_trains_as_transformers(reference):
    r = reference
    losses, norms, _ = oracle.train(
        r.parameters, r["ids"], r["targets"], r.sizes.H, steps=10, **r.optimiser
    )
    np.testing.assert_allclose(losses, r["float64/step_losses"], rtol=0, atol=1e-11)
    np.testing.assert_allclose(norms, r["float64/step_norms"], rtol=1e-11)


def test_oracle_continues_as_transformers(reference):
    r, want = reference, reference["greedy"]
    got = oracle.greedy(r.parameters, want[:, :3], r.sizes.H, want.shape[1] - 3)
    np.testing.assert_array_equal(got, want)


def test_oracle_gradients_are_slopes():
    """The way back agrees with differences of the way forth."""
    r, rng = references.load("short"), np.random.default_rng(0)
    p = oracle.in_float64(r.parameters)
    _, gradients = oracle.gradients(p, r["ids"], r["targets"], r.sizes.H)
    for name in p:
        direction = rng.standard_normal(p[name].shape)
        up, down = (
            oracle.loss(
                oracle.forward({**p, name: p[name] + h * direction}, r["ids"], r.sizes.H).logits,
                r["targets"],
            )
            for h in (1e-5, -1e-5)
        )
        slope = (up - down) / 2e-5
        assert slope == pytest.approx((gradients[name] * direction).sum(), rel=1e-6), name


def test_script_reproduces_the_arrays(tmp_path):
    pytest.importorskip("transformers", reason="needs transformers (requirements-dev.txt)")
    from autograder.references import make

    assert make.main(["--out", str(tmp_path)]) == 0
    about = json.loads((tmp_path / "references.json").read_text())
    assert about["references"] == references.about()["references"]
    for name in NAMES:
        again = np.load(tmp_path / f"{name}.npz", allow_pickle=False)
        stored = references.load(name).arrays
        assert set(again.files) == set(stored)
        for key in again.files:
            atol = 1e-11 if again[key].dtype == np.float64 and "float32" not in key else 2e-5
            np.testing.assert_allclose(again[key], stored[key], rtol=1e-9, atol=atol, err_msg=key)


@pytest.fixture
def published():
    return references.load("full").published


def test_names_with_and_without_prefix(published):
    plain = {key.removeprefix("transformer."): array for key, array in published.items()}
    assert set(from_published(plain)) == set(from_published(published))


def test_mask_buffers_are_left_out_and_biases_are_not(published):
    buffers = {
        "h.0.attn.bias": np.ones((1, 1, 9, 9)),
        "transformer.h.1.attn.masked_bias": np.ones(()),
    }
    named = from_published(published | buffers)
    assert set(named) == set(from_published(published))
    assert "blocks.0.attn.b_K" in named


def test_tied_head_is_left_out_and_an_untied_one_transposed(published):
    E = published["transformer.wte.weight"]
    assert "W_U" not in from_published(published | {"lm_head.weight": E})
    other = from_published(published | {"lm_head.weight": E + 1})
    np.testing.assert_array_equal(other["W_U"], (E + 1).T)


@pytest.mark.parametrize("change", ["missing", "unknown"])
def test_other_files_are_refused_by_name(published, change):
    state = dict(published)
    if change == "missing":
        del state["transformer.h.1.mlp.c_fc.bias"]
        name = "blocks.1.ffn.b_up"
    else:
        state["encoder.weight"] = np.ones(3)
        name = "encoder.weight"
    with pytest.raises(ValueError, match=f"{change} {name}"):
        from_published(state)
