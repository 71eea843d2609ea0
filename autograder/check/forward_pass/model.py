"""GPT2, the whole model."""

from __future__ import annotations

from autograder.check.component import Component
from autograder.check.forward_pass.behaviour import PROPERTIES
from autograder.check.forward_pass.inputs import call, fixtures, whole
from autograder.check.forward_pass.mistakes import MISTAKES

GPT2 = Component(
    "GPT2",
    fixtures,
    whole,
    call=call,
    properties=PROPERTIES,
    mistakes=MISTAKES,
    needs=("init_weights", "cross_entropy"),
    shortcuts=frozenset({"TransformerEncoder", "TransformerDecoder", "Transformer"}),
    look={
        "tied": "Is E read anew in each forward pass: x @ self.E.T?",
        "blocks that write nothing": "Only the embedding, ln_f and W_U matter here.",
    },
)
