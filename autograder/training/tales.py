"""Short tales told by a program that knows the true probability of every next word.

`story()` is a coroutine: it yields the distribution of the next word and is sent the word that came. All that it
ever learns is the words told so far, so its distribution is the best that any reader of those words can have, and
-log p summed over a tale is the exact floor of a language model's loss on it.

Each step names the ability that it takes to be as good as the program:

    grammar   what kind of word comes here; also every free choice, which nobody can foresee
    look-up   who was named, who has the thing now, where somebody went: attention to an earlier place
    copy      the secret words, made up anew in each tale: the word that followed the last time (induction)
    fact      what a young or an old animal eats: the same in all tales, to be kept in the weights

Beside its distribution a step carries the `blind` one of a reader who lacks that ability and nothing else.
"""

import random
from collections.abc import Generator, Iterator
from functools import lru_cache
from typing import NamedTuple

START = "<s>"
ABILITIES = ("grammar", "look-up", "copy", "fact")

NAMES = tuple(
    "anna ben cleo dan ema finn gus hana ivo jun kim leo mia noa otto pia rosa sami tess uma".split()
)
THINGS = tuple(
    "ball bell boat book cake clock coin drum flute hat kite key lamp map mirror ring shoe spoon "
    "sword whistle".split()
)
LOOKS = tuple("red blue green white golden silver tiny round shiny old".split())
PLACES = tuple("beach bridge castle forest garden hill lake market mill park tower well".split())
ANIMALS = tuple("bear crow fox goat hen mouse owl pig".split())
FOODS = tuple("berries bread cheese corn figs grapes honey nuts".split())
SECRETS = tuple(
    "bim dola fep gari huk jomu kesh lumo mev nuf pik quo reb sol tola vash wim yaro zum zil".split()
)
AGES = ("young", "old")
TIMES = ("in the morning", "at noon", "in the evening")
SECRET_LENGTH = 4

# A young animal eats its own food and an old one the next animal's: each food is right for one young and one old
# animal. No sum of a score for the age and one for the animal can give this table; it takes both together.
EATS = {
    (age, animal): FOODS[(i + shift) % len(FOODS)]
    for i, animal in enumerate(ANIMALS)
    for shift, age in enumerate(AGES)
}


class Step(NamedTuple):
    """The distribution of the next word, the ability it takes, and what is left without that ability."""

    probs: dict[str, float]
    ability: str
    blind: dict[str, float]


Dialogue = Generator[Step, str, str]


@lru_cache(maxsize=None)
def _certain(word: str) -> Step:
    return Step({word: 1.0}, "grammar", {word: 1.0})


def _told(words: str) -> Dialogue:
    """Words that can only come in this way."""
    for word in words.split():
        yield _certain(word)
    return words


def _choice(options) -> Dialogue:
    """A word nobody can foresee, evenly among the options."""
    probs = dict.fromkeys(options, 1 / len(options))
    return (yield Step(probs, "grammar", probs))


def _recall(weights: dict[str, float], family: tuple[str, ...], ability: str) -> Dialogue:
    """A word drawn with `weights`; without the ability, the family's share is spread over the whole family."""
    total = sum(weights.values())
    probs = {word: weight / total for word, weight in weights.items()}
    share = sum(p for word, p in probs.items() if word in family)
    blind = {word: p for word, p in probs.items() if word not in family}
    blind.update(dict.fromkeys(family, share / len(family)))
    return (yield Step(probs, ability, blind))


def story() -> Dialogue:
    """Tell one tale: yields a Step for each word, is sent the word, ends after "the end ."."""
    yield from _told(START)
    owner = yield from _introductions()  # thing -> who has it now
    cast = list(owner.values())
    yield from _told("their secret is")
    secret = []
    for _ in range(SECRET_LENGTH):
        secret.append((yield from _choice([s for s in SECRETS if s not in secret])))
    yield from _told(".")
    where: dict[str, str] = {}  # name -> the place he or she went to last
    ahead = None
    for time in TIMES:
        first, _, rest = time.partition(" ")
        if ahead is None:
            yield from _told(first)
        yield from _told(rest)
        walker = yield from _recall(dict.fromkeys(cast, 1), NAMES, "look-up")
        yield from _told("goes to the")
        where[walker] = yield from _choice(PLACES)
        yield from _told(".")
    yield from _told("the end .")
