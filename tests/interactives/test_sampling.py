"""The interactive sampling draws as the course's own sample_next does, and counts what it draws."""

import random

import pytest
import torch
from browser import Interactive
from course_site.interactives import sampling
from readings import shown, spaced
from torch_says import f64, stages

from autograder import example
from autograder.oracle.generation import next_distribution
from autograder.standins import sample_next

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("interactives")]

TEXTS = ("the", "the owl", "the owl saw the")
FIRST = dict(context=2, temperature=1, k=8, p=0.9, u=0.266, n=100)
SHOWN = 0.5001  # of the last digit shown


@pytest.fixture
def sampler(page):
    return Interactive(page, "sampling")


def drawn_with(logits, temperature, k=None, p=None):
    """(V,): the probabilities from which the course's sample_next draws, seen over its shoulder."""
    V, shares = len(logits), []

    def every_rank(p, num_samples, generator=None):
        shares.append(p[0] / p[0].sum())
        return torch.arange(V)[:, None]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "multinomial", every_rank)
        ids = sample_next(logits.expand(V, -1), temperature, k, p)
    if not shares:  # greedy: the same in every row
        return torch.nn.functional.one_hot(ids[0], V).double()
    return torch.zeros_like(logits).scatter(0, ids, shares[0])


def ranked(logits):
    """Ids from the likeliest down; of words that tie the first comes first."""
    return sorted(range(len(logits)), key=lambda i: (-round(logits[i].item(), 9), i))


def rule_of(logits, i, temperature, k, p):
    """By what the word i is cut."""
    if drawn_with(logits, temperature, k, p)[i] > 0:
        return ""
    if temperature == 0:
        return "τ"
    return "k" if drawn_with(logits, temperature, k)[i] == 0 else "p"


def unless_one(p):
    return None if p == 1 else p


# ------------------------------------------------------------------ the functions of math.js


def rows():
    torch.manual_seed(0)
    yield from (stages(text)["logits"][-1].round(decimals=9) for text in TEXTS)
    yield from (torch.randn(n, dtype=torch.float64) * 3 for n in (1, 2, 8, 40))


@pytest.mark.parametrize("temperature", [0, 0.1, 0.5, 1, 1.7, 5])
def test_a_row_becomes_the_distribution_of_the_course(script, temperature):
    cases = [
        (z, dict(temperature=temperature, k=k, p=p))
        for z in rows()
        for k in (1, 2, 3, 7, 8, 40)
        for p in (0.01, 0.3, 0.5, 0.9, 0.99, 1)
    ]
    found = script(
        "((...cases) => cases.map(([z, how]) => TransformerMaths.sampler(z, how)))",
        *([z.tolist(), how] for z, how in cases),
    )
    for (z, how), got in zip(cases, found):
        k, p = how["k"], unless_one(how["p"])
        assert got["order"] == ranked(z)
        ours = torch.zeros_like(z).scatter(0, torch.tensor(got["order"]), f64(got["after"]))
        course = drawn_with(z, temperature, k, p)
        tied = k < len(z) and z[got["order"][k - 1]] == z[got["order"][k]]
        if tied and temperature:  # the exercise leaves open which one is kept
            ours, course = ours.sort().values, course.sort().values
        else:
            oracle = f64(next_distribution(z.numpy()[None], temperature, k, p)[0])
            torch.testing.assert_close(ours, oracle, rtol=0, atol=1e-12)
            cut = [rule_of(z, i, temperature, k, p) for i in got["order"]]
            assert got["cut"] == cut
        torch.testing.assert_close(ours, course, rtol=0, atol=1e-12)
        torch.testing.assert_close(
            ours.sort().values,
            drawn_with(z.float(), temperature, k, how["p"]).sort().values.double(),
            rtol=0,
            atol=1e-6,
        )


def test_of_words_that_tie_for_the_last_place_the_first_is_kept(script):
    found = script("TransformerMaths.sampler", [1, 5, 3, 3], dict(temperature=1, k=2, p=1))
    assert found["order"] == [1, 2, 3, 0] and found["cut"] == ["", "", "k", "k"]


def test_the_word_that_crosses_p_is_kept(script):
    for p, cut in ((0.5, ["", "p"]), (0.5 + 1e-9, ["", ""])):
        found = script("TransformerMaths.sampler", [0, 0], dict(temperature=1, k=2, p=p))
        assert found["cut"] == cut


def test_all_words_stay_at_p_1_however_cold(script):
    z = stages("the")["logits"][-1].tolist()
    found = script("TransformerMaths.sampler", z, dict(temperature=0.01, k=8, p=1))
    assert found["cut"] == [""] * 8


def test_u_falls_where_torch_finds_it(script):
    torch.manual_seed(0)
    for shares in ([1.0], [0.5, 0.25, 0.25, 0], [0.1] * 10, torch.rand(20).double().tolist()):
        shares = f64(shares) / f64(shares).sum()
        ends = shares.cumsum(0)
        us = [0, 1e-9, *ends[:-1].tolist(), *torch.rand(50, dtype=torch.float64).tolist()]
        found = [script("TransformerMaths.pieceOf", shares.tolist(), u) for u in us]
        assert found == torch.searchsorted(ends, f64(us)).tolist()
        last = int(shares.nonzero().max())
        assert script("TransformerMaths.pieceOf", shares.tolist(), 1) == last
    short = [0.1] * 10 + [0]  # their sum is rounded to less than 1
    assert script("TransformerMaths.pieceOf", short, 1) == 9


def test_the_generator_is_the_same_on_both_sides_and_even(script):
    many = "(seed, n) => Array.from({ length: n }, (_, i) => TransformerMaths.uniform(seed, i + 1))"
    us = script(f"({many})", sampling.SEED, 10_000)
    assert us == [sampling.uniform(i) for i in range(1, 10_001)]
    assert script("TransformerMaths.uniform", 0, 1) == 0.266429  # of mulberry32, as published
    u = f64(us)
    assert u.min() >= 0 and u.max() < 1
    for start in (u[:100], u[:1000], u):
        tenths = (start * 10).long().bincount(minlength=10) / len(start)
        assert ((tenths - 0.1).abs() < 3.5 * (0.09 / len(start)) ** 0.5).all()
    assert torch.corrcoef(torch.stack([u[1:], u[:-1]]))[0, 1].abs() < 0.03


# ------------------------------------------------------------------ the page


def near(text, expected, digits):
    return float(text) == pytest.approx(float(expected), abs=SHOWN * 10**-digits)


def see_sampling(element, context, temperature, k, p, u, n):
    """All numbers, marks and sentences for a state; where words tie for the k-th place, the first."""
    z = stages(TEXTS[context])["logits"][-1]
    order = ranked(z)
    z = z[order] - torch.arange(8) * 1e-11  # so that sample_next takes the first, too
    words = [example.words[i] for i in order]
    tempered, after = drawn_with(z, temperature), drawn_with(z, temperature, k, unless_one(p))
    cut = [rule_of(z, rank, temperature, k, unless_one(p)) for rank in range(8)]
    ends = after.cumsum(0)
    us = f64([sampling.uniform(i) for i in range(1, n + 1)])
    counts = torch.searchsorted(ends, us).bincount(minlength=8).tolist()
    fallen = min(int(torch.searchsorted(ends, f64(u))), cut.count("") - 1)
    errors = [(100 * (a * (1 - a) / n) ** 0.5).item() if n else None for a in after]

    texts = shown(element)
    left = tempered[:k].sum()
    for rank in range(8):
        assert texts[f"word-{rank}"] == words[rank]
        assert near(texts[f"model-{rank}"], z.softmax(0)[rank], 3)
        assert near(texts[f"tempered-{rank}"], tempered[rank], 3)
        assert near(texts[f"after-{rank}"], after[rank], 3)
        if cut[rank] in ("", "p") and temperature:
            assert near(texts[f"before-{rank}"], tempered[:rank].sum() / left, 3)
        else:
            assert texts[f"before-{rank}"] == "–"
        verdict = f"cut by {cut[rank]}" if cut[rank] else "kept"
        assert spaced(texts[f"verdict-{rank}"]) == verdict
        wide = after[rank] >= 0.16
        assert texts[f"piece-{rank}"] == (words[rank] if wide else "")
        assert texts[f"count-{rank}"] == str(counts[rank])
        assert near(texts[f"expected-{rank}"], 100 * after[rank], 1)
        if n:
            assert near(texts[f"share-{rank}"], 100 * counts[rank] / n, 1)
            assert near(texts[f"error-{rank}"], errors[rank], 1)
        else:
            assert texts[f"share-{rank}"] == texts[f"error-{rank}"] == "–"
    assert texts["drawn"] == words[fallen] and float(texts["u"]) == u
    see_marks(element, tempered, after, cut, fallen, u)
    see_finding(element, (context, temperature, k), (words, cut, tempered, fallen), (u, n, counts))
    return dict(zip(words, after.tolist()))


def see_marks(element, tempered, after, cut, fallen, u):
    """The bars, the line with the piece where u falls, and the rows of words that are cut."""
    bars = element.find("[data-bar]").evaluate_all("""all => Object.fromEntries(all.map(bar =>
      [bar.dataset.bar, [Number(bar.style.getPropertyValue("--tf-share")), bar.className]]))""")
    for key, shares in (("tempered", tempered), ("after", after), ("piece", after)):
        found = [bars[f"{key}-{rank}"][0] for rank in range(8)]
        assert found == pytest.approx(shares.tolist(), abs=1e-6)
    assert bars["u"][0] == pytest.approx(u, abs=1e-6)
    colours = ["stream" if rank == fallen else "muted" for rank in range(8)]
    assert [bars[f"piece-{rank}"][1] for rank in range(8)] == [f"tf-part tf-{c}" for c in colours]
    crossed = element.find("tr[data-row]").evaluate_all(
        "all => all.map(row => getComputedStyle(row.cells[0]).textDecorationLine)"
    )
    assert crossed == ["line-through" if rule else "none" for rule in cut]


def see_finding(element, settings, cuts, draws):
    (context, temperature, k), (words, cut, tempered, fallen), (u, n, counts) = (
        settings,
        cuts,
        draws,
    )
    said = spaced(element.finding())
    kept = cut.count("")
    mass = sum(share for share, rule in zip(tempered.tolist(), cut) if not rule)
    if temperature == 0:
        assert said.startswith(
            f"τ = 0 is greedy: “{words[0]}” alone stays, whatever k and p are. u"
        )
    elif kept == 8:
        assert said.startswith("Nothing is cut: any of the 8 words may be drawn. u")
    else:
        rules = [f"{rule} cuts {cut.count(rule)}" for rule in "kp" if rule in cut]
        stay = "1 of the 8 words stays" if kept == 1 else f"{kept} of the 8 words stay"
        assert said.startswith(
            f"{stay}, with {mass:.3f} of the probability: {' and '.join(rules)}."
        )
    tie = context == 1 and k == 2 or context != 1 and k == (6 if context == 0 else 4)
    assert ("tie for place" in said) == bool(tie and temperature)
    assert f" u = {u} falls in the piece of “{words[fallen]}”. " in said
    if n == 0:
        assert said.endswith("Nothing has been drawn yet.")
    else:
        draw = "1 draw is" if n == 1 else f"{n:,} draws are"
        assert f"”. {counts[0]:,} of {draw} “{words[0]}”, {100 * counts[0] / n:.1f} %; " in said


def test_all_numbers_are_there_without_scripts(asleep):
    see_sampling(Interactive(asleep, "sampling"), **FIRST)


def test_the_cuts_are_those_of_the_chapter(sampler):
    """The numbers that chapter 8 works out by hand."""
    after = see_sampling(sampler, **FIRST)
    assert (round(after["mouse"], 3), round(after["cat"], 3)) == (0.511, 0.489)
    sampler.choose("context", "ArrowRight")  # round to the first
    after = see_sampling(sampler, **{**FIRST, "context": 0})
    assert [word for word, share in after.items() if share] == ["owl", "cat", "mouse"]
    sampler.write("p", 0.5)
    after = see_sampling(sampler, **{**FIRST, "context": 0, "p": 0.5})
    assert (round(after["owl"], 3), round(after["cat"], 3)) == (0.533, 0.467)
    sampler.choose("context", "ArrowRight")
    after = see_sampling(sampler, **{**FIRST, "context": 1, "p": 0.5})
    assert after["."] == 1
    sampler.write("temperature", 0.5)
    sampler.write("p", 1)
    after = see_sampling(sampler, **{**FIRST, "context": 1, "p": 1, "temperature": 0.5})
    assert (round(after["."], 2), round(after["hid"], 2)) == (0.76, 0.12)
    sampler.write("k", 2)
    see_sampling(sampler, **{**FIRST, "context": 1, "p": 1, "temperature": 0.5, "k": 2})
    assert "“hid” and “saw” tie for place 2, and k keeps one." in sampler.finding()


def test_both_rules_cut_after_the_temperature_and_k_first(sampler):
    state = {**FIRST, "temperature": 2}
    sampler.write("temperature", 2)
    after = see_sampling(sampler, **state)
    assert after["owl"] > 0 and after["hid"] == 0
    for key, typed in (("k", 4), ("k", 3), ("p", 0.8), ("k", 2), ("p", 0.4), ("temperature", 5)):
        sampler.write(key, typed)
        state[key] = typed
        see_sampling(sampler, **state)
    assert sampler.finding().startswith("1 of the 8 words stays, with 0.278 of the")
    assert "k cuts 6 and p cuts 1." in sampler.finding()
    sampler.press('[type="range"][data-name="temperature"]', "Home")
    see_sampling(sampler, **{**state, "temperature": 0})
    sampler.page.keyboard.press("ArrowRight")
    see_sampling(sampler, **{**state, "temperature": 0.1})
    sampler.write("p", 1)
    sampler.press('[type="range"][data-name="k"]', "End")
    see_sampling(sampler, **{**state, "temperature": 0.1, "p": 1, "k": 8})
    assert sampler.finding().startswith("Nothing is cut")


def test_any_state_is_the_courses(sampler):
    dice = random.Random(0)
    state = dict(FIRST)
    for _ in range(6):
        for key, typed in (
            ("temperature", round(dice.uniform(0.2, 5), 2)),
            ("k", dice.randint(1, 8)),
            ("p", round(dice.uniform(0.05, 1), 2)),
            ("u", round(dice.random(), 3)),
            ("n", dice.randint(0, 10_000)),
        ):
            sampler.write(key, typed)
            state[key] = typed
        see_sampling(sampler, **state)


def test_draws_are_counted_and_come_out_the_same_again(page, sampler):
    sampler.write("n", 0)
    see_sampling(sampler, **{**FIRST, "n": 0})
    for i in (1, 2, 3):
        sampler.act("draw")
        see_sampling(sampler, **{**FIRST, "n": i, "u": sampling.uniform(i)})
    page.wait_for_timeout(400)
    assert page.locator("[role=status].tf-unseen").text_content() == sampler.finding()
    sampler.act("draw-100")
    state = {**FIRST, "n": 103, "u": sampling.uniform(103)}
    see_sampling(sampler, **state)
    sampler.write("temperature", 3)
    sampler.write("p", 1)
    see_sampling(sampler, **{**state, "temperature": 3, "p": 1})
    sampler.act("reset")
    see_sampling(sampler, **FIRST)
    sampler.write("n", 3)
    sampler.act("draw-100")
    see_sampling(sampler, **state)


def test_shares_of_many_draws_come_close(sampler):
    sampler.write("temperature", 2)
    sampler.press('[type="range"][data-name="n"]', "End")
    after = see_sampling(sampler, **{**FIRST, "temperature": 2, "n": 10_000})
    texts = shown(sampler)
    for rank, p in enumerate(after.values()):
        gap = float(texts[f"share-{rank}"]) / 100 - p
        assert abs(gap) <= 3 * (p * (1 - p) / 10_000) ** 0.5 + 0.0005
    asked = "The number of draws n must be a whole number from 0 to 10000. It stays 10000."
    sampler.act("draw")
    assert sampler.problem() == asked
    assert float(shown(sampler)["u"]) == FIRST["u"]


@pytest.mark.parametrize("u", [0, 0.511, 0.512, 0.99, 1])
def test_u_can_be_set_by_hand(sampler, u):
    sampler.write("u", u)
    see_sampling(sampler, **{**FIRST, "u": u})
    assert shown(sampler)["drawn"] == ("mouse" if u < 0.5115 else "cat")


def test_the_pointer_stands_above_its_place_on_the_line(sampler):
    for u in (0, 0.25, 1):
        sampler.write("u", u)
        line = sampler.find(".tf-stack").bounding_box()
        throw = sampler.find(".tf-throw").bounding_box()
        tip = throw["x"] + throw["width"] / 2
        assert tip == pytest.approx(line["x"] + u * line["width"], abs=1)
        assert throw["y"] + throw["height"] == pytest.approx(line["y"], abs=2)
