"""decay_groups: which parameters decay, and which do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.check.component import Component
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture, Inputs
from autograder.check.draw import choice, normal
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance, form, kind
from autograder.probes import Call


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
        Fixture("one, two and three axes", model({"b": (3,), "W": (d, 3), "K": (2, d, 3)})),
        Fixture(
            "a table used twice", model({"E": (V, d), "b": (V,)}, {"head.W_U": "E"}), weight=1.0
        ),
        Fixture("a fresh GPT-2", model(shapes_of_gpt2(V, T, d, 2), fresh=True), weight=3.0),
    ]


FORM = '[{"params": [...], "weight_decay": weight_decay}, {"params": [...], "weight_decay": 0.0}]'


def read_groups(inputs: Inputs, value):
    """The weight decay of each parameter, by name."""
    fields = {"params", "weight_decay"}
    if not isinstance(value, tuple) or not value:
        return Trouble(
            f"The result should be a list of groups, and is {kind(value)}.",
            look="Is a `return` missing?" if value is None else FORM,
        )
    if not all(isinstance(g, dict) and fields <= set(g) for g in value):
        return Trouble(
            'Each group should be a dict with the keys "params" and "weight_decay".',
            look=FORM,
        )
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
            "Each belongs to one group. Go through model.parameters(): it gives each parameter once, "
            "wherever it is used.",
        )
    absent = [name for name in inputs["values"] if name not in listed]
    if absent:
        twins = [
            n for n in listed if np.array_equal(inputs["values"][n], inputs["values"][absent[0]])
        ]
        what = f"No group holds {', '.join(absent[:4])}: it would not be trained."
        if not twins:
            look = "Every parameter belongs in one of the two: p.dim() >= 2, or p.dim() < 2."
            return Trouble(what, look=look)
        return Trouble(
            what,
            f"{absent[0]} holds the same numbers as {twins[0]}, but is another one.",
            "Parameters are the same if they are one object: compare with `is`.",
        )
    odd = next((t for g in value if (t := form(g["weight_decay"], 0.0, "a weight_decay"))), None)
    if odd:
        return replace(odd, look="It is a number: 0.0 for no decay.")
    found = {name: float(g["weight_decay"]) for g in value for name in g["params"]}
    return {told(name, v): found[name] for name, v in inputs["values"].items()}


def told(name: str, value: np.ndarray) -> str:
    return f"the weight_decay of {name}, of shape {value.shape},"


def decays(values, aliases, weight_decay, *, rule=lambda name, axes: axes >= 2):
    """`rule`: the last part of a name, and the number of axes -> whether it decays."""
    last = {n: n.split(".")[-1] for n in values}
    found = {n: weight_decay if rule(last[n], v.ndim) else 0.0 for n, v in values.items()}
    return {told(n, values[n]): wd for n, wd in found.items()}


def by_rule(name, rule, says, why, look="The rule is p.dim() >= 2, whatever the name."):
    return Mistake(name, altered(decays, rule=rule), says, look, why)


DECAY_GROUPS = Component(
    "decay_groups",
    groups_fixtures,
    decays,
    call=lambda inputs: Call(args=tuple(inputs.values()), probe="training:groups"),
    read=read_groups,
    mistakes=(
        by_rule(
            "all_decay",
            lambda n, axes: True,
            "Everything decays; the parameters with one axis (the biases, gamma, beta) should "
            "not.",
            "Each gamma is pulled towards 0, away from its natural place at 1, and each bias too, "
            "whatever the data ask for. In GPT-2 small that concerns 122 of 196 tensors.",
            "Those with p.dim() < 2 -> into the group with 0.0. (If you test names: none here "
            "holds the word bias.)",
        ),
        by_rule(
            "none_decays",
            lambda n, axes: False,
            "Nothing decays; the parameters with two or more axes, every matrix and table, "
            "should.",
            "weight_decay has no effect at all, and nothing keeps weights small that the data do not "
            "ask for.",
            "Those with p.dim() >= 2 -> into the group with weight_decay. (If you test names: "
            "none here holds the word weight.)",
        ),
        by_rule(
            "matrices_only",
            lambda n, axes: axes == 2,
            "Only parameters with exactly two axes decay; those with three or more should, too.",
            "This GPT-2 has none, so nobody notices. One that keeps the weights of all heads in one "
            "tensor, (H, d, d_k), would be trained without their decay.",
            "p.dim() == 2 -> p.dim() >= 2.",
        ),
        by_rule(
            "more_than_two",
            lambda n, axes: axes > 2,
            "Only parameters with more than two axes decay; those with exactly two, every matrix "
            "and table, should, too.",
            "GPT-2 has no parameter of more axes, so weight_decay would have no effect at all.",
            "p.dim() > 2 -> p.dim() >= 2.",
        ),
        by_rule(
            "swapped",
            lambda n, axes: axes < 2,
            "The two groups are swapped: parameters with one axis get weight_decay, the others "
            "0.0; those with two or more axes should get weight_decay.",
            "Biases and gammas are pulled towards 0, and the 124 million entries of GPT-2's matrices "
            "and tables, for which the decay is meant, are not.",
            "Swap one thing only: the two numbers in the returned dicts, or the test, p.dim() < "
            "2 -> p.dim() >= 2.",
        ),
        by_rule(
            "norms_decay",
            lambda n, axes: not n.startswith("b") or n == "beta",
            "The gamma and beta of the layer norms decay, and only the biases are spared; every "
            "parameter with one axis should be spared.",
            "Pulled towards 0, gamma makes all that a sub-layer reads smaller and smaller.",
            "The test that finds the biases -> p.dim() >= 2, which spares gamma and beta too.",
        ),
        by_rule(
            "gamma_decays",
            lambda n, axes: not n.startswith("b"),
            "Each gamma decays, and only names whose last part begins with b (the biases, beta) "
            "are spared; every parameter with one axis should be.",
            "Pulled towards 0, gamma makes all that a sub-layer reads smaller and smaller.",
            "The test for a b at the beginning -> p.dim() >= 2. A gamma has one axis.",
        ),
        by_rule(
            "biases_decay",
            lambda n, axes: n not in ("gamma", "beta"),
            "The biases decay, and only gamma and beta are spared; every parameter with one axis "
            "should be spared.",
            "A bias stands for itself: pulled towards 0, it cannot stay where the data want it. Each "
            "block of GPT-2 has six.",
            "The test that finds the layer norms -> p.dim() >= 2. A bias has one axis.",
        ),
        by_rule(
            "tables_spared",
            lambda n, axes: axes >= 2 and n not in ("E", "P"),
            "The tables E and P do not decay; they should, like every parameter with two axes.",
            "Of GPT-2's 124 million numbers 39 million stand in these two tables. E is the output "
            "matrix too.",
            "Leave out what sets E and P apart: p.dim() >= 2 alone decides.",
        ),
        by_rule(
            "weights_by_name",
            lambda n, axes: n.startswith("W"),
            "Only parameters named W... decay; those with another name and two or more axes (E, "
            "P, K) should, too.",
            "A rule by names holds for one model only. Here it leaves out the tables: 39 of GPT-2's "
            "124 million numbers.",
            "The test for a W in the name -> p.dim() >= 2.",
        ),
        Mistake(
            "fixed_decay",
            altered(decays, before=lambda i: {"weight_decay": 0.1}),
            "The decay of the first group is always 0.1; it should be weight_decay, as it was "
            "handed in.",
            '"weight_decay": 0.1 -> "weight_decay": weight_decay.',
            "Whoever tries several decays would train the same model each time.",
        ),
    ),
    outputs="the weight decay",
    tolerance=Tolerance(1e-6, 1e-9),
)
