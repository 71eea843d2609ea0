"""Short tales told by a program that knows the true probability of every next word.

`story()` is a coroutine: it yields the distribution of the next word and is sent the word that
came. All that it ever learns is the words told so far, so no reader of these words can do better,
and the mean of -log p is the exact floor of a language model's loss.

Each step names the ability that it takes to be as good as the program:

    grammar   what may come here; also each free choice, which nobody can foresee
    look-up   who was named, and who has which thing by now: it stands at an earlier place
    copy      the song, made up anew in each tale: it stands at an earlier place, word for word
    fact      what a little or a big animal eats: the same in all tales, to be kept in the weights

Beside its distribution a step carries the `blind` one of a reader who lacks just that ability.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterable
from functools import lru_cache
from typing import NamedTuple

START = "<s>"
ABILITIES = ("grammar", "look-up", "copy", "fact")

NAMES = tuple(
    "anna ben cleo dan emma finn gus hana ivo kim leo mia noa otto rosa sami".split()
)  # fmt: skip
THINGS = tuple("ball boat cake coin drum flute hat kite lamp map ring shoe".split())
LOOKS = tuple(
    "black blue bright broken calm cold dark deep dusty empty foggy frozen golden green grey hidden "
    "lonely misty old quiet rainy red sandy silver snowy stony strange sunny tiny white wide windy"
    .split()
)  # fmt: skip
PLACES = tuple(
    "bay beach bridge brook castle cave cliff farm field forest garden gate harbour hill hut island "
    "lake market meadow mill mountain park path pond river road shore tower valley well".split()
)  # fmt: skip
SONG_WORDS = tuple(
    "bim dola fep gari huk jomu kesh lumo mev nuf pik reb sol tola wim zum".split()
)  # fmt: skip
SONG_LENGTH = 4
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
DEEDS = {"likes": 5, "wants": 5, "sees": 4, "feeds": 3, "says": 2, "sings": 2, "whispers": 2}
TURNS = ("then", "soon", "the end")  # how each pair of scenes is followed
TURN = 0.4  # the weight of the next turn, against 1 for a further scene
GIVEN = f"{START} a tale of , and . this is the has their song is one day at feeds finds".split()

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
    cast = yield from _cast()
    owner: dict[str, str] = {}  # thing -> who has it by now
    for name in cast:
        yield from _told("this is the")
        thing = yield from _free(t for t in THINGS if t not in owner)
        owner[thing] = yield from _recall([name], NAMES, "look-up")
        yield from _told("has .")
    yield from _told("their song is")
    song: list[str] = []
    while len(song) < SONG_LENGTH:
        song.append((yield from _free(w for w in SONG_WORDS if w not in song)))
    yield from _told(". one day at the")
    yield from _free(LOOKS)
    yield from _free(PLACES)
    yield from _told(",")
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


def _cast() -> Dialogue:
    """Two or three names, the last two joined by "and"."""
    cast = [(yield from _free(NAMES))]
    joint = yield from _free((",", "and"))
    cast.append((yield from _free(n for n in NAMES if n not in cast)))
    if joint == ",":
        yield from _told("and")
        cast.append((yield from _free(n for n in NAMES if n not in cast)))
    yield from _told(".")
    return cast


def _scene(cast: list[str], owner: dict[str, str], song: list[str]) -> Dialogue:
    """What somebody does: asks for a thing by its owner, sees one found, feeds an animal, sings."""
    total = sum(DEEDS.values())
    deeds = {deed: weight / total for deed, weight in DEEDS.items()}
    deed = yield Step(deeds, "grammar", deeds)
    if deed == "feeds":
        yield from _told("the")
        age = yield from _free(AGES)
        animal = yield from _free(ANIMALS)
        yield from _recall([EATS[age, animal]], FOODS, "fact")
    elif deed in ("likes", "wants", "sees"):
        yield from _told("the")
        thing = yield from _recall(list(owner), THINGS, "look-up")
        if deed == "sees":  # whoever finds it has it from now on
            owner[thing] = yield from _recall(cast, NAMES, "look-up")
            yield from _told("finds")
        else:
            yield from _recall([owner[thing]], NAMES, "look-up")
            yield from _told("has")
    else:
        for word in song:
            yield from _recall([word], SONG_WORDS, "copy")
    yield from _told(".")


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
    blind = dict.fromkeys(family, 1 / total / len(family)) | rest
    return (yield Step(probs, ability, blind))
