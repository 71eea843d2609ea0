"""Texts to train on: tales with their floor, files, vocabularies, losses of simple readers."""

import itertools
import math
import random
from dataclasses import replace

import pytest
import torch

from autograder.errors import CourseError
from autograder.training import tales
from autograder.training.defaults import CHARACTERS, TALES
from autograder.training.file_text import file_text
from autograder.training.tale_text import HELD_OUT, TRAIN, tale_text
from autograder.training.text import Text, spread
from autograder.training.vocabulary import Characters, Words

SETTINGS = replace(TALES, tales=300, held_out=40)
SHORT = replace(CHARACTERS, context=8, held_out=5)


@pytest.fixture(scope="module")
def told() -> Text:
    return tale_text(SETTINGS)


# ------------------------------------------------------------------ tales


def test_windows_begin_where_a_tale_begins(told):
    start = told.vocabulary.start_id
    for window in (told.held_out, told.sampled):
        assert window.shape == (40, SETTINGS.context + 1)
        assert (window[:, 0] == start).all()
    assert (told.train[told.starts] == start).all()
    assert told.starts[-1] + SETTINGS.context < len(told.train)
    assert (told.train == start).sum() == SETTINGS.tales
    assert told.train.dtype == torch.int64


def test_the_floor_is_that_of_the_very_windows(told):
    """Told again, tale by tale, and added up by hand."""
    rng, T = random.Random(HELD_OUT), SETTINGS.context
    words, losses, begins = [], [], []
    for _ in range(2 * SETTINGS.held_out):  # more than enough
        tale, steps = tales.tell(rng)
        begins.append(len(words))
        words += tale
        losses += [-math.log(step.probs[word]) for word, step in zip(tale, steps)]
    begins = begins[: SETTINGS.held_out]
    ids = told.vocabulary.ids
    for begin, window, nll in zip(begins, told.held_out, told.floor.nll):
        assert [ids[word] for word in words[begin : begin + T + 1]] == window.tolist()
        assert losses[begin + 1 : begin + T + 1] == pytest.approx(nll.tolist(), abs=1e-12)
    mean = sum(sum(losses[b + 1 : b + T + 1]) for b in begins) / (T * len(begins))
    assert told.floor.loss == pytest.approx(mean, abs=1e-12)


def test_held_out_tales_are_not_training_tales(told):
    assert TRAIN != HELD_OUT
    length = 20  # by then each tale has made free choices enough to be told apart
    trained = {tuple(told.train[s : s + length].tolist()) for s in told.starts}
    assert not trained & {tuple(w[:length].tolist()) for w in told.held_out}


def test_the_levels_are_in_order(told):
    floor = told.floor
    assert set(floor.without) == {"look-up", "copy", "fact"}
    for name, loss in floor.without.items():
        assert floor.loss + 0.005 < loss < told.unigram(), name
    assert floor.loss < told.bigram() < told.unigram() < math.log(len(told.vocabulary))


def test_what_is_above_the_floor_is_shared_out_among_the_abilities(told):
    floor = told.floor
    assert all(part == 0 for part in floor.above(floor.nll).values())
    copying = floor.abilities.index("copy")
    worse = floor.nll + 0.5 * (floor.ability == copying)
    parts = floor.above(worse)
    assert parts["copy"] == pytest.approx(sum(parts.values())) and parts["copy"] > 0
    assert sum(parts.values()) == pytest.approx(worse.mean().item() - floor.loss)


def test_the_same_settings_give_the_same_text_whatever_the_seed(told):
    again = tale_text(replace(SETTINGS, seed=5))
    assert again.fingerprint() == told.fingerprint()
    assert tale_text(replace(SETTINGS, tales=299)).fingerprint() != told.fingerprint()


# ------------------------------------------------------------------ files


def written(tmp_path, data: bytes | str):
    path = tmp_path / "text.txt"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def test_a_file_is_split_nine_to_one(tmp_path):
    content = "".join(random.Random(0).choices("abc é\n", k=1000))
    text = file_text(written(tmp_path, content), SHORT)
    assert text.vocabulary.decode(text.train.tolist()) == content[:900]
    held = text.vocabulary.decode
    assert [held(w.tolist()) for w in text.held_out] == [
        content[900 + s : 909 + s] for s in spread(torch.arange(0, 92, 8), 5)
    ]
    assert text.starts is None and text.floor is None and text.title == "text.txt"


def test_marks_and_line_ends_of_other_systems_are_no_characters(tmp_path):
    content = "\ufeff" + "ab\r\ncd\r" * 60
    assert file_text(written(tmp_path, content), SHORT).vocabulary.tokens == tuple("\nabcd")


def test_characters_that_cannot_be_learnt_are_told(tmp_path):
    text = file_text(written(tmp_path, "ab" * 500 + "Ω"), SHORT)
    assert "'Ω'" in text.remark
    assert math.isfinite(text.bigram()) and math.isfinite(text.unigram())


@pytest.mark.parametrize(
    "data, says",
    [
        (None, "no such file"),
        (b"", "is empty"),
        (b" \n\n ", "is empty"),
        ("abc é".encode("latin-1"), "is not UTF-8: the byte at 4 is 0xe9"),
        (b"\xff\xfea\x00b\x00", "is not UTF-8: the byte at 0"),
        ("a" * 89, "--context + 1 = 9: take a text of 90 or more"),
    ],
)
def test_what_is_no_text(data, says, tmp_path):
    path = tmp_path / "gone.txt" if data is None else written(tmp_path, data)
    with pytest.raises(CourseError, match=str(path)) as error:
        file_text(path, SHORT)
    assert says in str(error.value)


def test_the_shortest_text_will_do(tmp_path):
    text = file_text(written(tmp_path, "ab" * 45), SHORT)
    assert text.held_out.shape == (1, 9)


# ------------------------------------------------------------------ unigram, bigram


def test_unigram_and_bigram_by_hand(tmp_path):
    content = "".join(random.Random(1).choices("abc", [5, 3, 1], k=400))
    text = file_text(written(tmp_path, content), SHORT)
    train = content[:360]
    p = {c: (train.count(c) + 1) / (360 + 3) for c in "abc"}

    def given(a, b):
        pairs = [pair for pair in itertools.pairwise(train) if pair[0] == a]
        return (pairs.count((a, b)) + p[b]) / (len(pairs) + 1)

    seen = [text.vocabulary.decode(w.tolist()) for w in text.held_out]
    unigram = [-math.log(p[c]) for w in seen for c in w[1:]]
    bigram = [-math.log(given(a, b)) for w in seen for a, b in itertools.pairwise(w)]
    assert text.unigram() == pytest.approx(sum(unigram) / len(unigram), abs=1e-12)
    assert text.bigram() == pytest.approx(sum(bigram) / len(bigram), abs=1e-12)


# ------------------------------------------------------------------ vocabularies

WORDS = Words((",", ".", "<s>", "?", "anna", "ball", "has", "a", "red", "who"), "<s>")


def test_words_there_and_back():
    ids = WORDS.encode("<s> Anna has a red ball. Who has a ball?")
    assert [WORDS.tokens[i] for i in ids[:7]] == "<s> anna has a red ball .".split()
    assert WORDS.decode(ids) == "anna has a red ball. who has a ball?"
    assert WORDS.encode("") == []


def test_unknown_words_are_listed_with_those_near():
    with pytest.raises(CourseError) as error:
        WORDS.encode("ana has a tall Xylophone, tall")
    said = str(error.value).splitlines()
    assert said[1:4] == ["  ana (near it: anna, a)", "  tall (near it: ball)", "  xylophone"]
    assert "--vocabulary" in said[-1]


def test_characters_there_and_back():
    letters = Characters(tuple("\n aAbß"))
    assert letters.decode(letters.encode("Ab a\n")) == "Ab a\n"
    with pytest.raises(CourseError) as error:
        letters.encode("BaZ")
    assert "  'B' (near it: b)\n  'Z'\n" in str(error.value)
    assert letters.listing() == r"'\n' ' ' a A b ß"
