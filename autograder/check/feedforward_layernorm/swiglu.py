"""SwiGLU, the gated network."""

from __future__ import annotations

from autograder.check.component import Component, module
from autograder.check.draw import choice, normal
from autograder.check.mistake import entries
from autograder.check.parts import Fixture
from autograder.check.properties.common import COMMON
from autograder.check.properties.initial import each, initial_values
from autograder.check.properties.varied import batch_dims
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


mistake = entries(_swiglu)


def gate(name, wrong, look, why, function):
    """Another function of z where SiLU belongs."""
    return mistake(
        name,
        f"{wrong}, with z = x @ W_gate; it should be SiLU, z * sigmoid(z).",
        f"{look} -> z * torch.sigmoid(z), where z is x @ self.W_gate",
        why,
        gate=function,
    )


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
            "SiLU is on x @ W_up; it should be on x @ W_gate instead.",
            "silu(x @ self.W_up) * (x @ self.W_gate) -> (x @ self.W_up) * silu(x @ self.W_gate)",
            "It is as if W_up and W_gate had each other's names. A model that you train yourself is "
            "as good; with the weights of Llama every number is wrong, and no shape shows it.",
            up=oracle.silu,
            gate=oracle.as_is,
        ),
        gate(
            "sigmoid_gate",
            "The gate is sigmoid(z)",
            "torch.sigmoid(z)",
            "That is the older gate, GLU. It can shut the content off but not make it louder: a "
            "sigmoid ends at 1, and SiLU grows as z.",
            oracle.sigmoid,
        ),
        gate(
            "gelu_gate",
            "The gate is the tanh form of GELU of z",
            "gelu_tanh(z)",
            "That is GeGLU, which other models use. The two gates differ by as much as 0.19, so that "
            "weights trained for one do not fit the other.",
            oracle.gelu_tanh,
        ),
        gate(
            "exact_gelu_gate",
            "The gate is the exact GELU of z",
            "gelu(z)",
            "That is GeGLU, which other models use. The two gates differ by as much as 0.19, so that "
            "weights trained for one do not fit the other.",
            oracle.gelu,
        ),
        gate(
            "relu_gate",
            "The gate is ReLU of z",
            "relu(z)",
            "That is ReGLU. Where the gate is negative nothing comes through, and no gradient comes "
            "back.",
            oracle.relu,
        ),
        gate(
            "tanh_gate",
            "The gate is tanh(z)",
            "torch.tanh(z)",
            "At -3 the gate would be -1: it turns the sign of the content where it should be almost "
            "shut.",
            oracle.tanh,
        ),
        gate(
            "linear_gate",
            "The gate is z itself",
            "z without SiLU",
            "The hidden layer is then quadratic in x: -x gives the same as x, and nothing is ever "
            "shut off.",
            oracle.as_is,
        ),
        gate(
            "z_twice",
            "The gate is z * z * sigmoid(z)",
            "z * silu(z), or z * z * torch.sigmoid(z)",
            "The hidden layer grows as the cube of x instead of its square.",
            lambda z: z * oracle.silu(z),
        ),
        gate(
            "sign_of_z",
            "The gate is z * sigmoid(-z), which is z / (1 + exp(z))",
            "z * torch.sigmoid(-z)",
            "The gate is shut where it should be open: at z = 5 it gives 0.03 instead of 4.97.",
            lambda z: z * oracle.sigmoid(-z),
        ),
        mistake(
            "silu_on_both",
            "SiLU is on both x @ W_up and x @ W_gate; it should be on x @ W_gate alone.",
            "silu(x @ self.W_up) -> x @ self.W_up",
            "SiLU is never below -0.28, so that the content could hardly be negative.",
            up=oracle.silu,
        ),
        mistake(
            "silu_of_product",
            "SiLU is on the product (x @ W_up) * (x @ W_gate); it should be on x @ W_gate alone.",
            "silu((x @ self.W_up) * (x @ self.W_gate)) -> (x @ self.W_up) * silu(x @ self.W_gate)",
            "The two branches are then alike, and neither is the gate: two large negative numbers "
            "give a large positive product, which passes whole.",
            gate=oracle.as_is,
            join=lambda up, gate: oracle.silu(up * gate),
        ),
        mistake(
            "no_gate",
            "W_gate is not used: it is silu(x @ W_up) @ W_down; it should be ((x @ W_up) * silu(x"
            " @ W_gate)) @ W_down.",
            "silu(x @ self.W_up) -> (x @ self.W_up) * silu(x @ self.W_gate)",
            "A third of the parameters gets no gradient and stays as it was drawn. It is a plain "
            "feedforward layer, and a narrower one: 8/3 d wide for 4 d.",
            up=oracle.silu,
            gate=_open,
        ),
        mistake(
            "no_up",
            "W_up is not used: it is silu(x @ W_gate) @ W_down; it should be ((x @ W_up) * silu(x"
            " @ W_gate)) @ W_down.",
            "silu(x @ self.W_gate) -> (x @ self.W_up) * silu(x @ self.W_gate)",
            "A third of the parameters gets no gradient and stays as it was drawn. It is a plain "
            "feedforward layer, and a narrower one: 8/3 d wide for 4 d.",
            up=_open,
        ),
        mistake(
            "gate_twice",
            "W_up is not used: it is (x @ W_gate) * silu(x @ W_gate); it should be (x @ W_up) * "
            "silu(x @ W_gate).",
            "(x @ self.W_gate) * silu(...) -> (x @ self.W_up) * silu(...)",
            "A unit can then say only what its gate measures, and a third of the parameters gets no "
            "gradient.",
            before=_in_place_of("W_up", "W_gate"),
        ),
        mistake(
            "up_twice",
            "W_gate is not used: it is (x @ W_up) * silu(x @ W_up); it should be (x @ W_up) * "
            "silu(x @ W_gate).",
            "silu(x @ self.W_up) -> silu(x @ self.W_gate), the factor with SiLU",
            "A unit can then say only what its gate measures, and a third of the parameters gets no "
            "gradient.",
            before=_in_place_of("W_gate", "W_up"),
        ),
        mistake(
            "sum",
            "It adds the two branches, x @ W_up + silu(x @ W_gate); it should multiply them, with *.",
            "(x @ self.W_up) + silu(...) -> (x @ self.W_up) * silu(...)",
            "A sum cannot shut the content off: what x W_up says gets through whatever the gate is.",
            join=lambda up, gate: up + gate,
        ),
        mistake(
            "adds_x",
            "It adds x to the result; it should return the network's output alone.",
            "In the return: x + ... -> ... alone. Adding x is the work of the block, which comes "
            "later.",
            "The block adds x once more, so that every block would double the stream: after twelve "
            "of them the input would count 2^12 = 4096 times.",
            after=_plus_x,
        ),
    ),
    needs=("matched_d_ff",),
    look={
        "one hidden unit": "A single unit: (x @ W_up) * silu(x @ W_gate) is one number at each "
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
