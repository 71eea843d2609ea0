"""Chapter 8: let a student's `generate` continue a prompt with a small model."""

from __future__ import annotations

from typing import Any

from autograder.probes.call import Answer, Call, changed
from autograder.probes.models import Window
from autograder.probes.plain import to_plain, to_tensors


def continue_prompt(target: Any, call: Call) -> Answer:
    """Args: table (n_positions, V, V), the table of training mode, in training mode, prompt (B, T),
    max_new_tokens; kwargs: those of generate. -> the ids, the mode afterwards, and the log."""
    table, other, training, prompt, new = call.args
    model = Window(table, other).train(training)
    ids = to_tensors(prompt)
    before = {"ids": ids.clone()}
    value = target(model, ids, new, **to_tensors(call.kwargs))
    return Answer(
        value=(to_plain(value), model.training, to_plain(model.log)),
        changed=changed(before, {"ids": ids}),
    )
