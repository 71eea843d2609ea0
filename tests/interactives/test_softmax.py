"""The interactive softmax shows PyTorch's numbers."""

import pytest
from browser import Interactive
from readings import same
from torch_says import f64, jacobian

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("interactives")]

FITS = [-0.4, 0.9, 1.5, -0.2, 0.6]


@pytest.fixture
def softmax(page):
    return Interactive(page, "softmax")


def see_softmax(softmax, fits, d_k=64, divide=True, temperature=1):
    scores = f64(fits) * d_k**0.5
    inputs = (f64(fits) if divide else scores) / temperature
    weights = inputs.softmax(0)
    for i in range(5):
        same(softmax, f"score-{i}", scores[i], 1)
        same(softmax, f"input-{i}", inputs[i], 2)
        same(softmax, f"weight-{i}", weights[i], 3)
        share = softmax.find(f'[data-bar="weight-{i}"]').get_attribute("style").split(":")[1]
        assert float(share.strip(" ;")) == pytest.approx(weights[i].item(), abs=1e-6)
    gradient = jacobian(inputs.tolist()).abs().max().item()
    assert softmax.value("gradient") == pytest.approx(gradient, rel=0.06, abs=6e-5)
    return weights


def test_all_numbers_are_there_without_scripts(asleep):
    see_softmax(Interactive(asleep, "softmax"), FITS)


def test_softmax_shows_torchs_numbers(softmax):
    fits = [*FITS]
    see_softmax(softmax, fits)
    softmax.press('[type="checkbox"]', "Space")
    weights = see_softmax(softmax, fits, 64, False)
    assert weights.max() > 0.99
    assert softmax.finding().startswith("Undivided, saw (position 2) gets the largest")
    assert "peaked" in softmax.finding() and "√64 = 8" in softmax.finding()
    softmax.choose("d_k", "ArrowRight")
    see_softmax(softmax, fits, 256, False)
    softmax.choose("d_k", "ArrowRight")  # round to the first
    see_softmax(softmax, fits, 3, False)
    assert "√3 = 1.73" in softmax.finding()
    softmax.press('[type="range"][data-name="fit-4"]', "ArrowRight", "ArrowRight")
    fits[4] = 0.8
    see_softmax(softmax, fits, 3, False)
    softmax.write("temperature", 0.1)
    see_softmax(softmax, fits, 3, False, 0.1)
    softmax.write("fit-0", -3.25)
    fits[0] = -3.25
    see_softmax(softmax, fits, 3, False, 0.1)
    assert softmax.find('[type="range"][data-name="temperature"]').input_value() == "0.1"


def test_equal_scores_are_said_to_be_equal(softmax):
    for i in range(5):
        softmax.write(f"fit-{i}", 2)
    see_softmax(softmax, [2.0] * 5)
    assert softmax.finding().startswith("Equal scores give equal weights")
