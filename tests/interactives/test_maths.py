"""math.js, and the numbers that element.js writes: they are PyTorch's and Python's."""

import pytest
import torch
from course_site.interactives import parts
from torch.nn.functional import gelu, layer_norm, relu, rms_norm, silu
from torch_says import PUBLISHED, counted, f64, jacobian

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("interactives")]

EXACT = dict(rtol=1e-12, atol=1e-13)


def each(call, function, values):
    return f64(call(f"(values => values.map({function}))", values))


def vectors():
    torch.manual_seed(0)
    yield from (torch.randn(n, dtype=torch.float64).tolist() for n in (1, 2, 5, 40))
    yield [3.0] * 5
    yield [0.0] * 4
    yield [1000.0, 999.0, -1000.0]
    yield [1e-3, -2e-3, 1.5e-3]


@pytest.mark.parametrize("temperature", [0.01, 0.5, 1, 5])
def test_softmax_is_torchs(script, temperature):
    for scores in vectors():
        weights = f64(script("TransformerMaths.softmax", scores, temperature))
        torch.testing.assert_close(weights, (f64(scores) / temperature).softmax(0), **EXACT)


def test_the_gradient_of_softmax_is_autograds(script):
    for scores in vectors():
        weights = script("TransformerMaths.softmax", scores)
        largest = f64(script("TransformerMaths.softmaxGradient", weights))
        torch.testing.assert_close(largest, jacobian(scores).abs().max(), **EXACT)


@pytest.mark.parametrize(("gamma", "beta"), [(1.0, 0.0), (-1.7, 0.3)])
def test_both_norms_are_torchs(script, gamma, beta):
    for x in vectors():
        shape, weight = (len(x),), torch.full((len(x),), gamma, dtype=torch.float64)
        how = {"gamma": gamma, "beta": beta}
        layer = script("TransformerMaths.layerNorm", x, how)["output"]
        expected = layer_norm(f64(x), shape, weight, torch.full_like(weight, beta), 1e-5)
        torch.testing.assert_close(f64(layer), expected, rtol=1e-9, atol=1e-12)
        rms = script("TransformerMaths.rmsNorm", x, how)["output"]
        torch.testing.assert_close(f64(rms), rms_norm(f64(x), shape, weight, 1e-5), **EXACT)


ARGUMENTS = [
    *torch.linspace(-30, 30, 4001, dtype=torch.float64).tolist(),
    1e-9,
    -1e-9,
    3,
    6,
    -3,
    -6,
]


def test_erf_has_all_its_digits(script):
    found = each(script, "TransformerMaths.erf", ARGUMENTS)
    torch.testing.assert_close(found, f64(ARGUMENTS).erf(), rtol=2e-15, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "function"),
    {
        "gelu": gelu,
        "geluTanh": lambda x: gelu(x, approximate="tanh"),
        "silu": silu,
        "relu": relu,
        "sigmoid": torch.sigmoid,
    }.items(),
)
def test_activations_are_torchs(script, name, function):
    found = each(script, f"TransformerMaths.{name}", ARGUMENTS)
    torch.testing.assert_close(found, function(f64(ARGUMENTS)), rtol=1e-12, atol=1e-13)


def test_parameters_are_counted_exactly(script):
    for (d, L, tied), total in PUBLISHED.items():
        found = script(
            "TransformerMaths.parameterCounts", {"d": d, "L": L, "V": 50257, "tied": tied}
        )
        assert found == counted(d, L, 50257, tied) and found["total"] == total
    odd = {"d": 7, "L": 3, "V": 11, "tied": False}
    assert script("TransformerMaths.parameterCounts", odd) == counted(**odd)


def test_both_sides_write_numbers_alike(script):
    torch.manual_seed(0)
    numbers = [0.0, -0.0, -0.00004, 12.0, 0.1, -3.25e-7, 1e-3, -9.996e-4, 50257, -4]
    numbers += (torch.randn(200, dtype=torch.float64) * 10 ** torch.randint(-8, 4, (200,))).tolist()
    for x in numbers:
        for digits in (1, 2, 3, 5):
            assert script("TransformerElement.fixed", x, digits) == parts.fixed(x, digits)
        assert script("TransformerElement.small", x) == parts.small(x)
    for x in (0, -4, 12, 0.1, -0.05, 1.73, 50257, 124_439_808):
        assert script("TransformerElement.plain", x) == parts.plain(x)
    for x in (0, 999, 1000, 1_557_611_200):
        assert script("TransformerElement.count", x) == parts.count(x)
