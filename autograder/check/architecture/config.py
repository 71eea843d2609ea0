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
    sizes = [Fixture(f"{s}()", {"make": s, "values": ()}, weight=1.0) for s in oracle.SIZES]
    return [
        Fixture("values given in the order of the fields", {"make": "", "values": values}, 0.25),
        *sizes,
        Fixture("the defaults", {"make": "", "values": ()}, 0.25),
    ]


def config_call(inputs):
    args = (inputs["make"], inputs["values"], tuple(oracle.FIELDS))
    return Call(args=args, probe="architecture:attributes")


SIZED = tuple(name for name, value in oracle.FIELDS.items() if type(value) is int)


def _made(inputs):
    """The expression that makes this configuration."""
    if inputs["make"]:
        return f"GPT2Config.{inputs['make']}()"
    return f"GPT2Config({', '.join(map(repr, inputs['values']))})"


def _of(made, fields):
    """Each field under a name that says whose it is."""
    return {f"{made}: {name}": value for name, value in fields.items()}


def _config(make, values, **switches):
    fields = oracle.config(make, values, **switches)
    return _of(_made({"make": make, "values": values}), fields)


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


SIZE = (
    "cls(n_layer=…, n_head=…, d_model=…), each by its name, with the sizes of the table; n_head is "
    "d_model / 64. The other fields keep their defaults."
)
NAMED = (
    "cls(n_layer=…, n_head=…, d_model=…): a dataclass takes values without names in its own order."
)
REFUSED = (
    "If your __post_init__ raises it: refuse only where d_model % n_head is not 0. What cls is not "
    "given takes its default: n_head = 12, d_model = 768."
)

MISTAKES = (
    Mistake(
        "always_small",
        altered(_config, named=lambda make: "small"),
        "All four constructors make GPT-2 small.",
        "Hand cls the three sizes that differ: n_layer, n_head and d_model.",
        "GPT2Config.xl() then has 124 million parameters where GPT-2 xl has 1.56 billion, and nothing "
        "says so until the published weights do not fit.",
    ),
    Mistake(
        "depth_only",
        altered(_config, n_head=lambda L, H, d: 12, d_model=lambda L, H, d: 768),
        "Only the depth changes from size to size.",
        "The larger models are wider too, and have more heads: hand cls d_model and n_head as well.",
        "48 blocks of width 768 have 380 million parameters; GPT-2 xl has 1.56 billion.",
    ),
    Mistake(
        "depth_forgotten",
        altered(_config, n_layer=lambda L, H, d: 12),
        "n_layer is left at its default of 12 in all four constructors.",
        "The larger models have more blocks: 24, 36 and 48. Hand cls n_layer as well.",
        "xl would have 12 of its 48 blocks: 451 million parameters instead of 1.56 billion.",
    ),
    Mistake(
        "heads_forgotten",
        altered(_config, n_head=lambda L, H, d: 12),
        "n_head is left at its default of 12 in all four constructors.",
        "d_k = d / H = 64 in all four models, so n_head = d_model / 64. Hand it to cls.",
        "12 does not divide 1024, 1280 or 1600. A __post_init__ that works refuses all three.",
    ),
    Mistake(
        "width_forgotten",
        altered(_config, d_model=lambda L, H, d: 768, after=_refused),
        "d_model is left at its default of 768 in all four constructors.",
        "The larger models are wider: hand cls d_model as well.",
        "In medium the 16 heads become 48 wide instead of 64. In large and xl the heads do not "
        "even divide 768.",
    ),
    Mistake(
        "given_by_position",
        altered(_config, given=lambda sizes: dict(zip(oracle.FIELDS, sizes.values()))),
        "The three sizes are handed to cls without their names, and become the first three fields.",
        NAMED,
        "The fields begin with vocab_size, n_positions and n_layer: cls(24, 16, 1024) is a model "
        "with 24 tokens, 16 positions and 1024 blocks, and nothing refuses it.",
    ),
    Mistake(
        "layers_heads_swapped",
        altered(_config, n_layer=lambda L, H, d: H, n_head=lambda L, H, d: L),
        "n_layer and n_head have changed places.",
        "n_layer is L, the number of blocks: 24 in medium. n_head is d_model / 64: 16 in medium.",
        "In small both are 12, so it does not show there. In the others the heads do not divide the "
        "width: 1024 / 24 is no whole number.",
    ),
    Mistake(
        "depth_in_sublayers",
        altered(_config, n_layer=lambda L, H, d: 2 * L),
        "n_layer counts the attention and the feedforward layers separately.",
        "Depth is the number of blocks: GPT-2 small has 12.",
        "Twice as many blocks are 209 million parameters instead of 124 million in the small model, "
        "and the published weights fill half of them.",
    ),
    Mistake(
        "heads_are_64",
        altered(_config, n_head=lambda L, H, d: 64),
        "n_head is 64. That is the width d_k of one head, not the number of heads.",
        "d_k = d / H = 64 in all four models, so H = d / 64.",
        "No weight's shape depends on H, so the published weights load without an error. They are "
        "then cut into 64 heads of width 12 instead of 12 of width 64, and nothing says so.",
    ),
    Mistake(
        "heads_stay_16",
        altered(_config, n_head=lambda L, H, d: min(H, 16)),
        "n_head is 16 in large and xl as it is in medium.",
        "d_k = d / H = 64 in all four models: 1280 / 64 and 1600 / 64 heads.",
        "16 divides 1280 and 1600, so nothing is refused: heads of width 80 and 100 cut the "
        "published weights at the wrong places.",
    ),
    Mistake(
        "medium_large_swapped",
        altered(_config, named=lambda make: {"medium": "large", "large": "medium"}.get(make, make)),
        "The sizes of medium and large have changed places.",
        "GPT-2 medium has 24 blocks of width 1024, large has 36 of width 1280.",
        "GPT-2 medium has 355 million parameters, large 774 million: the weights of the one do not "
        "fit the other.",
    ),
    Mistake(
        "dropout_in_constructors",
        altered(_config, given=_handed_over(dropout=0.1)),
        "The four constructors set dropout to 0.1; it should keep its default.",
        "Hand cls n_layer, n_head and d_model only.",
        "With dropout a model in training mode, as every new module is, gives other logits at each "
        "call.",
    ),
    Mistake(
        "untied",
        altered(_config, tie_weights=False),
        "tie_weights is False by default; GPT-2 ties its unembedding to E.",
        "Among the fields: `tie_weights: bool = True`.",
        "The small model grows from 124 to 163 million parameters, and the new 39 million are in no "
        "published file.",
    ),
    Mistake(
        "dropout",
        altered(_config, dropout=0.1),
        "The default of dropout is 0.1; here it is 0.0 unless one asks for it.",
        "Among the fields: `dropout: float = 0.0`.",
        "With dropout a model in training mode, as every new module is, gives other logits at each "
        "call.",
    ),
    Mistake(
        "padded_vocabulary",
        altered(_config, vocab_size=50304),
        "vocab_size is 50304 by default: that is rounded up to a multiple of 64.",
        "GPT-2 has 50257 tokens: 256 bytes, 50,000 merges, and one end of text.",
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
    | dict.fromkeys(("head", "d_model", "divi", "multiple"), REFUSED),
)
