"""count_parameters: each part of the model, and the total."""

from __future__ import annotations

from dataclasses import replace

from autograder.check.architecture.count_mistakes import TOTAL, mistakes_of
from autograder.check.component import Component
from autograder.check.draw import choice
from autograder.check.findings import failure
from autograder.check.parts import Fixture, Property
from autograder.check.properties.common import python_numbers
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance, number
from autograder.oracle import architecture as oracle
from autograder.probes import Call
from autograder.probes.plain import few


def count_fixtures(rng):
    V, n, L, H, d = choice(rng, (97, 40, 3, 4, 24), (61, 28, 5, 3, 18), (83, 32, 4, 2, 22))
    names = tuple(oracle.FIELDS)
    config = dict(zip(names, (V, n, L, H, d, 0.1, True)))
    untied = config | {"tie_weights": False}
    parts = {
        "the two tables": (config, ("token_embedding", "position_embedding")),
        "attention, in all blocks": (config, ("attention",)),
        "feedforward, in all blocks": (config, ("feedforward",)),
        "all layer norms": (config, ("layer_norm",)),
        "the unembedding, not tied": (untied, ("unembedding",)),
        "a small model, not tied": (untied, ()),
        "GPT-2 small": (oracle.FIELDS, ()),
    }
    return [Fixture(k, {"config": c, "only": o}, weight=1.0) for k, (c, o) in parts.items()]


def count_call(inputs):
    return Call(args=(inputs["config"], inputs["only"]), probe="architecture:counts")


TIED = (True, False)


def _both(c, inputs):
    """The main configuration, tied and not tied: a part that is 0 tells nothing of the total."""
    return [c.call(i) for i in _tied_and_not(inputs)]


def _tied_and_not(inputs):
    return [inputs | {"config": inputs["config"] | {"tie_weights": tied}} for tied in TIED]


def _sum_verdict(c, inputs, answers):
    for given, answer in zip(_tied_and_not(inputs), answers):
        if answer.failure:
            return failure(answer, f"on {_config_of(given)}")
        parts = sum(v for k, v in answer.value.items() if k != "total")
        if parts != answer.value["total"]:
            return Trouble(
                f'The parts add up to {number(parts)}, "total" is {number(answer.value["total"])}.',
                f"For {_config_of(given)}.",
                TOTAL,
            )
    return None


def _config_of(inputs):
    """The expression that makes the configuration: by name, what is not the default."""
    named = {k: v for k, v in inputs["config"].items() if v != oracle.FIELDS[k]}
    return f"GPT2Config({', '.join(f'{k}={v!r}' for k, v in named.items())})"


def _of(inputs, counts):
    """Each number under a name that says which configuration it is for."""
    return {f'{_config_of(inputs)}: "{part}"': n for part, n in counts.items()}


def _counted(config, only=(), **switches):
    counts = oracle.count_parameters(config, only, **switches)
    return _of({"config": config}, counts)


def _read(inputs, value):
    if not isinstance(value, dict):
        return value
    missing = [
        k for k in inputs["only"] or (*oracle.tensors(oracle.FIELDS), "total") if k not in value
    ]
    if missing:
        return Trouble(
            f"The dict has no {few([repr(k) for k in missing])}.",
            look='The keys are the six of the table and "total", all of them in every case.',
        )
    return _of(inputs, value)


def _whole(c, inputs, answers):
    return INTS.verdict(c, inputs, [c.reading(inputs, answer) for answer in answers])


INTS = python_numbers(int)
COUNT_PARAMETERS = Component(
    "count_parameters",
    count_fixtures,
    _counted,
    call=count_call,
    read=_read,
    properties=(
        Property("the total is the sum", _both, _sum_verdict, weight=0.5),
        replace(INTS, verdict=_whole),
    ),
    mistakes=mistakes_of(_counted),
    needs=("GPT2Config",),
    tolerance=Tolerance(0.0, 0.5),
)
