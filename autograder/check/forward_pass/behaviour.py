"""GPT2: what must hold of it whatever its numbers are."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from autograder.check.component import Property, failure
from autograder.check.dropout import dropout
from autograder.check.forward_pass.weights import ENDINGS, SIZES
from autograder.check.initial import initial_values
from autograder.check.properties import any_device, causal, gradients, unchanged
from autograder.judge import Trouble
from autograder.judge.compare import difference, form
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
        look = "Call self.check_ids(ids) before anything else."
        if answer.failure is None:
            return Trouble(f"It takes {what}, and should raise ValueError.", look=look)
        if answer.failure.type != "ValueError":
            said = f"It raises {answer.failure.type}: {answer.failure.message}".rstrip(": ")
            return Trouble(f"For {what}, it should raise ValueError.", said, look)
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


def _any_device(c, inputs, answers):
    failed = answers[0].failure
    if failed and "meta tensors" in failed.message:  # there the ids have no values to look at
        return None
    return any_device.verdict(c, inputs, answers)


def with_targets(inputs):
    """A tied model, and targets: then E has gradients from both ends."""
    return tied(inputs) | {"targets": np.roll(inputs["ids"], -1, axis=1)}


def _nothing_left(inputs):
    """All that the stream holds is dropped: ln_f gives its beta everywhere."""
    one = inputs["state"]["ln_f.beta"] @ inputs["state"]["W_U"]
    return np.broadcast_to(one, (*inputs["ids"].shape, len(one)))


DROPOUT = dropout(
    at_rate=lambda inputs, rate: inputs | {"init": inputs["init"] | {"dropout": rate}},
    left=_nothing_left,
    says="In training mode, with dropout close to 1, nothing should reach the stream.",
    look="Drop from the embedded tokens; the blocks get config.dropout for what they write.",
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
    unchanged,
    Property(any_device.name, any_device.calls, _any_device, weight=any_device.weight),
    gradients,
    Property(
        "gradients of the loss, tied",
        lambda c, inputs: gradients.calls(c, with_targets(inputs)),
        lambda c, inputs, answers: gradients.verdict(c, with_targets(inputs), answers),
        exact=True,
    ),
)
