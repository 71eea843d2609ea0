"""GPT2Config: its fields, the four published sizes, and what it refuses."""

from __future__ import annotations

from functools import partial

from autograder.check.component import Component
from autograder.check.findings import failure
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture, Property
from autograder.check.draw import choice
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance
from autograder.oracle import architecture as oracle
from autograder.probes import Call


def config_fixtures(rng):
    V, n, L, H, d = choice(rng, (90, 40, 3, 4, 20), (70, 30, 5, 3, 18), (80, 50, 2, 6, 24))
    values = (V, n, L, H, d, 0.25, False)
    sizes = [Fixture(f"{s}()", {"make": s, "values": ()}, weight=1.0) for s in oracle.SIZES]
    return [
        Fixture("values given in the order of the fields", {"make": "", "values": values}, 0.25),
        *sizes,
        Fixture("the defaults", {"make": "", "values": ()}, 0.25),
    ]


def config_call(inputs):
    args = (inputs["make"], inputs["values"], tuple(oracle.FIELDS))
    return Call(args=args, probe="architecture:attributes")


SIZED = tuple(name for name, value in oracle.FIELDS.items() if type(value) is int)


def _read(inputs, value):
    """The fields of a config; a Trouble where there is no config, or a size is no int."""
    made = f"{inputs['make']}()" if inputs["make"] else "GPT2Config(…)"
    if value is None:
        return Trouble(f"{made} returned None.", look="Is a `return` missing?")
    for name in SIZED:
        if name in value and type(value[name]) is not int:
            return Trouble(
                f"{made} has {name} = {value[name]!r}; a size is an int.",
                look="Division with / gives a float; // divides whole numbers.",
            )
    return value


def _nature_verdict(c, inputs, answers):
    (answer,) = answers
    if answer.failure:
        return failure(answer, "when a field is assigned to")
    found = answer.value
    missing = [f for f in oracle.FIELDS if f not in found["fields"]]
    if not found["fields"]:
        return Trouble("It is not a dataclass.", look="@dataclass(frozen=True) above the class.")
    if missing:
        return Trouble(
            f"{', '.join(missing)} is not a field of the dataclass.",
            look="A field needs its annotation: `name: int = 12`.",
        )
    if found["changed"] or "FrozenInstanceError" not in found["raised"]:
        return Trouble(
            "It is not frozen: its fields can be assigned to.",
            "config.n_layer = … should raise a FrozenInstanceError.",
            "@dataclass(frozen=True)",
        )
    return None


GOOD = ((12, 12), (12, 4), (6, 1))  # d_model, n_head
BAD = ((12, 5), (768, 7), (4, 8))


def _refuses(c, inputs):
    return [Call(args=GOOD + BAD, probe="architecture:refusals")]


def _refuses_verdict(c, inputs, answers):
    (answer,) = answers
    if answer.failure:
        return failure(answer, "on sizes of your own")
    for (d, H), raised in zip(GOOD + BAD, answer.value):
        said = f"d_model = {d} and n_head = {H}"
        if (d, H) in GOOD and raised:
            return Trouble(
                f"For {said} it raises {raised[0]}, though {d} is a multiple of {H}.",
                look="The remainder of d_model divided by n_head must be 0.",
            )
        if (d, H) in BAD and not raised:
            return Trouble(
                f"It accepts {said}, though {d} is not a multiple of {H}.",
                look="__post_init__ runs after the fields are set: raise a ValueError there.",
            )
        if (d, H) in BAD and "ValueError" not in raised:
            return Trouble(
                f"For {said} it raises {raised[0]}; the exercise asks for a ValueError.",
                look="An assert vanishes when Python runs with -O; `raise ValueError(...)` stays.",
            )
    return None


def _edited(**edits):
    return partial(oracle.config, sizes={s: f(*oracle.SIZES[s]) for s, f in edits.items()})


def _all_sizes(f):
    return _edited(**{s: f for s in oracle.SIZES})


GPT2_CONFIG = Component(
    "GPT2Config",
    config_fixtures,
    oracle.config,
    call=config_call,
    properties=(
        Property(
            "a frozen dataclass",
            lambda c, inputs: [Call(probe="architecture:nature")],
            _nature_verdict,
            weight=0.25,
        ),
        Property("refuses heads that do not fit", _refuses, _refuses_verdict, weight=2.0),
    ),
    mistakes=(
        Mistake(
            "always_small",
            _all_sizes(lambda L, H, d: oracle.SIZES["small"]),
            "All four constructors make GPT-2 small.",
            "Hand cls the three sizes that differ: n_layer, n_head and d_model.",
        ),
        Mistake(
            "depth_only",
            _all_sizes(lambda L, H, d: (L, 12, 768)),
            "Only the depth changes from size to size.",
            "The larger models are wider too, and have more heads.",
        ),
        Mistake(
            "depth_in_sublayers",
            _all_sizes(lambda L, H, d: (2 * L, H, d)),
            "n_layer counts the attention and the feedforward layers separately.",
            "Depth is the number of blocks: GPT-2 small has 12.",
        ),
        Mistake(
            "heads_are_64",
            _all_sizes(lambda L, H, d: (L, 64, d)),
            "n_head is 64. That is the width d_k of one head, not the number of heads.",
            "d_k = d / H = 64 in all four models, so H = d / 64.",
        ),
        Mistake(
            "medium_large_swapped",
            altered(
                oracle.config,
                sizes=oracle.SIZES
                | {"medium": oracle.SIZES["large"], "large": oracle.SIZES["medium"]},
            ),
            "medium and large have changed places.",
        ),
        Mistake(
            "untied",
            altered(oracle.config, fields=oracle.FIELDS | {"tie_weights": False}),
            "tie_weights is False by default; GPT-2 ties its unembedding to E.",
        ),
        Mistake(
            "dropout",
            altered(oracle.config, fields=oracle.FIELDS | {"dropout": 0.1}),
            "dropout is 0.1 by default; here it is 0.0 unless one asks for it.",
        ),
        Mistake(
            "padded_vocabulary",
            altered(oracle.config, fields=oracle.FIELDS | {"vocab_size": 50304}),
            "vocab_size is 50304 by default: that is rounded up to a multiple of 64.",
            "GPT-2 has 50257 tokens: 256 bytes, 50,000 merges, and one end of text.",
        ),
    ),
    read=_read,
    outputs="the configuration",
    tolerance=Tolerance(0.0, 1e-9),
)
