"""Chapter 8: let a student's `generate` continue a prompt with a small model."""

from __future__ import annotations

from typing import Any

from autograder.probes.call import Answer, Call, changed
from autograder.probes.models import Window, modes
from autograder.probes.plain import to_plain, to_tensors


def continue_prompt(target: Any, call: Call) -> Answer:
    """Args: table (n_positions, V, V), the table of training mode, in training mode, prompt (B, T),
    max_new_tokens; kwargs: those of generate. -> the ids, the mode afterwards, the log, and the parts whose mode is another.
    """
    table, other, training, prompt, new = call.args
    model = Window(table, other).train(training).to(call.device)
    ids = to_tensors(prompt, call.device)
    before, was = {"ids": ids.clone()}, modes(model)
    value = target(model, ids, new, **to_tensors(call.kwargs))
    other = tuple(name for name, mode in modes(model).items() if mode != was[name])
    return Answer(
        value=(to_plain(value), model.training, to_plain(model.log), other),
        changed=() if call.device != "cpu" else changed(before, {"ids": ids}),
    )
