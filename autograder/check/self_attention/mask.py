"""The causal mask."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from autograder.check.component import Component
from autograder.check.findings import failure
from autograder.check.mistake import Mistake, altered
from autograder.check.parts import Fixture, Property
from autograder.check.draw import choice
from autograder.judge import Trouble
from autograder.judge.compare import kind
from autograder.oracle import self_attention as oracle
from autograder.probes import Call
from autograder.probes.elsewhere import ELSEWHERE
from autograder.probes.plain import OnOther


def mask_fixtures(rng):
    (T,) = choice(rng, (5,), (6,), (7,))
    return [Fixture("T = 1", {"T": 1}, weight=0.5), Fixture(f"T = {T}", {"T": T})]


def _additive(c, inputs, answers):
    mask = answers[0].value
    if mask.dtype != bool and not mask.any():
        return Trouble("The mask holds no -inf: every entry is 0.")
    if mask.dtype == bool or set(np.unique(mask)) <= {0, 1}:
        return Trouble(
            "The mask holds 0 and 1 (or False and True).",
            "It is added to the scores, so it must hold 0 where looking is allowed, -inf elsewhere.",
        )
    return None


def _narrow(c, inputs, answers):
    """Whatever it is added to keeps its type: none is wider than the usual float32."""
    dtype = answers[0].value.dtype
    if np.result_type(dtype, np.float32) == np.float32:
        return None
    return Trouble(
        f"The mask is {dtype}: scores of float32 to which it is added become {dtype} too.",
        look="torch.full and torch.zeros make float32 by default; NumPy makes float64.",
    )


def _away(c, inputs):
    return [Call(args=(inputs["T"],), kwargs={"device": ELSEWHERE}, device=ELSEWHERE)]


def _device_verdict(c, inputs, answers):
    (answer,) = answers
    look = "Hand device on to the function that makes the tensor: device=device."
    if answer.failure:
        return replace(failure(answer, "on a device other than the CPU"), look=look)
    if not isinstance(answer.value, OnOther):
        said = f"For another device it returns {kind(answer.value)} on the CPU."
        return Trouble(said, look=look)
    return None


MASK = partial(oracle.causal_mask, xp=np)
CAUSAL_MASK = Component(
    "causal_mask",
    mask_fixtures,
    MASK,
    properties=(
        Property("is added to the scores", lambda c, i: [c.call(i)], _additive),
        Property("is float32", lambda c, i: [c.call(i)], _narrow, weight=0.5),
        Property("is made on the given device", _away, _device_verdict, weight=0.5),
    ),
    mistakes=(
        Mistake(
            "diagonal_masked",
            altered(MASK, diagonal=0),
            "-inf stands on the diagonal too, where s = t, so no position may look at itself; "
            "it should stand only where s > t.",
            "triu(0) -> triu(1), or s >= t -> s > t.",
            "Row 0 is then all -inf, its softmax 0 / 0, and the NaN spreads through the model.",
        ),
        Mistake(
            "one_too_far",
            altered(MASK, diagonal=2),
            "Each position may look one step ahead: -inf stands where s > t + 1; it should "
            "stand where s > t.",
            "triu(2) -> triu(1), or s > t + 1 -> s > t.",
            "A position that sees the next token copies it. The training loss falls to almost 0, and "
            "the model cannot generate, because then the next token is not there.",
        ),
        Mistake(
            "mirrored",
            altered(MASK, direction="past"),
            "-inf stands below the diagonal, on the past (s < t); it should stand above it, on "
            "the future (s > t).",
            "tril(-1) -> triu(1), or s < t -> s > t; row t is the position that looks.",
            "Each position reads the very tokens that it is to predict, and none of those before it. "
            "Training looks splendid, and the text that comes out is noise.",
        ),
        Mistake(
            "finite_fill",
            altered(MASK, fill=-1e9),
            "What is hidden holds -1e9, a finite number; it should hold -inf.",
            "-1e9 -> -math.inf",
            "With scores of usual size it makes no difference. But where a whole row is masked, as "
            "for padding, every key counts alike, and half precision cannot hold 1e9.",
        ),
        Mistake(
            "finite_fill_1e4",
            altered(MASK, fill=-1e4),
            "What is hidden holds -10000, a finite number; it should hold -inf.",
            "-1e4 -> -math.inf",
            "Training can push scores below -10000, and then the future is open again: the loss "
            "falls, suddenly and for the wrong reason.",
        ),
        Mistake(
            "smallest_float_fill",
            altered(MASK, fill=float(np.finfo(np.float32).min)),
            "What is hidden holds the most negative float32, about -3.4e38; it should hold "
            "-inf.",
            "torch.finfo(...).min -> -math.inf",
            "Two such masks added, one for padding and one for the future, overflow to -inf after "
            "all; half precision cannot hold the number. -inf is exact in every type.",
        ),
        Mistake(
            "plus_infinity",
            altered(MASK, fill=math.inf),
            "What is hidden holds +inf; it should hold -inf.",
            "math.inf -> -math.inf",
            "The softmax of +inf is inf / inf: NaN in every row but the last.",
        ),
        Mistake(
            "all_hidden",
            altered(MASK, open=-math.inf),
            "Every entry is -inf, so no position may look at anything; where s <= t it should "
            "be 0.",
            "Behind torch.full((T, T), -math.inf): .triu(1), which puts 0 on and below the "
            "diagonal.",
            "Each row of the softmax is then 0 / 0: NaN everywhere.",
        ),
        Mistake(
            "tril_for_triu",
            altered(MASK, direction="past", diagonal=0),
            "-inf stands on and below the diagonal (s <= t) and 0 above it; it should be 0 "
            "there and -inf above it (s > t).",
            "tril() -> triu(1), or s <= t -> s > t, in what is hidden.",
            "Each position sees the future alone. The last one sees nothing: its row is all -inf, "
            "and its softmax NaN.",
        ),
        Mistake(
            "zero_times_infinity",
            altered(MASK, open=math.nan),
            "It holds NaN where looking is allowed, since 0 * inf is NaN; it should hold 0 "
            "there.",
            "torch.ones(T, T).triu(1) * -math.inf -> torch.full((T, T), -math.inf).triu(1), or "
            "masked_fill.",
            "NaN plus any score is NaN, and so is every softmax and every output.",
        ),
        Mistake(
            "ones_where_allowed",
            altered(MASK, open=1.0, fill=0.0),
            "It holds 1 where looking is allowed and 0 elsewhere; it is added, so it should "
            "hold 0 there and -inf elsewhere.",
            "torch.ones(T, T).tril() -> torch.full((T, T), -math.inf).triu(1)",
            "Added to the scores, 1 and 0 mask nothing: the past is only e = 2.7 times likelier than "
            "it would be, and the future stays open.",
        ),
        Mistake(
            "ones_where_hidden",
            altered(MASK, fill=1.0),
            "It holds 1 where looking is forbidden; it is added to the scores, so it should "
            "hold -inf there.",
            "torch.ones(T, T) -> torch.full((T, T), -math.inf), before .triu(1).",
            "Added to the scores, 1 masks nothing: it makes the future e = 2.7 times likelier.",
        ),
        Mistake(
            "zero_fill",
            altered(MASK, fill=0.0),
            "Every entry is 0, so nothing is hidden; where s > t it should be -inf.",
            "torch.zeros(T, T) -> torch.full((T, T), -math.inf).triu(1)",
            "The mask is added, and 0 changes no score: every position sees the whole text.",
        ),
    ),
    shortcuts=frozenset({"generate_square_subsequent_mask"}),
    example={"T": 3},
    outputs="the mask",
    look={
        "shapes and types": "One matrix, (T, T), of floats: 0 and -math.inf.",
        "a small example": "Row t: 0 up to column t, -math.inf beyond it.",
        "T = 1": "One position sees itself: the mask is [[0]].",
    },
)
