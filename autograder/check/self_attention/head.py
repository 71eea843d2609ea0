"""One head with its six parameters."""

from __future__ import annotations

from autograder.check.component import Component, module
from autograder.check.draw import choice, normal
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture
from autograder.check.properties.common import COMMON, causal, several_lengths
from autograder.check.properties.initial import each, initial_values
from autograder.check.properties.varied import batch_dims
from autograder.oracle import self_attention as oracle


def head_fixtures(rng):
    B, T, d, d_k = choice(rng, (2, 5, 7, 4), (3, 4, 6, 5), (2, 6, 8, 3))

    def head(x, bias=0.5, weight=0.5):
        names = [f"{kind}_{part}" for part in "QKV" for kind in "Wb"]
        state = {
            n: normal(rng, d, d_k, std=weight) if n[0] == "W" else normal(rng, d_k, std=bias)
            for n in names
        }
        return {"init": (d, d_k), "state": state, "x": x}

    return [
        Fixture("one position (only V matters)", head(normal(rng, B, 1, d)), weight=1.0),
        Fixture("all biases zero", head(normal(rng, B, T, d), bias=0.0), weight=1.0),
        Fixture("the whole head", head(normal(rng, B, T, d)), weight=3.0),
    ]


def _head(init, state, x, *, scale=None, **switches):
    """scale: (d, d_k) -> the factor on the scores."""
    if scale:
        switches["scale"] = lambda Q: scale(*init)
    return oracle.attention_head(x, **state, **switches)


def _renamed(**names):
    """Parameters used under other names than their own."""
    return altered(
        _head, before=lambda i: {"state": {k: i["state"][names.get(k, k)] for k in i["state"]}}
    )


def _without(*names):
    """Parameters that count as 0."""
    return altered(
        _head, before=lambda i: {"state": {k: v * (k not in names) for k, v in i["state"].items()}}
    )


POSITIONS = (
    "causal_mask(x.shape[-2], x.device): T is the number of positions, the last axis but one."
)
ATTENTION_HEAD = Component(
    "AttentionHead",
    head_fixtures,
    _head,
    call=module,
    properties=(
        causal(),
        several_lengths(),
        *batch_dims("x"),
        *COMMON,
        initial_values(
            (144, 64),
            drawn=each("W_Q", "W_K", "W_V", value=0.02),
            constant={"the biases": (("b_Q", "b_K", "b_V"), 0.0)},
            look="nn.Parameter(0.02 * torch.randn(d_model, d_k)) for a matrix, torch.zeros(d_k) for a "
            "bias.",
        ),
    ),
    mistakes=(
        Mistake(
            "no_mask",
            altered(_head, mask=None),
            "There is no causal mask, so every position sees the later ones; attention should "
            "get causal_mask(T).",
            "attention(Q, K, V) -> attention(Q, K, V, causal_mask(x.shape[-2], x.device))",
            "Training shows the head the answer, the next token, and it learns to copy it. When it "
            "generates, that token is not there.",
        ),
        Mistake(
            "no_bias",
            _without("b_Q", "b_K", "b_V"),
            "The biases b_Q and b_V are not added, and b_K, which changes no output here, may "
            "be missing too; each of Q, K and V should have its own.",
            "In forward: x @ W -> x @ W + b, in the lines of Q, K and V.",
            "They start at 0, so an untrained model does not show it. GPT-2's trained biases are "
            "not 0, and its weights would give other logits here.",
        ),
        Mistake(
            "no_b_Q",
            _without("b_Q"),
            "b_Q is not added to the queries; they should be x W_Q + b_Q.",
            "x @ self.W_Q -> x @ self.W_Q + self.b_Q",
            "It is what every position looks for, whatever stands there. It starts at 0, so only a "
            "trained model shows that it is missing.",
        ),
        Mistake(
            "no_b_V",
            _without("b_V"),
            "b_V is not added to the values; they should be x W_V + b_V.",
            "x @ self.W_V -> x @ self.W_V + self.b_V",
            "The weights of a row sum to 1, so b_V is added to each output as it is. It starts at "
            "0, so only a trained model shows that it is missing.",
        ),
        Mistake(
            "scaled_twice",
            altered(_head, scale=lambda d, d_k: 1 / d_k),
            "The scores are divided by d_k in all; it should be sqrt(d_k), and attention "
            "divides by that already.",
            "In forward: Q / math.sqrt(self.d_k) -> Q. Hand Q and K to attention undivided.",
            "Together that is a division by d_k: at width 64 the scores have a deviation of 1/8, and "
            "every position weighs nearly alike.",
        ),
        Mistake(
            "scaled_by_d_model",
            altered(_head, scale=lambda d, d_k: d**-0.5),
            "The scores are divided by sqrt(d_model), the root of the width of x; it should be "
            "sqrt(d_k), the width of Q.",
            "math.sqrt(x.shape[-1]) -> math.sqrt(Q.shape[-1]). If you call attention: hand Q and "
            "K over as they are, it divides by itself.",
            "With 12 heads in GPT-2 the scores are sqrt(12) = 3.5 times too small, and every "
            "position weighs nearly alike.",
        ),
        Mistake(
            "no_scaling",
            altered(_head, scale=lambda d, d_k: 1.0),
            "The scores are not divided by sqrt(d_k); they should be, as attention(Q, K, V, "
            "mask) does it with Q and K as they are.",
            "In forward: call attention with Q and K as they are, not multiplied; no S = Q K^T "
            "of your own.",
            "The softmax gets nearly a choice of one, and passes hardly any gradient.",
        ),
        Mistake(
            "q_is_k",
            _renamed(W_K="W_Q", b_K="b_Q"),
            "K is made with W_Q (with b_K or b_Q, which makes no difference); it should be "
            "made with W_K and b_K.",
            "self.W_Q -> self.W_K, in the line of K.",
            "Scores become symmetric: what I look for is what I offer. A head can no longer ask for "
            "a noun while being a verb.",
        ),
        Mistake(
            "v_is_k",
            _renamed(W_V="W_K", b_V="b_K"),
            "V is made with W_K and b_K; it should be made with W_V and b_V.",
            "In the line of V: x @ self.W_K + self.b_K -> x @ self.W_V + self.b_V; or "
            "attention(Q, K, K, mask) -> attention(Q, K, V, mask).",
            "What a token is found by and what it then says become the same thing.",
        ),
        Mistake(
            "v_is_q",
            _renamed(W_V="W_Q", b_V="b_Q"),
            "V is made with W_Q and b_Q; it should be made with W_V and b_V.",
            "In the line of V: x @ self.W_Q + self.b_Q -> x @ self.W_V + self.b_V; or "
            "attention(Q, K, Q, mask) -> attention(Q, K, V, mask).",
            "What a token looks for and what it says to the others become the same thing.",
        ),
        Mistake(
            "k_v_swapped",
            _renamed(W_K="W_V", b_K="b_V", W_V="W_K", b_V="b_K"),
            "K and V are swapped: V is made with W_K and b_K, K with W_V; it should be W_V and "
            "b_V for V, W_K for K.",
            "K and V back in their places: in their two lines, or attention(Q, V, K, mask) -> "
            "attention(Q, K, V, mask).",
            "A model that you train yourself learns the roles the other way round and is as good. "
            "One with GPT-2's weights computes other outputs.",
        ),
        Mistake(
            "k_v_weights_swapped",
            _renamed(W_K="W_V", W_V="W_K"),
            "W_K and W_V are swapped, the biases are not: K = x @ W_V + b_K, V = x @ W_K + b_V; "
            "it should be K = x @ W_K + b_K, V = x @ W_V + b_V.",
            "self.W_V -> self.W_K in the line of K, and self.W_K -> self.W_V in the line of V.",
            "A model that you train yourself learns the roles the other way round and is as good. "
            "One with GPT-2's weights computes other outputs.",
        ),
        Mistake(
            "W_K_for_W_V",
            _renamed(W_V="W_K"),
            "V is made with W_K and b_V; it should be made with W_V and b_V.",
            "self.W_K -> self.W_V, in the line of V.",
            "What a token is found by and what it then says become the same thing, and W_V gets no "
            "gradient.",
        ),
        Mistake(
            "b_K_for_b_V",
            _renamed(b_V="b_K"),
            "V is made with W_V and b_K; it should be made with W_V and b_V.",
            "self.b_K -> self.b_V, in the line of V.",
            "b_V gets no gradient, and GPT-2's weights would give other outputs. Both start at 0, so "
            "an untrained model does not show it.",
        ),
        Mistake(
            "b_K_for_b_Q",
            _renamed(b_Q="b_K"),
            "Q is made with W_Q and b_K; it should be made with W_Q and b_Q.",
            "self.b_K -> self.b_Q, in the line of Q.",
            "b_Q gets no gradient, and GPT-2's weights would give other outputs. Both start at 0, so "
            "an untrained model does not show it.",
        ),
        Mistake(
            "q_k_weights_swapped",
            _renamed(W_K="W_Q", W_Q="W_K"),
            "W_Q and W_K are swapped, the biases are not: Q = x @ W_K + b_Q, K = x @ W_Q + b_K; "
            "it should be Q = x @ W_Q + b_Q, K = x @ W_K + b_K.",
            "self.W_K -> self.W_Q in the line of Q, and self.W_Q -> self.W_K in the line of K.",
            "A model that you train yourself learns the roles the other way round and is as good. "
            "One with GPT-2's weights computes other scores.",
        ),
        Mistake(
            "q_k_swapped",
            _renamed(W_K="W_Q", b_K="b_Q", W_Q="W_K", b_Q="b_K"),
            "Q and K are swapped: Q is made with W_K and b_K, K with W_Q and b_Q; it should be "
            "W_Q and b_Q for Q, W_K and b_K for K.",
            "Q and K back in their places: in their two lines, or attention(K, Q, V, mask) -> "
            "attention(Q, K, V, mask).",
            "A model that you train yourself learns the roles the other way round and is as good. "
            "One with GPT-2's weights computes other scores.",
        ),
    ),
    needs=("softmax", "causal_mask", "attention"),
    look={
        "shapes and types": "The output alone, (..., T, d_k): attention returns it and the weights.",
        "one position (only V matters)": "With one position the weight is 1 and the output is V: "
        "x @ self.W_V + self.b_V.",
        "all biases zero": "Q = x @ self.W_Q + self.b_Q, K and V likewise from theirs, then "
        "attention(Q, K, V, causal_mask(T, x.device)).",
        "the whole head": "Q, K and V have a weight and a bias each, of their own.",
    },
    raises={
        "broadcast shape": POSITIONS,
        "must match the size": POSITIONS,
        ".weight": "nn.Linear names its parameters so, and holds the transpose. Make each matrix "
        "as nn.Parameter, of shape (d, d_k) and under its name.",
    },
    shortcuts=frozenset({"scaled_dot_product_attention", "MultiheadAttention"}),
)
