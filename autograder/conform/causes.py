"""Which failed rows only follow from another failed row: one mistake shows in many places."""

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
    "initial loss": ("fresh weights", "loss"),
    "greedy ids": MODEL,
    "past n_positions": (*MODEL, "greedy ids"),
    "use_cache": ("past n_positions",),
    "sampling": (*MODEL, "greedy ids"),
}


def causes(rows: list[Row]) -> dict[str, str]:
    """Name of a failed row -> name of the failed row that it follows from."""
    failed = {row.name: row for row in rows if row.failed}
    found = {}
    for row in failed.values():
        parents = RESTS_ON.get(row.name, ())
        if row.name.endswith(", float64"):
            parents = (row.name.removesuffix(", float64"), *MODEL, *STEP)
            parents += ("losses of ten steps", "gradient norms of ten steps", "quiet stream")
        parent = next((name for name in parents if name in failed and name != row.name), None)
        if parent:
            found[row.name] = parent
    found |= earlier(failed)
    if "quiet stream" in failed and not further_off(failed):
        found["quiet stream"] = "logits"
    return found


def earlier(failed: dict[str, Row]) -> dict[str, str]:
    """Attention maps and hidden states: the later one on the way through the model follows."""
    maps, states = failed.get("attention maps"), failed.get("hidden states")
    if not (maps and states and maps.stage and states.stage):
        return {}
    if maps.stage[0] != states.stage[0]:
        return {}
    first_maps = maps.stage < states.stage
    return {states.name: maps.name} if first_maps else {maps.name: states.name}


def further_off(failed: dict[str, Row]) -> bool:
    """A mistake in LayerNorm's eps or variance shows far more where the stream is quiet."""
    logits, quiet = failed.get("logits"), failed["quiet stream"]
    if logits is None:
        return True
    return None not in (logits.error, quiet.error) and quiet.error > 10 * logits.error
