"""The interactive activations shows PyTorch's numbers, and draws them where they are."""

import re
from functools import partial

import pytest
import torch
from browser import Interactive
from course_site.interactives import parts
from readings import centre, same
from torch.nn.functional import gelu, relu, silu
from torch_says import f64

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("interactives")]

GELU_TANH = partial(gelu, approximate="tanh")
FUNCTIONS = {"gelu": gelu, "tanh": GELU_TANH, "silu": silu, "relu": relu}


@pytest.fixture
def activations(page):
    return Interactive(page, "activations")


def see_values(activations, x):
    for key, function in FUNCTIONS.items():
        same(activations, key, function(f64(x)), 5)
    gap = (GELU_TANH(f64(x)) - gelu(f64(x))).item()
    assert activations.value("gap") == pytest.approx(gap, rel=0.06, abs=1e-12)


def see_marks(activations, x):
    """The points are where the axes of the plots say."""
    gap = (GELU_TANH(f64(x)) - gelu(f64(x))).item()
    for plot, key, y, zero, one in (
        ("curves", "silu", silu(f64(x)).item(), "0", "4"),
        ("gap", "gap", gap, "0", "4e−4"),
    ):
        ticks = activations.find(f'[data-plot="{plot}"] text')
        high = {t.text_content(): centre(t)[1] for t in ticks.filter(has_text="").all()[:5]}
        unit = 4 if plot == "curves" else 4e-4
        across, down = centre(activations.find(f'[data-mark="{key}"]'))
        assert down == pytest.approx(high[zero] + (high[one] - high[zero]) * y / unit, abs=1.5)
        left, right = (centre(ticks.nth(i))[0] for i in (5, 9))  # of -4 and 4
        assert across == pytest.approx(left + (right - left) * (x + 4) / 8, abs=1.5)


def test_all_numbers_are_there_without_scripts(asleep):
    see_values(Interactive(asleep, "activations"), -1.0)


def test_activations_show_torchs_numbers(activations):
    see_values(activations, -1.0)
    see_marks(activations, -1.0)
    activations.press('[type="range"]', *["ArrowRight"] * 3)
    see_values(activations, -0.85)
    activations.page.keyboard.press("End")
    see_values(activations, 4.0)
    see_marks(activations, 4.0)
    assert "nearly x itself" in activations.finding()
    for x in (-4, -2.7, 1.234, 2.7):
        activations.write("x", x)
        see_values(activations, x)
        see_marks(activations, x)
    activations.write("x", -4)
    said = [parts.small(function(f64(-4.0)).item()) for function in (gelu, silu)]
    assert "lets {} through and SiLU {}".format(*said) in activations.finding()
    activations.write("x", 0)
    see_values(activations, 0.0)
    assert "all four are 0" in activations.finding()


def test_the_largest_gap_is_where_it_is_said_to_be(activations):
    x = torch.linspace(-4, 4, 100_001, dtype=torch.float64)
    gap = (GELU_TANH(x) - gelu(x)).abs()
    told = activations.find(".tf-note").last.text_content()
    most, at = re.search(r"at most (\S+), at x = ±(\S+)", told).groups()
    assert most == parts.small(gap.max().item())
    assert float(at) == pytest.approx(x[gap.argmax()].abs().item(), abs=0.01)


def test_the_pointer_moves_the_point(activations):
    plot = activations.find('[data-plot="gap"]')
    plot.scroll_into_view_if_needed()
    goal = centre(plot.locator("text").nth(8))[0]  # above the 2 of the axis
    activations.page.mouse.move(goal, centre(plot)[1])
    activations.page.mouse.down()
    activations.page.mouse.up()
    see_values(activations, 2.0)
    see_marks(activations, 2.0)
