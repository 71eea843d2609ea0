"""What the batches and the learning rates say."""

from __future__ import annotations

import math

from autograder.doctor.finding import Finding, Look, short
from autograder.probes.plain import few

GET_BATCH = "get_batch: y = data[start + 1 : start + 1 + T], for x = data[start : start + T]"
STARTS = "get_batch: starts 0 to len(data) - T - 1, drawn anew with the generator at each call"
SHIFTS = {
    0: (
        "targets_are_inputs",
        "the targets are the inputs: the model learns to repeat its input",
        "the very tokens of x",
    ),
    2: (
        "targets_shifted_twice",
        "the targets are shifted twice: one token is left out",
        "two tokens after x",
    ),
    -1: (
        "targets_are_previous",
        "the targets are the tokens before, which the model has seen",
        "the tokens before x",
    ),
}
SCHEDULE = "lr_schedule: a line up to max_lr, then half a cosine down to min_lr"


def targets(data: dict) -> Look:
    """Is y the token after x?"""
    found = Look("targets", "", "y is x one token later")
    if "shifts" not in data:
        shape = f"x and y are {data['shape'][0]} and {data['shape'][1]}"
        wrong = Finding(
            "batch_shape",
            "a batch has the wrong shape",
            f"{shape}; expected {data['expected']} for both.",
            GET_BATCH + ".",
        )
        return Look(found.name, shape, found.bound, (wrong,))
    shifts = {int(k): n for k, n in data["shifts"].items()}
    total = sum(shifts.values())
    if data["out_of_order"]:
        wrong = Finding(
            "windows_out_of_order",
            "the tokens of a window do not follow each other in the text",
            f"in {data['out_of_order']:,} places the next token of x is another than in the text.",
            GET_BATCH + ".",
        )
        return Look(found.name, "x out of order", found.bound, (wrong,))
    if shifts == {1: total}:
        return Look(found.name, f"{total:,} of {total:,}", found.bound)
    right = shifts.get(1, 0)
    shift = next(iter(shifts)) if len(shifts) == 1 else None
    usual = (
        "targets_unrelated",
        "the targets are not the next tokens",
        f"{right:,} as they should",
    )
    cause, what, where = SHIFTS.get(shift, usual)
    evidence = f"{total:,} targets drawn: {'all are ' + where if shift in SHIFTS else where}."
    wrong = Finding(cause, what, evidence, GET_BATCH + ".")
    return Look(found.name, where, found.bound, (wrong,))


def starts(data: dict) -> Look | None:
    """Do windows begin anywhere, and anew each time?"""
    if "starts" not in data:
        return None
    drawn = {int(k): n for k, n in data["starts"].items()}
    W, total = data["windows"], sum(drawn.values())
    missing = [start for start in range(W) if start not in drawn]
    said = f"{W - len(missing)} of {W} windows in {total} draws"
    findings = []

    def add(cause: str, what: str, evidence: str, look: str = STARTS) -> None:
        findings.append(Finding(cause, what, evidence, look + "."))

    if len(drawn) == 1:
        start = next(iter(drawn))
        add(
            "windows_not_random", "every window begins at the same place", f"{said}: start {start}."
        )
    elif missing == [W - 1]:
        what = "the last window of the text is never drawn"
        add("last_window_never_drawn", what, f"{said}: never start {W - 1}.")
    elif missing:
        what = "some windows of the text are never drawn"
        add("windows_missing", what, f"{said}: never start {few([str(m) for m in missing], 4)}.")
    elif max(drawn.values()) > 3 * total / W:
        start, most = max(drawn.items(), key=lambda item: item[1])
        what = "some windows are drawn far more often than others"
        add("windows_uneven", what, f"start {start} {most} times; even would be {total / W:.0f}.")
    if data["next_is_same"] and len(drawn) > 1:
        what = "every step gets the same batch"
        add("same_batch_every_step", what, "two calls with one generator gave the same windows.")
    elif not data["same_seed_is_same"]:
        what = "get_batch does not draw with the generator that it is given"
        evidence = "two generators with the same seed gave different windows."
        add("generator_ignored", what, evidence, "get_batch: pass generator=generator to randint")
    foreign = [start for start in data["from_given"] if start not in data["given"]]
    if foreign:
        what = "get_batch ignores the starts that it is given"
        evidence = (
            f"given the starts {data['given']}, it began at {few([str(f) for f in foreign], 4)}."
        )
        add("starts_ignored", what, evidence, "get_batch: draw from `starts` where it is given")
    return Look("windows", said, f"{W} of {W}, other ones at each call", tuple(findings))


def rates(data: dict) -> Look:
    """Does the learning rate rise, fall and end as it should?"""
    lr, top, low, warmup = data["rates"], data["top"], data["low"], data["warmup"]
    last = len(lr) - 1
    said = f"{short(lr[0])} to {short(max(lr))} to {short(lr[-1])}"
    bound = f"up to {top:g} in {warmup} steps, down to {low:g} at step {last}"
    wrong = _wrong_rate(lr, top, low, warmup)
    findings = []
    if wrong:
        cause, what, evidence = wrong
        asked = f"; asked for was {bound}"
        findings.append(Finding(cause, what, f"{evidence}{asked}.", SCHEDULE + "."))
    elif lr[0] == 0:
        what = "the learning rate of the first step is 0, so this step changes nothing"
        evidence = f"step 0 has lr 0, step 1 {short(lr[1])}."
        look = "lr_schedule: (step + 1) / warmup_steps begins above 0."
        findings.append(Finding("first_step_lost", what, evidence, look, remark=True))
    return Look("learning rate", said, bound, tuple(findings))


def _wrong_rate(lr: list[float], top: float, low: float, warmup: int):
    """Cause, what, evidence; the first that holds."""
    last, near = len(lr) - 1, 0.01 * top
    odd = next((i for i, r in enumerate(lr) if not (math.isfinite(r) and r >= 0)), None)
    if odd is not None:
        what = "the learning rate is not a number from 0 on"
        return "schedule_not_a_rate", what, f"step {odd} has lr {short(lr[odd])}"
    if max(lr) == 0:
        return "schedule_zero", "the learning rate is 0 throughout", "every step has lr 0"
    if max(lr) - min(lr) < near:
        what = "the learning rate never changes"
        return "schedule_constant", what, f"every step has lr {short(lr[0])}"
    if lr[0] > 0.9 * max(lr):
        what = "the warm-up is missing: the first step takes the full learning rate"
        return "warmup_missing", what, f"step 0 has lr {short(lr[0])}"
    if abs(max(lr) - top) > near:
        at = lr.index(max(lr))
        what = "the largest learning rate is not max_lr"
        return "schedule_misses_top", what, f"the largest lr is {short(max(lr))}, at step {at}"
    rise = next((i for i in range(warmup, last) if lr[i + 1] > lr[i] + 1e-6 * top), None)
    if rise is not None:
        what = "the learning rate rises after the warm-up"
        evidence = f"step {rise} has lr {short(lr[rise])}, step {last} {short(lr[-1])}"
        return "schedule_rises", what, evidence
    jump = next((i for i in range(last) if abs(lr[i + 1] - lr[i]) > 0.25 * top), None)
    if jump is not None:
        what = "the learning rate jumps"
        evidence = f"step {jump} has lr {short(lr[jump])}, the next one {short(lr[jump + 1])}"
        return "schedule_jumps", what, evidence
    if abs(lr[-1] - low) > near:
        what = "the learning rate does not end at min_lr"
        return "schedule_misses_end", what, f"step {last} has lr {short(lr[-1])}"
    return None
