"""autograder explain: every known mistake at length."""

import pytest

from autograder.check import find
from autograder.cli import main
from autograder.course import COMPONENTS


@pytest.fixture
def explain(capsys):
    def run(*names):
        status = main(["explain", *names])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def test_a_mistake_is_told_with_reason_place_and_example(explain):
    status, out, _ = explain("causal_mask.one_too_far")
    mistake = next(m for m in find("causal_mask").mistakes if m.name == "one_too_far")
    words = " ".join(out.split())
    assert status == 0 and out.startswith("causal_mask.one_too_far\n")
    for text in (
        mistake.says,
        mistake.why,
        mistake.look,
        "chapter 3",
        "For example: causal_mask(3)",
    ):
        assert text in words
    assert "with the mistake" in words and "-inf" in words


def test_every_mistake_can_be_explained(explain):
    for name in COMPONENTS:
        for mistake in find(name).mistakes:
            status, out, _ = explain(f"{name}.{mistake.name}")
            assert status == 0 and f"{name}.{mistake.name}" in out
            assert "For example" in out or mistake.name in NO_EXAMPLE, f"{name}.{mistake.name}"


NO_EXAMPLE = ()  # each shows on one of the fixtures of seed 0


def test_a_component_lists_its_mistakes(explain):
    _, out, _ = explain("softmax")
    words = " ".join(out.split())
    assert all(f"{m.name} {m.says}" in words for m in find("softmax").mistakes)


def test_several_names_and_a_name_that_several_have(explain):
    _, out, _ = explain("softmax.base_2", "attention.no_scaling")
    assert "softmax.base_2\n" in out and "attention.no_scaling\n" in out
    _, out, _ = explain("no_scaling")
    assert "attention.no_scaling\n" in out and "AttentionHead.no_scaling\n" in out


def test_without_a_name_it_lists_the_components(explain):
    status, out, _ = explain()
    assert status == 0 and all(name in out for name in COMPONENTS)


@pytest.mark.parametrize(
    "name, advice",
    [
        ("atention.no_scaling", "Is it attention.no_scaling"),
        ("softmax.nothing", "`autograder explain softmax` lists those of softmax."),
        ("xyzzy", "`autograder explain` lists the components."),
    ],
)
def test_an_unknown_name_gets_advice(name, advice, explain):
    status, out, err = explain(name)
    assert status == 2 and not out and advice in err
