"""The interactives on the running example: heads, forward pass, leak. Every number is PyTorch's."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import browser as chrome
import pytest
import torch
from book_source import BOOK
from browser import Interactive, opened, violations
from course_copy import ROOT
from torch.nn.functional import scaled_dot_product_attention

from autograder import example
from autograder.example.trace import run
from autograder.standins.architecture import GPT2Config
from autograder.standins.forward_pass import GPT2

sys.path.insert(0, str(BOOK / "_ext"))

from course_site.interactives import forward_pass, heads, leak, model_parts, parts  # noqa: E402

SCRIPTS = BOOK / "assets" / "interactives"
NAMES = ("heads", "forward-pass", "leak")
SENTENCE, T_MAX = example.sentence, example.config["n_positions"]
WEIGHTS = {name: (w.double() * 10).round() / 10 for name, w in example.weights.items()}
EXACT = dict(rtol=0, atol=1e-9)

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("interactives")]


def stages(words, causal=True):
    """What torch computes for a list of words, in double precision."""
    return run(WEIGHTS, example.config["n_head"], example.encode(words), causal)


# ---------------------------------------------------------------------------- pages


@pytest.fixture(scope="session")
def trio(tmp_path_factory):
    """A tiny book with the three of them, as the real one is built."""
    if reason := chrome.reason_to_skip():
        pytest.skip(reason)
    root = tmp_path_factory.mktemp("model_interactives")
    shutil.copy(ROOT / "_config.yml", root)
    book = root / "book"
    for folder in ("_ext", "assets"):
        shutil.copytree(BOOK / folder, book / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(BOOK / "references.bib", book)
    used = "\n\n".join(f"```{{interactive}} {name}\n```" for name in NAMES)
    (book / "index.md").write_text(f"# All of them\n\n{used}\n")
    (book / "_toc.yml").write_text("format: jb-book\nroot: index\n")
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", str(book), "-W", "-n"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return root / "_build" / "html" / "index.html"


@pytest.fixture
def page(browser, trio):
    with opened(browser, trio, reduced_motion="reduce") as still:
        yield still


@pytest.fixture(scope="session")
def script(browser):
    """Call a function of the scripts that build no page."""
    page = browser.new_page()
    for name in ("math", "element", "attention", "gpt2"):
        page.add_script_tag(path=SCRIPTS / f"{name}.js")

    def call(function, *arguments):
        return page.evaluate(f"arguments => {function}(...arguments)", list(arguments))

    yield call
    page.close()


@pytest.fixture
def attention(page):
    return Interactive(page, "heads")


@pytest.fixture
def stepper(page):
    return Interactive(page, "forward-pass")


@pytest.fixture
def leaking(page):
    return Interactive(page, "leak")


def shown(element):
    """What an interactive shows, by place; the same wherever a place is shown twice."""
    found = element.find("[data-out]").evaluate_all(
        "all => all.map(place => [place.dataset.out, place.textContent])"
    )
    texts = dict(found)
    assert all(texts[key] == text for key, text in found)
    return texts


def spaced(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


def two(key, x):
    """The texts of a tensor of numbers with two decimals, by place."""
    if x.dim() == 0:
        return {key: parts.fixed(x.item(), 2)}
    return {k: v for i, row in enumerate(x) for k, v in two(f"{key}-{i}", row).items()}


# ---------------------------------------------------------------------------- gpt2.js

CALL = "((model, texts, options) => texts.map(ids => TransformerGPT2.forward(model, ids, options)))"


def texts_of(length):
    dice = random.Random(length)
    return [[dice.randrange(len(example.words)) for _ in range(length)] for _ in range(30)]


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("length", range(1, T_MAX + 1))
def test_every_stage_of_the_forward_pass_is_torchs(script, length, causal):
    texts = texts_of(length)
    for ids, found in zip(texts, script(CALL, model_parts.model(), texts, {"causal": causal})):
        expected = run(WEIGHTS, example.config["n_head"], torch.tensor(ids), causal)
        assert set(found) == set(expected)
        for name, want in expected.items():
            got = torch.tensor(found[name], dtype=torch.float64)
            torch.testing.assert_close(got, want, msg=lambda m: f"{name}: {m}", **EXACT)
        q, k, v = (torch.tensor(found[f"{n}_0"], dtype=torch.float64) for n in "QKV")
        mixed = scaled_dot_product_attention(q, k, v, is_causal=causal)
        heads_0 = torch.tensor(found["heads_0"], dtype=torch.float64)
        torch.testing.assert_close(heads_0, mixed, **EXACT)


def test_the_logits_are_those_of_the_model_and_of_the_book(script):
    model = GPT2(GPT2Config(**example.config))
    model.load_state_dict(example.weights)
    texts = [ids for length in range(1, T_MAX + 1) for ids in texts_of(length)[:5]]
    for ids, found in zip(texts, script(CALL, model_parts.model(), texts)):
        got = torch.tensor(found["logits"])
        torch.testing.assert_close(got, model(torch.tensor(ids)[None])[0], rtol=1e-6, atol=1e-5)
        told = example.stages([example.words[i] for i in ids])
        for name, want in told.items():
            got = torch.tensor(found[name], dtype=torch.float32)
            torch.testing.assert_close(got, want, rtol=1e-6, atol=1e-5)


def test_rows_of_weights_are_told_alike_on_both_sides(script):
    torch.manual_seed(0)
    words = "the owl saw the mouse .".split()
    for sharpness in (0, 0.5, 3, 20):
        for weights in (torch.randn(6, 6, dtype=torch.float64) * sharpness).softmax(-1).tolist():
            for t in range(6):
                row = [a / sum(weights[: t + 1]) for a in weights[: t + 1]]
                told = script("TransformerAttention.told", words, row, t)
                assert told == model_parts.told(words, row, t)


def test_a_row_is_told_in_one_sentence():
    told = lambda row: spaced(model_parts.told(SENTENCE, row, len(row) - 1))  # noqa: E731
    assert told([0.0, 0.021, 0.931, 0.0, 0.048]) == (
        "“mouse” (position 4) gives 93 % of its weight to “saw” (2), 5 % to itself and 2 % to the rest."
    )
    assert "same weight, 25 %, to each of the 4 positions" in told([0.25] * 4)
    assert told([1.0]).endswith("gives itself all its weight.")
    assert told([0.4, 0.6]).endswith("60 % of its weight to itself and 40 % to “the” (0).")
    assert told([0.001, 0.999]).endswith("less than 1 % to the rest.")


# ---------------------------------------------------------------------------- heads

FACES = [head for group in heads.data()["groups"] for head in group["heads"]]
LOOKS = {  # head -> where positions 1 to 4 look most
    "Positional": [0, 1, 2, 3],
    "Syntactic": [0, 1, 2, 2],
    "Duplicate-token": [1, 2, 0, 4],
    "Head 0": [1, 0, None, 2],
    "Head 1": [1, 2, 1, 4],
}


def vectors(texts):
    rows = [re.findall(r"-?[\d.]+", text.replace("−", "-")) for text in texts]
    return torch.tensor([[float(x) for x in row] for row in rows], dtype=torch.float64)


def weights_of(queries, keys):
    scores = queries @ keys.T / queries.shape[1] ** 0.5
    future = torch.ones(len(scores), len(scores), dtype=torch.bool).triu(1)
    return scores.masked_fill(future, -torch.inf).softmax(-1)


@pytest.mark.parametrize("head", FACES, ids=lambda head: head["name"])
def test_weights_come_from_the_queries_and_keys_that_are_shown(head):
    weights = torch.tensor(head["weights"], dtype=torch.float64)
    shown_to_hundredths = head["name"].startswith("Head")
    expected = weights_of(vectors(head["queries"]), vectors(head["keys"]))
    atol = 0.03 if shown_to_hundredths else 1e-8
    torch.testing.assert_close(weights, expected, rtol=0, atol=atol)


@pytest.mark.parametrize("head", FACES, ids=lambda head: head["name"])
def test_heads_look_where_they_are_said_to_look(head):
    for t, s in enumerate(LOOKS.get(head["name"], []), 1):
        if s is not None:
            assert max(range(t + 1), key=lambda i: head["weights"][t][i]) == s
            assert head["weights"][t][s] > 0.6
    if head["name"] == "Global":
        assert all(
            row[: t + 1] == [round(1 / (t + 1), 9)] * (t + 1)
            for t, row in enumerate(head["weights"])
        )


def test_the_trained_heads_are_the_examples():
    for head, weights in zip(FACES[4:], example.stages()["A_0"]):
        torch.testing.assert_close(torch.tensor(head["weights"]), weights, rtol=0, atol=1e-6)
    said = [head["does"] for head in FACES[4:]]
    assert (
        "“mouse” (position 4) at “saw” (2)" in said[0]
        and "“the” (position 3) at “owl” (1)" in said[1]
    )


def see_head(element, i, row):
    head = FACES[i]
    (panel,) = [p for p in element.find("[role=tabpanel]").all() if p.is_visible()]
    rows = panel.locator("tbody tr[data-row]").all()
    for t, (line, weights) in enumerate(zip(rows, head["weights"])):
        cells = line.locator("td").all_text_contents()
        assert cells == [parts.fixed(a, 2) for a in weights[: t + 1]] + ["masked"] * (4 - t)
        assert ("tf-chosen" in (line.get_attribute("class") or "")) == (t == row)
        assert line.locator("input").is_checked() == (t == row)
    vectors_shown = panel.locator("details tbody td").all_text_contents()
    assert vectors_shown == [v for both in zip(head["queries"], head["keys"]) for v in both]
    (tab,) = element.find('[role=tab][aria-selected="true"]').all()
    assert tab.text_content() == head["name"]
    assert panel.get_attribute("id") == tab.get_attribute("aria-controls")
    told = model_parts.told(SENTENCE, head["weights"][row], row)
    assert spaced(element.finding()) == spaced(f"{head['name']}: {told}")


TABS = "[role=tab]"


def test_heads_are_switched_by_the_arrow_keys(page, attention):
    see_head(attention, 0, 4)
    attention.press(TABS)
    for key, i in (("ArrowRight", 1), ("End", 3), ("ArrowRight", 3), ("ArrowLeft", 2), ("Home", 0)):
        page.keyboard.press(key)
        see_head(attention, i, 4)
        assert page.evaluate("document.activeElement.textContent") == FACES[i]["name"]
    page.keyboard.press("Tab")  # the second list, whose first tab is not yet chosen
    see_head(attention, 0, 4)
    page.keyboard.press("Enter")
    see_head(attention, 4, 4)
    assert "93 % of its weight to “saw” (2), 5 % to itself" in spaced(attention.finding())
    page.keyboard.press("ArrowRight")
    see_head(attention, 5, 4)
    attention.choose("row", "ArrowUp")
    see_head(attention, 5, 3)
    assert "gives 99 % of its weight to “owl” (1)" in spaced(attention.finding())
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    see_head(attention, 5, 1)
    page.keyboard.press("ArrowUp")
    see_head(attention, 5, 0)
    page.wait_for_timeout(400)
    assert page.locator("[role=status].tf-unseen").text_content().replace(
        "\N{NO-BREAK SPACE}", " "
    ) == spaced(attention.finding())


def test_the_row_under_the_pointer_is_told(attention):
    attention.find("[role=tabpanel]:visible tr[data-row='2'] td").first.hover()
    see_head(attention, 0, 2)


def test_masked_cells_are_hatched(attention):
    cells = attention.find("[role=tabpanel]:visible .tf-masked")
    assert cells.count() == 10
    image = cells.first.evaluate("cell => getComputedStyle(cell).backgroundImage")
    assert image.startswith("repeating-linear-gradient")


def test_heads_of_any_model_can_be_drawn():
    other = json.loads(json.dumps(heads.data()))
    other["words"] = ["<b>", "c"]
    head = {
        **FACES[0],
        "name": "Own",
        "weights": [[1, 0], [0.25, 0.75]],
        "queries": ["(1)"] * 2,
        "keys": ["(1)"] * 2,
    }
    other["groups"] = [{"name": "Mine", "heads": [head]}]
    drawn = heads.drawing("p", other)
    assert "&lt;b&gt;" in drawn.body and "<b>" not in drawn.body and "0.75" in drawn.body
    assert (
        spaced(drawn.finding)
        == "Own: “c” (position 1) gives 75 % of its weight to itself and 25 % to “<b>” (0)."
    )


# ---------------------------------------------------------------------------- forward pass


def expected_of(words, t, head):
    """All that the stepper shows for a sentence, a position and a head."""
    s = stages(words)
    T, x, keep = len(words), s["X0"][t], forward_pass.ALIVE
    texts = {f"word-{i}": word for i, word in enumerate(words)}
    texts |= {f"w-{i}": word for i, word in enumerate(words)}
    texts |= {f"shape-{i}": f"({T}, {8 if i == 5 else 6})" for i in range(6)}
    texts["T"] = str(T)
    texts |= {"id": str(example.words.index(words[t])), "t": str(t), "head-name": str(head)}
    texts |= {"name": f"“{words[t]}”", "head": f"head {head}"}
    for key, name in {"X0": "X0", "ln": "ln_1_0", "attn": "attn_0", "mid": "mid_0"}.items():
        texts |= two(key, s[name])
    texts |= two("X1", s["X1"]) | two("probs", s["probs"])
    spread = (x - x.mean()) / (x.var(correction=0) + 1e-5).sqrt()
    bias = WEIGHTS["blocks.0.attn.b_O"]
    for key, rows in {
        "embed": (WEIGHTS["E"][example.words.index(words[t])], WEIGHTS["P"][t], x),
        "norm": (x, x - x.mean(), spread, s["ln_1_0"][t]),
        "write": (*s["writes_0"][:, t], bias, s["attn_0"][t]),
        "residual": (x, s["attn_0"][t], x + s["attn_0"][t]),
        "units": (s["up_0"][t][keep], s["act_0"][t][keep]),
        "ffn": (s["mid_0"][t], s["ln_2_0"][t], s["ffn_0"][t], s["mid_0"][t] + s["ffn_0"][t]),
        "final": (s["ln_f"][t],),
    }.items():
        texts |= two(key, torch.stack(rows))
    texts |= two("q", s["Q_0"][head, t]) | two("k", s["K_0"][head]) | two("v", s["V_0"][head])
    texts |= two("mixed", (s["A_0"] @ s["V_0"])[head, t]) | two("logit", s["logits"][t])
    for i in range(T):
        seen = i <= t
        texts[f"score-{i}"] = parts.fixed(s["S_0"][head, t, i].item(), 2) if seen else "masked"
        texts[f"weight-{i}"] = parts.fixed(s["A_0"][head, t, i].item(), 2) if seen else "masked"
    texts |= {f"p-{i}": parts.fixed(p, 3) for i, p in enumerate(s["probs"][t].tolist())}
    return texts | {f"said-{i}": a for i, a in enumerate(forward_pass.said(s, words, t, head))}


def see_pass(element, words, t, head, stage):
    """Numbers, sentences, the marked stage, and that rows beyond the sentence are hidden."""
    texts, expected = shown(element), expected_of(words, t, head)
    assert {key: texts[key] for key in expected} == expected
    rest = [re.fullmatch(r"[a-zX01]+-(\d)(-\d)?", key) for key in set(texts) - set(expected)]
    assert all(key and int(key[1]) >= len(words) for key in rest)
    assert spaced(element.finding()) == spaced(expected[f"said-{stage}"])
    marked = element.find('[aria-current="step"]').evaluate_all(
        "all => all.map(b => b.dataset.action)"
    )
    assert marked == [f"stage-{stage}"]
    (panel,) = [p for p in element.find("section").all() if p.is_visible()]
    assert panel.get_attribute("data-stage") == str(stage)
    assert panel.locator('[data-name="position"]:visible').count() == len(words)
    assert element.find("select:visible").count() == len(words)
    (checked,) = panel.locator('[data-name="position"]:checked').all()
    assert checked.get_attribute("value") == str(t)
    shares = element.find('[data-bar^="p-"]').evaluate_all(
        "all => all.map(bar => Number(bar.style.getPropertyValue('--tf-share')))"
    )
    expected_shares = stages(words)["probs"][t]
    torch.testing.assert_close(torch.tensor(shares).double(), expected_shares, rtol=1e-4, atol=1e-6)


def test_the_stages_are_walked_by_arrow_keys_and_by_buttons(stepper):
    see_pass(stepper, SENTENCE, 4, 0, 0)
    stepper.press(".tf-stage")
    for key, stage in (
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("End", 5),
        ("ArrowRight", 5),
        ("ArrowLeft", 4),
        ("Home", 0),
    ):
        stepper.page.keyboard.press(key)
        see_pass(stepper, SENTENCE, 4, 0, stage)
    for stage in (1, 2, 3, 4, 5, 5):
        stepper.act("next")
        see_pass(stepper, SENTENCE, 4, 0, stage)
    next_ = stepper.find('[data-action="next"]')
    assert next_.get_attribute("aria-disabled") == "true" and next_.evaluate(
        "b => b === document.activeElement"
    )
    stepper.act("previous")
    see_pass(stepper, SENTENCE, 4, 0, 4)


def test_position_and_head_are_chosen_by_the_keyboard(stepper):
    for action in ("next", "next"):
        stepper.act(action)
    stepper.press('section:not([hidden]) [data-name="head"]', "ArrowRight")
    see_pass(stepper, SENTENCE, 4, 1, 2)
    stepper.press('section:not([hidden]) [data-name="position"]', "ArrowUp")
    see_pass(stepper, SENTENCE, 3, 1, 2)
    assert "99 % of its weight to “owl”" in spaced(stepper.finding())
    hatched = stepper.find(".tf-look .tf-unseen-row")
    assert hatched.evaluate_all("all => all.map(row => row.dataset.look)") == ["4"]
    for t in (2, 1, 0):
        stepper.page.keyboard.press("ArrowUp")
        see_pass(stepper, SENTENCE, t, 1, 2)


def test_any_sentence_is_computed(stepper):
    words = list(SENTENCE)
    for place, word in ((1, "cat"), (2, "hid"), (0, "a")):
        stepper.press(f'select[data-name="w-{place}"]', word[0])
        words[place] = word
        see_pass(stepper, words, 4, 0, 0)
    stepper.act("append")
    words.append(".")
    see_pass(stepper, words, 5, 0, 0)
    stepper.act("append")
    words.append(example.words[stages(words)["probs"][-1].argmax()])
    see_pass(stepper, words, 6, 0, 0)
    append = stepper.find('[data-action="append"]')
    assert append.get_attribute("aria-disabled") == "true"
    stepper.act("append")
    see_pass(stepper, words, 6, 0, 0)
    for _ in range(7):
        stepper.act("remove")
        words = words[:-1] or words
        see_pass(stepper, words, len(words) - 1, 0, 0)
    assert words == ["a"]


def test_appending_writes_what_the_model_finds_likeliest(stepper):
    for _ in range(4):
        stepper.act("remove")
    words = ["the"]
    for _ in range(6):
        stepper.act("append")
        best = stages(words)["probs"][-1]
        words.append(
            example.words[[round(p, 9) for p in best.tolist()].index(round(best.max().item(), 9))]
        )
    see_pass(stepper, words, 6, 0, 0)


def test_units_that_are_not_listed_are_always_zero():
    dead = [j for j in range(24) if j not in forward_pass.ALIVE]
    for ids in texts_of(7):
        act = run(WEIGHTS, 2, torch.tensor(ids))["act_0"]
        assert not act[:, dead].any()
    assert len(dead) == 18


# ---------------------------------------------------------------------------- leak


def likeliest(probs):
    rounded = [round(p, 9) for p in probs.tolist()]
    i = rounded.index(max(rounded))
    return f"“{example.words[i]}” {parts.fixed(probs[i].item(), 2)}"


def see_leak(element, place, word, causal):
    changed = [word if t == place else old for t, old in enumerate(SENTENCE)]
    before, after = stages(SENTENCE, causal), stages(changed, causal)
    gaps = (before["X1"] - after["X1"]).abs().amax(-1).tolist()
    texts = shown(element)
    for t, gap in enumerate(gaps):
        assert texts[f"read-{t}"] == changed[t]
        assert texts[f"before-{t}"] == likeliest(before["probs"][t])
        assert texts[f"after-{t}"] == likeliest(after["probs"][t])
        exact = gap < 1e-12
        assert texts[f"difference-{t}"] == ("0" if exact else parts.small(gap))
        verdict = "the same" if exact else "changed: leak" if t < place else "changed"
        assert texts[f"verdict-{t}"] == verdict
        row = element.find(f'[data-row="{t}"]').get_attribute("class") or ""
        assert ("tf-altered" in row) == (not exact)
    return gaps


def test_with_the_mask_nothing_earlier_changes_and_without_it_all_may(leaking):
    see_leak(leaking, 4, "cat", True)
    assert leaking.finding() == (
        "Position 4 now reads “cat” in place of “mouse”. With the mask, positions 0 to 3 compute what "
        "they computed before: the largest difference is exactly 0."
    )
    leaking.press('[data-name="causal"]', "Space")
    gaps = see_leak(leaking, 4, "cat", False)
    assert leaking.finding() == (
        "Position 4 now reads “cat” in place of “mouse”. Without the mask 4 of the 4 positions before "
        f"it change as well, by up to {parts.small(max(gaps[:4]))}: they read what comes after them. "
        "This is a leak."
    )
    assert "exactly 0" in shown(leaking)["other"]
    leaking.choose("place", "ArrowLeft", "ArrowLeft")
    see_leak(leaking, 2, "cat", False)
    leaking.choose("word", "ArrowLeft")
    see_leak(leaking, 2, "a", False)
    leaking.press('[data-name="causal"]', "Space")
    see_leak(leaking, 2, "a", True)
    assert "positions 0 to 1 compute" in leaking.finding()
    leaking.choose("word", "ArrowRight", "ArrowRight")
    see_leak(leaking, 2, "hid", True)
    assert "nothing changes anywhere: both have the same row in E" in leaking.finding()
    leaking.choose("place", "ArrowLeft")
    see_leak(leaking, 1, "hid", True)
    assert "position 0 computes what it computed before" in leaking.finding()
    leaking.press('[data-name="causal"]', "Space")
    see_leak(leaking, 1, "hid", False)
    assert "Without the mask position 0 changes as well" in leaking.finding()
    leaking.choose("place", "ArrowLeft")
    see_leak(leaking, 0, "hid", False)
    assert "No position stands before it" in leaking.finding()
    leaking.choose("word", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    see_leak(leaking, 0, "the", False)
    assert leaking.finding().endswith("as before: nothing was changed.")


def test_the_zero_is_exact_for_every_change(script):
    """Bit for bit, in JavaScript: what is called exactly 0 is no rounded number."""
    ids = example.ids.tolist()
    for place in range(1, 5):
        for word in range(len(example.words)):
            changed = [word if t == place else old for t, old in enumerate(ids)]
            before, after = script(CALL, model_parts.model(), [ids, changed])
            assert before["X1"][:place] == after["X1"][:place]
            assert before["probs"][:place] == after["probs"][:place]


# ---------------------------------------------------------------------------- all of them

each_one = pytest.mark.parametrize("name", NAMES)


def all_texts(element):
    """Everything that is not folded away beyond the end of the sentence."""
    return element.find("td, th, [data-out], .tf-finding").evaluate_all(
        """all => all.filter(place => !place.closest("tr[hidden], [data-place][hidden]"))
          .map(place => place.textContent)"""
    )


def change(element, name):
    if name == "heads":
        element.press(TABS, "ArrowRight")
        element.choose("row", "ArrowUp")
    elif name == "forward-pass":
        for action in ("next", "append", "append", "remove", "next"):
            element.act(action)
        element.press('select[data-name="w-1"]', "c")
    else:
        element.choose("word", "ArrowRight")
        element.press('[data-name="causal"]', "Space")


@each_one
def test_waking_changes_no_text_and_no_size(browser, trio, page, name):
    with opened(browser, trio, java_script_enabled=False) as asleep:
        assert all_texts(Interactive(asleep, name)) == all_texts(Interactive(page, name))
    context = browser.new_context(reduced_motion="reduce")
    context.route(f"**/{name}.js*", lambda route: route.abort())
    unborn = context.new_page()
    unborn.goto(trio.as_uri())
    boxes = [p.locator(f"tf-{name}").bounding_box() for p in (unborn, page)]
    for control in unborn.locator(f"tf-{name} :is(input, select, button)").all():
        assert not control.is_visible()
    context.close()
    assert boxes[0] == boxes[1]


@each_one
def test_reset_restores(page, name):
    element = Interactive(page, name)
    before = all_texts(element)
    change(element, name)
    assert all_texts(element) != before
    element.act("reset")
    assert all_texts(element) == before


@each_one
def test_all_is_there_without_scripts(browser, trio, name):
    with opened(browser, trio, java_script_enabled=False) as page:
        element = Interactive(page, name)
        for control in element.find(":is(input, select, button)").all():
            assert control.bounding_box() is None, "its room is kept"
        panels = element.find(".tf-panel").all()
        assert all(panel.is_visible() for panel in panels)
        if name == "heads":
            for panel, head in zip(panels, FACES, strict=True):
                for t, line in enumerate(panel.locator("tr[data-row]").all()):
                    weights = [parts.fixed(a, 2) for a in head["weights"][t][: t + 1]]
                    assert line.inner_text().split("\t")[1:] == weights + ["masked"] * (4 - t)
        elif name == "forward-pass":
            texts, expected = shown(element), expected_of(SENTENCE, 4, 0)
            assert {key: texts[key] for key in expected} == expected
            for i, panel in enumerate(panels):
                assert expected[f"said-{i}"] in panel.inner_text()
            assert len(panels) == 6
        else:
            see_leak(element, 4, "cat", True)
            text = element.find(":scope > *").all_inner_texts()
            assert any("This is a leak" in t for t in text) and any("exactly 0" in t for t in text)


@each_one
def test_paper_shows_all_of_the_state_of_now(page, name):
    element = Interactive(page, name)
    change(element, name)
    page.emulate_media(media="print")
    for control in element.find(":is(input, select, button)").all():
        assert control.bounding_box() is None
    for panel in element.find(".tf-panel").all():
        assert panel.is_visible()
    paper = page.locator(f"tf-{name}").inner_text()
    if name == "heads":
        assert model_parts.told(SENTENCE, FACES[1]["weights"][3], 3) in paper
    elif name == "forward-pass":
        words = ["the", "cat", *SENTENCE[2:], "."]
        assert all(said in paper for said in forward_pass.said(stages(words), words, 5, 0))
        sentence = page.locator("tf-forward-pass .tf-word:visible .tf-text").all_inner_texts()
        assert sentence == words
    else:
        assert "into\nhid" in paper and paper.count("now reads “hid”") == 2


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(page, attention, stepper, leaking, theme):
    page.evaluate("theme => (document.documentElement.dataset.theme = theme)", theme)
    page.wait_for_timeout(400)
    assert violations(page) == []
    leaking.press('[data-name="causal"]', "Space")
    for stage in range(1, 6):
        stepper.act("next")
        stepper.find('section:not([hidden]) [data-name="position"]').nth(stage % 4).check()
        attention.find(TABS).nth(stage).click()
        attention.find("summary:visible").click()
        assert violations(page, "article") == []


@each_one
def test_the_theme_recolours_at_once(page, name):
    colours = """name => [...document.querySelectorAll(`tf-${name}, tf-${name} *`)].map(
      element => getComputedStyle(element).color)"""
    light, dark = [], []
    for theme, into in (("light", light), ("dark", dark)):
        page.evaluate("theme => (document.documentElement.dataset.theme = theme)", theme)
        into += page.evaluate(colours, name)
    assert light and all(before != after for before, after in zip(light, dark))


def fits(page, name):
    """Nothing is wider than the page, nor sticks out of the element."""
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    wide = page.locator(f"tf-{name}").evaluate(
        """e => [...e.querySelectorAll("*")].filter(part => part.offsetParent &&
          part.getBoundingClientRect().right > e.getBoundingClientRect().right)
          .map(part => part.outerHTML.slice(0, 100))"""
    )
    assert wide == []


@each_one
def test_a_telephone_need_not_scroll_sideways(browser, trio, name):
    with opened(browser, trio, viewport={"width": 375, "height": 800}) as page:
        element = Interactive(page, name)
        fits(page, name)
        if name == "heads":
            for tab in element.find(TABS).all():
                tab.click()
                element.find("summary:visible").click()
                fits(page, name)
        if name == "forward-pass":
            element.act("append")
            element.act("append")
            for stage in range(6):
                element.find(f'[data-action="stage-{stage}"]').click()
                fits(page, name)


@each_one
def test_every_control_is_named_and_shows_the_focus(page, name):
    controls = page.locator(f"tf-{name} :is(input, select, button):visible").all()
    assert len(controls) > 5
    for control in controls:
        control.focus()
        page.keyboard.press("Shift")  # the keyboard is in use
        outline = control.evaluate(
            "e => getComputedStyle(e).outlineStyle + getComputedStyle(e).outlineWidth"
        )
        assert outline == "solid3px"
        named = control.evaluate(
            """e => e.labels?.[0]?.textContent ?? (e.tagName === "BUTTON" ? e.textContent :
              e.getAttribute("aria-labelledby").split(" ")
                .map(id => document.getElementById(id).textContent).join(" "))"""
        )
        assert named.strip()


def test_every_class_is_ours():
    for module in (heads, forward_pass, leak):
        for names in re.findall(r'class="?([^">]*)', module.draw("p").body):
            assert all(each.startswith("tf-") for each in names.split()), names
    style = re.sub(r"/\*.*?\*/", "", (SCRIPTS / "model.css").read_text(), flags=re.S)
    assert all(name.startswith("tf-") for name in re.findall(r"\.([a-z][\w-]*)", style))
    assert not re.search(r"#[0-9a-f]{3,8}\b|rgb\(", style), "colours come from the page's variables"


def test_each_script_is_loaded_once_and_in_order(trio):
    html = trio.read_text()
    loaded = re.findall(r'src="_static/interactives/(\w[\w-]*)\.js', html)
    assert loaded == ["math", "element", "attention", "gpt2", *sorted(NAMES)]
    assert len(re.findall(r"interactives/model\.css", html)) == 1
