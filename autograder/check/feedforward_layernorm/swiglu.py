"""SwiGLU, the gated network."""

from __future__ import annotations

from autograder.check.component import Component, module
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture
from autograder.check.draw import choice, normal
from autograder.check.initial import each, initial_values
from autograder.check.properties import COMMON
from autograder.check.varied import batch_dims
from autograder.oracle import feedforward_layernorm as oracle

LINE = (
    "((x @ self.W_up) * silu(x @ self.W_gate)) @ self.W_down, with silu(z) = z * torch.sigmoid(z)"
)

PRODUCTS = (
    "W_up and W_gate have the shape (d_model, d_ff), W_down (d_ff, d_model): x @ W_up, without a "
    "transpose. The two branches are multiplied with *, entry by entry, not with @."
)


def swiglu_fixtures(rng):
    B, T, d, d_ff = choice(rng, (2, 5, 4, 9), (3, 6, 5, 8), (2, 3, 7, 10))

    def network(x, d_ff=d_ff, init=(d, d_ff)):
        state = {
            "W_up": normal(rng, d, d_ff, std=0.5),
            "W_gate": normal(rng, d, d_ff, std=0.7),
            "W_down": normal(rng, d_ff, d, std=0.5),
        }
        return {"init": init, "state": state, "x": x}

    x = normal(rng, B, T, d)
    return [
        Fixture("one hidden unit", network(x, 1, (d, 1)), weight=1.0),
        Fixture("the default d_ff", network(x, oracle.matched_d_ff(d), (d,)), weight=1.0),
        Fixture("the whole network", network(x), weight=3.0),
    ]


def _swiglu(init, state, x, **switches):
    return oracle.swiglu(x, **state, **switches)


def mistake(name, says, look, why, **switches):
    return Mistake(name, altered(_swiglu, **switches), says, look, why)


def _open(z):
    """A gate that lets everything pass."""
    return 1.0 + 0 * z


def _in_place_of(name, other):
    """A weight is not used, but another in its place."""
    return lambda inputs: {"state": inputs["state"] | {name: inputs["state"][other]}}


def _plus_x(result, inputs):
    return result + inputs["x"]


SWIGLU = Component(
    "SwiGLU",
    swiglu_fixtures,
    _swiglu,
    call=module,
    properties=(
        initial_values(
            (90, 100),
            each("W_up", "W_gate", "W_down", value=0.02),
            {},
            look="nn.Parameter(0.02 * torch.randn(rows, columns)) for each of the three.",
        ),
        *batch_dims("x"),
        *COMMON,
    ),
    mistakes=(
        mistake(
            "silu_on_up",
            "SiLU is on x W_up instead of x W_gate.",
            LINE,
            "It is as if W_up and W_gate had changed names. A model that you train yourself is as "
            "good; with the weights of Llama every number is wrong, and no shape shows it.",
            up=oracle.silu,
            gate=oracle.as_is,
        ),
        mistake(
            "sigmoid_gate",
            "The gate is sigmoid(z); SiLU is z sigmoid(z).",
            LINE,
            "That is the older gate, GLU. It can shut the content off but not make it louder: a "
            "sigmoid ends at 1, and SiLU grows as z.",
            gate=oracle.sigmoid,
        ),
        mistake(
            "gelu_gate",
            "The gate is the tanh form of GELU instead of SiLU.",
            LINE,
            "That is GeGLU, which other models use. The two gates differ by as much as 0.19, so that "
            "weights trained for one do not fit the other.",
            gate=oracle.gelu_tanh,
        ),
        mistake(
            "exact_gelu_gate",
            "The gate is the exact GELU instead of SiLU.",
            LINE,
            "That is GeGLU, which other models use. The two gates differ by as much as 0.19, so that "
            "weights trained for one do not fit the other.",
            gate=oracle.gelu,
        ),
        mistake(
            "relu_gate",
            "The gate is ReLU instead of SiLU.",
            LINE,
            "That is ReGLU. Where the gate is negative nothing comes through, and no gradient comes "
            "back.",
            gate=oracle.relu,
        ),
        mistake(
            "tanh_gate",
            "The gate is tanh(z) instead of SiLU.",
            LINE,
            "At -3 the gate would be -1: it turns the sign of the content where it should be almost "
            "shut.",
            gate=oracle.tanh,
        ),
        mistake(
            "linear_gate",
            "There is no SiLU on the gate.",
            LINE,
            "The hidden layer is then quadratic in x: -x gives the same as x, and nothing is ever "
            "shut off.",
            gate=oracle.as_is,
        ),
        mistake(
            "z_twice",
            "It multiplies SiLU(z) by z once more: z z sigmoid(z).",
            f"{LINE}. F.silu has the factor z already.",
            "The hidden layer grows as the cube of x instead of its square.",
            gate=lambda z: z * oracle.silu(z),
        ),
        mistake(
            "sign_of_z",
            "The sigmoid has the wrong sign: z sigmoid(-z) = z / (1 + e^z).",
            "SiLU(z) = z * torch.sigmoid(z) = z / (1 + torch.exp(-z))",
            "The gate is shut where it should be open: at z = 5 it gives 0.03 instead of 4.97.",
            gate=lambda z: z * oracle.sigmoid(-z),
        ),
        mistake(
            "silu_on_both",
            "SiLU is on both branches.",
            LINE,
            "SiLU is never below -0.28, so that the content could hardly be negative.",
            up=oracle.silu,
        ),
        mistake(
            "silu_of_product",
            "SiLU is taken of the product of the two branches instead of the gate alone.",
            LINE,
            "The two branches are then alike, and neither is the gate: two large negative numbers "
            "give a large positive product, which passes whole.",
            gate=oracle.as_is,
            join=lambda up, gate: oracle.silu(up * gate),
        ),
        mistake(
            "no_gate",
            "W_gate is not used: it is SiLU(x W_up) W_down.",
            LINE,
            "A third of the parameters gets no gradient and stays as it was drawn. It is a plain "
            "feedforward layer, and a narrower one: 8/3 d wide for 4 d.",
            up=oracle.silu,
            gate=_open,
        ),
        mistake(
            "no_up",
            "W_up is not used: it is SiLU(x W_gate) W_down.",
            LINE,
            "A third of the parameters gets no gradient and stays as it was drawn. It is a plain "
            "feedforward layer, and a narrower one: 8/3 d wide for 4 d.",
            up=_open,
        ),
        mistake(
            "gate_twice",
            "Both branches come from W_gate: W_up is not used.",
            LINE,
            "A unit can then say only what its gate measures, and a third of the parameters gets no "
            "gradient.",
            before=_in_place_of("W_up", "W_gate"),
        ),
        mistake(
            "up_twice",
            "Both branches come from W_up: W_gate is not used.",
            LINE,
            "A unit can then say only what its gate measures, and a third of the parameters gets no "
            "gradient.",
            before=_in_place_of("W_gate", "W_up"),
        ),
        mistake(
            "sum",
            "The two branches are added instead of multiplied.",
            LINE,
            "A sum cannot shut the content off: what x W_up says gets through whatever the gate is.",
            join=lambda up, gate: up + gate,
        ),
        mistake(
            "adds_x",
            "It adds x to the result.",
            "Return what is to be added; adding it is the business of the block.",
            "The block adds x once more, so that every block would double the stream: after twelve "
            "of them the input would count 2^12 = 4096 times.",
            after=_plus_x,
        ),
    ),
    needs=("matched_d_ff",),
    look={
        "one hidden unit": "A single unit: (x W_up) times SiLU(x W_gate) is one number at each "
        "position, and it multiplies the row W_down.",
        "the default d_ff": "d_ff is matched_d_ff(d_model) where the caller gives none.",
        "the whole network": LINE,
    },
    raises={
        "cannot be multiplied": PRODUCTS,
        "batch2 tensor": PRODUCTS,
        "has shape": "W_up and W_gate have the shape (d_model, d_ff), W_down (d_ff, d_model); d_ff "
        "is matched_d_ff(d_model) only where the caller gives none.",
        "missing:": "The parameters are W_up, W_gate and W_down, each an nn.Parameter of this module.",
        "not expected:": "There are three parameters, W_up, W_gate and W_down, and no biases.",
    },
)
