"""GPT2Config: its fields, the four published sizes, and what it refuses."""

from __future__ import annotations

from autograder.check.component import Component
from autograder.check.findings import failure
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture, Property
from autograder.check.draw import choice
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance
from autograder.oracle import architecture as oracle
from autograder.probes import Call


def config_fixtures(rng):
    V, n, L, H, d = choice(rng, (90, 40, 3, 4, 20), (70, 30, 5, 3, 18), (80, 50, 2, 6, 24))
    values = (V, n, L, H, d, 0.25, False)
    sizes = [Fixture(f"{s}()", {"constructor": (s, ())}, weight=1.0) for s in oracle.SIZES]
    return [
        Fixture("values given in the order of the fields", {"constructor": ("", values)}, 0.25),
        *sizes,
        Fixture("the defaults", {"constructor": ("", ())}, 0.25),
    ]


def config_call(inputs):
    args = (*inputs["constructor"], tuple(oracle.FIELDS))
    return Call(args=args, probe="architecture:attributes")


SIZED = tuple(name for name, value in oracle.FIELDS.items() if type(value) is int)


def _made(inputs):
    """The expression that makes this configuration."""
    make, values = inputs["constructor"]
    return f"GPT2Config.{make}()" if make else f"GPT2Config({', '.join(map(repr, values))})"


def _of(made, fields):
    """Each field under a name that says whose it is."""
    return {f"{made}: {name}": value for name, value in fields.items()}


def _config(constructor, **switches):
    return _of(_made({"constructor": constructor}), oracle.config(*constructor, **switches))


def _read(inputs, value):
    """The fields of a config; a Trouble where there is no config, or a size is no int."""
    made = _made(inputs)
    if value is None:
        return Trouble(f"{made} returned None.", look="Is a `return` missing?")
    for name in SIZED:
        if name in value and type(value[name]) is not int:
            return Trouble(
                f"{made} has {name} = {value[name]!r}; a size is an int.",
                look="Division with / gives a float; // divides whole numbers.",
            )
    return _of(made, value) if value else value


def _nature_verdict(c, inputs, answers):
    (answer,) = answers
    if answer.failure:
        return failure(answer, "when a field is assigned to")
    found = answer.value
    missing = [f for f in oracle.FIELDS if f not in found["fields"]]
    if not found["fields"]:
        return Trouble("It is not a dataclass.", look="@dataclass(frozen=True) above the class.")
    if missing:
        return Trouble(
            f"{', '.join(missing)} is not a field of the dataclass.",
            look="A field needs its annotation: `name: int = 12`.",
        )
    if found["changed"] or "FrozenInstanceError" not in found["raised"]:
        return Trouble(
            "It is not frozen: its fields can be assigned to.",
            "config.n_layer = … should raise a FrozenInstanceError.",
            "@dataclass(frozen=True)",
        )
    return None


GOOD = ((12, 12), (12, 4), (6, 1))  # d_model, n_head
BAD = ((12, 5), (768, 7), (4, 8))


def _refuses(c, inputs):
    return [Call(args=GOOD + BAD, probe="architecture:refusals")]


def _refuses_verdict(c, inputs, answers):
    (answer,) = answers
    if answer.failure:
        return failure(answer, "on sizes of your own")
    for (d, H), raised in zip(GOOD + BAD, answer.value):
        said = f"d_model = {d} and n_head = {H}"
        if (d, H) in GOOD and raised:
            return Trouble(
                f"For {said} it raises {raised[0]}, though {d} is a multiple of {H}.",
                look="The remainder of d_model divided by n_head must be 0.",
            )
        if (d, H) in BAD and not raised:
            return Trouble(
                f"It accepts {said}, though {d} is not a multiple of {H}.",
                look="__post_init__ runs after the fields are set: raise a ValueError there.",
            )
        if (d, H) in BAD and "ValueError" not in raised:
            return Trouble(
                f"For {said} it raises {raised[0]}; the exercise asks for a ValueError.",
                look="An assert vanishes when Python runs with -O; `raise ValueError(...)` stays.",
            )
    return None


def _refused(fields):
    """What a __post_init__ that works makes of it."""
    named = {name.split()[-1]: value for name, value in fields.items()}
    if named["d_model"] % named["n_head"]:
        raise ValueError("the heads cannot share the width")
    return fields


def _handed_over(**extra):
    """Constructors that give cls more than the three sizes."""
    return lambda sizes: sizes | extra


def _without_names(*order):
    """Constructors that give cls the three sizes in this order, and no names."""
    return lambda sizes: dict(zip(oracle.FIELDS, (sizes[name] for name in order)))


# The errors of a stub are of the same kind as a ValueError of torch; this one is told from them.
_Refusal = type("ValueError", (Exception,), {})


def _refused_by_heads(fields):
    """What a __post_init__ that works makes of heads that are forgotten, or swapped with the layers:
    only small is left."""
    made = next(iter(fields)).split(":")[0]
    if made in [f"GPT2Config.{size}()" for size in ("medium", "large", "xl")]:
        raise _Refusal("the heads cannot share the width")
    return fields


SIZE = (
    "cls(n_layer=…, n_head=…, d_model=…), each by its name, with the sizes of the table; n_head is "
    "d_model / 64. The other fields keep their defaults."
)
TOO_STRICT = (
    "These sizes fit: d_model is a multiple of n_head. If your __post_init__ raises it, its "
    "condition is too strict: refuse only where d_model % n_head is not 0."
)


def _refused_size(size):
    """What to look at where a constructor is refused."""
    sizes = oracle.config(size, ())
    right = ", ".join(f"{name}={sizes[name]}" for name in ("n_layer", "n_head", "d_model"))
    return (
        f"If your __post_init__ raises it: it refuses the sizes that {size}() hands over, which should "
        f"be {right}. What cls is not given takes its default: n_head = 12, d_model = 768."
    )


REFUSALS = ("ValueError", "AssertionError", "RuntimeError", "Exception")

MISTAKES = (
    Mistake(
        "always_small",
        altered(_config, named=lambda make: "small"),
        "All four constructors return GPT-2 small; each should return its own n_layer, n_head and "
        "d_model.",
        "In medium, large and xl: hand cls the three sizes by name; cls() alone is GPT-2 small.",
        "GPT2Config.xl() then has 124 million parameters where GPT-2 xl has 1.56 billion, and nothing "
        "says so until the published weights do not fit.",
    ),
    Mistake(
        "depth_only",
        altered(_config, n_head=lambda L, H, d: 12, d_model=lambda L, H, d: 768),
        "The constructors set n_layer alone: n_head stays 12 and d_model 768. Both should be set too, "
        "d_model from the table, n_head as d_model / 64.",
        "In medium: cls(n_layer=24) -> cls(n_layer=24, n_head=16, d_model=1024). So too in large and "
        "xl.",
        "48 blocks of width 768 have 380 million parameters; GPT-2 xl has 1.56 billion.",
    ),
    Mistake(
        "depth_forgotten",
        altered(_config, n_layer=lambda L, H, d: 12),
        "n_layer is 12 in all four constructors, its default; it should be 12, 24, 36 and 48.",
        "In the calls of cls, n_layer is missing: n_layer=24 in medium, 36 in large, 48 in xl.",
        "xl would have 12 of its 48 blocks: 451 million parameters instead of 1.56 billion.",
    ),
    Mistake(
        "heads_forgotten",
        altered(_config, n_head=lambda L, H, d: 12),
        "Two things: n_head is 12 in all four constructors, where it should be d_model / 64, and "
        "__post_init__ refuses nothing, though 12 does not divide 1024.",
        "In the calls of cls: n_head=16 in medium, 20 in large, 25 in xl. In __post_init__: raise a "
        "ValueError if d_model % n_head is not 0.",
        "12 does not divide 1024, 1280 or 1600. A __post_init__ that works refuses all three.",
    ),
    Mistake(
        "heads_refused",
        altered(_config, after=_refused_by_heads),
        "medium, large and xl are refused by __post_init__: their n_head is left out (then it is "
        "12) or wrong. It should be d_model / 64: 16, 20 and 25.",
        "n_layer, n_head, d_model are 24, 16, 1024 in medium, 36, 20, 1280 in large and 48, 25, "
        "1600 in xl. Is n_head left out, or swapped with n_layer?",
        "Your __post_init__ has done its work: heads that do not divide the width never become a "
        "model.",
    ),
    Mistake(
        "width_forgotten",
        altered(_config, d_model=lambda L, H, d: 768, after=_refused),
        "d_model is 768 in all four constructors, its default, and __post_init__ refuses it in large "
        "and xl; it should be 768, 1024, 1280 and 1600.",
        "In the calls of cls, d_model is missing: d_model=1024 in medium, 1280 in large, 1600 in xl.",
        "In medium the 16 heads become 48 wide instead of 64. In large and xl the heads do not "
        "even divide 768.",
    ),
    Mistake(
        "width_forgotten_unrefused",
        altered(_config, d_model=lambda L, H, d: 768),
        "Two things: d_model is 768 in all four constructors, where it should be 768, 1024, 1280 and "
        "1600, and __post_init__ refuses nothing.",
        "In the calls of cls: d_model=1024 in medium, 1280 in large, 1600 in xl. In __post_init__: "
        "raise a ValueError if d_model % n_head is not 0.",
        "In medium the 16 heads become 48 wide instead of 64. In large and xl the heads do not "
        "even divide 768.",
    ),
    Mistake(
        "given_by_position",
        altered(_config, given=_without_names("n_layer", "n_head", "d_model")),
        "cls(12, 12, 768): without names the values become vocab_size, n_positions and n_layer; they "
        "should be handed over as n_layer, n_head and d_model.",
        "cls(12, 12, 768) -> cls(n_layer=12, n_head=12, d_model=768), and so in all four.",
        "The fields begin with vocab_size, n_positions and n_layer: cls(24, 16, 1024) is a model "
        "with 24 tokens, 16 positions and 1024 blocks, and nothing refuses it.",
    ),
    Mistake(
        "given_by_position_L_d_H",
        altered(_config, given=_without_names("n_layer", "d_model", "n_head")),
        "cls(12, 768, 12): without names the values become vocab_size, n_positions and n_layer; they "
        "should be handed over as n_layer, d_model and n_head.",
        "cls(12, 768, 12) -> cls(n_layer=12, d_model=768, n_head=12), and so in all four.",
        "The fields begin with vocab_size, n_positions and n_layer: cls(24, 1024, 16) is a model "
        "with 24 tokens, 1024 positions and 16 blocks, and nothing refuses it.",
    ),
    Mistake(
        "layers_heads_swapped",
        altered(_config, n_layer=lambda L, H, d: H, n_head=lambda L, H, d: L),
        "Two things: n_layer and n_head are swapped in the constructors, 16 and 24 in medium instead "
        "of 24 and 16, and __post_init__ does not refuse it.",
        "In the calls of cls: swap the two values. In __post_init__: raise a ValueError if "
        "d_model % n_head is not 0.",
        "In small both are 12, so it does not show there. In the others the heads do not divide the "
        "width: 1024 / 24 is no whole number.",
    ),
    Mistake(
        "depth_in_sublayers",
        altered(_config, n_layer=lambda L, H, d: 2 * L),
        "n_layer is 24, 48, 72 and 96 in the four constructors, twice the number of blocks; it should "
        "be the number of blocks, 12, 24, 36 and 48.",
        "n_layer is L of the table: a block counts once, though it has two sub-layers.",
        "Twice as many blocks are 209 million parameters instead of 124 million in the small model, "
        "and the published weights fill half of them.",
    ),
    Mistake(
        "heads_are_64",
        altered(_config, n_head=lambda L, H, d: 64),
        "n_head is 64 in the four constructors, which is the width d_k of a head; it should be the "
        "number of heads, 12, 16, 20 and 25.",
        "In the calls of cls: n_head=64 -> 12 in small, 16 in medium, 20 in large, 25 in xl.",
        "No weight's shape depends on H, so the published weights load without an error. They are "
        "then cut into 64 heads of width 12 instead of 12 of width 64, and nothing says so.",
    ),
    Mistake(
        "heads_stay_16",
        altered(_config, n_head=lambda L, H, d: min(H, 16)),
        "n_head is 16 in large and in xl, as in medium; it should be 20 in large and 25 in xl.",
        "In large: n_head=16 -> 20. In xl: n_head=16 -> 25.",
        "16 divides 1280 and 1600, so nothing is refused: heads of width 80 and 100 cut the "
        "published weights at the wrong places.",
    ),
    Mistake(
        "medium_large_swapped",
        altered(_config, named=lambda make: {"medium": "large", "large": "medium"}.get(make, make)),
        "medium() and large() are swapped: medium has 36 blocks of width 1280, large 24 of width "
        "1024. Medium should be the smaller one.",
        "Swap what the two hand to cls: medium is L = 24, d = 1024, large is L = 36, d = 1280.",
        "GPT-2 medium has 355 million parameters, large 774 million: the weights of the one do not "
        "fit the other.",
    ),
    Mistake(
        "dropout_in_constructors",
        altered(_config, given=_handed_over(dropout=0.1)),
        "The four constructors set dropout to 0.1; they should leave it at its default, 0.0.",
        "In the four calls of cls: leave out dropout=0.1.",
        "With dropout a model in training mode, as every new module is, gives other logits at each "
        "call.",
    ),
    Mistake(
        "untied",
        altered(_config, tie_weights=False),
        "The default of tie_weights is False; it should be True.",
        "Among the fields: tie_weights: bool = False -> True.",
        "The small model grows from 124 to 163 million parameters, and the new 39 million are in no "
        "published file.",
    ),
    Mistake(
        "dropout",
        altered(_config, dropout=0.1),
        "The default of dropout is 0.1; it should be 0.0.",
        "Among the fields: dropout: float = 0.1 -> 0.0.",
        "With dropout a model in training mode, as every new module is, gives other logits at each "
        "call.",
    ),
    Mistake(
        "padded_vocabulary",
        altered(_config, vocab_size=50304),
        "vocab_size is 50304 by default, 50257 rounded up to a multiple of 64; it should be 50257.",
        "Among the fields: vocab_size: int = 50304 -> 50257.",
        "A multiple of 64 can be faster on a GPU, but the published E has 50257 rows and does not fit, "
        "and 47 logits belong to no token.",
    ),
)

GPT2_CONFIG = Component(
    "GPT2Config",
    config_fixtures,
    _config,
    call=config_call,
    properties=(
        Property(
            "a frozen dataclass",
            lambda c, inputs: [Call(probe="architecture:nature")],
            _nature_verdict,
            weight=0.25,
        ),
        Property("refuses heads that do not fit", _refuses, _refuses_verdict, weight=2.0),
    ),
    mistakes=MISTAKES,
    read=_read,
    outputs="the configuration",
    tolerance=Tolerance(0.0, 1e-9),
    look={f"{size}()": SIZE for size in oracle.SIZES}
    | {"the defaults": "Leave the fields as they were given: name, type and default."},
    raises={"keyword argument": f"The fields are {', '.join(oracle.FIELDS)}."}
    | {f"{size}(): {error}": _refused_size(size) for size in oracle.SIZES for error in REFUSALS}
    | dict.fromkeys(REFUSALS, TOO_STRICT),
)
