"""What goes wrong in adamw_step.

The numbers in the reasons hold for betas = (0.9, 0.95), which GPT-2 is trained with here.
"""

from __future__ import annotations

from autograder.check.mistake import Mistake, altered
from autograder.oracle import training as oracle


def expected(param, grads, lrs, betas, eps, weight_decay, **switches):
    return oracle.adamw(param, grads, lrs, betas, eps, weight_decay, **switches)[0]


def mistake(name, says, look, why, **switches):
    return Mistake(name, altered(expected, **switches), says, look, why)


DECOUPLED = "The new value: theta - lr * weight_decay * theta - lr * m_hat / (sqrt(v_hat) + eps)"
CORRECTION = "m_hat = m / (1 - beta1 ** t) and v_hat = v / (1 - beta2 ** t), with t = 1, 2, ..."
EPS = "Divide by sqrt(v_hat) + eps."
AVERAGES = "m = beta1 * m + (1 - beta1) * g, and v = beta2 * v + (1 - beta2) * g * g"

# Of the dict `state`, and what changes in place.
KEPT = (
    mistake(
        "not_in_place",
        "The parameter does not change.",
        "Change the tensor itself: param.sub_(...), param.mul_(...), or param -= ...; a line "
        "param = ... only gives the name to a new tensor.",
        "The loss would stay where it is, at ln V, however long it trains.",
        in_place=False,
    ),
    mistake(
        "forgets",
        "The whole state starts anew in every step: step, m and v.",
        "Only if state is empty are step = 0 and zeros put in; the caller hands the same dict in "
        "again.",
        "m_hat is then g and sqrt(v_hat) is |g|: every number moves by lr in each step, in the "
        "direction of the last batch alone. Nothing is averaged.",
        forget=True,
    ),
    mistake(
        "averages_not_stored",
        "The new m and v are not put back into state: each step averages with zeros again.",
        'Change them in place (m.mul_(...)), or store them: state["m"], state["v"] = m, v.',
        "Nothing is averaged: every number moves by the sign of its last gradient, a rare word's as "
        "far as a common one's.",
        stored=("step",),
    ),
    mistake(
        "v_not_stored",
        "The new v is not put back into state: it is averaged with zeros again in each step.",
        'Change it in place (v.mul_(...)), or store it: state["v"] = v.',
        "With beta2 = 0.95 the root is soon of 0.05 g * g alone, so that steps get 4.5 times too "
        "long; and one small gradient is enough for a huge step.",
        stored=("step", "m"),
    ),
    mistake(
        "m_not_stored",
        "The new m is not put back into state: it is averaged with zeros again in each step.",
        'Change it in place (m.mul_(...)), or store it: state["m"] = m.',
        "With beta1 = 0.9 the steps shrink to a tenth, and follow the last batch alone instead of "
        "the last ten or so.",
        stored=("step", "v"),
    ),
    mistake(
        "step_not_stored",
        "Every step is corrected as if it were the first: t stays 1.",
        'Raise the count in the dict itself, state["step"] += 1, and correct by 1 - beta ** t.',
        "The first step is right. Later m is divided by 0.1 and v by 0.05 although both are whole: "
        "all steps are 10 / sqrt(20) = 2.2 times too long.",
        stored=("m", "v"),
    ),
)

# Of the averages and their correction.
AVERAGED = (
    mistake(
        "no_correction",
        "The averages m and v are used without their bias correction.",
        CORRECTION,
        "In step 1 they are 0.1 g and 0.05 g * g: the step is 0.45 lr long. With PyTorch's default "
        "betas (0.9, 0.999) it would be 3.2 lr.",
        correct=(),
    ),
    mistake(
        "only_m_corrected",
        "The average v is used without its bias correction; that of m is right.",
        CORRECTION,
        "In step 1 v is 0.05 g * g, so the step is 4.5 times too long, and warm-up is to spare the "
        "model just that.",
        correct=("m",),
    ),
    mistake(
        "only_v_corrected",
        "The average m is used without its bias correction; that of v is right.",
        CORRECTION,
        "In step 1 m is 0.1 g, so the step is a tenth of what it should be. After 50 steps it is "
        "nearly right, and in a long run nobody notices.",
        correct=("v",),
    ),
    mistake(
        "correction_multiplied",
        "The averages are multiplied by 1 - beta ** t instead of divided.",
        CORRECTION,
        "The correction makes the first averages still smaller: step 1 is 0.2 lr long.",
        multiply=True,
    ),
    Mistake(
        "step_from_0",
        lambda **inputs: expected(**inputs, steps_from=0),  # NaN whatever else: no pairs
        "The first step is counted as step 0, so that 1 - beta ** t is 0.",
        'Raise the count, state["step"] += 1, before the correction: the first step has t = 1.',
        "The first update divides by 0, and from then on every parameter is NaN.",
    ),
    mistake(
        "m_without_power",
        "The average m is corrected by 1 - beta1 in every step, without the power t.",
        CORRECTION,
        "The first step is right. Later m is divided by 0.1 although it is whole: steps get 10 times "
        "too long.",
        powers=("v",),
    ),
    mistake(
        "v_without_power",
        "The average v is corrected by 1 - beta2 in every step, without the power t.",
        CORRECTION,
        "The first step is right. Later v is divided by 0.05 although it is whole: steps get 4.5 "
        "times too short.",
        powers=("m",),
    ),
    mistake(
        "step_from_2",
        "The first step is corrected with t = 2.",
        "Begin with step = 0 in state, and raise it once in each step: the first has t = 1.",
        "In step 1 m_hat is 0.53 g and sqrt(v_hat) 0.72 |g|: the step is 0.74 lr long. Later nobody "
        "notices.",
        steps_from=2,
    ),
    mistake(
        "starts_at_the_gradient",
        "The averages m and v begin at the first gradient and its square instead of 0.",
        "torch.zeros_like(param) for both: the division by 1 - beta ** t is made for a start at 0.",
        "In step 1 m_hat is 10 g and v_hat 20 g * g: the step is 2.2 lr long. After 50 steps or so "
        "nobody notices.",
        start="gradient",
    ),
    mistake(
        "plain_sum",
        "The average m takes in the whole gradient instead of the share 1 - beta1.",
        AVERAGES,
        "m is then no average but a sum, 10 times as large: so are all steps.",
        share="1",
    ),
    mistake(
        "shares_swapped",
        "The two shares have changed places: the new gradient gets beta, the old average 1 - beta.",
        AVERAGES,
        "Only the last batch or two count: m remembers a tenth of what was, not nine tenths.",
        share="swapped",
    ),
    mistake(
        "not_squared",
        "The average v is that of g, not of g squared.",
        AVERAGES,
        "A negative gradient makes v negative, and its root NaN.",
        square=False,
    ),
    mistake(
        "betas_swapped",
        "The two betas have changed places.",
        "The first of betas is beta1, that of m; the second is beta2, that of v.",
        "m then averages about 20 gradients and v 10, instead of 10 and 20: the direction of a step "
        "lags behind, and its length is noisier.",
        use="swapped",
    ),
    mistake(
        "one_beta_for_both",
        "The first beta is used for v too.",
        "The first of betas is beta1, that of m; the second is beta2, that of v.",
        "v forgets twice as fast as it should, so the length of a step is noisier. Training looks "
        "normal, and does not repeat anyone else's run.",
        use="the first for both",
    ),
    Mistake(
        "betas_fixed",
        altered(expected, before=lambda i: {"betas": (0.9, 0.999)}),
        "The betas are always 0.9 and 0.999, whatever is handed in.",
        "beta1, beta2 = betas",
        "v then averages 1000 gradients, not 20: after a jump of the gradients, steps stay too long "
        "or too short for a thousand steps.",
    ),
)

# Of the decay and the step.
UPDATED = (
    mistake(
        "decay_in_gradient",
        "The decay is added to the gradient: that is Adam with L2, not AdamW.",
        DECOUPLED,
        "The decay is then divided by sqrt(v_hat), too: numbers with large gradients hardly decay, "
        "and those with small ones decay fast.",
        decay="gradient",
    ),
    mistake(
        "decay_without_lr",
        "The decay is not multiplied by lr.",
        DECOUPLED,
        "With weight_decay = 0.1 each step takes a tenth away: after 100 steps 0.003 % of a weight "
        "is left.",
        decay="without lr",
    ),
    mistake(
        "decay_after_update",
        "The decay acts on the parameter after the update instead of before.",
        DECOUPLED + ", both from the old theta",
        "The step is shortened by the factor 1 - lr * weight_decay, 0.9999 for 0.001 and 0.1: "
        "hardly anything, but no longer what AdamW does elsewhere.",
        decay="after the update",
    ),
    mistake(
        "decay_of_one_size",
        "The decay subtracts lr * weight_decay from every number, without the factor theta.",
        DECOUPLED,
        "It pulls nothing towards 0: every number is pushed down by the same amount, negative ones "
        "away from 0.",
        decay="constant",
    ),
    mistake(
        "decay_uphill",
        "The decay is added instead of subtracted: the parameter grows.",
        DECOUPLED,
        "With lr = 0.001 and weight_decay = 0.1 a weight without a gradient grows by e in 10,000 "
        "steps, and 22,000 times in 100,000.",
        decay="uphill",
    ),
    mistake(
        "no_decay",
        "The weight decay is not used.",
        DECOUPLED,
        "Nothing pulls weights back that the data no longer ask for: it is plain Adam, without the W.",
        decay="none",
    ),
    mistake(
        "eps_inside",
        "The eps is added inside the root.",
        EPS,
        "The root of 1e-8 is 1e-4: a number whose gradients are smaller than that would hardly move, "
        "and in a large model many are.",
        eps_at="inside",
    ),
    mistake(
        "no_eps",
        "The eps is missing.",
        EPS,
        "A number that has never had a gradient, say the row of P for a position that no window "
        "has reached, is moved by 0 / 0: it becomes NaN.",
        eps_at="nowhere",
    ),
    mistake(
        "eps_before_correction",
        "The eps is added to sqrt(v), before the correction of v.",
        "v_hat = v / (1 - beta2 ** t) first; then divide by sqrt(v_hat) + eps.",
        "In step 1 eps counts 1 / sqrt(0.05) = 4.5 times. With eps = 1e-8 nobody notices; where eps "
        "is large, the first steps are too short.",
        eps_at="before the correction",
    ),
    Mistake(
        "eps_fixed",
        altered(expected, before=lambda i: {"eps": 1e-8}),
        "The eps is always 1e-8, whatever is handed in.",
        "sqrt(v_hat) + eps, with the eps of the signature.",
        "Half precision needs a larger one, since it rounds 1e-8 to 0, and then 0 is divided by 0.",
    ),
    mistake(
        "no_root",
        "It divides by v_hat, not by its square root.",
        EPS,
        "The step is then lr / g, not lr: the smaller a gradient, the longer the step. For g = 0.001 "
        "it is 1000 lr.",
        root="none",
    ),
    mistake(
        "root_of_m",
        "It divides by the root of m_hat, not of v_hat.",
        EPS,
        "A negative average has no root: NaN. Where it is positive, the step shrinks as the root of "
        "the gradient does.",
        root="of m_hat",
    ),
    mistake(
        "root_before_correction",
        "The root is taken of v, before v is corrected: 1 - beta2 ** t stands outside of it.",
        "v_hat = v / (1 - beta2 ** t) first, then its root.",
        "sqrt(v) needs only the root of the correction: in step 1 the step is 4.5 times too short.",
        root="of v",
    ),
    mistake(
        "lr_missing",
        "The step is not multiplied by lr.",
        DECOUPLED,
        "Every number would move by about 1 in each step, a thousand times the usual rate.",
        paced=False,
    ),
    mistake(
        "uphill",
        "The step goes uphill: the update has the wrong sign.",
        "The new value is theta minus lr * m_hat / (sqrt(v_hat) + eps), and m takes in plus "
        "(1 - beta1) * g.",
        "The gradient points to where the loss grows fastest. The loss rises, step after step.",
        sign=-1.0,
    ),
)

MISTAKES = KEPT + AVERAGED + UPDATED
