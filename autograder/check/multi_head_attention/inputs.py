"""The layer of chapter 4: its inputs, what it should give, and ways to change its parameters."""

from __future__ import annotations

from array_api_compat import array_namespace

from autograder.check.draw import choice, normal
from autograder.check.parts import Fixture
from autograder.check.properties.varied import SQUEEZE, property_of
from autograder.oracle import multi_head_attention as oracle

SIZES = (2, 5, 12, 3), (3, 6, 20, 4), (2, 7, 15, 5)  # B, T, d, H, and d_k differ from each other
PARAMETERS = tuple(f"{kind}_{part}" for part in "QKVO" for kind in "Wb")


def state_of(rng, d, bias=0.5):
    """Parameters with which scores have a deviation of 1 to 2."""
    return {
        n: normal(rng, d, d, std=1.1 * d**-0.5) if n[0] == "W" else normal(rng, d, std=bias)
        for n in PARAMETERS
    }


def layer_fixtures(rng):
    B, T, d, H = choice(rng, *SIZES)

    def inputs(T, bias=0.5):
        return {"init": (d, H), "state": state_of(rng, d, bias), "x": normal(rng, B, T, d)}

    return [
        Fixture("one position (only V and O matter)", inputs(1), weight=1.0),
        Fixture("all biases zero", inputs(T, bias=0.0), weight=1.0),
        Fixture("the whole layer", inputs(T), weight=4.0),
    ]


def of_sizes(init, n_head=None, scale=None, b_O=None, **switches):
    """The number of heads, and the oracle's switches, where three are functions of the sizes:
    n_head of d and H, scale of d and d_k, b_O of H.

    init is (d, H), and possibly a dropout, which does nothing in eval mode.
    """
    d, H = init[:2]
    if scale:
        switches["scale"] = lambda Q: scale(d, d // H)
    if b_O:
        switches["b_O"] = b_O(H)
    return n_head(d, H) if n_head else H, switches


def layer(init, state, x, **switches):
    """What the layer gives; switches as in of_sizes, and those of the oracle."""
    H, switches = of_sizes(init, **switches)
    return oracle.multi_head_attention(x, state, H, **switches)


def renamed(**names):
    """Parameters used under other names than their own."""
    return lambda i: {"state": {k: i["state"][names.get(k, k)] for k in i["state"]}}


def transposed(*names):
    return lambda i: {"state": i["state"] | {n: i["state"][n].T for n in names}}


def without_biases(i):
    return {"state": {k: v * (k[0] == "W") for k, v in i["state"].items()}}


def without_biases_of_QKV(i):
    return {"state": without_biases(i)["state"] | {"b_O": i["state"]["b_O"]}}


def without_columns(x, init, head):
    """The last axis with columns h d_k to (h+1) d_k - 1 at zero."""
    xp = array_namespace(x)
    own = xp.arange(init[0]) // (init[0] // init[1]) == head
    return xp.where(own, xp.zeros_like(x), x)


def of_heads(name, heads):
    """The same parameters, cut into another number of heads."""
    return property_of(
        lambda c, i: i | {"init": (i["init"][0], heads(i["init"][0]))}, name, SQUEEZE, weight=0.5
    )


EXTREMES = (
    of_heads("one head", lambda d: 1),
    of_heads("heads of one column, d_k = 1", lambda d: d),
)
