"""count_parameters: each part of the model, and the total."""

from __future__ import annotations

from functools import partial

from autograder.check.component import Component
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture, Property
from autograder.check.draw import choice
from autograder.check.properties import python_numbers
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance, number
from autograder.oracle import architecture as oracle
from autograder.probes import Call


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


def _sum_verdict(c, inputs, answers):
    value = answers[0].value
    parts = sum(v for k, v in value.items() if k != "total")
    if parts == value["total"]:
        return None
    return Trouble(
        "The total is not the sum of the parts.",
        f"The parts add up to {number(parts)}, the total is {number(value['total'])}.",
    )


def _counted(edit, config, only=()):
    """The counts when `edit` replaces the shapes of some parts."""
    parts = oracle.tensors(config)
    counts = oracle.count(parts | edit(config, parts))
    return {k: counts[k] for k in only or counts}


def _of_blocks(edit):
    """The same, where the shapes of one block's attention and feedforward layer are edited."""

    def edited(config, parts):
        one = oracle.tensors(config | {"n_layer": 1})
        changed = edit(config["d_model"], config["n_head"], one)
        return {k: shapes * config["n_layer"] for k, shapes in changed.items()}

    return partial(_counted, edited)


def _matrices(d, H, one):
    return {k: [s for s in one[k] if len(s) == 2] for k in ("attention", "feedforward")}


def _as_if(change, config, only=()):
    """The counts of another configuration."""
    return oracle.count_parameters(config | change(config), only)


def _without_total_of(*left_out):
    def wrong(config, only=()):
        counts = oracle.count_parameters(config)
        counts["total"] -= sum(counts[k] for k in left_out)
        return {k: counts[k] for k in only or counts}

    return wrong


COUNT_PARAMETERS = Component(
    "count_parameters",
    count_fixtures,
    oracle.count_parameters,
    call=count_call,
    properties=(
        Property("the total is the sum", lambda c, i: [c.call(i)], _sum_verdict, weight=0.5),
        python_numbers(int),
    ),
    mistakes=(
        Mistake(
            "no_biases",
            _of_blocks(_matrices),
            "The biases are not counted: 12 d^2 a block is the matrices alone.",
            "b_Q, b_K, b_V, b_O have d entries each, b_up has 4d and b_down d.",
        ),
        Mistake(
            "narrow_b_up",
            _of_blocks(lambda d, H, one: {"feedforward": [(d, 4 * d), (4 * d, d), (d,), (d,)]}),
            "b_up is counted with d entries. It is added to a vector of width 4d.",
        ),
        Mistake(
            "no_W_O",
            _of_blocks(lambda d, H, one: {"attention": [(d, d), (d,)] * 3}),
            "Attention is counted with three matrices: W_O and b_O are missing.",
        ),
        Mistake(
            "full_width_heads",
            _of_blocks(lambda d, H, one: {"attention": [(d, d), (d,)] * (3 * H + 1)}),
            "Each head is counted with matrices of its own size d x d.",
            "The H heads share the width: all of them together make W_Q, of shape (d, d).",
        ),
        Mistake(
            "not_widened",
            _of_blocks(lambda d, H, one: {"feedforward": [(d, d), (d,)] * 2}),
            "The feedforward network is counted as d -> d -> d.",
            "It widens to 4d in between.",
        ),
        Mistake(
            "one_way",
            _of_blocks(lambda d, H, one: {"feedforward": [(d, 4 * d), (4 * d,)]}),
            "Only W_up and b_up are counted: the way back from 4d to d is missing.",
        ),
        Mistake(
            "one_block",
            altered(_as_if, lambda c: {"n_layer": 1}),
            "The parts of one block are counted once, not n_layer times.",
        ),
        Mistake(
            "no_final_norm",
            altered(_counted, lambda c, p: {"layer_norm": p["layer_norm"][2:]}),
            "The layer norm after the last block is not counted.",
            "Two in each block, and one at the end: each has a gamma and a beta.",
        ),
        Mistake(
            "one_norm_a_block",
            altered(
                _counted, lambda c, p: {"layer_norm": p["layer_norm"][: 2 * (c["n_layer"] + 1)]}
            ),
            "One layer norm a block is counted; there are two, before each sub-layer.",
        ),
        Mistake(
            "no_beta",
            altered(_counted, lambda c, p: {"layer_norm": p["layer_norm"][::2]}),
            "A layer norm is counted with d parameters: it has a gamma and a beta.",
        ),
        Mistake(
            "tied_counted_twice",
            altered(_as_if, lambda c: {"tie_weights": False}),
            "The unembedding is counted although it is tied: then it is E itself.",
        ),
        Mistake(
            "never_untied",
            altered(_as_if, lambda c: {"tie_weights": True}),
            "The unembedding is never counted; without tying it is a matrix of its own.",
        ),
        Mistake(
            "tie_reversed",
            altered(_as_if, lambda c: {"tie_weights": not c["tie_weights"]}),
            "It is the wrong way round: the unembedding counts when it is not tied.",
        ),
        Mistake(
            "unembedding_bias",
            altered(
                _counted,
                lambda c, p: {"unembedding": [s for m in p["unembedding"] for s in (m, m[1:])]},
            ),
            "The unembedding is counted with a bias; it has none.",
        ),
        Mistake(
            "total_without_positions",
            _without_total_of("position_embedding"),
            "The total leaves out the position embedding.",
        ),
        Mistake(
            "total_without_tables",
            _without_total_of("token_embedding", "position_embedding", "unembedding"),
            "The total leaves out the embeddings.",
        ),
    ),
    needs=("GPT2Config",),
    tolerance=Tolerance(0.0, 0.5),
)
