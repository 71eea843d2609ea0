"""The interactive layernorm shows PyTorch's numbers."""

import pytest
import torch
from browser import Interactive
from readings import same
from torch.nn.functional import layer_norm, rms_norm
from torch_says import f64

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("interactives")]

X = [2.0, -1.0, 0.5, 3.0, -2.0]


@pytest.fixture
def norm(page):
    return Interactive(page, "layernorm")


def see_norm(norm, x, gamma=1.5, beta=0.5, kind="layer"):
    x = f64(x)
    middle = x - x.mean() if kind == "layer" else x
    divisor = (middle.square().mean() + 1e-5).sqrt()
    weight, bias = torch.full_like(x, gamma), torch.full_like(x, beta)
    if kind == "layer":
        output = layer_norm(x, x.shape, weight, bias, 1e-5)
    else:
        output, beta = rms_norm(x, x.shape, weight, 1e-5), 0
    for i in range(5):
        same(norm, f"centred-{i}", middle[i], 3)
        same(norm, f"normalised-{i}", (output[i] - beta) / gamma, 3)
        same(norm, f"output-{i}", output[i], 3)
    same(norm, "mean", x.mean(), 3)
    same(norm, "deviation", x.std(correction=0), 3)
    same(norm, "divisor", divisor, 6)


def test_all_numbers_are_there_without_scripts(asleep):
    see_norm(Interactive(asleep, "layernorm"), X)


def test_layernorm_shows_torchs_numbers(norm):
    see_norm(norm, X)
    norm.write("x-1", 4.5)
    norm.press('[type="range"][data-name="x-4"]', "ArrowLeft")
    see_norm(norm, [2.0, 4.5, 0.5, 3.0, -2.1])
    norm.write("gamma", -2)
    norm.write("beta", 1.25)
    see_norm(norm, [2.0, 4.5, 0.5, 3.0, -2.1], -2, 1.25)
    norm.act("add")
    x = [3.0, 5.5, 1.5, 4.0, -1.1]
    see_norm(norm, x, -2, 1.25)
    norm.choose("norm", "ArrowRight")
    see_norm(norm, x, -2, 1.25, "rms")
    assert f"the mean is {rms_norm(f64(x), (5,), eps=1e-5).mean():.3f}" in norm.finding()
    assert norm.find('[type="number"][data-name="beta"]').is_disabled()


def test_constant_and_tiny_vectors_are_explained(norm):
    norm.act("equal")
    see_norm(norm, [2.0] * 5)
    assert "0 / 0.003162 and not 0 / 0" in norm.finding()
    assert "the output is β = 0.5 everywhere" in norm.finding()
    norm.write("x-0", 2.001)
    see_norm(norm, [2.001, 2, 2, 2, 2])
    assert "less than 1, since ε is not small" in norm.finding()
    norm.act("equal")
    norm.choose("norm", "ArrowRight")
    see_norm(norm, [2.001] * 5, kind="rms")
    assert "RMSNorm keeps them" in norm.finding()
    for i in range(5):
        norm.write(f"x-{i}", 0)
    assert norm.finding().startswith("All entries are 0.")


def test_buttons_keep_within_the_range(norm):
    for _ in range(2):
        norm.act("double")
    assert norm.problem() == "Entry 3 of x must be a number from −10 to 10. It stays 6."
    see_norm(norm, [2 * x for x in X])
