"""GPT2: what must hold of it whatever its numbers are."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from autograder.check.findings import failure
from autograder.check.forward_pass.weights_inputs import ENDINGS, SIZES
from autograder.check.parts import Property
from autograder.check.properties.common import causal, gradients, unchanged
from autograder.check.properties.dropout import dropout, rescaled
from autograder.check.properties.initial import initial_values
from autograder.check.properties.tensors import any_device, any_order, keeps_dtype
from autograder.check.properties.varied import SQUEEZE, property_of
from autograder.judge import Trouble
from autograder.judge.compare import difference, form
from autograder.judge.report import NUMBERS
from autograder.oracle import architecture
from autograder.oracle import forward_pass as oracle
from autograder.probes import Call

# Blocks are all alike: one is enough for the larger sizes, and takes less time to make.
COUNTED = {
    "GPT-2 small": {},
    "GPT-2 medium, with one block": {"n_head": 16, "d_model": 1024, "n_layer": 1},
    "GPT-2 large, with one block": {"n_head": 20, "d_model": 1280, "n_layer": 1},
    "GPT-2 XL, with one block": {"n_head": 25, "d_model": 1600, "n_layer": 1},
    "an untied GPT-2 small, with one block": {"n_layer": 1, "tie_weights": False},
}


# ------------------------------------------------------------------ tying


def tied(inputs):
    state = {k: v for k, v in inputs["state"].items() if k != "W_U"}
    return inputs | {"init": inputs["init"] | {"tie_weights": True}, "state": state}


def _reloaded(c, inputs):
    return [replace(c.call(tied(inputs)), probe="forward_pass:reloaded")]


def _follows(c, inputs, answers):
    (answer,) = answers
    look = "Tied means one tensor: x @ self.E.T in forward, and no second name for it."
    if answer.failure:
        return replace(failure(answer, "on a copy whose state_dict is loaded"), look=look)
    inputs = tied(inputs)
    want = c.expected(inputs | {"state": inputs["state"] | {"E": 2 * inputs["state"]["E"]}})
    trouble = form(answer.value, want) or difference(answer.value, want, c.tolerance)
    if trouble is None:
        return None
    return Trouble(
        "After a tied model has loaded another E, its two ends disagree.", trouble.evidence, look
    )


# ------------------------------------------------------------------ ids that it must refuse


def bad_ids(inputs):
    V, T = inputs["init"]["vocab_size"], inputs["init"]["n_positions"]
    fine = inputs["ids"]
    too_large, negative = fine.copy(), fine.copy()
    too_large[-1, -1], negative[0, 1] = V, -1
    return {
        f"T = {T + 1} tokens, where n_positions is {T}": np.resize(fine, (len(fine), T + 1)),
        "no tokens, T = 0": fine[:, :0],
        f"the id {V}, where vocab_size is {V}": too_large,
        "the id -1": negative,
    }


def _with_bad_ids(c, inputs):
    return [c.call(inputs | {"ids": ids}) for ids in bad_ids(inputs).values()]


def _refused(c, inputs, answers):
    for what, answer in zip(bad_ids(inputs), answers):
        look = "Begin forward with self.check_ids(ids)."
        if answer.failure is None:
            says = f"It takes {what}, and should raise ValueError: begin forward with"
            return Trouble(f"{says} self.check_ids(ids).", look=look)
        if not answer.failure.is_a("ValueError"):
            said = f"It raises {answer.failure.type}: {answer.failure.message}".rstrip(": ")
            says = (
                f"For {what}, it should raise ValueError: begin forward with self.check_ids(ids)."
            )
            return Trouble(says, said, look)
    return None


# ------------------------------------------------------------------ sizes


def _counts(c, inputs):
    return [Call(args=tuple(COUNTED.values()), probe="forward_pass:counts")]


def _exact(c, inputs, answers):
    (answer,) = answers
    if answer.failure:
        return failure(answer, "when it is made on the meta device")
    for (name, fields), got in zip(COUNTED.items(), answer.value):
        shapes = oracle.shapes(architecture.FIELDS | fields)
        want = sum(math.prod(shape) for shape in shapes.values())
        if got != want:
            return Trouble(f"{name} should have {want:,} parameters, and has {got:,}.")
    return None


# ------------------------------------------------------------------ device, loss, dropout


def with_targets(inputs):
    """A tied model, and targets: then E has gradients from both ends."""
    return tied(inputs) | {"targets": np.roll(inputs["ids"], -1, axis=1)}


LOSS_LOOK = "cross_entropy(self(ids), targets), with the targets as they come."


def of_the_loss(name, prop, weight=0.5):
    """The same property of the loss, where its value is right."""

    def verdict(c, inputs, answers):
        inputs, first = with_targets(inputs), answers[0]
        if not first.failure:
            want = c.expected(inputs)
            trouble = form(first.value, want, "the loss")
            trouble = trouble or difference(first.value, want, c.tolerance, "the loss")
            if trouble:  # the same number again where the loss is wrong: it is told once
                what = f"{NUMBERS} the loss, or its form, for a tied model."
                return Trouble(what, trouble.evidence or trouble.what, LOSS_LOOK)
        return prop.verdict(c, inputs, answers)

    return Property(
        name, lambda c, inputs: prop.calls(c, with_targets(inputs)), verdict, weight, exact=True
    )


def _nothing_left(inputs):
    """All that the stream holds is dropped: ln_f gives its beta everywhere."""
    one = inputs["state"]["ln_f.beta"] @ inputs["state"]["W_U"]
    return np.broadcast_to(one, (*inputs["ids"].shape, len(one)))


DROPOUT = dropout(
    at_rate=lambda inputs, rate: inputs | {"init": inputs["init"] | {"dropout": rate}},
    left=_nothing_left,
    says="In training mode, with dropout close to 1, nothing should reach the stream: "
    "x = self.drop(x) once after the embedding, and config.dropout handed to the blocks.",
    look="Drop from the embedded tokens, x = self.drop(x), with self.drop = "
    "nn.Dropout(config.dropout). The blocks get config.dropout for what they write.",
)

TINY = 0.01  # its variance is of the size of eps: so LayerNorm lets its size be seen


def _one_number(inputs, size):
    """All that the stream holds is one small number at one place of each position."""
    state = {n: v * (n not in ("E", "P") and "blocks" not in n) for n, v in inputs["state"].items()}
    state["P"][:, 1] = TINY * size
    return inputs | {"state": state}


FACTOR = rescaled(
    {"entries of the embedded tokens": _one_number},
    at_rate=lambda inputs, rate: inputs | {"init": inputs["init"] | {"dropout": rate}},
    rows="ids",
    look="Drop from the sum of both embeddings, x = self.drop(x), with nn.Dropout: it divides by "
    "1 - p.",
)

one_token = property_of(
    lambda c, inputs: inputs | {"ids": inputs["ids"][:1, :1]},
    "one sequence of one token",
    SQUEEZE,
    weight=0.5,
)

VALUES = oracle.deviations(2)
PROPERTIES = (
    causal("ids", axis=1),
    Property("tied: E is one tensor", _reloaded, _follows, exact=True),
    Property("refuses bad ids", _with_bad_ids, _refused),
    Property("parameter counts at the published sizes", _counts, _exact),
    initial_values(
        SIZES | {"n_layer": 2},
        drawn={n: (ENDINGS[n], VALUES[n]) for n in VALUES if n != "W_U"},
        constant={n: (ENDINGS[n], v) for n, v in oracle.constants().items()},
        probe="forward_pass:fresh",
        weight=1.0,
        look="Call init_weights(self) as the last line of the constructor: before the blocks are "
        "made, it cannot reach them.",
    ),
    *DROPOUT,
    FACTOR,
    unchanged,
    any_device,
    any_order,
    keeps_dtype,
    one_token,
    gradients,
    of_the_loss("gradients of the loss, tied", gradients, weight=1.0),
    of_the_loss("the loss of targets that are not contiguous", any_order),
    of_the_loss("the type of the loss", keeps_dtype),
)
