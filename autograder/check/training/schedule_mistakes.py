"""What goes wrong in lr_schedule."""

from __future__ import annotations

import numpy as np

from autograder.check.mistake import Mistake, altered
from autograder.oracle import training as oracle


def expected(steps, max_lr, min_lr, warmup_steps, max_steps, **switches):
    rates = (max_lr, min_lr, warmup_steps, max_steps)
    if isinstance(steps, int):
        return oracle.lr_schedule(steps, *rates, **switches)
    return np.array([oracle.lr_schedule(s, *rates, **switches) for s in steps])


def mistake(name, says, look, why, **switches):
    return Mistake(name, altered(expected, **switches), says, look, why)


RISE = "max_lr * (step + 1) / warmup_steps"
PROGRESS = "p = (step - warmup_steps) / (max_steps - warmup_steps), and at most 1."
COSINE = "min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * p))"
FALL = f"{COSINE}, with {PROGRESS}"
MISTAKES = (
    mistake(
        "warmup_from_0",
        "The learning rate of step 0 is 0: the first step does nothing.",
        f"During warm-up it is {RISE}.",
        "The first batch is computed for nothing, and every later step of the warm-up comes one too "
        "late.",
        ahead=0,
    ),
    mistake(
        "warmup_over_one_more",
        "The warm-up is divided by warmup_steps + 1, so that its last step falls short of max_lr.",
        f"It is {RISE}: step warmup_steps - 1 has max_lr itself.",
        "Training hardly notices. But the curve is another one than the exercise defines, and a run "
        "that should be repeated with it gives other losses.",
        rise_over=1,
    ),
    mistake(
        "warmup_one_step_longer",
        "The warm-up takes in step = warmup_steps, whose rate is then larger than max_lr.",
        "The condition is step < warmup_steps, not <=. Steps count from 0, so these are warmup_steps steps.",
        "Without warm-up, step 0 divides by 0. With a short one of 4 steps, step 4 has 1.25 max_lr.",
        longer=1,
    ),
    mistake(
        "warmup_one_step_longer_if_any",
        "The warm-up takes in step = warmup_steps, whose rate is then larger than max_lr.",
        "The condition is step < warmup_steps, not <=. That is never true where warmup_steps is 0.",
        "With a warm-up of 100 steps, step 100 has 1.01 max_lr, with one of 4 steps step 4 has 1.25.",
        longer=1,
        guarded=True,
    ),
    mistake(
        "warmup_from_min",
        "The warm-up begins at min_lr.",
        f"It begins at 0: {RISE}. min_lr is where the cosine ends.",
        "The first steps, whose averages are made of hardly any gradients, are larger than planned: "
        "with min_lr = max_lr / 10 and 100 steps of warm-up, step 0 is 11 times too large.",
        rise_from="min",
    ),
    mistake(
        "warmup_to_min",
        "The warm-up rises to min_lr instead of max_lr.",
        f"It is {RISE}.",
        "The rate jumps from min_lr to max_lr where the warm-up ends: the leap that it is there to "
        "avoid.",
        rise_to="min",
    ),
    mistake(
        "no_warmup",
        "There is no warm-up: the cosine begins at step 0.",
        f"While step < warmup_steps, the rate is {RISE}.",
        "In step 1, AdamW moves every number by the whole rate, whatever its gradient: m_hat / "
        "sqrt(v_hat) is 1 or -1. A large rate then throws the model off before it has begun.",
        warm=False,
        count_from=0,
        span_from=0,
    ),
    mistake(
        "progress_from_0",
        "The cosine is counted from step 0, so it does not begin at max_lr.",
        PROGRESS,
        "The rate jumps down where the warm-up ends: by a seventh of max_lr - min_lr if the "
        "warm-up is a quarter of all steps.",
        count_from=0,
        span_from=0,
    ),
    mistake(
        "warmup_not_subtracted",
        "warmup_steps is subtracted from max_steps but not from step: the cosine runs ahead by the "
        "whole warm-up.",
        PROGRESS,
        "It begins below max_lr and is at min_lr warmup_steps too early; the rest of the run is "
        "trained at the smallest rate.",
        count_from=0,
    ),
    mistake(
        "divided_by_max_steps",
        "The progress is divided by max_steps, so the cosine does not get to min_lr.",
        PROGRESS,
        "The last steps are larger than planned, so the model does not settle; min_lr is "
        "reached warmup_steps after max_steps.",
        span_from=0,
    ),
    mistake(
        "ends_one_step_early",
        "The cosine is at min_lr one step early: the progress is divided by one too few.",
        f"{PROGRESS} Step max_steps itself has min_lr.",
        "Training hardly notices. But with max_steps = warmup_steps + 1, which is allowed, it "
        "divides by 0.",
        early=1,
    ),
    mistake(
        "one_step_ahead",
        "The cosine is one step ahead: step = warmup_steps is below max_lr already.",
        f"{PROGRESS} No + 1 here: that belongs to the warm-up.",
        "Training hardly notices. But without warm-up, step 0 no longer has the full max_lr.",
        later=1,
    ),
    mistake(
        "linear_decay",
        "After the warm-up the rate falls in a straight line, not along a cosine.",
        FALL,
        "Halfway the two are equal. In between they differ: after a quarter of the way the cosine is "
        "still at 85 % of the fall, the line at 75 %.",
        shape="line",
    ),
    mistake(
        "constant",
        "After the warm-up the rate stays at max_lr.",
        f"It falls to min_lr: {FALL}",
        "Steps that stay large never let the model settle: it goes on jumping about the minimum.",
        shape="constant",
    ),
    mistake(
        "down_to_0",
        "It falls to 0; min_lr is not used.",
        FALL,
        "The last steps change nothing any more, and past max_steps the training stands still.",
        floor="none",
    ),
    mistake(
        "min_not_added",
        "min_lr is missing before the cosine: the rate falls from max_lr - min_lr to 0.",
        FALL,
        "The rate jumps down where the warm-up ends, and the last steps change nothing any more.",
        floor="not added",
    ),
    mistake(
        "cut_off_at_min",
        "The cosine goes to 0 and is cut off at min_lr, instead of ending there.",
        FALL,
        "With min_lr = max_lr / 10 the rate is too low nearly all the way, and flat for the last "
        "fifth of it.",
        floor="cut off",
    ),
    mistake(
        "min_added_to_max",
        "The cosine spans max_lr instead of max_lr - min_lr, so the rate begins at max_lr + min_lr.",
        FALL,
        "The largest rate is larger than the one asked for, and there is a jump where the warm-up "
        "ends.",
        floor="not subtracted",
    ),
    mistake(
        "not_halved",
        "The factor 1/2 before the cosine is missing: the rate begins at nearly twice max_lr.",
        FALL,
        "Right after the warm-up the rate jumps to 2 max_lr - min_lr. A rate that was chosen as the "
        "largest that works is then too large.",
        shape="not halved",
    ),
    mistake(
        "rises_again",
        "Past max_steps the rate rises again.",
        f"Hold it at min_lr: p = min(1.0, ...). Here {PROGRESS}",
        "Who trains on for a while trains with larger and larger steps, and undoes what the small "
        "ones had reached.",
        end="open",
    ),
    mistake(
        "zero_after_the_end",
        "Past max_steps the rate is 0.",
        "It stays at min_lr: p = min(1.0, ...), or return min_lr.",
        "Who trains on for a while waits for steps that change nothing.",
        end="zero",
    ),
    mistake(
        "whole_wave",
        "It goes through a whole wave, down and up again.",
        "From max_lr to min_lr is half a wave: cos(pi * p), not 2 pi.",
        "The rate is smallest in the middle and ends where it began, at max_lr: the model does not "
        "settle.",
        shape="whole wave",
    ),
    mistake(
        "rising",
        "The cosine has the wrong sign: the rate rises from min_lr to max_lr.",
        FALL,
        "Where the warm-up ends the rate drops to min_lr, and the largest steps come last, when the "
        "model should settle.",
        shape="rising",
    ),
    mistake(
        "bare_cosine",
        "The cosine is used as it is, from 1 to -1, so that the rate falls below min_lr.",
        "What goes from 1 to 0 is (1 + cos(pi * p)) / 2.",
        "At the end the rate is 2 min_lr - max_lr, which is negative if min_lr is less than half of "
        "max_lr: the model then climbs.",
        shape="bare cosine",
    ),
    mistake(
        "no_pi",
        "The factor pi is missing in the cosine.",
        FALL,
        "The cosine of 1 is 0.54, so only 23 % of the fall is done at max_steps, and the last steps "
        "are far too large.",
        shape="no pi",
    ),
    mistake(
        "degrees",
        "The cosine is taken of 180 * p; math.cos takes radians, not degrees.",
        "math.cos(math.pi * p)",
        "180 radians are more than 28 whole waves: the rate jumps up and down from step to step.",
        shape="degrees",
    ),
    Mistake(
        "rates_swapped",
        altered(expected, before=lambda i: {"max_lr": i["min_lr"], "min_lr": i["max_lr"]}),
        "max_lr and min_lr have changed places.",
        f"The warm-up rises to max_lr, the cosine falls to min_lr: {COSINE}",
        "The rate is small while there is most to learn, and largest at the end.",
    ),
)
