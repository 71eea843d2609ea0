"""What goes wrong in adamw_step.

The numbers in the reasons hold for betas = (0.9, 0.95), which GPT-2 is trained with here.
"""

from __future__ import annotations

from autograder.check.mistake import Mistake, altered, entries
from autograder.oracle import training as oracle


def expected(param, grads, lrs, betas, eps, weight_decay, **switches):
    return oracle.adamw(param, grads, lrs, betas, eps, weight_decay, **switches)[0]


mistake = entries(expected)


AVERAGES = "m = beta1 * m + (1 - beta1) * g, and v = beta2 * v + (1 - beta2) * g * g"

# Of the dict `state`, and what changes in place.
KEPT = (
    mistake(
        "not_in_place",
        "The parameter does not change; it should be changed in place.",
        "param = param - ... -> param.sub_(...) or param -= ...: the first only gives the "
        "name to a new tensor.",
        "The loss would stay where it is, at ln V, however long it trains.",
        in_place=False,
    ),
    mistake(
        "forgets",
        "The whole state (step, m and v) starts anew in every step; it should only where "
        "state is empty.",
        'state["step"] = 0 and the zeros, set in every call -> set under `if not state:` only, in'
        " the caller's own dict (not state = {...}).",
        "m_hat is then g and sqrt(v_hat) is |g|: every number moves by lr in each step, in the "
        "direction of the last batch alone. Nothing is averaged.",
        forget=True,
    ),
    mistake(
        "averages_not_stored",
        "The new m and v are not stored in state, so that each step averages with zeros "
        "again; both should be stored.",
        'After the averages: state["m"], state["v"] = m, v; or change both in place, '
        "m.mul_(...) and v.mul_(...).",
        "Nothing is averaged: every number moves by the sign of its last gradient, a rare word's as "
        "far as a common one's.",
        stored=("step",),
    ),
    mistake(
        "v_not_stored",
        "The new v is not stored in state, so that each step averages it with zeros again; "
        "it should be, as m is.",
        'After the average: state["v"] = v; or change it in place, v.mul_(...).',
        "With beta2 = 0.95 the root is soon of 0.05 g * g alone, so that steps get 4.5 times too "
        "long; and one small gradient is enough for a huge step.",
        stored=("step", "m"),
    ),
    mistake(
        "m_not_stored",
        "The new m is not stored in state, so that each step averages it with zeros again; "
        "it should be, as v is.",
        'After the average: state["m"] = m; or change it in place, m.mul_(...).',
        "With beta1 = 0.9 the steps shrink to a tenth, and follow the last batch alone instead of "
        "the last ten or so.",
        stored=("step", "v"),
    ),
    mistake(
        "step_not_stored",
        "Every step divides by 1 - beta, for m and for v, as if t were 1; it should be 1 - "
        "beta ** t with t = 1, 2, 3, ...",
        'If state["step"] stays 0: t = state["step"] + 1 -> state["step"] += 1, then t = '
        'state["step"]. If it counts: 1 - beta -> 1 - beta ** t, in both.',
        "The first step is right. Later m is divided by 0.1 and v by 0.05 although both are whole: "
        "all steps are 10 / sqrt(20) = 2.2 times too long.",
        stored=("m", "v"),
    ),
)

# Of the averages and their correction.
AVERAGED = (
    mistake(
        "no_correction",
        "m and v are used as they are; both should be corrected before, m by 1 - beta1 ** t "
        "and v by 1 - beta2 ** t.",
        "In the update: m -> m / (1 - beta1 ** t), and under the root v -> v / (1 - beta2 ** "
        "t).",
        "In step 1 they are 0.1 g and 0.05 g * g: the step is 0.45 lr long. With PyTorch's default "
        "betas (0.9, 0.999) it would be 3.2 lr.",
        correct=(),
    ),
    mistake(
        "only_m_corrected",
        "m is right, but v is used as it is; v should be divided by 1 - beta2 ** t.",
        "Under the root: v -> v / (1 - beta2 ** t).",
        "In step 1 v is 0.05 g * g, so the step is 4.5 times too long, and warm-up is to spare the "
        "model just that.",
        correct=("m",),
    ),
    mistake(
        "only_v_corrected",
        "v is right, but m is used as it is; m should be divided by 1 - beta1 ** t.",
        "In the update: m -> m / (1 - beta1 ** t).",
        "In step 1 m is 0.1 g, so the step is a tenth of what it should be. After 50 steps it is "
        "nearly right, and in a long run nobody notices.",
        correct=("v",),
    ),
    mistake(
        "correction_multiplied",
        "m and v are multiplied by 1 - beta ** t; both should be divided by it.",
        "m * (1 - beta1 ** t) -> m / (1 - beta1 ** t), and v * (1 - beta2 ** t) -> v / (1 - "
        "beta2 ** t).",
        "The correction makes the first averages still smaller: step 1 is 0.2 lr long.",
        multiply=True,
    ),
    Mistake(
        "step_from_0",
        lambda **inputs: expected(**inputs, steps_from=0),  # NaN whatever else: no pairs
        "The first step is corrected with t = 0, so that it divides by 1 - beta ** 0 = 0; it should be "
        "t = 1.",
        't = state["step"] stands before the line that raises the count -> behind it: first '
        'state["step"] += 1.',
        "The first update divides by 0, and from then on every parameter is NaN.",
    ),
    mistake(
        "m_without_power",
        "v is right, but m is divided by 1 - beta1 in every step; it should be 1 - beta1 ** " "t.",
        "In the correction of m: 1 - beta1 -> 1 - beta1 ** t.",
        "The first step is right. Later m is divided by 0.1 although it is whole: steps get 10 times "
        "too long.",
        powers=("v",),
    ),
    mistake(
        "v_without_power",
        "m is right, but v is divided by 1 - beta2 in every step; it should be 1 - beta2 ** " "t.",
        "In the correction of v: 1 - beta2 -> 1 - beta2 ** t.",
        "The first step is right. Later v is divided by 0.05 although it is whole: steps get 4.5 "
        "times too short.",
        powers=("m",),
    ),
    mistake(
        "step_from_2",
        "The first step is corrected with t = 2; it should be t = 1.",
        'One of three: state["step"] = 1 at the start -> 0; state["step"] += 1 twice -> once; or,'
        ' behind that line, t = state["step"] + 1 -> t = state["step"].',
        "In step 1 m_hat is 0.53 g and sqrt(v_hat) 0.72 |g|: the step is 0.74 lr long. Later nobody "
        "notices.",
        steps_from=2,
    ),
    mistake(
        "starts_at_the_gradient",
        "m and v begin at the first gradient and its square; both should begin at 0.",
        "Where state is empty: grad and grad * grad -> torch.zeros_like(param), for both.",
        "In step 1 m_hat is 10 g and v_hat 20 g * g: the step is 2.2 lr long. After 50 steps or so "
        "nobody notices.",
        start="gradient",
    ),
    mistake(
        "plain_sum",
        "v is right, but m takes in the whole gradient, beta1 * m + g; it should take in a "
        "share, beta1 * m + (1 - beta1) * g.",
        "In m: + g -> + (1 - beta1) * g.",
        "m is then no average but a sum, 10 times as large: so are all steps.",
        share="1",
    ),
    mistake(
        "shares_swapped",
        "In both averages the shares are swapped: the new value gets beta, the old average 1 "
        "- beta; the old average should get beta.",
        "(1 - beta1) * m + beta1 * g -> beta1 * m + (1 - beta1) * g, and in v likewise with "
        "beta2. With lerp_, the weight is 1 - beta.",
        "Only the last batch or two count: m remembers a tenth of what was, not nine tenths.",
        share="swapped",
    ),
    mistake(
        "not_squared",
        "The average v takes in g; it should take in g * g. Where v is negative, its root is "
        "NaN.",
        "In v: (1 - beta2) * g -> (1 - beta2) * g * g.",
        "A negative gradient makes v negative, and its root NaN.",
        square=False,
    ),
    mistake(
        "betas_swapped",
        "The betas are swapped, in the averages and in their corrections: m should use "
        "betas[0], and v betas[1].",
        "beta2, beta1 = betas -> beta1, beta2 = betas.",
        "m then averages about 20 gradients and v 10, instead of 10 and 20: the direction of a step "
        "lags behind, and its length is noisier.",
        use="swapped",
    ),
    mistake(
        "one_beta_for_both",
        "m is right, but v uses betas[0], in its average and in its correction; v should use "
        "betas[1].",
        "In the average v and in its correction, two places: beta1 -> beta2.",
        "v forgets twice as fast as it should, so the length of a step is noisier. Training looks "
        "normal, and does not repeat anyone else's run.",
        use="the first for both",
    ),
    Mistake(
        "betas_fixed",
        altered(expected, before=lambda i: {"betas": (0.9, 0.999)}),
        "The betas are always 0.9 and 0.999; they should be those that are handed in.",
        "0.9 -> betas[0], and 0.999 -> betas[1], in the averages and in their corrections.",
        "v then averages 1000 gradients, not 20: after a jump of the gradients, steps stay too long "
        "or too short for a thousand steps.",
    ),
    Mistake(
        "betas_of_the_signature",
        altered(expected, before=lambda i: {"betas": (0.9, 0.95)}),
        "The betas are always 0.9 and 0.95, the defaults; they should be those that are handed in.",
        "0.9 -> betas[0], and 0.95 -> betas[1], in the averages and in their corrections.",
        "With the usual betas nobody notices. Whoever tries others trains the same model each time.",
    ),
)

# Of the decay and the step.
UPDATED = (
    mistake(
        "decay_in_gradient",
        "The decay is added to the gradient (that is Adam with L2); it should be subtracted "
        "from the parameter, outside of m and v.",
        "Two places: grad + weight_decay * param -> grad; and in the update, from the old "
        "param: - lr * weight_decay * param.",
        "The decay is then divided by sqrt(v_hat), too: numbers with large gradients hardly decay, "
        "and those with small ones decay fast.",
        decay="gradient",
    ),
    mistake(
        "decay_without_lr",
        "The decay is weight_decay * param; it should be lr * weight_decay * param.",
        "In the decay: weight_decay -> lr * weight_decay.",
        "With weight_decay = 0.1 each step takes a tenth away: after 100 steps 0.003 % of a weight "
        "is left.",
        decay="without lr",
    ),
    mistake(
        "decay_after_update",
        "The decay acts on the parameter after the update; it should act on the old one, "
        "before the update.",
        "Move the line of the decay to before the line that subtracts lr * m_hat / "
        "(sqrt(v_hat) + eps).",
        "The step is shortened by the factor 1 - lr * weight_decay, 0.9999 for 0.001 and 0.1: "
        "hardly anything, but no longer what AdamW does elsewhere.",
        decay="after the update",
    ),
    mistake(
        "decay_of_one_size",
        "The decay is lr * weight_decay for every number; it should be lr * weight_decay * "
        "param, a share of each.",
        "In the decay: lr * weight_decay -> lr * weight_decay * param.",
        "It pulls nothing towards 0: every number is pushed down by the same amount, negative ones "
        "away from 0.",
        decay="constant",
    ),
    mistake(
        "decay_uphill",
        "The update is right, but the decay is added, so that the parameter grows; it should "
        "be subtracted.",
        "In the decay: + lr * weight_decay * param -> - lr * weight_decay * param; or, as a "
        "factor, 1 + lr * weight_decay -> 1 - lr * weight_decay.",
        "With lr = 0.001 and weight_decay = 0.1 a weight without a gradient grows by e in 10,000 "
        "steps, and 22,000 times in 100,000.",
        decay="uphill",
    ),
    mistake(
        "no_decay",
        "weight_decay is not used; the decay should be subtracted from the old parameter, "
        "beside the update.",
        "Before the line of the update, param.mul_(1 - lr * weight_decay).",
        "Nothing pulls weights back that the data no longer ask for: it is plain Adam, without the W.",
        decay="none",
    ),
    mistake(
        "eps_inside",
        "The eps is added inside the root, sqrt(v_hat + eps); it should be added outside, "
        "sqrt(v_hat) + eps.",
        "In the divisor: (v_hat + eps).sqrt() -> v_hat.sqrt() + eps.",
        "The root of 1e-8 is 1e-4: a number whose gradients are smaller than that would hardly move, "
        "and in a large model many are.",
        eps_at="inside",
    ),
    mistake(
        "no_eps",
        "The eps is missing: it divides by sqrt(v_hat); it should be sqrt(v_hat) + eps.",
        "In the divisor: v_hat.sqrt() -> v_hat.sqrt() + eps.",
        "A number that has never had a gradient, say the row of P for a position that no window "
        "has reached, is moved by 0 / 0: it becomes NaN.",
        eps_at="nowhere",
    ),
    mistake(
        "eps_before_correction",
        "eps is added to sqrt(v), before the correction of v, and is scaled with it; it should be"
        " added to sqrt(v_hat), after the correction.",
        "v_hat = v / (1 - beta2 ** t), then v.sqrt() + eps -> v_hat.sqrt() + eps; take out the "
        "factor (1 - beta2 ** t) ** 0.5.",
        "In step 1 eps counts 1 / sqrt(0.05) = 4.5 times. With eps = 1e-8 nobody notices; where eps "
        "is large, the first steps are too short.",
        eps_at="before the correction",
    ),
    Mistake(
        "eps_fixed",
        altered(expected, before=lambda i: {"eps": 1e-8}),
        "The eps is always 1e-8; it should be the one that is handed in.",
        "In the divisor: 1e-8 -> eps.",
        "Half precision needs a larger one, since it rounds 1e-8 to 0, and then 0 is divided by 0.",
    ),
    mistake(
        "no_root",
        "It divides by v_hat + eps; it should be the root of v_hat, sqrt(v_hat) + eps.",
        "In the divisor: v_hat + eps -> v_hat.sqrt() + eps.",
        "The step is then lr / g, not lr: the smaller a gradient, the longer the step. For g = 0.001 "
        "it is 1000 lr.",
        root="none",
    ),
    mistake(
        "root_of_m",
        "It divides by the root of m_hat; it should be the root of v_hat. Where m_hat is "
        "negative, its root is NaN.",
        "In the divisor: m_hat.sqrt() + eps -> v_hat.sqrt() + eps.",
        "A negative average has no root: NaN. Where it is positive, the step shrinks as the root of "
        "the gradient does.",
        root="of m_hat",
    ),
    mistake(
        "root_before_correction",
        "sqrt(v) is divided by 1 - beta2 ** t; v should be, inside the root: sqrt(v / (1 - "
        "beta2 ** t)).",
        "v.sqrt() / (1 - beta2 ** t) -> (v / (1 - beta2 ** t)).sqrt().",
        "sqrt(v) needs only the root of the correction: in step 1 the step is 4.5 times too short.",
        root="of v",
    ),
    mistake(
        "lr_missing",
        "The decay is right, but the update m_hat / (sqrt(v_hat) + eps) is not multiplied by "
        "lr; it should be.",
        "In the update: m_hat / (...) -> lr * m_hat / (...).",
        "Every number would move by about 1 in each step, a thousand times the usual rate.",
        paced=False,
    ),
    mistake(
        "uphill",
        "The step goes uphill: one sign is wrong. The update should be subtracted, and m should "
        "take in + (1 - beta1) * g.",
        "If your m is right: in the update, + lr * m_hat / (...) -> - lr * m_hat / (...). If m "
        "has the wrong sign: - (1 - beta1) * g -> + (1 - beta1) * g.",
        "The gradient points to where the loss grows fastest. The loss rises, step after step.",
        sign=-1.0,
    ),
)

MISTAKES = KEPT + AVERAGED + UPDATED
