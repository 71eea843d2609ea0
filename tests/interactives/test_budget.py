"""The interactive budget counts parameters as PyTorch does."""

import pytest
from browser import Interactive
from readings import same
from torch_says import PUBLISHED, counted

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("interactives")]


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
    finding = budget.finding()
    assert f"{counts['total']:,} parameters" in finding
    left_out = counts["total"] - rule
    assert f"{100 * left_out / counts['total']:.1f}\N{NO-BREAK SPACE}% below the total" in finding
    tables = counts["token_embedding"] + counts["position_embedding"] + counts["unembedding"]
    share = f"the tables make up {100 * tables / left_out:.1f}\N{NO-BREAK SPACE}% of the difference"
    mostly_tables = "most of the model is its tables"
    assert (mostly_tables if 2 * blocks < counts["total"] else share) in finding


def test_all_numbers_are_there_without_scripts(asleep):
    see_budget(Interactive(asleep, "budget"), 768, 12, 50257, True)


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
