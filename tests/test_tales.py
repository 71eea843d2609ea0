"""The tales: what is known of each next word is true, and each ability is worth something."""

import math
import random
from collections import Counter, defaultdict

import pytest

from autograder.training import tales


def told(n, seed="test"):
    rng = random.Random(seed)
    return [tales.tell(rng) for _ in range(n)]


TALES = told(2000)
STEPS = [(word, step) for words, steps in TALES for word, step in zip(words, steps)]


def test_vocabulary_is_exactly_what_is_told():
    assert {word for words, _ in told(6000) for word in words} == set(tales.VOCABULARY)
    assert list(tales.VOCABULARY) == sorted(tales.VOCABULARY)
    assert 150 <= len(tales.VOCABULARY) <= 250


def test_a_tale_is_whole():
    for words, steps in TALES:
        assert words[0] == tales.START and words.count(tales.START) == 1
        assert words[-3:] == ["the", "end", "."]
        assert len(words) == len(steps) < 100
    assert " ".join(TALES[0][0]).startswith("<s> a tale of ")


def test_distributions_sum_to_one_and_hold_the_word():
    for word, step in STEPS:
        assert math.isclose(sum(step.probs.values()), 1, abs_tol=1e-12)
        assert math.isclose(sum(step.blind.values()), 1, abs_tol=1e-12)
        assert step.probs[word] > 0 and step.blind[word] > 0
        assert step.ability in tales.ABILITIES
        assert step.ability != "grammar" or step.blind == step.probs


def test_the_distribution_depends_on_the_words_alone():
    """Told again from its words, a tale gives the very same distributions: nothing is hidden."""
    for words, steps in TALES[:200]:
        telling = tales.story()
        again = [next(telling)]
        again += [telling.send(word) for word in words[:-1]]
        assert again == steps
        with pytest.raises(StopIteration):
            telling.send(words[-1])


def test_words_come_as_often_as_they_should():
    """Over many tales, a word with probability p comes in a share p of the cases."""
    seen = defaultdict(lambda: [0, 0.0, 0.0])
    for word, step in STEPS:
        if len(step.probs) > 1:
            for option, p in step.probs.items():
                count = seen[option, round(p, 6)]
                count[0] += option == word
                count[1] += p
                count[2] += p * (1 - p)
    assert len(seen) > 200
    for count, mean, variance in seen.values():
        assert abs(count - mean) < 5.5 * math.sqrt(variance) + 1


def test_floor_is_the_mean_surprise_and_no_counting_reader_beats_it():
    """Knowing the last two words only, fitted on the very tales, is worse than knowing the tale."""
    floor = sum(-math.log(step.probs[word]) for word, step in STEPS) / len(STEPS)
    pairs, triples = Counter(), Counter()
    for words, _ in TALES:
        padded = ["", "", *words]
        pairs.update(zip(padded, padded[1:-1]))
        triples.update(zip(padded, padded[1:], padded[2:]))
    trigram = -sum(n * math.log(n / pairs[t[:2]]) for t, n in triples.items()) / len(STEPS)
    assert 0.5 < floor < trigram - 0.15


@pytest.mark.parametrize("ability, least", [("look-up", 0.2), ("copy", 0.15), ("fact", 0.01)])
def test_each_ability_lowers_the_loss(ability, least):
    lost = sum(
        math.log(step.probs[word] / step.blind[word])
        for word, step in STEPS
        if step.ability == ability
    )
    assert lost / len(STEPS) > least


def test_a_fact_takes_age_and_animal_together():
    for food in tales.FOODS:
        eaters = [who for who, what in tales.EATS.items() if what == food]
        assert sorted(age for age, _ in eaters) == ["big", "little"]
        assert len({animal for _, animal in eaters}) == 2


def test_who_has_what_follows_the_tale():
    words = next(
        words for words, _ in TALES if "sees" in words and "finds" in words and "has" in words
    )
    at = words.index("sees")
    _, thing, finder = words[at + 1 : at + 4]
    assert thing in tales.THINGS and finder in words[:at] and words[at + 4] == "finds"
