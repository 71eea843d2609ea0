"""The figures of the book: their numbers are what the code gives, and all can be read."""

import math
import re
import xml.etree.ElementTree as ET

import pytest
import torch
import torch.nn.functional as F
from book_source import BOOK

from autograder import example

FIGURES = sorted((BOOK / "figures").glob("*.svg"))
UNITS_PER_ONE = {"layernorm": 12, "qkv": 50}  # height of a bar

each_figure = pytest.mark.parametrize("path", FIGURES, ids=lambda p: p.stem)


def svg(name):
    return ET.parse(BOOK / "figures" / f"{name}.svg").getroot()


def tag(element):
    return element.tag.split("}")[1]


def text_of(element):
    return "".join(element.itertext())


def marked(root, attribute, value):
    (found,) = [e for e in root.iter() if e.get(attribute) == value]
    return found


def printed(element):
    """The numbers in an element's texts, with their signs, as they are printed."""
    texts = text_of(element).replace("−", "-").replace("- ", "-").replace("∞", "inf")
    return re.findall(r"-?(?:\d+(?:\.\d+)?|inf)", texts)


def agree(element, expected):
    """Every printed number is the expected one, rounded to as many digits as are printed."""
    numbers = printed(element)
    expected = torch.as_tensor(expected, dtype=torch.float64).flatten().tolist()
    assert len(numbers) == len(expected)
    for number, value in zip(numbers, expected):
        digits = len(number.partition(".")[2])
        rounded = value if math.isinf(value) else round(value, digits) + 0.0
        assert float(number) == rounded, f"{number} is printed for {value}"


def bars(root, name, scale):
    """The value that each bar shows, by the bar's middle; all bars start from one zero line."""
    rects = [dict(r.items()) for r in marked(root, "data-bars", name).iter() if tag(r) == "rect"]
    boxes = [{k: float(r[k]) for k in ("x", "y", "width", "height")} for r in rects]
    ends = [{round(b["y"], 3), round(b["y"] + b["height"], 3)} for b in boxes]
    (zero,) = set.intersection(*ends)
    values = {}
    for box in boxes:
        sign = 1 if box["y"] < zero else -1
        values[box["x"] + box["width"] / 2] = sign * box["height"] / scale
    return values


def check_bars(root, name, scale):
    """A bar over every printed number that is not 0, as long as the number says."""
    texts = [t for t in marked(root, "data-values", name).iter() if tag(t) == "text"]
    numbers = {float(t.get("x")): float(*printed(t)) for t in texts}
    assert bars(root, name, scale) == pytest.approx({x: v for x, v in numbers.items() if v})


def test_the_layernorm_figure_is_computed():
    root, eps = svg("layernorm"), 1e-5
    x, gamma, beta = (
        torch.tensor([float(n) for n in printed(marked(root, "data-values", name))]).double()
        for name in ("x", "gamma", "beta")
    )
    mu, centred, variance = x.mean(), x - x.mean(), x.var(correction=0)
    normalised = F.layer_norm(x, (5,), eps=eps)
    rows = {
        "minus_mu": -mu.repeat(5),
        "centred": centred,
        "divide_sigma": (variance + eps).sqrt().repeat(5),
        "normalised": normalised,
        "scaled": F.layer_norm(x, (5,), gamma, eps=eps),
        "output": F.layer_norm(x, (5,), gamma, beta, eps),
    }
    for name, expected in rows.items():
        agree(marked(root, "data-values", name), expected)
    single = {
        "mu": mu,
        "centred_mean": centred.mean(),
        "variance": variance,
        "root_of": variance,
        "normalised_mean": normalised.mean(),
        "normalised_square": normalised.square().mean(),
    }
    for name, expected in single.items():
        agree(marked(root, "data-value", name), expected)
    for name in ("x", "centred", "normalised", "scaled", "output"):
        check_bars(root, name, UNITS_PER_ONE["layernorm"])


def test_the_attention_figure_shows_the_running_example():
    """Head 1 at position 3, as chapter 3 follows it."""
    root, stages = svg("qkv"), example.stages()
    agree(marked(root, "data-values", "scores"), stages["S_0"][1, 3])
    agree(marked(root, "data-values", "weights"), stages["A_0"][1, 3])
    agree(marked(root, "data-values", "output"), stages["heads_0"][1, 3])
    check_bars(root, "weights", UNITS_PER_ONE["qkv"])


def test_the_architecture_figure_has_the_ids_of_the_running_sentence():
    agree(marked(svg("architecture"), "data-values", "ids"), example.ids)


@pytest.mark.parametrize("name", ["architecture", "model", "qkv"])
def test_the_running_sentence_is_spelt_out(name):
    words = [text_of(e) for e in svg(name).iter() if tag(e) == "text"]
    start = words.index(example.sentence[0])
    assert words[start : start + len(example.sentence)] == example.sentence


@each_figure
def test_figures_can_be_read(path):
    """Also on a narrow screen, where 480 units become some 340 pixels, and without seeing them."""
    assert path.stat().st_size <= 20_000
    root = ET.parse(path).getroot()
    assert [tag(e) for e in root[:2]] == ["title", "desc"] and all(text_of(e) for e in root[:2])
    _, _, width, height = map(float, root.get("viewBox").split())
    assert width <= 480 and (root.get("width"), root.get("height")) == (f"{width:g}", f"{height:g}")
    assert min(float(e.get("font-size", "16")) for e in root.iter()) >= 13
