"""init_weights: judged by statistics, however the numbers are drawn."""

from __future__ import annotations


from autograder.check.component import Component
from autograder.check.findings import failure
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture, Property
from autograder.check.draw import choice
from autograder.check.initial import SAMPLING, WITHIN, groups, statistics
from autograder.check.randomness import generator_decides
from autograder.judge import Trouble
from autograder.oracle import forward_pass as oracle
from autograder.probes import Call
from autograder.probes.forward_pass import UNTOUCHED

READ = "W_Q, W_K, W_V and W_up"
ENDINGS = {
    "E": ("E",),
    "P": ("P",),
    "W_U": ("W_U",),
    READ: ("W_Q", "W_K", "W_V", "W_up"),
    "W_O": ("W_O",),
    "W_down": ("W_down",),
    "gamma": ("gamma",),
    "beta": ("beta",),
    "the biases": tuple(f".b_{n}" for n in ("Q", "K", "V", "O", "up", "down")),
}
SIZES = {"vocab_size": 211, "n_positions": 150, "n_head": 3, "d_model": 48}  # 5,000 draws or more
IN_PLACE = (
    "p = … gives the name p to a new tensor; p.normal_(…) and p.fill_(…) change the parameter."
)
STREAM = "Names that end in W_O or W_down: 0.02 / sqrt(2 L), with L = model.config.n_layer."


def fixtures(rng):
    (L,) = choice(rng, (2,), (3,), (4,))

    def part(*names, L=L, tied=True):
        return {"sizes": SIZES | {"n_layer": L, "tie_weights": tied}, "names": names}

    return [
        Fixture("the tables E and P", part("E", "P")),
        Fixture("W_U of an untied model", part("W_U", tied=False), weight=1.0),
        Fixture("gamma, beta and the biases", part("gamma", "beta", "the biases")),
        Fixture("matrices that read the stream", part(READ)),
        Fixture("matrices that write to it, one block", part("W_O", "W_down", L=1)),
        Fixture("matrices that write to it, more blocks", part("W_O", "W_down"), weight=4.0),
    ]


def rules(names, drawn, constant):
    """Endings and values of the groups with these names: (drawn, constant)."""
    return [{n: (ENDINGS[n], kind[n]) for n in names if n in kind} for kind in (drawn, constant)]


def expected(sizes, names, generator=None, *, constant=None, untouched=(), within=WITHIN, **drawn):
    """The statistics of these groups. untouched: groups that keep the value they had."""
    kinds = oracle.deviations(sizes["n_layer"], **drawn), oracle.constants(**constant or {})
    kinds = [k | {n: UNTOUCHED for n in k if n in untouched} for k in kinds]
    return statistics(*rules(names, *kinds), 1.0 if set(names) & set(untouched) else within)


def call(inputs):
    kwargs = {"groups": groups(*rules(inputs["names"], oracle.deviations(1), oracle.constants()))}
    if "generator" in inputs:
        kwargs["generator"] = inputs["generator"]
    sizes = inputs["sizes"]
    return Call(init=(), init_kwargs=sizes, kwargs=kwargs, probe="forward_pass:init_weights")


def _in_place(c, inputs):
    return [Call(init=(), init_kwargs=inputs["sizes"], probe="forward_pass:init_in_place")]


def _kept(c, inputs, answers):
    (answer,) = answers
    if answer.failure:
        return failure(answer, "on a model")
    look = "Fill what is there: p.normal_(…) or p.fill_(…), under torch.no_grad()."
    for key, says in (
        ("kept", "is another tensor than before: an optimiser would still hold the old one"),
        ("trainable", "can no longer be trained"),
    ):
        wrong = [name for name, good in answer.value[key].items() if not good]
        if wrong:
            return Trouble(f"{wrong[0]} {says}.", look=look)
    return None


def _distinct(c, inputs, answers):
    (answer,) = answers
    if answer.failure:
        return failure(answer, "on a model")
    seen: dict[tuple, str] = {}
    for name, first in answer.value["first"].items():
        unit = tuple((first / abs(first).max()).round(4))
        if unit in seen:
            return Trouble(
                f"{name} starts with the same numbers as {seen[unit]}, but for a factor.",
                look="Every matrix needs draws of its own: set no seed inside.",
            )
        seen[unit] = name
    return None


def _half(L):
    return (2 * L) ** -0.5


INIT_WEIGHTS = Component(
    "init_weights",
    fixtures,
    expected,
    call=call,
    properties=(
        generator_decides(),
        Property("fills the parameters that are there", _in_place, _kept, weight=0.5),
        Property("every matrix has numbers of its own", _in_place, _distinct, weight=0.5),
    ),
    mistakes=(
        Mistake(
            "writes_not_narrowed",
            altered(expected, W_O=lambda L: 1.0),
            "W_O and W_down have deviation 0.02 like the others; they write to the stream.",
            STREAM,
        ),
        Mistake(
            "narrowed_by_L",
            altered(expected, W_O=lambda L: L**-0.5),
            "W_O and W_down are divided by sqrt(L); a block writes twice, so it is sqrt(2 L).",
            STREAM,
        ),
        Mistake(
            "narrowed_without_root",
            altered(expected, W_O=lambda L: 1 / (2 * L)),
            "W_O and W_down are divided by 2 L; the root is missing.",
            STREAM,
        ),
        Mistake(
            "only_W_O",
            altered(expected, W_down=lambda L: 1.0),
            "W_down has deviation 0.02; it writes to the stream, as W_O does.",
            STREAM,
        ),
        Mistake(
            "only_W_down",
            altered(expected, W_O=lambda L: 1.0, W_down=_half),
            "W_O has deviation 0.02; it writes to the stream, as W_down does.",
            STREAM,
        ),
        Mistake(
            "all_narrowed",
            lambda sizes, names, generator=None: expected(
                sizes,
                names,
                **dict.fromkeys(("E", "P", "W_U", "read"), 0.02 * _half(sizes["n_layer"])),
            ),
            "Everything is divided by sqrt(2 L); only W_O and W_down write to the stream.",
            STREAM,
        ),
        Mistake(
            "blocks_narrowed",
            lambda sizes, names, generator=None: expected(
                sizes, names, read=0.02 * _half(sizes["n_layer"])
            ),
            "All matrices of the blocks are divided by sqrt(2 L); only W_O and W_down should be.",
            STREAM,
        ),
        Mistake(
            "tables_of_deviation_1",
            altered(expected, E=1.0, P=1.0),
            "E and P have deviation 1, as in nn.Embedding: with a tied head the first loss is huge.",
            "The tables are matrices too: 0.02.",
        ),
        Mistake(
            "E_of_deviation_1",
            altered(expected, E=1.0),
            "E has deviation 1, as in nn.Embedding: with a tied head the first loss is huge.",
            "The tables are matrices too: 0.02.",
        ),
        Mistake(
            "P_of_deviation_0.01",
            altered(expected, P=0.01),
            "P has deviation 0.01; here both tables have 0.02.",
        ),
        Mistake(
            "variance_of_0.02",
            altered(
                expected,
                **dict.fromkeys(("E", "P", "W_U", "read"), 0.02**0.5),
                W_O=lambda L: 0.02**-0.5 * _half(L),
            ),
            "0.02 is taken for the variance; it is the deviation.",
            "normal_ takes the mean and the standard deviation.",
        ),
        Mistake(
            "uniform",
            altered(
                expected,
                **dict.fromkeys(("E", "P", "W_U", "read"), 0.02 * 3**-0.5),
                W_O=lambda L: 3**-0.5 * _half(L),
                within=3**-0.5,
            ),
            "The numbers are uniform between -0.02 and 0.02, not normal with deviation 0.02.",
            "normal_, not uniform_.",
        ),
        Mistake(
            "gamma_is_0",
            altered(expected, constant={"gamma": 0.0}),
            "gamma is 0: every LayerNorm then gives the same for all inputs, and nothing can be learnt.",
            "Names that end in gamma: 1.",
        ),
        Mistake(
            "all_vectors_1",
            altered(expected, constant={"rest": 1.0}),
            "beta and the biases are 1 like gamma; they should be 0.",
        ),
        Mistake(
            "nothing_changed",
            altered(expected, untouched=tuple(ENDINGS)),
            "Nothing was changed in the model: its parameters hold what they held before.",
            IN_PLACE,
        ),
        Mistake(
            "matrices_left",
            altered(expected, untouched=("E", "P", "W_U", READ, "W_O", "W_down")),
            "The matrices are left as they were; only the vectors were changed.",
            IN_PLACE,
        ),
        Mistake(
            "vectors_left",
            altered(expected, untouched=("gamma", "beta", "the biases")),
            "gamma, beta and the biases are left as they were.",
            "gamma becomes 1, every other vector 0, whatever they held before.",
        ),
        Mistake(
            "tables_left",
            altered(expected, untouched=("E", "P", "W_U")),
            "E, P and W_U are left as they were: only the blocks are filled.",
            "model.named_parameters() lists all.",
        ),
        Mistake(
            "W_U_left",
            altered(expected, untouched=("W_U",)),
            "W_U of an untied model is left as it was.",
            "model.named_parameters() lists all.",
        ),
    ),
    tolerance=SAMPLING,
)
