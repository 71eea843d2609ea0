"""Short tales told by a program that knows the true probability of every next word.

`story()` is a coroutine: it yields the distribution of the next word and is sent the word that
came. All that it ever learns is the words told so far, so no reader of these words can do better,
and the mean of -log p is the exact floor of a language model's loss.

Each step names the ability that it takes to be as good as the program:

    grammar   what may come here; also each free choice, which nobody can foresee
    look-up   who and what was named: it stands at an earlier place
    copy      what came after this very word before: the rest of a couplet, the owner of a thing
    fact      what a little or a big animal eats: the same in all tales, to be kept in the weights

Beside its distribution a step carries the `blind` one of a reader who lacks just that ability.

The song is what makes two blocks learn to copy early. Its couplets come in any order, any number
of times and at any place, so neither a position nor a count tells which word is next; only the
word before it, where it stood earlier, does. Owners are then found in the same way.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterable
from functools import lru_cache
from typing import NamedTuple

START = "<s>"
ABILITIES = ("grammar", "look-up", "copy", "fact")

NAMES = tuple("anna ben cleo dan emma finn gus hana ivo kim leo mia".split())
THINGS = tuple("ball boat cake drum flute kite lamp map".split())
LOOKS = tuple(
    "black blue bright broken busy calm cold dark deep dry dusty empty far foggy frozen golden green "
    "grey hidden high lonely long misty narrow noisy old quiet rainy red sandy silver snowy steep stony "
    "strange sunny tiny warm white wide wild windy".split()
)
PLACES = tuple(
    "bay beach bridge brook camp castle cave church cliff coast corner farm fence field ford forest "
    "garden gate harbour hill house hut inn island lake market meadow mill mine mountain park path "
    "pond port river road school shore station tower valley well".split()
)
SONG_WORDS = tuple(
    "bim dola fep gari huk jomu kesh lumo mev nuf pik reb sol tola wim zum".split()
)  # fmt: skip
COUPLETS = 2  # in a song
AGAIN = 0.8  # how likely a further couplet follows one
AGES = ("little", "big")
# A food is right for one little and for one big animal: it takes age and animal together.
EATS = {
    (age, animal): food
    for animal, foods in {
        "bear": ("honey", "fish"),
        "fox": ("fish", "honey"),
        "goat": ("bread", "seeds"),
        "hen": ("seeds", "corn"),
        "mouse": ("nuts", "cheese"),
        "pig": ("berries", "bread"),
        "squirrel": ("corn", "nuts"),
        "wolf": ("cheese", "berries"),
    }.items()
    for age, food in zip(AGES, foods)
}
ANIMALS = tuple(dict.fromkeys(animal for _, animal in EATS))
FOODS = tuple(dict.fromkeys(EATS.values()))
DEEDS = {"likes": 6, "wants": 6, "feeds": 4, "sings": 18}
TURNS = ("then", "the end")  # how each pair of scenes is followed
TURN = 0.4  # the weight of the next turn, against 1 for a further scene
GIVEN = f"{START} a tale of the has and . one day at , that".split()

VOCABULARY = tuple(
    sorted(
        {*GIVEN, *NAMES, *THINGS, *LOOKS, *PLACES, *SONG_WORDS, *AGES, *ANIMALS, *FOODS, *DEEDS}
        | set(" ".join(TURNS).split())
    )
)


class Step(NamedTuple):
    """The next word's distribution, the ability it takes, and what is left without that ability."""

    probs: dict[str, float]
    ability: str
    blind: dict[str, float]


Dialogue = Generator[Step, str, object]


def tell(rng: random.Random) -> tuple[list[str], list[Step]]:
    """One tale: its words, and for each word the step that it was drawn from."""
    telling, words, steps = story(), [], []
    step = next(telling)
    while True:
        options = list(step.probs)
        word = options[0]
        if len(options) > 1:
            (word,) = rng.choices(options, list(step.probs.values()))
        words.append(word)
        steps.append(step)
        try:
            step = telling.send(word)
        except StopIteration:
            return words, steps


def story() -> Dialogue:
    """Yields a Step for each word and is sent the word; returns after "the end ."."""
    yield from _told(f"{START} a tale of")
    owner: dict[str, str] = {}  # thing -> who has it
    yield from _whose(owner)
    yield from _told("and")
    yield from _whose(owner)
    yield from _told(". one day at the")
    yield from _free(LOOKS)
    yield from _free(PLACES)
    yield from _told(",")
    cast, song = list(owner.values()), {}
    for turn in TURNS:
        yield from _recall(cast, NAMES, "look-up")
        yield from _scene(cast, owner, song)
        first, *rest = turn.split()
        who = yield from _recall(cast, NAMES, "look-up", {first: TURN})
        if who != first:
            yield from _scene(cast, owner, song)
            yield from _told(first)
        yield from _told(" ".join(rest))
    yield from _told(".")


def _whose(owner: dict[str, str]) -> Dialogue:
    """A thing and who has it, both new to the tale."""
    yield from _told("the")
    thing = yield from _free(t for t in THINGS if t not in owner)
    owner[thing] = yield from _free(n for n in NAMES if n not in owner.values())
    yield from _told("has")


def _scene(cast: list[str], owner: dict[str, str], song: dict[str, str]) -> Dialogue:
    """What somebody does: likes or wants a thing of the tale, feeds an animal, or sings."""
    total = sum(DEEDS.values())
    deeds = {deed: weight / total for deed, weight in DEEDS.items()}
    deed = yield Step(deeds, "grammar", deeds)
    if deed == "sings":
        yield from _sing(song)
        return
    if deed == "feeds":
        yield from _told("a")
        age = yield from _free(AGES)
        animal = yield from _free(ANIMALS)
        yield from _recall([EATS[age, animal]], FOODS, "fact")
    else:
        yield from _told("that")
        thing = yield from _recall(list(owner), THINGS, "look-up")
        yield from _recall([owner[thing]], NAMES, "copy")
        yield from _told("has")
    yield from _told(".")


def _sing(song: dict[str, str]) -> Dialogue:
    """Couplets of the tale's song, in any order, each made up when it is sung first."""
    mark = ","
    while mark == ",":
        told = {*song, *song.values()}
        new = [word for word in SONG_WORDS if word not in told]
        if song:
            unsung = COUPLETS / len(song) - 1  # against 1 for those that were sung
            others = {word: unsung / len(new) for word in new} if unsung else {}
            first = yield from _recall(list(song), SONG_WORDS, "look-up", others)
        else:
            first = yield from _free(SONG_WORDS)
        if first in song:
            yield from _recall([song[first]], SONG_WORDS, "copy")
        else:
            song[first] = yield from _free(word for word in new if word != first)
        marks = {",": AGAIN, ".": 1 - AGAIN}
        mark = yield Step(marks, "grammar", marks)


@lru_cache(maxsize=None)
def _certain(word: str) -> Step:
    return Step({word: 1.0}, "grammar", {word: 1.0})


def _told(words: str) -> Dialogue:
    """Words that can only come in this way."""
    for word in words.split():
        yield _certain(word)


def _free(options: Iterable[str]) -> Dialogue:
    """A word that nobody can foresee, evenly among the options."""
    options = list(options)
    probs = dict.fromkeys(options, 1 / len(options))
    return (yield Step(probs, "grammar", probs))


def _recall(
    right: list[str], family: tuple[str, ...], ability: str, others: dict[str, float] | None = None
) -> Dialogue:
    """One of the `right` words of a family, or one of the others, whose weights are against 1 for
    all the right ones; without the ability, any word of the family in place of a right one."""
    others = others or {}
    total = 1 + sum(others.values())
    rest = {word: weight / total for word, weight in others.items()}
    probs = dict.fromkeys(right, 1 / total / len(right)) | rest
    blind = dict(rest)
    for word in family:
        blind[word] = blind.get(word, 0) + 1 / total / len(family)
    return (yield Step(probs, ability, blind))
