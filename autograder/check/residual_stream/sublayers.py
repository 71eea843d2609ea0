"""Random sub-layers as data: a "tanh" is x -> tanh(x W + b), "itself" returns its input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.check.findings import failure
from autograder.check.parts import Inputs, Property
from autograder.check.draw import choice, normal
from autograder.judge import Trouble
from autograder.probes import Call


def sizes(rng: np.random.Generator) -> tuple[int, ...]:
    """B, T, d, and the number of sub-layers L."""
    return choice(rng, (2, 5, 6, 4), (3, 4, 7, 4), (2, 6, 5, 3))


def weights(rng: np.random.Generator, kinds: tuple[str, ...], d: int) -> dict[str, np.ndarray]:
    """W (d, d) and b (d) of each sub-layer; writes are somewhat smaller than the stream."""
    state = {}
    for i, kind in enumerate(kinds):
        if kind == "tanh":
            state[f"{i}.W"] = normal(rng, d, d, std=0.35)
            state[f"{i}.b"] = normal(rng, d, std=0.5)
    return state


def stack(rng: np.random.Generator, x: np.ndarray, *kinds: str) -> Inputs:
    return {"x": x, "kinds": kinds, "state": weights(rng, kinds, x.shape[-1])}


def call_with(probe: str):
    """inputs -> Call, for a probe of this chapter."""

    def call(inputs: Inputs) -> Call:
        args = tuple(v for k, v in inputs.items() if k != "state")
        return Call(args=args, kwargs={"state": inputs["state"]}, probe=f"residual_stream:{probe}")

    return call


def silent(c, inputs: Inputs) -> Inputs:
    """The same sub-layers with weights of zero: they write nothing."""
    return inputs | {"state": {k: np.zeros_like(v) for k, v in inputs["state"].items()}}


def _order(c, inputs):
    call = c.call(inputs)
    return [replace(call, probe=call.probe + "_order")]


def _order_verdict(c, inputs, answers):
    (answer,) = answers
    if answer.failure:
        return failure(answer, "while the calls of sub-layers are counted")
    called, want = answer.value, tuple(range(len(inputs["kinds"])))
    if called == want:
        return None
    for i in want:
        if called.count(i) != 1:
            return Trouble(
                f"Sub-layer {i} is called {called.count(i)} times instead of once.",
                look="Call it, give its result a name, and use the name. "
                "A sub-layer with dropout answers differently each time.",
            )
    return Trouble("The sub-layers are called in another order.", f"{called} instead of {want}.")


once = Property("each sub-layer is called once, in turn", _order, _order_verdict)
