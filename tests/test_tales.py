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
        assert len(words) == len(steps)
    assert sum(len(words) for words, _ in TALES) / len(TALES) < 70
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


@pytest.mark.parametrize("ability, least", [("look-up", 0.2), ("copy", 0.2), ("fact", 0.01)])
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


def test_a_thing_is_always_with_its_owner():
    for words, steps in TALES:
        owner = {words[i]: words[i + 1] for i in (5, 10)}  # the kite anna has and the map ben has
        assert set(owner) <= set(tales.THINGS) and set(owner.values()) <= set(tales.NAMES)
        for i, word in enumerate(words):
            if word == "that":
                thing, who = words[i + 1 : i + 3]
                assert owner[thing] == who and words[i + 3] == "has"
                assert steps[i + 1].probs == {name: 0.5 for name in owner}
                assert steps[i + 2] == tales.Step({who: 1.0}, "copy", steps[i + 2].blind)


def test_a_song_has_its_couplets_and_no_order():
    """Each is sung first by chance, and afterwards every time with the same second word."""
    sung, after = 0, Counter()
    for words, steps in TALES:
        couplets, before = {}, None
        for i, word in enumerate(words[:-1]):
            if words[i - 1] in ("sings", ",") and word in tales.SONG_WORDS:
                second = words[i + 1]
                new, all_sung = word not in couplets, len(couplets) == tales.COUPLETS
                assert couplets.setdefault(word, second) == second
                assert steps[i + 1].ability == ("grammar" if new else "copy")
                if all_sung:
                    after["the same" if before == word else "another"] += 1
                sung, before = sung + 1, word
        assert len(couplets) <= tales.COUPLETS
        assert len({*couplets, *couplets.values()}) == 2 * len(couplets)
    assert sung > 1000
    assert abs(after["the same"] / sum(after.values()) - 1 / tales.COUPLETS) < 0.03


def test_neither_place_nor_count_tells_the_rest_of_a_couplet():
    """So it takes the word before and what came after it earlier, which is induction: the second
    words stand at very many places, and the one that was sung last is right half the time only."""
    places, last_is_right = Counter(), []
    for words, steps in TALES:
        last = None
        for i, (word, step) in enumerate(zip(words, steps)):
            if step.ability == "copy" and word in tales.SONG_WORDS:
                places[i] += 1
                last_is_right.append(last == word)
            if word in tales.SONG_WORDS and words[i - 1] in tales.SONG_WORDS:
                last = word
    assert max(places.values()) < 0.1 * sum(places.values())
    assert 0.4 < sum(last_is_right) / len(last_is_right) < 0.75
