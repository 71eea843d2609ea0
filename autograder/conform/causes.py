"""Which failed rows only follow from another failed row: one mistake shows in many places."""

import math

from autograder.conform.row import Row

MODEL = ("attention maps", "hidden states", "logits")
STEP = ("loss", "gradients", "decay groups", "clip_grad_norm", "adamw_step")

# A failed row on the left needs no explanation of its own when one on the right has failed too.
RESTS_ON = {
    "logits": ("hidden states",),
    "loss": MODEL,
    "gradients": (*MODEL, "loss"),
    "losses of ten steps": (*MODEL, *STEP),
    "gradient norms of ten steps": (*MODEL, *STEP, "losses of ten steps"),
    "decay groups": ("parameter counts", "parameter names and shapes"),
    "prefix passes": ("leak test",),
    "leak test, large scores": ("leak test",),
    "initial loss": ("fresh weights", "loss"),
    "greedy ids": MODEL,
    "past n_positions": (*MODEL, "greedy ids"),
    "use_cache": ("past n_positions",),
    "sampling": (*MODEL, "greedy ids"),
    "generate: mode": ("greedy ids",),
}


def causes(rows: list[Row]) -> dict[str, str]:
    """Name of a failed row -> name of the failed row that it follows from."""
    failed = {row.name: row for row in rows if row.failed}
    found = {name: parent for name in failed if (parent := rests_on(name, failed))}
    return found | earlier(failed) | quiet(failed)


def rests_on(name: str, failed: dict[str, Row]) -> str | None:
    parents = RESTS_ON.get(name, ())
    if name.endswith(", float64"):
        rest = ("losses of ten steps", "gradient norms of ten steps", "determinism")
        parents = (name.removesuffix(", float64"), *MODEL, *STEP, *rest)
    elif name not in MODEL and math.inf == failed[name].error == error_of("logits", failed):
        parents = ("logits",)  # NaN spreads
    return next((parent for parent in parents if parent in failed), None)


def error_of(name: str, failed: dict[str, Row]) -> float | None:
    return failed[name].error if name in failed else None


def earlier(failed: dict[str, Row]) -> dict[str, str]:
    """Attention maps and hidden states: the later one on the way through the model follows."""
    maps, states = failed.get("attention maps"), failed.get("hidden states")
    if not (maps and states and maps.stage and states.stage):
        return {}
    if maps.stage[0] != states.stage[0]:
        return {}
    first_maps = maps.stage < states.stage
    return {states.name: maps.name} if first_maps else {maps.name: states.name}


def quiet(failed: dict[str, Row]) -> dict[str, str]:
    """The quiet stream says more than the other rows only when it is much further off: a mistake
    in LayerNorm's eps or variance shows there first."""
    parent = next((n for n in ("logits", "loss", "gradients") if n in failed), None)
    if "quiet stream" not in failed or parent is None:
        return {}
    here, there = error_of("quiet stream", failed), error_of("logits", failed)
    stands_out = None not in (here, there) and here > 10 * there
    return {} if stands_out else {"quiet stream": parent}
