"""What `autograder doctor` concludes from a recorded run: plain data, no training."""

import copy
import math

import pytest

from autograder.doctor import judge_context, judge_data, judge_gradients, judge_model, judge_run
from autograder.doctor.examine import conclude, findings_of
from autograder.doctor.finding import Finding, short
from autograder.doctor.follows import SYMPTOMS, parents


@pytest.fixture
def healthy():
    """A recorded run of 400 steps that goes as it should."""
    steps = [dict(loss=5 * 0.99**i + 1, norm=1.0, lr=1e-3) for i in range(400)]
    history = [dict(step=i, train=5 * 0.99**i + 1, held_out=5 * 0.99**i + 1.1) for i in (0, 200)]
    return {
        "repeated": dict(first=[6.0, 5.9], second=[6.0, 5.9], on_cpu=True),
        "steps": steps,
        "broke": None,
        "history": history,
        "final": dict(step=400, train=1.09, held_out=1.2),
        "largest": {"E": 0.5},
        "levels": dict(unigram=4.0, bigram=2.0),
        "floor": 0.8,
        "tokens": 1000,
        "parallel": 1.2,
        "prefix": 1.2,
        "moved": 1e-7,
    }


def of_run(data):
    return [f.cause for f in findings_of(conclude({"training": data}))]


def changed(data, **changes):
    data = copy.deepcopy(data)
    for key, value in changes.items():
        data[key] = data[key] | value if isinstance(value, dict) and data[key] else value
    return data


def test_a_healthy_run(healthy):
    assert of_run(healthy) == []


@pytest.mark.parametrize(
    "cause, changes",
    [
        ("not_deterministic", dict(repeated=dict(second=[6.0, 5.8]))),
        ("below_the_floor", dict(final=dict(train=0.3, held_out=0.3), parallel=1, prefix=1)),
        ("prefix_gap", dict(prefix=1.4)),
        ("leak_after_training", dict(moved=0.1)),
        ("overfitting", dict(final=dict(train=0.2, held_out=2.4))),
    ],
)
def test_a_run_with_one_thing_wrong(cause, changes, healthy):
    assert of_run(changed(healthy, **changes)) == [cause]


def flat(data, level, steps=400):
    """The same run, its losses near one level from the start."""
    data = changed(data, final=dict(train=level, held_out=level))
    data["steps"] = [dict(loss=level, norm=1.0, lr=1e-3)] * steps
    data["history"] = [dict(step=0, train=level, held_out=level)]
    return data


def test_a_loss_that_stands_still(healthy):
    assert of_run(flat(healthy, 5.0)) == ["nothing_learnt", "never_below_unigram"]
    assert of_run(flat(healthy, 5.0, steps=40)) == []  # too early to say
    stuck = changed(healthy, final=dict(train=4.0, held_out=4.0))
    stuck["history"] = [dict(step=0, train=6.0, held_out=6.0)]
    assert of_run(stuck) == ["never_below_unigram"]
    # a text whose bigrams tell nothing
    assert of_run(changed(stuck, levels=dict(unigram=4.0, bigram=4.0))) == []


def test_a_loss_that_rises(healthy):
    risen = changed(healthy, final=dict(train=9.0, held_out=9.0))
    risen["steps"][250]["norm"] = 77.0
    look = judge_run.course_of_losses(risen)
    assert look.findings[0].cause == "diverged"
    assert "77.000, at step 251" in look.findings[0].evidence


def test_a_run_that_breaks_names_the_step_and_the_first_part(healthy):
    broke = dict(step=12, what="loss", part="blocks.1.ffn")
    data = changed(healthy, broke=broke)
    data["steps"] = [dict(loss=3.0, norm=2.0**i, lr=1e-3) for i in range(11)]
    data["steps"].append(dict(loss=math.nan, norm=math.nan, lr=1e-3))
    del data["final"]
    (finding,) = findings_of(conclude({"training": data}))
    assert finding.cause == "not_finite"
    assert "step 12 the loss" in finding.what and "blocks.1.ffn" in finding.what
    assert "256.000, 512.000, 1,024; largest weights: E 0.500" in finding.evidence


# ------------------------------------------------------------------ what follows from what


def test_symptoms_follow_from_any_cause_and_never_from_each_other():
    def found(*names):
        return parents([Finding(name, "", "", "") for name in names])

    assert found("betas_swapped", "diverged") == {"diverged": "betas_swapped"}
    assert found(*SYMPTOMS) == {}
    assert found("leak", "below_the_floor") == {"below_the_floor": "leak"}
    assert found("leak", "prefix_gap") == {"prefix_gap": "leak"}
    assert found("below_the_floor") == {}
    remark = Finding("overfitting", "", "", "", remark=True)
    assert parents([remark, Finding("diverged", "", "", "")]) == {}


def test_numbers_are_readable():
    assert [short(x) for x in (0.5, 1e-7, math.nan, math.inf, None)] == [
        "0.500",
        "1e-07",
        "NaN",
        "inf",
        "none",
    ]
    assert [short(x) for x in (1234.5, -3e10)] == ["1,234", "-3.0e+10"]


# ------------------------------------------------------------------ the looks before the training


def drawn(**changes):
    """Batches as they should be: 18 windows, each as often."""
    usual = dict(starts={str(i): 22 for i in range(18)}, windows=18, given=[3, 9])
    usual |= dict(from_given=[3, 9], next_is_same=False, same_seed_is_same=True)
    return usual | changes


def test_windows_that_are_drawn_unevenly():
    def found(**changes):
        return [f.cause for f in judge_data.starts(drawn(**changes)).findings]

    assert found() == []
    assert found(starts={str(i): 150 if i == 4 else 15 for i in range(18)}) == ["windows_uneven"]
    assert found(next_is_same=True, same_seed_is_same=True) == ["same_batch_every_step"]
    assert judge_data.starts({"shape": [[1], [1]]}) is None


def test_batches_of_another_shape_or_order():
    shape = judge_data.targets({"shape": [[4, 5], [4, 4]], "expected": [4, 5]})
    order = judge_data.targets({"shifts": {"1": 20}, "out_of_order": 3})
    far = judge_data.targets({"shifts": {"7": 20}, "out_of_order": 0})
    found = [look.findings[0].cause for look in (shape, order, far)]
    assert found == ["batch_shape", "windows_out_of_order", "targets_unrelated"]


def test_a_first_rate_of_0_is_a_remark():
    rates = [i / 10 for i in range(11)] + [1 - 0.01 * i for i in range(1, 91)]
    look = judge_data.rates(dict(rates=rates, top=1.0, low=0.1, warmup=10))
    assert [(f.cause, f.remark) for f in look.findings] == [("first_step_lost", True)]
    low = judge_data.rates(dict(rates=[x / 2 for x in rates], top=1.0, low=0.1, warmup=10))
    assert low.findings[0].cause == "schedule_misses_top"


@pytest.mark.parametrize(
    "cause, changes",
    [
        ("mask_is_finite", dict(moved=dict(fresh=0, stirred=0, large=0.5))),
        ("mask_has_holes", dict(mask=[[0, -math.inf, 0], [0, 0, -math.inf], [0, 0, 0]])),
        ("leak", {}),
        ("leak", dict(mask=[[1, 0], [1, 1]])),  # not an additive mask: nothing is said of it
        ("mask_not_used", dict(weights=dict(rows=[1, 1], columns=[0.2, 2], above=0.3))),
    ],
)
def test_the_part_that_leaks(cause, changes):
    usual = dict(moved=dict(fresh=0.1, stirred=0.2), parts={"attn": 0.1, "ln_1": 0}, heads={})
    look = judge_context.later_tokens(usual | dict(mask=None, weights=None) | changes)
    assert [f.cause for f in look.findings] == [cause]
    assert judge_context.later_tokens(usual | dict(moved=dict(fresh=1e-6))).findings == ()


def test_a_fresh_model_that_gives_nothing_to_look_at():
    usual = dict(shape=[2, 3, 5], expected=[2, 3, 5], log_V=1.6, mask=None)
    first = dict(part="blocks.0.ffn", positions=[0, 1, 2], of=3)
    broken = judge_model.first_loss(usual | dict(not_finite=first))
    assert broken.findings[0].cause == "not_finite_at_start"
    assert broken.findings[0].evidence.endswith("is blocks.0.ffn.")
    shape = judge_model.first_loss(usual | dict(shape=[2, 5]))
    assert shape.findings[0].cause == "logits_shape"


def test_a_loss_that_no_known_mistake_explains():
    def on(given):
        causes = {cause: 10.0 + i for i, cause in enumerate(judge_model.LOSSES)}
        return {
            "V": 9,
            "on": {n: {"given": given, "right": 2.0, **causes} for n in ("fresh", "stirred")},
        }

    assert judge_model.loss_value(on(2.0)).findings == ()
    assert judge_model.loss_value(on(3.0)).findings[0].cause == "loss_is_another"
    assert judge_model.loss_value(on(10.0)).findings[0].cause == "loss_summed"


def test_parts_out_of_sight():
    usual = dict(hidden=[], blocks=2, different=2, n_layer=2)
    assert judge_model.registered(usual).findings == ()
    part = dict(place="model.extra", kind="dict", tensors=1, numbers=12)
    found = judge_model.registered(usual | dict(hidden=[part])).findings
    assert [f.cause for f in found] == ["not_registered"]


def test_gradients_that_are_rightly_0_or_cannot_be_measured():
    def found(**slopes):
        usual = dict(given=0.5, true=0.5, sure=True, zero=False)
        look = judge_gradients.slopes({"slopes": {n: usual | s for n, s in slopes.items()}})
        return look.measured, [f.cause for f in look.findings]

    assert found(b_K=dict(given=0.0, true=0.0, zero=True)) == ("1 of 1 gradients", [])
    assert found(b_K=dict(given=None, true=0.0, zero=True))[1] == ["parameter_unused"]
    assert found(b_Q=dict(given=0.0, true=0.0, zero=True))[1] == ["parameter_unused"]
    assert found(E=dict(given=0.1)) == ("0 of 1 gradients", ["gradient_wrong"])
    assert found(E=dict(given=0.1, sure=False)) == ("0 of 0 gradients", [])
    assert judge_gradients.slopes({"slopes": None}) is None
