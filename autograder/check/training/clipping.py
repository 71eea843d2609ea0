"""decay_groups and clip_grad_norm: what is done to the parameters, and to all gradients at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.check.component import Component
from autograder.check.mistake import Mistake
from autograder.check.parts import Fixture, Inputs, Property
from autograder.check.draw import choice, normal
from autograder.check.properties import python_numbers
from autograder.check.tensors import works_away
from autograder.check.varied import property_of
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance, form, kind
from autograder.oracle import training as oracle
from autograder.probes import Call

# ------------------------------------------------------------------ decay_groups


def shapes_of_gpt2(V: int, T: int, d: int, n_layer: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of a small GPT-2's parameters, as the course names them."""
    shapes = {"E": (V, d), "P": (T, d)}
    for at in (f"blocks.{i}" for i in range(n_layer)):
        for part in "QKVO":
            shapes |= {f"{at}.attn.W_{part}": (d, d), f"{at}.attn.b_{part}": (d,)}
        shapes |= {f"{at}.ffn.W_up": (d, 4 * d), f"{at}.ffn.b_up": (4 * d,)}
        shapes |= {f"{at}.ffn.W_down": (4 * d, d), f"{at}.ffn.b_down": (d,)}
        shapes |= {f"{at}.ln_{i}.{name}": (d,) for i in (1, 2) for name in ("gamma", "beta")}
    return shapes | {"ln_f.gamma": (d,), "ln_f.beta": (d,)}


def groups_fixtures(rng):
    V, T, d, wd = choice(rng, (11, 5, 4, 0.07), (9, 7, 6, 0.13), (13, 6, 2, 0.21))

    def model(shapes, aliases=None, fresh=False):
        values = {name: normal(rng, *shape) for name, shape in shapes.items()}
        if fresh:  # then many parameters hold the same numbers
            start = {n: np.full_like(v, n.endswith("gamma")) for n, v in values.items()}
            values |= {n: v for n, v in start.items() if v.ndim == 1}
        return {"values": values, "aliases": aliases or {}, "weight_decay": wd}

    return [
        Fixture("one, two and three axes", model({"W": (d, 3), "b": (3,), "K": (2, d, 3)})),
        Fixture(
            "a table used twice", model({"E": (V, d), "b": (V,)}, {"head.W_U": "E"}), weight=1.0
        ),
        Fixture("a fresh GPT-2", model(shapes_of_gpt2(V, T, d, 2), fresh=True), weight=3.0),
    ]


def read_groups(inputs: Inputs, value):
    """The weight decay of each parameter, by name."""
    fields = {"params", "weight_decay"}
    if not isinstance(value, tuple) or not value:
        return Trouble(
            f"The result should be a list of groups, and is {kind(value)}.",
            look="Is a `return` missing?" if value is None else "",
        )
    if not all(isinstance(g, dict) and fields <= set(g) for g in value):
        return Trouble('Each group should be a dict with the keys "params" and "weight_decay".')
    once = [g["params"] for g in value if not isinstance(g["params"], tuple)]
    if once:
        return Trouble(
            f'What stands under "params" should be a list, and is {kind(once[0])}.',
            "It can be gone through only once: from the second step on, nothing would be trained.",
            "Square brackets make a list, [p for p in ...]; list(...) makes one of the others.",
        )
    listed = [name for group in value for name in group["params"]]
    if None in listed:
        return Trouble(
            "A group holds something that is not a parameter of the model.",
            look="Put the very objects of model.parameters() in: no names, copies or .data.",
        )
    twice = [name for name in inputs["values"] if listed.count(name) > 1]
    if twice:
        return Trouble(
            f"Of {twice[0]} there are {listed.count(twice[0])} in the groups.",
            "It would be updated as often in each step.",
            "Go through model.parameters(): it gives each parameter once, wherever it is used.",
        )
    absent = [name for name in inputs["values"] if name not in listed]
    if absent:
        twins = [
            n for n in listed if np.array_equal(inputs["values"][n], inputs["values"][absent[0]])
        ]
        return Trouble(
            f"No group holds {', '.join(absent[:4])}: it would not be trained.",
            f"{absent[0]} holds the same numbers as {twins[0]}, but is another one." * bool(twins),
            "Parameters are the same if they are one object: compare with `is`." * bool(twins),
        )
    odd = next((t for g in value if (t := form(g["weight_decay"], 0.0, "a weight_decay"))), None)
    if odd:
        return replace(odd, look="It is a number: 0.0 for no decay.")
    return {name: float(g["weight_decay"]) for g in value for name in g["params"]}


def decays(values, aliases, weight_decay, rule=lambda name, axes: axes >= 2):
    return {n: weight_decay if rule(n, v.ndim) else 0.0 for n, v in values.items()}


def by_rule(name, rule, says, look="The rule is p.dim() >= 2."):
    return Mistake(name, lambda **inputs: decays(**inputs, rule=rule), says, look)


def last(name: str) -> str:
    return name.split(".")[-1]


DECAY_GROUPS = Component(
    "decay_groups",
    groups_fixtures,
    decays,
    call=lambda inputs: Call(args=tuple(inputs.values()), probe="training:groups"),
    read=read_groups,
    mistakes=(
        by_rule("all_decay", lambda n, axes: True, "Everything decays, biases and norms too."),
        by_rule("none_decays", lambda n, axes: False, "Nothing decays."),
        by_rule(
            "matrices_only",
            lambda n, axes: axes == 2,
            "A parameter of three axes does not decay; two or more do.",
        ),
        by_rule("swapped", lambda n, axes: axes < 2, "The two groups have changed places."),
        by_rule(
            "norms_decay",
            lambda n, axes: not last(n).startswith("b") or last(n) == "beta",
            "The gamma and beta of the layer norms decay: only biases are spared.",
            "Pulled towards 0, gamma would silence its sub-layer. The rule is p.dim() >= 2.",
        ),
        by_rule(
            "biases_decay",
            lambda n, axes: last(n) not in ("gamma", "beta"),
            "The biases decay: only the layer norms are spared.",
        ),
        by_rule(
            "tables_spared",
            lambda n, axes: axes >= 2 and last(n) not in ("E", "P"),
            "Your embedding tables do not decay; they should, like every matrix.",
        ),
        Mistake(
            "fixed_decay",
            lambda values, aliases, weight_decay: decays(values, aliases, 0.1),
            "The decay is always 0.1, whatever weight_decay says.",
        ),
    ),
    outputs="the weight decay",
    tolerance=Tolerance(1e-6, 1e-9),
)

# ------------------------------------------------------------------ clip_grad_norm


def clip_fixtures(rng):
    n, m, k = choice(rng, (3, 4, 5), (4, 2, 6), (5, 3, 2))
    bound = 0.4 + 0.2 * float(rng.random())

    def case(grads, max_norm=bound):
        values = {name: normal(rng, *g.shape) for name, g in grads.items()}
        return {"values": values, "grads": grads, "max_norm": max_norm, "as_list": True}

    W, b, E = normal(rng, n, m), normal(rng, m, std=2.0), normal(rng, k, n, std=0.5)
    spare = case({"W": W, "b": b, "unused": normal(rng, m), "E": E})
    spare["grads"] = spare["grads"] | {"unused": None}
    return [
        Fixture("short enough", case({"W": 0.1 * W, "b": 0.1 * b}, 20 * bound)),
        Fixture("one parameter, too long", case({"W": W})),
        Fixture("several parameters, too long", case({"W": W, "b": b, "E": E})),
        Fixture("one without a gradient", spare, weight=1.0),
    ]


def clipped(values, grads, max_norm, as_list, **switches):
    return oracle.clip_grad_norm(grads, max_norm, **switches)


def clip_mistake(name, says, look="", **switches):
    return Mistake(name, lambda **inputs: clipped(**inputs, **switches), says, look)


def _moved(c, inputs, answers):
    if answers[0].changed:
        return Trouble(
            "It changes the parameters themselves.", look="Only the gradients, p.grad, are scaled."
        )
    return None


ROOT = "The norm is the root of the sum of the squares of all entries of all gradients."
CLIP_GRAD_NORM = Component(
    "clip_grad_norm",
    clip_fixtures,
    clipped,
    call=lambda inputs: Call(args=tuple(inputs.values()), probe="training:clip"),
    properties=(
        property_of(
            lambda c, i: i | {"as_list": False},
            "takes model.parameters() as well as a list",
            "Parameters may come as an iterator, which ends after one loop: keep them in a list.",
        ),
        property_of(
            lambda c, i: i
            | {"grads": {k: None if g is None else 0 * g for k, g in i["grads"].items()}},
            "gradients that are all zero",
            "Their norm is 0: see that nothing is divided by it.",
            weight=0.5,
        ),
        Property("leaves the parameters alone", lambda c, i: [c.call(i)], _moved, weight=0.5),
        python_numbers(float, output=0),
        works_away,
    ),
    mistakes=(
        clip_mistake(
            "each_alone",
            "Each gradient is clipped by its own norm.",
            "One norm for all of them together: else the direction of the step changes.",
            norm="each alone",
        ),
        Mistake(
            "entries",
            lambda values, grads, max_norm, as_list: oracle.clip_entries(grads, max_norm),
            "Each entry is cut off at max_norm: that is clipping by value.",
            "Multiply all gradients by the same number, max_norm / n.",
        ),
        clip_mistake(
            "never_longer_returned",
            "It returns the norm after clipping.",
            "Return the norm as it was before: it says how the training goes.",
            report="after",
        ),
        clip_mistake("squared", "The norm lacks its square root.", ROOT, norm="squared"),
        clip_mistake("sum", "The norms of the parameters are added up.", ROOT, norm="sum"),
        clip_mistake("absolute", "It adds up absolute values.", ROOT, norm="entries"),
        clip_mistake("largest", "It takes the largest of the norms.", ROOT, norm="largest"),
        clip_mistake(
            "largest_entry", "It takes the largest entry for the norm.", ROOT, norm="largest entry"
        ),
        clip_mistake(
            "stretched",
            "Short gradients are stretched to max_norm.",
            "The factor is min(1, max_norm / n): it never lengthens.",
            capped=False,
        ),
        clip_mistake(
            "not_scaled",
            "It returns the norm, and leaves the gradients as they were.",
            "Change them in place: p.grad.mul_(...).",
            scale=False,
        ),
    ),
    outputs=("the norm that it returns", "the gradient"),
)
