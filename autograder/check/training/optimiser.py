"""adamw_step: several updates of one tensor."""

from __future__ import annotations

import numpy as np

from autograder.check.component import Component
from autograder.check.mistake import Mistake
from autograder.check.parts import Fixture, Property, double
from autograder.check.draw import choice, normal
from autograder.check.properties import unchanged
from autograder.check.tensors import any_device
from autograder.judge.compare import difference, form
from autograder.oracle import training as oracle
from autograder.probes import Call


def fixtures(rng):
    n, m = choice(rng, (3, 4), (2, 5), (4, 3))
    betas = choice(rng, (0.8, 0.95), (0.7, 0.9), (0.85, 0.97))

    def case(steps, weight_decay=0.0, eps=1e-8, size=1.0):
        return {
            "param": normal(rng, n, m),
            "grads": normal(rng, steps, n, m, std=size),
            "lrs": np.linspace(0.3, 0.1, steps),
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
        }

    return [
        Fixture("the first step", case(1)),
        Fixture("several steps", case(4)),
        Fixture("weight decay alone", case(3, 0.3, size=0.0), weight=1.0),
        Fixture("several steps with decay and a large eps", case(5, 0.3, eps=0.2)),
    ]


def expected(param, grads, lrs, betas, eps, weight_decay, **switches):
    return oracle.adamw(param, grads, lrs, betas, eps, weight_decay, **switches)[0]


def mistake(name, says, look="", **switches):
    return Mistake(name, lambda **inputs: expected(**inputs, **switches), says, look)


def _state(c, inputs, answers):
    """The dict that the caller saves with a checkpoint."""
    _, state = answers[0].value
    _, want = oracle.adamw(**double(inputs))
    return form(state, want, "state") or difference(state, want, c.tolerance, "state")


DECOUPLED = "The new value: theta - lr * weight_decay * theta - lr * m_hat / (sqrt(v_hat) + eps)"
ADAMW_STEP = Component(
    "adamw_step",
    fixtures,
    expected,
    call=lambda inputs: Call(args=tuple(inputs.values()), probe="training:adamw"),
    read=lambda inputs, value: value[0],
    properties=(
        Property("state holds step, m and v", lambda c, i: [c.call(i)], _state),
        unchanged,
        any_device,
    ),
    mistakes=(
        mistake(
            "not_in_place",
            "The parameter does not change.",
            "Change the tensor itself: param.sub_(...), param.mul_(...), or param -= ...",
            in_place=False,
        ),
        mistake(
            "no_correction",
            "The averages m and v are used without their bias correction.",
            "Use m_hat = m / (1 - beta1 ** t) and v_hat = v / (1 - beta2 ** t).",
            correct=(),
        ),
        mistake(
            "only_m_corrected", "The average v is used without its bias correction.", correct=("m",)
        ),
        mistake(
            "only_v_corrected", "The average m is used without its bias correction.", correct=("v",)
        ),
        mistake(
            "step_from_0",
            "The first step is counted as step 0, so that 1 - beta ** t is 0.",
            "Raise the count before the correction: the first step has t = 1.",
            steps_from=0,
        ),
        mistake(
            "forgets",
            "Both m and v start from zero in every step.",
            "Keep them in `state`, which the caller hands in again.",
            forget=True,
        ),
        mistake(
            "averages_not_stored",
            "The new m and v are not put back into state: each step averages with zeros again.",
            'Change them in place (m.mul_(...)), or store them: state["m"], state["v"] = m, v.',
            stored=("step",),
        ),
        mistake(
            "v_not_stored",
            "The new v is not put back into state.",
            'Change it in place (v.mul_(...)), or store it: state["v"] = v.',
            stored=("step", "m"),
        ),
        mistake(
            "m_not_stored",
            "The new m is not put back into state.",
            'Change it in place (m.mul_(...)), or store it: state["m"] = m.',
            stored=("step", "v"),
        ),
        mistake(
            "step_not_stored",
            "The new step is not put back into state: every step is corrected as the first.",
            'Raise the count in the dict itself: state["step"] += 1.',
            stored=("m", "v"),
        ),
        mistake(
            "decay_in_gradient",
            "The decay is added to the gradient: that is Adam with L2, not AdamW.",
            DECOUPLED,
            decay="gradient",
        ),
        mistake(
            "decay_without_lr", "The decay is not multiplied by lr.", DECOUPLED, decay="without lr"
        ),
        mistake(
            "decay_after_update",
            "The decay acts on the parameter after the update instead of before.",
            DECOUPLED,
            decay="after the update",
        ),
        mistake("no_decay", "The weight decay is not used.", DECOUPLED, decay="none"),
        mistake(
            "eps_inside",
            "The eps is added inside the root.",
            "Divide by sqrt(v_hat) + eps.",
            eps_at="inside",
        ),
        mistake("no_eps", "The eps is missing.", "Divide by sqrt(v_hat) + eps.", eps_at="nowhere"),
        mistake("no_root", "It divides by v_hat, not by its square root.", root=False),
        mistake(
            "not_squared",
            "The average v is that of |g|, not of g squared.",
            "It is beta2 v + (1 - beta2) g * g.",
            square=False,
        ),
        mistake(
            "plain_sum",
            "The average m takes in the whole gradient instead of the share 1 - beta1.",
            "It is beta1 m + (1 - beta1) g.",
            rest=False,
        ),
        mistake("betas_swapped", "The two betas have changed places.", swap=True),
        mistake("uphill", "The step goes uphill: the update is added.", DECOUPLED, sign=-1.0),
    ),
    outputs="the parameter after each step",
    look={
        "the first step": "With t = 1, m_hat = g and v_hat = g * g: each entry moves by lr.",
        "weight decay alone": "With g = 0, only theta - lr * weight_decay * theta is left.",
    },
)
