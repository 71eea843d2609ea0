"""The tales as a text: documents end to end, windows that begin where a tale begins.

So each target has all of its tale before it in the window, and the generator's own probabilities
give the exact least loss of these very windows.
"""

from __future__ import annotations

import math
import random
from itertools import islice

import torch
from torch import Tensor

from autograder.training import tales
from autograder.training.defaults import Settings
from autograder.training.text import Floor, Text, spread, windows
from autograder.training.vocabulary import Words

TRAIN, HELD_OUT = "tales to train on", "tales held out"  # seeds: two streams of tales


def tale_text(settings: Settings) -> Text:
    """The tales of these settings, always the same ones, whatever the run's seed."""
    T, vocabulary = settings.context, Words(tuple(tales.VOCABULARY), tales.START)
    known = vocabulary.ids
    told = [words for words, _ in islice(_tales(TRAIN), settings.tales)]
    train = torch.tensor([known[word] for words in told for word in words])
    starts = _starts(told, len(train), T)

    told, steps = [], []
    for words, known_steps in _tales(HELD_OUT):  # until so many tales have a whole window after
        told.append(words)
        steps += known_steps
        if len(told) > settings.held_out and len(_starts(told, len(steps), T)) >= settings.held_out:
            break
    words = [word for tale in told for word in tale]
    stream = torch.tensor([known[word] for word in words])
    first = _starts(told, len(stream), T)[: settings.held_out]
    return Text(
        title=f"{settings.tales:,} tales",
        unit="word",
        vocabulary=vocabulary,
        train=train,
        starts=starts,
        sampled=windows(train, spread(starts, settings.held_out), T),
        held_out=windows(stream, first, T),
        floor=_floor(words, steps, first, T),
    )


def _tales(seed: str):
    rng = random.Random(seed)
    while True:
        yield tales.tell(rng)


def _starts(told: list[list[str]], total: int, T: int) -> Tensor:
    """Where a tale begins that has T + 1 tokens from there to the end of the stream."""
    lengths = torch.tensor([len(words) for words in told])
    starts = lengths.cumsum(0) - lengths
    return starts[starts + T < total]


def _floor(words: list[str], steps: list, first: Tensor, T: int) -> Floor:
    """-log of the true probability of each target, and what it takes to know it."""

    def at_targets(values, dtype=torch.float64) -> Tensor:
        return windows(torch.tensor(values, dtype=dtype), first, T)[:, 1:]

    nll = at_targets([-math.log(step.probs[word]) for word, step in zip(words, steps)])
    blind = at_targets([-math.log(step.blind[word]) for word, step in zip(words, steps)])
    ability = at_targets([tales.ABILITIES.index(step.ability) for step in steps], torch.int64)
    without = {
        name: torch.where(ability == i, blind, nll).mean().item()
        for i, name in enumerate(tales.ABILITIES)
        if i > 0  # the first, grammar, is what every reader has
    }
    return Floor(nll, ability, tales.ABILITIES, without)
