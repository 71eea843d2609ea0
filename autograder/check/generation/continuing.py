"""generate: what it makes of a small model, greedily and by chance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.check.component import Component
from autograder.check.defaults import defaults
from autograder.check.draw import choice, normal
from autograder.check.findings import failure
from autograder.check.generation.continuing_mistakes import (
    COUNT,
    CROP,
    HAND_ON,
    MISTAKES,
    continued,
)
from autograder.check.generation.sampling import outside
from autograder.check.parts import Fixture, Inputs, Property
from autograder.check.properties.common import unchanged
from autograder.check.properties.mode import parts_restored
from autograder.check.properties.randomness import generator_decides, same
from autograder.check.properties.tensors import any_device
from autograder.check.properties.varied import SQUEEZE, property_of
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance
from autograder.probes import Call
from autograder.probes.plain import Seed

MANY = 10_000  # continuations: a frequency has a deviation of at most 0.005
FREQUENCIES = Tolerance(0.0, 0.03)

# Probabilities of the next token, in some order.
SPREAD = (0.57, 0.15, 0.12, 0.09, 0.07)
EVEN = (0.36, 0.24, 0.20, 0.12, 0.08)
NARROW = (0.995, 0.0014, 0.0013, 0.0012, 0.0011)
FAR_APART = np.float32(1e6)  # between logits: chance has no part in it, at temperature 1 either


def generate_fixtures(rng):
    V, B = choice(rng, (7, 2), (8, 3), (9, 2))

    def greedy(n_positions, T, new, training=None):
        growth = 1.4 ** np.arange(n_positions, dtype=np.float32)  # so that the newest tell most
        table = FAR_APART * growth[:, None, None] * normal(rng, n_positions, V, V)
        inputs = {"tables": (table, -table), "training": training}
        inputs |= {"prompt": rng.integers(0, V, (B, T)), "new": new, "temperature": 0}
        return inputs | {"top_k": None, "top_p": None, "use_cache": True, "generator": None, "n": 1}

    def sampled(probabilities, temperature, top_k=None, top_p=None):
        # After the prompt (0, 1, 2) the next token has the probabilities in some order, and so has
        # the one after it, in an order for each choice of the first.
        first, *second = (temperature * np.log(rng.permutation(probabilities)) for _ in range(6))
        table = 0.2 * rng.standard_normal((5, 5, 5))
        table[2, 2] = first - table[0, 0] - table[1, 1]
        table[3] = second - first
        table = table.astype(np.float32)
        inputs = {
            "tables": (table, table[::-1]),
            "training": None,
            "prompt": np.array([[0, 1, 2]]),
            "new": 2,
        }
        inputs |= {"temperature": temperature, "top_k": top_k, "top_p": top_p, "use_cache": True}
        return inputs | {"generator": Seed(int(rng.integers(1, 10**6))), "n": MANY}

    # 8 tokens of 5 + 3: what is missing or too much in a result tells by its length.
    in_view = greedy(7, 5, 3)
    return [
        Fixture("greedy, with all in view", in_view, weight=1.0),
        # The mode afterwards is a matter of these two alone: who forgets it loses no other part.
        Fixture("from a model in evaluation mode", in_view | {"training": False}, weight=1.25),
        Fixture("from a model in training mode", greedy(7, 4, 4, training=True), weight=1.25),
        Fixture("greedy, past n_positions", greedy(5, 3, 6)),
        Fixture("a prompt longer than n_positions", greedy(4, 7, 3), weight=1.0),
        Fixture("sampled, at temperature 0.1", sampled(NARROW, 0.1), weight=0.5),
        Fixture("sampled, with top_k = 1", sampled(SPREAD, 1.0, top_k=1), weight=0.5),
        Fixture("sampled, with top_p = 0.3", sampled(SPREAD, 1.0, top_p=0.3), weight=0.5),
        Fixture("sampled, with all three", sampled(EVEN, 0.5, 4, 0.62), weight=1.0),
    ]


def generating(inputs: Inputs) -> Call:
    model = (*inputs["tables"], bool(inputs["training"]))
    prompt = np.repeat(inputs["prompt"], inputs["n"], axis=0)
    how = ("temperature", "top_k", "top_p", "use_cache", "generator")
    return Call(
        args=(*model, prompt, inputs["new"]),
        kwargs={k: inputs[k] for k in how},
        probe="generation:continue_prompt",
    )


def read_ids(inputs: Inputs, value):
    """The ids, the mode afterwards if it is asked for, and of many sampled rows how often each
    continuation came."""
    ids, mode, *_ = value
    mode = None if inputs["training"] is None else mode
    prompt, new, n = inputs["prompt"], inputs["new"], inputs["n"]
    (B, T), V = prompt.shape, inputs["tables"][0].shape[-1]
    if n == 1 or not isinstance(ids, np.ndarray):
        return ids, mode, None
    count = np.zeros((V,) * new)
    if ids.shape != (B * n, T + new):
        return np.zeros(ids.shape, int), mode, count
    if not (ids[:, :T] == prompt).all():
        return Trouble(
            "The result does not begin with the prompt.",
            look="torch.cat([ids, new[:, None]], dim=1).",
        )
    trouble = outside(ids, V, "Each column after the prompt holds what sample_next drew.")
    if trouble:
        return trouble
    np.add.at(count, tuple(ids[:, T:].astype(int).T), 1)
    return np.zeros(ids.shape, ids.dtype), mode, count / n


def _cold(c, inputs):
    """With temperature 0, under two seeds."""
    few = inputs | {"temperature": 0, "n": 30}
    return [c.call(few | {"generator": Seed(seed)}) for seed in (1, 2)]


def _cold_verdict(c, inputs, answers):
    if any(a.failure for a in answers):
        return failure(next(a for a in answers if a.failure), "with temperature 0")
    first, second = (a.value[0] for a in answers)
    if not same(first, second):
        return Trouble(
            "With temperature 0 the result is still random.",
            look="Hand temperature to sample_next.",
        )
    return None


def _three(inputs):
    """Three rows, of which nothing is counted."""
    return inputs | {"prompt": inputs["prompt"].repeat(3, axis=0), "n": 1}


def _few(c, inputs):
    return [c.call(inputs | {"n": 30})]


def _recorded(c, inputs, answers):
    _, _, log, _ = answers[0].value
    if any(grad for _, _, grad in log):
        return Trouble(
            "Gradients are recorded while it generates.",
            "The graphs of all passes take memory, and nobody uses them.",
            "Keep @torch.no_grad() above the function.",
        )
    return None


RESTORED = "At the end, model.train(was): the mode in which it was found."
SAMPLED = ("at temperature 0.1", "with top_k = 1", "with top_p = 0.3", "with all three")
GENERATE = Component(
    "generate",
    generate_fixtures,
    continued,
    call=generating,
    read=read_ids,
    needs=("sample_next",),
    properties=(
        property_of(
            lambda c, i: i | {"use_cache": False},
            "the same without a cache",
            "The flag use_cache may change the speed, never the tokens.",
            weight=0.5,
        ),
        property_of(
            lambda c, i: i | {"new": 0, "n": 1},
            "no new tokens",
            "With max_new_tokens = 0 the prompt comes back.",
            weight=0.5,
        ),
        property_of(
            lambda c, i: i | {"prompt": i["prompt"][:, :1], "temperature": 0, "n": 1},
            "a single row of one token",
            SQUEEZE,
            weight=0.5,
        ),
        defaults(
            lambda i: i
            | {"temperature": 1.0, "top_k": None, "top_p": None, "use_cache": True}
            | {"generator": None},
            "temperature",
            "top_k",
            "top_p",
            "use_cache",
            "generator",
        ),
        replace(
            parts_restored({"training": True, "temperature": 0, "n": 3}),
            name="the parts of the model are in the mode of the whole",
        ),
        replace(
            any_device,
            calls=lambda c, i: any_device.calls(c, _three(i)),
            verdict=lambda c, i, answers: any_device.verdict(c, _three(i), answers),
        ),
        Property("temperature 0 leaves nothing to chance", _cold, _cold_verdict, weight=0.5),
        Property("no gradients are recorded", _few, _recorded, weight=0.5),
        generator_decides(n=30),
        replace(unchanged, calls=_few),
    ),
    mistakes=MISTAKES,
    outputs=(
        "the result",
        "model.training afterwards",
        "how often each continuation came (first new token, second new token)",
    ),
    tolerance=FREQUENCIES,
    look={
        "shapes and types": COUNT,
        "greedy, with all in view": "In each round: the model sees ids, logits[:, -1] are those of "
        "the last position, and sample_next makes an id of each row.",
        "from a model in evaluation mode": RESTORED,
        "from a model in training mode": f"model.eval() before the first pass. {RESTORED}",
        "greedy, past n_positions": CROP,
        "a prompt longer than n_positions": CROP,
    }
    | {f"sampled, {how}": HAND_ON for how in SAMPLED},
    raises={
        "the model takes 1 to": CROP,
        "same number of dimensions": "To append: logits[:, -1] are (B, V), the ids of sample_next "
        "(B), and new[:, None] a column, (B, 1).",
        "except in dimension": "torch.cat([ids, new[:, None]], dim=1) appends a column of B ids, one "
        "for each row: logits[:, -1] are (B, V).",
        "slice indices": HAND_ON + ", in this order.",
        "positional argument": HAND_ON + ": use_cache is not for it.",
    },
)
