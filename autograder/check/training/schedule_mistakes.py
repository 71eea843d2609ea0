"""What goes wrong in lr_schedule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.check.mistake import Mistake, entries
from autograder.oracle import training as oracle


def expected(steps, max_lr, min_lr, warmup_steps, max_steps, **switches):
    rates = (max_lr, min_lr, warmup_steps, max_steps)
    if isinstance(steps, int):
        return oracle.lr_schedule(steps, *rates, **switches)
    return np.array([oracle.lr_schedule(s, *rates, **switches) for s in steps])


mistake = entries(expected)


RISE = "max_lr * (step + 1) / warmup_steps"
PROGRESS = "p = (step - warmup_steps) / (max_steps - warmup_steps), and at most 1."
COSINE = "min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * p))"
FALL = f"{COSINE}, with {PROGRESS}"
IN_TWO_CASES = (
    mistake(
        "warmup_from_0",
        "The warm-up is max_lr * step / warmup_steps, so that step 0 has the rate 0; it "
        "should be step + 1, not step.",
        "In the warm-up: step / warmup_steps -> (step + 1) / warmup_steps.",
        "The first batch is computed for nothing, and every later step of the warm-up comes "
        "one too late.",
        ahead=0,
    ),
    mistake(
        "warmup_over_one_more",
        "The warm-up is divided by warmup_steps + 1, so that its last step falls short of "
        "max_lr; it should be warmup_steps.",
        "In the warm-up: (step + 1) / (warmup_steps + 1) -> (step + 1) / warmup_steps.",
        "Training hardly notices. But the curve is another one than the exercise defines, "
        "and a run that should be repeated with it gives other losses.",
        rise_over=1,
    ),
    mistake(
        "warmup_one_step_longer",
        "The warm-up takes in step = warmup_steps, whose rate is then above max_lr; it "
        "should end with step warmup_steps - 1.",
        "step <= warmup_steps -> step < warmup_steps. With warmup_steps = 0 your code also "
        "divides by 0 at step 0.",
        "Without warm-up, step 0 divides by 0. With a short one of 4 steps, step 4 has 1.25 "
        "max_lr.",
        longer=1,
    ),
    mistake(
        "warmup_one_step_longer_if_any",
        "The warm-up takes in step = warmup_steps, whose rate is then above max_lr (unless "
        "warmup_steps is 0); it should end with step warmup_steps - 1.",
        "step <= warmup_steps -> step < warmup_steps. With warmup_steps = 0 this is never "
        "true, so what you do about 0 can go.",
        "With a warm-up of 100 steps, step 100 has 1.01 max_lr, with one of 4 steps step 4 "
        "has 1.25.",
        longer=1,
        guarded=True,
    ),
    mistake(
        "warmup_from_min",
        "The warm-up rises from min_lr to max_lr; it should rise from 0, so that step 0 has "
        "max_lr / warmup_steps.",
        "In the warm-up, no min_lr: min_lr + (max_lr - min_lr) * ... -> max_lr * ...",
        "The first steps, whose averages are made of hardly any gradients, are larger than "
        "planned: with min_lr = max_lr / 10 and 100 steps of warm-up, step 0 is 11 times too "
        "large.",
        rise_from="min",
    ),
    mistake(
        "warmup_to_min",
        "The warm-up rises to min_lr; it should rise to max_lr.",
        "In the warm-up: min_lr * (step + 1) / warmup_steps -> max_lr * (step + 1) / "
        "warmup_steps.",
        "The rate jumps from min_lr to max_lr where the warm-up ends: the leap that it is "
        "there to avoid.",
        rise_to="min",
    ),
    mistake(
        "warmup_at_max",
        "During the warm-up the rate is max_lr at once; it should rise, from max_lr / "
        "warmup_steps in step 0 to max_lr in step warmup_steps - 1.",
        "Where step < warmup_steps: max_lr -> max_lr * (step + 1) / warmup_steps. (max(0, p) "
        "in the cosine does not make a warm-up.)",
        "In step 1, AdamW moves every number by the whole rate, whatever its gradient: m_hat "
        "/ sqrt(v_hat) is 1 or -1. A large rate then throws the model off before it has "
        "begun.",
        rise_from="max",
    ),
    mistake(
        "no_warmup",
        "There is no warm-up: the cosine begins at step 0, with p = step / max_steps. Steps "
        "below warmup_steps should rise to max_lr.",
        "Two places: a case for step < warmup_steps before the cosine; and in p, step / "
        "max_steps -> (step - warmup_steps) / (max_steps - warmup_steps).",
        "In step 1, AdamW moves every number by the whole rate, whatever its gradient: m_hat "
        "/ sqrt(v_hat) is 1 or -1. A large rate then throws the model off before it has "
        "begun.",
        warm=False,
        count_from=0,
        span_from=0,
    ),
    mistake(
        "warmup_case_missing",
        "The case step < warmup_steps is missing: the cosine is taken there too, with p "
        "below 0. These steps should rise to max_lr in a straight line.",
        "Before the cosine: if step < warmup_steps, return max_lr * (step + 1) / "
        "warmup_steps. The cosine itself is right.",
        "The rate falls and then rises to max_lr as the cosine does, from a value near it: "
        "AdamW's first steps, which move every number by the whole rate, are far too large.",
        warm=False,
    ),
    mistake(
        "progress_from_0",
        "p is step / max_steps: warmup_steps is subtracted neither above nor below; it "
        "should be subtracted in both places.",
        "In p: step / max_steps -> (step - warmup_steps) / (max_steps - warmup_steps).",
        "The rate jumps down where the warm-up ends: by a seventh of max_lr - min_lr if the "
        "warm-up is a quarter of all steps.",
        count_from=0,
        span_from=0,
    ),
    mistake(
        "warmup_not_subtracted",
        "p is step / (max_steps - warmup_steps): warmup_steps is subtracted below, but not "
        "above; it should be subtracted in both places.",
        "In p, in the numerator only: step -> (step - warmup_steps).",
        "It begins below max_lr and is at min_lr warmup_steps too early; the rest of the run "
        "is trained at the smallest rate.",
        count_from=0,
    ),
    mistake(
        "divided_by_max_steps",
        "p is (step - warmup_steps) / max_steps: warmup_steps is subtracted above, but not "
        "below; it should be subtracted in both places.",
        "In p, in the denominator only: max_steps -> (max_steps - warmup_steps).",
        "The last steps are larger than planned, so the model does not settle; min_lr is "
        "reached warmup_steps after max_steps.",
        span_from=0,
    ),
    mistake(
        "ends_one_step_early",
        "The rate reaches min_lr one step early: p is divided by max_steps - warmup_steps - "
        "1; it should be max_steps - warmup_steps.",
        "In p: (max_steps - warmup_steps - 1) -> (max_steps - warmup_steps). With max_steps "
        "= warmup_steps + 1 your code also divides by 0.",
        "Training hardly notices. But with max_steps = warmup_steps + 1, which is allowed, "
        "it divides by 0.",
        early=1,
    ),
    mistake(
        "ends_one_step_early_guarded",
        "The rate reaches min_lr one step early: p is divided by max_steps - warmup_steps - "
        "1, or by 1 if that is 0; it should be max_steps - warmup_steps.",
        "In p: (max_steps - warmup_steps - 1) -> (max_steps - warmup_steps), which is never "
        "0: what you do about 0 can go.",
        "Training hardly notices. But step max_steps - 1, which the exercise gives a little "
        "more than min_lr, has min_lr itself, and no run with this curve repeats another.",
        early=1,
        guard=True,
    ),
    mistake(
        "one_step_ahead",
        "p is (step - warmup_steps + 1) / (max_steps - warmup_steps); it should be step - "
        "warmup_steps, without + 1, so that step warmup_steps has max_lr.",
        "In p: step - warmup_steps + 1 -> step - warmup_steps. The + 1 belongs to the "
        "warm-up only.",
        "Training hardly notices. But without warm-up, step 0 no longer has the full max_lr.",
        later=1,
    ),
    mistake(
        "linear_decay",
        "After the warm-up the rate falls in a straight line; it should fall along half a "
        "cosine.",
        "After the warm-up: (1 - p) -> 0.5 * (1 + math.cos(math.pi * p)), as the factor of "
        "max_lr - min_lr.",
        "Halfway the two are equal. In between they differ: after a quarter of the way the "
        "cosine is still at 85 % of the fall, the line at 75 %.",
        shape="line",
    ),
    mistake(
        "constant",
        "After the warm-up the rate stays at max_lr; it should fall to min_lr along half a "
        "cosine.",
        "After the warm-up: max_lr -> min_lr + 0.5 * (max_lr - min_lr) * (1 + "
        "math.cos(math.pi * p)).",
        "Steps that stay large never let the model settle: it goes on jumping about the "
        "minimum.",
        shape="constant",
    ),
    mistake(
        "down_to_0",
        "The cosine falls from max_lr to 0: min_lr is not used in it. It should fall from "
        "max_lr to min_lr.",
        "In the cosine: 0.5 * max_lr * ... -> min_lr + 0.5 * (max_lr - min_lr) * ...",
        "The last steps change nothing any more, and past max_steps the training stands " "still.",
        floor="none",
    ),
    mistake(
        "min_not_added",
        "min_lr is missing as a summand: the cosine falls from max_lr - min_lr to 0; it "
        "should fall from max_lr to min_lr.",
        "In the cosine: 0.5 * (max_lr - min_lr) * ... -> min_lr + 0.5 * (max_lr - min_lr) * " "...",
        "The rate jumps down where the warm-up ends, and the last steps change nothing any "
        "more.",
        floor="not added",
    ),
    mistake(
        "cut_off_at_min",
        "The cosine falls from max_lr to 0 and is cut off at min_lr; it should itself end at "
        "min_lr, in step max_steps.",
        "max(min_lr, 0.5 * max_lr * ...) -> min_lr + 0.5 * (max_lr - min_lr) * ...",
        "With min_lr = max_lr / 10 the rate is too low nearly all the way, and flat for the "
        "last fifth of it.",
        floor="cut off",
    ),
    mistake(
        "min_added_to_max",
        "The factor of the cosine is max_lr, so that the rate begins at max_lr + min_lr; the "
        "factor should be max_lr - min_lr.",
        "In the cosine: min_lr + 0.5 * max_lr * ... -> min_lr + 0.5 * (max_lr - min_lr) * " "...",
        "The largest rate is larger than the one asked for, and there is a jump where the "
        "warm-up ends.",
        floor="not subtracted",
    ),
    mistake(
        "not_halved",
        "The factor 0.5 is missing, so that the cosine begins at 2 * max_lr - min_lr; it "
        "should begin at max_lr.",
        "In the cosine: (max_lr - min_lr) * (1 + ...) -> 0.5 * (max_lr - min_lr) * (1 + " "...).",
        "Right after the warm-up the rate jumps to 2 max_lr - min_lr. A rate that was chosen "
        "as the largest that works is then too large.",
        shape="not halved",
    ),
    mistake(
        "rises_again",
        "Past max_steps the rate rises again, since p goes past 1; it should stay at min_lr.",
        "Before the cosine: p -> min(1.0, p).",
        "Who trains on for a while trains with larger and larger steps, and undoes what the "
        "small ones had reached.",
        end="open",
    ),
    mistake(
        "zero_after_the_end",
        "Past max_steps the rate is 0; it should stay at min_lr.",
        "Where step > max_steps: return 0 -> return min_lr.",
        "Who trains on for a while waits for steps that change nothing.",
        end="zero",
    ),
    mistake(
        "whole_wave",
        "The cosine goes through a whole wave, down and up again; it should be half a wave, "
        "from max_lr down to min_lr.",
        "math.cos(2 * math.pi * p) -> math.cos(math.pi * p).",
        "The rate is smallest in the middle and ends where it began, at max_lr: the model "
        "does not settle.",
        shape="whole wave",
    ),
    mistake(
        "rising",
        "The cosine rises from min_lr to max_lr; it should fall. Its sign is wrong, or "
        "max_lr and min_lr are swapped in it.",
        "In the cosine: 1 - math.cos(...) -> 1 + math.cos(...); or, if they are swapped, "
        "max_lr + 0.5 * (min_lr - max_lr) -> min_lr + 0.5 * (max_lr - min_lr).",
        "Where the warm-up ends the rate drops to min_lr, and the largest steps come last, "
        "when the model should settle.",
        shape="rising",
    ),
    mistake(
        "bare_cosine",
        "The cosine is taken as it is, from 1 to -1, so that the rate falls below min_lr; it "
        "should go from 1 to 0.",
        "math.cos(math.pi * p) -> 0.5 * (1 + math.cos(math.pi * p)), as the factor of max_lr "
        "- min_lr.",
        "At the end the rate is 2 min_lr - max_lr, which is negative if min_lr is less than "
        "half of max_lr: the model then climbs.",
        shape="bare cosine",
    ),
    mistake(
        "no_pi",
        "The cosine is taken of p; it should be taken of math.pi * p.",
        "math.cos(p) -> math.cos(math.pi * p).",
        "The cosine of 1 is 0.54, so only 23 % of the fall is done at max_steps, and the "
        "last steps are far too large.",
        shape="no pi",
    ),
    mistake(
        "degrees",
        "The cosine is taken of 180 * p, in degrees; math.cos takes radians, so it should be "
        "math.pi * p.",
        "math.cos(180 * p) -> math.cos(math.pi * p).",
        "180 radians are more than 28 whole waves: the rate jumps up and down from step to "
        "step.",
        shape="degrees",
    ),
    mistake(
        "rates_swapped",
        "max_lr and min_lr are swapped, in the warm-up and in the cosine: it should rise to "
        "max_lr, and then fall to min_lr.",
        "In all lines: max_lr -> min_lr, and min_lr -> max_lr.",
        "The rate is small while there is most to learn, and largest at the end.",
        before=lambda i: {"max_lr": i["min_lr"], "min_lr": i["max_lr"]},
    ),
)


def in_three_cases(mistake: Mistake, case: str, end: str, name: str) -> Mistake:
    """The same, where the code has a case of its own for the end, which is right."""
    return replace(
        mistake,
        name=f"{mistake.name}_{name}",
        wrong=replace(mistake.wrong, switches={**mistake.wrong.switches, "end": end}),
        look=f"{mistake.look} (Your case {case} is right.)",
    )


# In these p = 1 does not give min_lr.
TWICE = (
    "whole_wave",
    "rising",
    "bare_cosine",
    "no_pi",
    "degrees",
    "constant",
    "down_to_0",
    "min_not_added",
    "divided_by_max_steps",
)
ENDS = (
    ("step > max_steps", "min", "up_to_max_steps"),
    ("step >= max_steps", "min at once", "before_max_steps"),
)
MISTAKES = IN_TWO_CASES + tuple(
    in_three_cases(m, *end) for m in IN_TWO_CASES if m.name in TWICE for end in ENDS
)
