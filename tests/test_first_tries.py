"""Wrong first tries of chapters 3 and 4: what the report says to do about each."""

import math

import pytest
import torch

from autograder import check
from autograder.standins import head_writes


def maximum_as_a_pair(x, dim=-1):
    e = (x - x.max(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)


def all_axes_turned(Q, K, V, mask=None, dropout=0.0):
    S = Q @ K.permute(*reversed(range(K.dim()))) / math.sqrt(Q.shape[-1])  # as K.T does
    A = (S if mask is None else S + mask).softmax(-1)
    return torch.dropout(A, dropout, train=dropout > 0) @ V, A


def axes_exchanged(d_k, n=10_000, scaled=True):
    q, k = torch.randn(d_k, n), torch.randn(d_k, n)
    scores = (q * k).sum(-1)
    return (scores / math.sqrt(d_k) if scaled else scores).var().item()


def batch_into_heads(x, n_head):
    return x.reshape(n_head, x.shape[-2], -1)


def no_batch(x, n_head):
    T, d = x.shape[-2:]
    return x.reshape(T, n_head, d // n_head).transpose(0, 1)


def no_batch_back(x):
    H, T, d_k = x.shape[-3:]
    return x.transpose(-3, -2).reshape(T, H * d_k)


def first_axis(attn, x, head):
    return attn(x) - head_writes(attn, x)[head]


TRIES = {
    "maximum and places": ("softmax", maximum_as_a_pair, "x.amax(dim, keepdim=True)"),
    "K.T": ("attention", all_axes_turned, "K.transpose(-2, -1) swaps the last two axes"),
    "sums over the pairs": (
        "score_variance",
        axes_exchanged,
        "torch.randn(n, d_k), one vector a row",
    ),
    "a batch into the heads": ("split_heads", batch_into_heads, "Keep the leading axes"),
    "no batch": ("split_heads", no_batch, "Keep the leading axes"),
    "no batch on the way back": ("merge_heads", no_batch_back, "Keep the leading axes"),
    "the first axis": ("ablate_head", first_axis, "the third axis from the end"),
}


@pytest.mark.parametrize("seed", (0, 1, 2))
@pytest.mark.parametrize("name", TRIES)
def test_the_report_says_what_to_do(name, seed):
    component, target, part = TRIES[name]
    report = check.run(component, target, seed)
    assert not report.passed
    assert part in report.first().trouble.look, str(report)


def test_every_q_with_every_k_is_tried_on_a_few_only():
    """100,000 of them would ask for 40 GB."""
    asked = []

    def every_pair(d_k, n=10_000, scaled=True):
        asked.append(n)
        scores = torch.randn(n, d_k) @ torch.randn(n, d_k).T
        return (scores / math.sqrt(d_k) if scaled else scores).var().item()

    report = check.score_variance(every_pair)
    assert asked and max(asked) < 1000
    assert report.fraction == 0 and "40 GB" in report.first().trouble.evidence
    assert "(q * k).sum(-1)" in report.first().trouble.look


def test_what_fails_on_a_few_is_told_as_any_failure():
    def fails(d_k, n=10_000, scaled=True):
        return torch.randn(n, d_k) @ torch.randn(n, d_k)

    report = check.score_variance(fails)
    assert report.started and report.summary.startswith("It raises RuntimeError")
