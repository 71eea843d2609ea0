"""The book's interactives: their numbers are PyTorch's, and keyboard and paper are enough."""

import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import torch
from book_source import BOOK
from browser import Interactive, opened, reason_to_skip, violations
from course_copy import ROOT
from torch.nn.functional import gelu, layer_norm, relu, rms_norm, silu

sys.path.insert(0, str(BOOK / "_ext"))

from course_site import interactives  # noqa: E402
from course_site.interactives import parts  # noqa: E402

SCRIPTS = BOOK / "assets" / "interactives"
OF_MODEL = {"heads", "forward-pass", "leak"}  # these have test_interactives_model.py
ALL = tuple(name for name in interactives.NAMES if name not in OF_MODEL)
KILOBYTES = 80  # of our own JavaScript, in the whole book

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("interactives")]


def f64(values):
    return torch.tensor(values, dtype=torch.float64)


# ---------------------------------------------------------------------------- what they are made of


def test_each_has_a_drawing_and_a_script():
    names = interactives.NAMES
    drawn = {p.stem for p in (BOOK / "_ext/course_site/interactives").glob("*.py")}
    modules = {name.replace("-", "_") for name in names}
    assert drawn == modules | {"__init__", "directive", "parts", "model_parts"}
    shared = {"math", "element", "attention", "gpt2"}
    assert {p.stem for p in SCRIPTS.glob("*.js")} == {*names} | shared
    for name in names:
        assert interactives.find(name).TITLE
        assert f'TransformerElement.define("{name}", ' in (SCRIPTS / f"{name}.js").read_text()


def test_scripts_are_small_and_classic():
    scripts = list((BOOK / "assets").rglob("*.js"))
    assert sum(p.stat().st_size for p in scripts) <= KILOBYTES * 1000
    for path in scripts:
        assert not re.search(
            r"^\s*(import|export)\b|\bfetch\(|https?:", path.read_text(), re.M
        ), path


def test_every_class_is_ours():
    """The theme has a `.row` and a `.btn` of its own."""
    for name in ALL:
        html = parts.frame(name, "title", "p", interactives.find(name).draw("p"))
        for names in re.findall(r'class="([^"]*)"', html):
            assert all(each.startswith("tf-") for each in names.split()), names
    style = re.sub(r"/\*.*?\*/", "", (SCRIPTS / "interactives.css").read_text(), flags=re.S)
    assert {c for c in re.findall(r"\.([a-z][\w-]*)", style)} <= set(
        re.findall(r"\btf-[\w-]+", style)
    )
    assert not re.search(r"#[0-9a-f]{3,8}\b|rgb\(", style), "colours come from the page's variables"


# ---------------------------------------------------------------------------- pages for the tests


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """A tiny book with the extension, the theme and the settings of the real one."""
    if reason := reason_to_skip():
        pytest.skip(reason)
    root = tmp_path_factory.mktemp("interactives")
    shutil.copy(ROOT / "_config.yml", root)
    book = root / "book"
    for folder in ("_ext", "assets"):
        shutil.copytree(BOOK / folder, book / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(BOOK / "references.bib", book)
    used = [
        f"```{{interactive}} {name}\n:name: fig-{name}\n\nThe $x$ of {name}.\n```" for name in ALL
    ]
    first = "```{interactive} softmax\n```"
    pages = {
        "index": "# Without interactives",
        "all": "\n\n".join(["# With all", "See {numref}`fig-softmax`.", *used]),
        "twice": "\n\n".join(["# The same one twice", first, first]),
    }
    for name, text in pages.items():
        (book / f"{name}.md").write_text(text + "\n")
    toc = "format: jb-book\nroot: index\nchapters:\n- file: all\n- file: twice\n"
    (book / "_toc.yml").write_text(toc)
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", str(book), "-W", "-n"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return root / "_build" / "html"


@pytest.fixture
def page(browser, tiny):
    """The page with all interactives, awake and still."""
    with opened(browser, tiny / "all.html", reduced_motion="reduce") as still:
        yield still


@pytest.fixture(scope="session")
def maths(browser):
    """Call a function of math.js or a static one of element.js."""
    page = browser.new_page()
    for script in ("math", "element"):
        page.add_script_tag(path=SCRIPTS / f"{script}.js")

    def call(function, *arguments):
        return page.evaluate(f"arguments => {function}(...arguments)", list(arguments))

    yield call
    page.close()


def each(call, function, values):
    return f64(call(f"(values => values.map({function}))", values))


# ---------------------------------------------------------------------------- the maths file

EXACT = dict(rtol=1e-12, atol=1e-13)


def vectors():
    torch.manual_seed(0)
    yield from (torch.randn(n, dtype=torch.float64).tolist() for n in (1, 2, 5, 40))
    yield [3.0] * 5
    yield [0.0] * 4
    yield [1000.0, 999.0, -1000.0]
    yield [1e-3, -2e-3, 1.5e-3]


@pytest.mark.parametrize("temperature", [0.01, 0.5, 1, 5])
def test_softmax_is_torchs(maths, temperature):
    for scores in vectors():
        weights = f64(maths("TransformerMaths.softmax", scores, temperature))
        torch.testing.assert_close(weights, (f64(scores) / temperature).softmax(0), **EXACT)


def jacobian(scores):
    return torch.autograd.functional.jacobian(lambda s: s.softmax(0), f64(scores))


def test_the_gradient_of_softmax_is_autograds(maths):
    for scores in vectors():
        weights = maths("TransformerMaths.softmax", scores)
        largest = f64(maths("TransformerMaths.softmaxGradient", weights))
        torch.testing.assert_close(largest, jacobian(scores).abs().max(), **EXACT)


@pytest.mark.parametrize(("gamma", "beta"), [(1.0, 0.0), (-1.7, 0.3)])
def test_both_norms_are_torchs(maths, gamma, beta):
    for x in vectors():
        shape, weight = (len(x),), torch.full((len(x),), gamma, dtype=torch.float64)
        how = {"gamma": gamma, "beta": beta}
        layer = maths("TransformerMaths.layerNorm", x, how)["output"]
        expected = layer_norm(f64(x), shape, weight, torch.full_like(weight, beta), 1e-5)
        torch.testing.assert_close(f64(layer), expected, rtol=1e-9, atol=1e-12)
        rms = maths("TransformerMaths.rmsNorm", x, how)["output"]
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


def test_erf_has_all_its_digits(maths):
    found = each(maths, "TransformerMaths.erf", ARGUMENTS)
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
def test_activations_are_torchs(maths, name, function):
    found = each(maths, f"TransformerMaths.{name}", ARGUMENTS)
    torch.testing.assert_close(found, function(f64(ARGUMENTS)), rtol=1e-12, atol=1e-13)


def counted(d, L, V, tied):
    """The parameters of modules of those sizes, which have shapes and no memory."""
    from torch import nn

    with torch.device("meta"):
        block = nn.TransformerEncoderLayer(d, 1, 4 * d)
        tables = [nn.Embedding(V, d), nn.Embedding(1024, d), nn.LayerNorm(d)]
        tables += [] if tied else [nn.Linear(d, V, bias=False)]
    size = lambda module: sum(p.numel() for p in module.parameters())  # noqa: E731
    return {
        "total": L * size(block) + sum(map(size, tables)),
        "attention": L * size(block.self_attn),
        "feedforward": L * (size(block.linear1) + size(block.linear2)),
        "layer_norm": L * (size(block.norm1) + size(block.norm2)) + size(tables[2]),
        "token_embedding": size(tables[0]),
        "position_embedding": size(tables[1]),
        "unembedding": 0 if tied else size(tables[3]),
    }


PUBLISHED = {
    (768, 12, True): 124_439_808,
    (1024, 24, True): 354_823_168,
    (1280, 36, True): 774_030_080,
    (1600, 48, True): 1_557_611_200,
    (768, 12, False): 163_037_184,
}


def test_parameters_are_counted_exactly(maths):
    for (d, L, tied), total in PUBLISHED.items():
        found = maths(
            "TransformerMaths.parameterCounts", {"d": d, "L": L, "V": 50257, "tied": tied}
        )
        assert found == counted(d, L, 50257, tied) and found["total"] == total
    odd = {"d": 7, "L": 3, "V": 11, "tied": False}
    assert maths("TransformerMaths.parameterCounts", odd) == counted(**odd)


def test_both_sides_write_numbers_alike(maths):
    torch.manual_seed(0)
    numbers = [0.0, -0.0, -0.00004, 12.0, 0.1, -3.25e-7, 1e-3, -9.996e-4, 50257, -4]
    numbers += (torch.randn(200, dtype=torch.float64) * 10 ** torch.randint(-8, 4, (200,))).tolist()
    for x in numbers:
        for digits in (1, 2, 3, 5):
            assert maths("TransformerElement.fixed", x, digits) == parts.fixed(x, digits)
        assert maths("TransformerElement.small", x) == parts.small(x)
    for x in (0, -4, 12, 0.1, -0.05, 1.73, 50257, 124_439_808):
        assert maths("TransformerElement.plain", x) == parts.plain(x)
    for x in (0, 999, 1000, 1_557_611_200):
        assert maths("TransformerElement.count", x) == parts.count(x)


def same(element, key, expected, digits):
    """The number shown is the expected one, to the last digit shown."""
    assert element.value(key) == pytest.approx(float(expected), abs=0.5001 * 10**-digits), key


# ---------------------------------------------------------------------------- softmax

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


# ---------------------------------------------------------------------------- LayerNorm

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


# ---------------------------------------------------------------------------- the parameter budget


@pytest.fixture
def budget(page):
    return Interactive(page, "budget")


def see_budget(budget, d, L, V, tied):
    counts = counted(d, L, V, tied)
    for key, parameters in counts.items():
        assert budget.text(key) == f"{parameters:,}"
        if key != "total":
            same(budget, f"share-{key}", 100 * parameters / counts["total"], 2)
    rule = 12 * d * d * L
    blocks = counts["attention"] + counts["feedforward"] + counts["layer_norm"] - 2 * d
    assert budget.text("rule") == f"{rule:,}"
    assert budget.text("blocks") == f"{blocks:,}"
    same(budget, "total-error", 100 * (rule / counts["total"] - 1), 2)
    same(budget, "blocks-error", 100 * (rule / blocks - 1), 2)
    assert f"{counts['total']:,} parameters" in budget.finding()


def test_the_budget_is_exact(budget):
    for name, (d, L, tied) in zip(("small", "medium", "large", "xl"), PUBLISHED):
        budget.act(name)
        see_budget(budget, d, L, 50257, tied)
        assert budget.finding().startswith(f"GPT-2 {name} has {PUBLISHED[d, L, tied]:,} ")
        assert budget.find('[aria-pressed="true"]').all_text_contents() == [f"GPT-2 {name}"]
    budget.act("small")
    budget.press('[type="checkbox"]', "Space")
    see_budget(budget, 768, 12, 50257, False)
    assert budget.text("total") == "163,037,184"
    assert budget.finding().startswith("This model")
    budget.write("V", 1001)
    budget.press('[type="range"][data-name="d"]', "ArrowRight")
    budget.write("L", 3)
    see_budget(budget, 832, 3, 1001, False)
    assert budget.find('[aria-pressed="true"]').count() == 0


def test_counts_are_whole_numbers(budget):
    budget.write("L", 2.5)
    budget.page.keyboard.press("Tab")
    asked = "The number of blocks L must be a whole number from 1 to 96. It stays 2."
    assert budget.problem() == asked
    see_budget(budget, 768, 2, 50257, True)


# ---------------------------------------------------------------------------- activations

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


def centre(element):
    box = element.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


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


# ---------------------------------------------------------------------------- all of them

FIRST = {  # name -> the numbers of its first state are right
    "softmax": lambda softmax: see_softmax(softmax, FITS),
    "layernorm": lambda norm: see_norm(norm, X),
    "budget": lambda budget: see_budget(budget, 768, 12, 50257, True),
    "activations": lambda activations: see_values(activations, -1.0),
}
CHANGES = {  # name -> a control, what is typed, what then stands in the finding; what is refused
    "softmax": ("fit-1", "4", "owl (position 1)", "99"),
    "layernorm": ("beta", "-2.5", "the mean to −2.500", "-99"),
    "budget": ("L", "40", "This model", "0"),
    "activations": ("x", "2.5", "At x = 2.5", "99"),
}

each_one = pytest.mark.parametrize("name", ALL)


@each_one
def test_all_is_there_without_scripts(browser, tiny, name):
    with opened(browser, tiny / "all.html", java_script_enabled=False) as page:
        element = Interactive(page, name)
        FIRST[name](element)
        assert element.find(".tf-finding").is_visible()
        assert element.find(".tf-text").count() > 0
        for place in element.find(".tf-text").all():
            assert place.is_visible() and place.text_content()
        for control in element.find("input, button").all():
            assert control.bounding_box() is None, "its room is kept"


@each_one
def test_waking_changes_no_text_and_no_size(browser, tiny, page, name):
    awake = Interactive(page, name)
    with opened(browser, tiny / "all.html", java_script_enabled=False) as asleep:
        assert Interactive(asleep, name).texts() == awake.texts()
    context = browser.new_context(reduced_motion="reduce")
    context.route(f"**/{name}.js*", lambda route: route.abort())
    unborn = context.new_page()
    unborn.goto((tiny / "all.html").as_uri())
    boxes = [p.locator(f"tf-{name}").bounding_box() for p in (unborn, page)]
    assert not unborn.locator(f"tf-{name} input").first.is_visible()
    context.close()
    assert boxes[0] == boxes[1]


@each_one
def test_reset_restores(page, name):
    element = Interactive(page, name)
    key, typed, said, _ = CHANGES[name]
    before = element.texts()
    element.write(key, typed)
    assert said in element.finding() and element.texts() != before
    if element.find('[type="checkbox"]').count():
        element.press('[type="checkbox"]', "Space")
    if element.find('[type="radio"]').count():
        element.press('[type="radio"]', "ArrowRight")
    element.act("reset")
    assert element.texts() == before
    for control in element.find("input").all():
        assert control.evaluate("i => i.checked === i.defaultChecked")
        if control.get_attribute("type") != "checkbox":
            assert control.input_value() == control.get_attribute("value")


@pytest.mark.parametrize("typed", ["", "-", "too far"])
@each_one
def test_what_cannot_be_used_changes_nothing_and_is_told(page, name, typed):
    element = Interactive(page, name)
    key, good, _, too_far = CHANGES[name]
    box = element.find(f'[type="number"][data-name="{key}"]')
    before, held = element.texts(), box.input_value()
    if typed == "too far":
        box.focus()  # at once, since its first digit alone would do
        page.keyboard.press("Control+A")
        page.keyboard.insert_text(too_far)
    else:
        element.write(key, typed)
    page.wait_for_timeout(700)
    assert box.get_attribute("aria-invalid") == "true"
    stays = rf"must be a .*number from \S+ to \S+\. It stays {parts.signed(held)}\.$"
    assert re.search(stays, element.problem())
    page.wait_for_timeout(300)
    assert page.locator("[role=status].tf-unseen").text_content() == element.problem()
    page.keyboard.press("Tab")
    assert box.input_value() == held and box.get_attribute("aria-invalid") is None
    assert element.problem() and element.texts() == before
    element.write(key, good)
    assert element.problem() == "" and element.texts() != before


def test_a_minus_on_its_way_to_a_number_is_not_blamed(softmax):
    softmax.write("fit-0", "-")
    softmax.page.wait_for_timeout(200)
    assert softmax.problem() == ""
    softmax.page.keyboard.type("3")
    softmax.page.wait_for_timeout(700)
    assert softmax.problem() == ""


def test_what_is_spoken_waits_until_all_is_still(softmax):
    softmax.page.evaluate("""() => {
          window.spoken = [];
          const region = document.querySelector("[role=status].tf-unseen");
          new MutationObserver(() => spoken.push(region.textContent))
            .observe(region, { childList: true });
        }""")
    softmax.press('[type="range"][data-name="fit-1"]', *["ArrowRight"] * 15)
    softmax.page.wait_for_timeout(600)
    assert softmax.page.evaluate("spoken") == [softmax.finding()]


@each_one
def test_paper_shows_the_state_of_now(page, name):
    element = Interactive(page, name)
    key, typed, said, _ = CHANGES[name]
    element.write(key, typed)
    page.emulate_media(media="print")
    assert said in element.find(".tf-finding").inner_text()
    place = element.find(f'.tf-text[data-out="{key}"]')
    assert place.is_visible() and place.inner_text() == parts.signed(typed)
    assert not any(control.is_visible() for control in element.find("input, button").all())


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(browser, tiny, theme):
    with opened(browser, tiny / "all.html", color_scheme=theme) as page:
        page.wait_for_timeout(1000)  # the theme swaps its icons in after load
        assert page.locator("html").get_attribute("data-theme") == theme
        assert violations(page) == []
        Interactive(page, "layernorm").choose("norm", "ArrowRight")
        Interactive(page, "softmax").write("fit-0", "")
        page.wait_for_timeout(700)
        assert violations(page) == []


@each_one
def test_the_theme_recolours_at_once(page, name):
    colours = """name => [...document.querySelectorAll(`tf-${name}, tf-${name} *`)].flatMap(
      (element) => (element.matches(".tf-slider") ? ["accent-color"]
        : ["accent-color", "color", "background-color", "border-bottom-color", "stroke"]
      ).map((property) => `${element.tagName} ${property} ` +
        getComputedStyle(element).getPropertyValue(property)))"""
    seen = []
    for theme in ("light", "dark"):
        page.evaluate("theme => (document.documentElement.dataset.theme = theme)", theme)
        seen.append(page.evaluate(colours, name))
    unpainted = ("rgba(0, 0, 0, 0)", "none", "auto")
    stuck = {a for a, b in zip(*seen) if a == b and not a.endswith(unpainted)}
    assert not stuck


@each_one
def test_a_telephone_need_not_scroll_sideways(browser, tiny, name):
    size = {"width": 375, "height": 800}
    with opened(browser, tiny / "all.html", viewport=size) as page:
        element = Interactive(page, name)
        if name == "budget":  # the longest numbers
            element.write("d", 4096)
            element.write("L", 96)
            element.write("V", 150257)
        if name == "layernorm":
            for i in range(5):
                element.write(f"x-{i}", -9.999)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        outside = """name => {
          const within = document.querySelector(`tf-${name}`);
          const padding = parseFloat(getComputedStyle(within).paddingRight);
          const edge = within.getBoundingClientRect().right - padding;
          return [...within.querySelectorAll("*")].map((e) => e.getBoundingClientRect())
            .filter((box) => box.width && box.right > edge + 1).length;
        }"""
        assert page.evaluate(outside, name) == 0


@each_one
def test_every_control_is_named_and_shows_the_focus(page, name):
    page.keyboard.press("Tab")  # it is the keyboard that is in use
    for control in Interactive(page, name).find("input:enabled, button").all():
        control.focus()
        outline = "e => getComputedStyle(e).outlineStyle + ' ' + getComputedStyle(e).outlineWidth"
        assert control.evaluate(outline) == "solid 3px"
        visible = control.evaluate("""e => {
              const ids = (e.getAttribute("aria-labelledby") ?? "").split(" ").filter(id => id);
              const labels = e.labels?.length ? [...e.labels] : e.tagName === "BUTTON" ? [e] : [];
              return [...labels, ...ids.map(id => document.getElementById(id))]
                .map(label => label.checkVisibility() && label.innerText.trim());
            }""")
        assert visible and all(visible)


def test_nothing_moves_for_those_who_asked_for_that(browser, tiny, softmax):
    duration = "e => getComputedStyle(e).transitionDuration"
    assert softmax.find(".tf-bar").first.evaluate(duration) == "0s"
    with opened(browser, tiny / "all.html", reduced_motion="no-preference") as moving:
        assert moving.locator("tf-softmax .tf-bar").first.evaluate(duration) != "0s"


def test_two_on_a_page_do_not_disturb_each_other(browser, tiny):
    with opened(browser, tiny / "twice.html") as page:
        ids = page.locator("[id^=tf-]").evaluate_all("all => all.map(element => element.id)")
        assert len(ids) == len(set(ids)) > 10
        first, second = (page.locator("tf-softmax").nth(i).locator("[data-out]") for i in (0, 1))
        before = second.all_text_contents()
        softmax = Interactive(page, "softmax")
        softmax.write("fit-0", 3)
        softmax.choose("d_k", "ArrowRight")
        assert second.all_text_contents() == before != first.all_text_contents()
        assert page.locator('[role="status"].tf-unseen').count() == 1


# ---------------------------------------------------------------------------- the pages as written


def test_only_pages_with_interactives_load_them(tiny):
    loaded = {
        page.stem: re.findall(r"interactives/(\w+\.\w+)", page.read_text())
        for page in tiny.glob("*.html")
    }
    assert not loaded["index"] and not loaded["search"]
    assert loaded["twice"] == ["interactives.css", "math.js", "element.js", "softmax.js"]
    scripts = [f"{name}.js" for name in ("math", "element", *sorted(ALL))]
    assert loaded["all"] == ["interactives.css", *scripts]
    html = (tiny / "all.html").read_text()
    assert len(re.findall(r'<script defer="defer" src="_static/interactives/', html)) == len(
        scripts
    )


def test_figures_are_numbered_and_captioned(tiny):
    html = (tiny / "all.html").read_text()
    assert re.search(r'href="#fig-softmax"><span[^>]*>Fig. 1</span>', html)
    for number, name in enumerate(ALL, 1):
        (figure,) = re.findall(rf'<figure [^>]*id="fig-{name}">(.*?)</figure>', html, re.S)
        assert f"<tf-{name} " in figure and f"Fig. {number}" in figure
        assert f"of {name}." in figure
