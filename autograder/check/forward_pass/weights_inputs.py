"""init_weights: the models it is tried on, how it is called, and the statistics it should give."""

from __future__ import annotations

from autograder.check.draw import choice
from autograder.check.parts import Fixture
from autograder.check.properties.initial import WITHIN, groups, statistics
from autograder.oracle import forward_pass as oracle
from autograder.probes import Call
from autograder.probes.forward_pass import UNTOUCHED

QKV = "W_Q, W_K and W_V"
ENDINGS = {
    "E": ("E",),
    "P": ("P",),
    "W_U": ("W_U",),
    QKV: ("W_Q", "W_K", "W_V"),
    "W_up": ("W_up",),
    "W_O": ("W_O",),
    "W_down": ("W_down",),
    "gamma": ("gamma",),
    "beta": ("beta",),
    "the biases": tuple(f".b_{n}" for n in ("Q", "K", "V", "O", "up", "down")),
}
DRAWN = ("E", "P", QKV, "W_up", "W_O", "W_down")  # of a tied model
SIZES = {"vocab_size": 211, "n_positions": 150, "n_head": 3, "d_model": 72}  # 5,000 draws or more


def fixtures(rng):
    (L,) = choice(rng, (2,), (3,), (4,))

    def part(*names, L=L, tied=True):
        return {"sizes": SIZES | {"n_layer": L, "tie_weights": tied}, "names": names}

    return [
        Fixture("the tables E and P", part("E", "P")),
        Fixture("W_U of an untied model", part("W_U", tied=False), weight=1.0),
        Fixture("gamma, beta and the biases", part("gamma", "beta", "the biases")),
        Fixture("W_Q, W_K, W_V and W_up", part(QKV, "W_up")),
        Fixture("W_O and W_down, L = 8", part("W_O", "W_down", L=8), weight=1.0),
        Fixture("W_O and W_down, L = 1", part("W_O", "W_down", L=1), weight=1.0),
        Fixture("W_O and W_down, L from 2 to 4", part("W_O", "W_down"), weight=4.0),
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
