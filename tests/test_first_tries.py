"""Wrong first tries: what the report says to do about each."""

import math
from dataclasses import make_dataclass
from functools import partial

import pytest
import torch
from torch import nn

from autograder import check, standins
from autograder.oracle import architecture
from autograder.standins import (
    AttentionHead,
    FeedForward,
    PostNormBlock,
    attention,
    causal_mask,
    gelu_tanh,
    head_writes,
)


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


class Projections(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, d_k) for _ in range(3))

    def forward(self, x):
        return attention(self.W_Q(x), self.W_K(x), self.W_V(x), causal_mask(x.shape[-2]))[0]


class LargeWeights(AttentionHead):
    def __init__(self, d_model, d_k):
        super().__init__(d_model, d_k)
        for W in (self.W_Q, self.W_K, self.W_V):
            nn.init.normal_(W)


def heads_before_the_batch(attn, x):
    return torch.stack(head_writes(attn, x).unbind(-3))


def sampling(cut_k=None, cut_p=None):
    def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
        if cut_k and top_k is not None:
            logits, top_k = cut_k(logits, min(top_k, logits.shape[-1])), None
        if cut_p and top_p is not None and temperature:
            logits, top_p = cut_p(logits / temperature, top_p) * temperature, None
        return standins.sample_next(logits, temperature, top_k, top_p, generator)

    return sample_next


def cut_at_the_first_row(logits, k):
    return logits.masked_fill(logits < logits.topk(k).values[0, -1], -math.inf)


def cut_in_place(logits, k):
    logits[logits < logits.topk(k).values[..., -1:]] = -math.inf
    return logits


def values_back_forwards(logits, p):
    values, order = logits.sort(descending=True)
    before = values.softmax(-1).cumsum(-1) - values.softmax(-1)
    return values.masked_fill(before >= p, -math.inf).gather(-1, order)


class BiasAfterGELU(FeedForward):
    def forward(self, x):
        return gelu_tanh(x @ self.W_up) + self.b_up @ self.W_down + self.b_down


class NormOfTheWrite(PostNormBlock):
    def forward(self, x):
        x = x + self.ln_1(self.attn(x))
        return self.ln_2(x + self.ffn(x))


@torch.no_grad()
def variances(model, generator=None):
    for name, p in model.named_parameters():
        if p.dim() == 2:
            narrow = name.endswith(("W_O", "W_down"))
            deviation = 0.02**2 / (2 * model.config.n_layer) if narrow else 0.02
            p.normal_(0, deviation, generator=generator)
        else:
            p.fill_(name.endswith("gamma"))


def mean_along(axis):
    def cross_entropy(logits, targets):
        right = logits.gather(-1, targets[..., None]).squeeze(-1)
        return (logits.logsumexp(-1) - right).mean(axis)

    return cross_entropy


def adamw(first=0, behind=0):
    """The state counts from `first`, and t lags `behind`."""

    @torch.no_grad()
    def adamw_step(p, grad, state, lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0):
        if not state:
            state.update(step=first, m=torch.zeros_like(p), v=torch.zeros_like(p))
        state["step"] += 1
        t = max(1, state["step"] - first - behind)
        m = state["m"].mul_(betas[0]).add_((1 - betas[0]) * grad)
        v = state["v"].mul_(betas[1]).add_((1 - betas[1]) * grad**2)
        p.mul_(1 - lr * weight_decay)
        p.sub_(lr * m / (1 - betas[0] ** t) / ((v / (1 - betas[1] ** t)).sqrt() + eps))

    return adamw_step


def each_group_clipped(model, x, y, groups, state, lr, betas=(0.9, 0.95), eps=1e-8, max_norm=1.0):
    model.zero_grad()
    loss = model.loss(x, y)
    loss.backward()
    norms = [standins.clip_grad_norm(group["params"], max_norm) for group in groups]
    for group in groups:
        for p in group["params"]:
            if p.grad is not None:
                own = state.setdefault(p, {})
                standins.adamw_step(p, p.grad, own, lr, betas, eps, group["weight_decay"])
    return loss.item(), math.hypot(*norms)


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
    "linear layers": ("AttentionHead", Projections, "nn.Linear names its parameters so"),
    "a deviation of 1": ("AttentionHead", LargeWeights, "0.02 * torch.randn(d_model, d_k)"),
    "heads before the batch": ("head_writes", heads_before_the_batch, "dim=-3"),
    "the bias after GELU": ("FeedForward", BiasAfterGELU, "add it to x @ W_up, before GELU"),
    "the norm of the write": (
        "PostNormBlock",
        NormOfTheWrite,
        "ln_1(x + attn(x)) in the first line",
    ),
    "the variance": ("init_weights", variances, "the mean and the deviation, not the variance"),
    "the first row's bound": ("sample_next", sampling(cut_at_the_first_row), "[..., -1:]"),
    "a cut in place": ("sample_next", sampling(cut_in_place), "logits.clone()"),
    "values back": (
        "sample_next",
        sampling(cut_p=values_back_forwards),
        "values.gather(-1, order) -> values.gather(-1, order.argsort(-1))",
    ),
    "a loss of each text": ("cross_entropy", mean_along(-1), ".mean(-1) -> .mean()"),
    "a loss of each position": ("cross_entropy", mean_along(0), ".mean() without an axis"),
    "t too late": ("adamw_step", adamw(behind=1), "corrections is 1, 2, 3, ..."),
    "a count from 1": ("adamw_step", adamw(first=1), "0 at first, then one more in each call"),
    "each group clipped": ("train_step", each_group_clipped, "One call of clip_grad_norm"),
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


def config_class(fits, **n_head):
    """A GPT2Config that refuses what does not fit, whose constructors hand over other heads."""
    fields = [(name, type(value), value) for name, value in architecture.FIELDS.items()]

    def refuse(self):
        if not fits(self.d_model, self.n_head):
            raise ValueError(f"{self.d_model} {self.n_head}")

    def constructor(size):
        L, H, d = architecture.SIZES[size]
        heads = n_head.get(size, H)
        return classmethod(lambda cls: cls(n_layer=L, n_head=heads, d_model=d))

    namespace = {size: constructor(size) for size in architecture.SIZES}
    namespace["__post_init__"] = refuse
    return make_dataclass("GPT2Config", fields, namespace=namespace, frozen=True)


def test_heads_that_are_refused_are_told_from_a_condition_that_is_too_strict():
    def heads(d, H):
        return d % H == 0

    assert check.GPT2Config(config_class(heads)).passed
    look = check.GPT2Config(config_class(heads, medium=12)).first().trouble.look
    assert "medium() hands over, which should be n_layer=24, n_head=16, d_model=1024" in look
    look = check.GPT2Config(config_class(lambda d, H: d == 64 * H)).first().trouble.look
    assert "too strict: refuse only where d_model % n_head is not 0" in look


@torch.no_grad()
def continued(
    after, model, ids, n, temperature=1.0, top_k=None, top_p=None, use_cache=True, generator=None
):
    was = model.training
    model.eval()
    for _ in range(n):
        logits = model(ids[:, -model.config.n_positions :])[:, -1]
        new = standins.sample_next(logits, temperature, top_k, top_p, generator)
        ids = torch.cat([ids, new[:, None]], dim=1)
    after(model, was)
    return ids


@torch.no_grad()
def evaluated(after, model, batches):
    was = model.training
    model.eval()
    total = count = 0
    for x, y in batches:
        total += model.loss(x, y).item() * y.numel()
        count += y.numel()
    after(model, was)
    return total / count


@pytest.mark.parametrize(
    "judge, written", [(check.generate, continued), (check.estimate_loss, evaluated)]
)
def test_a_mode_that_is_not_restored_costs_a_single_part(judge, written):
    for after in (lambda model, was: model.train(), lambda model, was: None):
        report = judge(partial(written, after))
        assert [f.part for f in report.findings if not f.passed] == [report.first().part]
        assert report.first().part.endswith("mode") and 0.7 < report.fraction < 1
        assert "model.train(" in report.first().trouble.look
    assert judge(partial(written, lambda model, was: model.train(was))).passed


def test_a_float_is_called_a_float():
    def in_floats(config):
        fields = {name: getattr(config, name) for name in architecture.FIELDS}
        counts = architecture.count_parameters(fields)
        return {part: float(n) for part, n in counts.items()}

    trouble = check.count_parameters(in_floats).first().trouble
    assert '"token_embedding" is a float, 38597376.0; it should be a Python int' in trouble.what
    assert "//" in trouble.look
