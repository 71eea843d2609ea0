"""GPT2, the whole model."""

from __future__ import annotations

from autograder.check.component import Component
from autograder.check.forward_pass.behaviour import LOSS_LOOK, PROPERTIES
from autograder.check.forward_pass.inputs import call, fixtures, whole
from autograder.check.forward_pass.mistakes import GO_ON, MISTAKES

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
        "shapes and types": "Parameters are E, P, blocks, ln_f and, if untied, W_U, no others: E.T is "
        "read anew in forward. The logits are (B, T, V).",
        "tied": "Is E read anew in each forward pass: x @ self.E.T?",
        "blocks that write nothing": "Only the embedding, ln_f and W_U matter here.",
        "one block": "A block returns the stream with its writes added: x = block(x), then ln_f.",
        "more blocks, and as many tokens as n_positions": GO_ON,
        "its loss": LOSS_LOOK,
    },
    raises={
        "Expected target size": "torch's cross_entropy wants the vocabulary on axis 1. "
        f"{LOSS_LOOK}",
        "must match the size": "If it is E[ids] + P: of P only the first T rows, self.P[:T].",
        "missing: blocks.": "Nobody finds parameters in a plain list: self.blocks = [...] -> self.blocks = "
        "nn.ModuleList([...]), with L blocks that are each made by itself.",
        "missing:": "Parameters are E, P, blocks, ln_f and, if untied, W_U: each an attribute of the "
        "model, an nn.Parameter or a module.",
        "not expected:": "Parameters are E, P, blocks, ln_f and, if untied, W_U, no others: a tied model "
        "multiplies by self.E.T.",
        "not callable": "E, P and W_U are tensors: look up with self.E[ids], multiply with @.",
        ".weight": "nn.Embedding and nn.Linear hold their matrix under the name weight. Make E, P "
        "and W_U as nn.Parameter, each under its own name.",
    },
)
