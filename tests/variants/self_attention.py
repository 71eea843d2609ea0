"""Chapter 3."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def softmax_by_logsumexp(x, dim=-1):
    return (x - torch.logsumexp(x, dim, keepdim=True)).exp()


def softmax_in_float64(x, dim=-1):
    e = torch.exp(x.double() - x.double().max(dim, keepdim=True)[0])
    return (e / e.sum(dim, keepdim=True)).to(x.dtype)


def softmax_in_one_pass(x, dim=-1):
    """Slice after slice along dim, with the maximum and the sum as they are so far."""
    slices = x.unbind(dim)
    most, total = slices[0], torch.ones_like(slices[0])
    for s in slices[1:]:
        higher = torch.maximum(most, s)
        total = total * torch.exp(most - higher) + torch.exp(s - higher)
        most = higher
    return torch.stack([torch.exp(s - most) / total for s in slices], dim)


def softmax_on_the_last_axis(x, dim=-1):
    """The axis is moved to the end, and back."""
    moved = torch.movedim(x, dim, -1)
    rows = moved.reshape(-1, moved.shape[-1]).clone()
    rows -= rows.max(1).values[:, None]
    rows.exp_()
    rows = rows.div(rows @ torch.ones_like(rows[0])[:, None])
    return rows.view(moved.shape).movedim(-1, dim)


def softmax_by_library(x, dim=-1):
    return F.log_softmax(x, dim).exp()


def softmax_overflows(x, dim=-1):
    return x.exp() / x.exp().sum(dim, keepdim=True)


def softmax_with_one_maximum(x, dim=-1):
    e = (x - x.max()).exp()
    return e / e.sum(dim, keepdim=True)


def softmax_from_the_mean(x, dim=-1):
    e = (x - x.mean(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)


def softmax_from_the_mean_in_float64(x, dim=-1):
    return softmax_from_the_mean(x.double(), dim).to(x.dtype)


def softmax_by_one_sum(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum()


def softmax_with_epsilon(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / (e.sum(dim, keepdim=True) + 1e-6)


def softmax_detached(x, dim=-1):
    return torch.softmax(x.detach(), dim)


def softmax_in_place(x, dim=-1):
    x -= x.max(dim, keepdim=True)[0]
    return x.exp() / x.exp().sum(dim, keepdim=True)


def softmax_global_maximum_zeros(x, dim=-1):
    return torch.zeros_like(x)


def mask_by_comparison(T, device=None):
    t = torch.arange(T, device=device)
    return torch.where(t[None] > t[:, None], -math.inf, 0.0)


def mask_by_loops(T, device=None):
    mask = torch.zeros(T, T, device=device)
    for t in range(T):
        for s in range(t + 1, T):
            mask[t, s] = float("-inf")
    return mask


def mask_by_logarithm(T, device=None):
    return torch.ones((T, T), device=device).tril_().log()


def mask_by_filling(T, device=None):
    allowed = torch.tril(torch.ones(T, T, device=device, dtype=torch.bool))
    return torch.zeros(T, T, device=device).masked_fill_(~allowed, float("-inf"))


def mask_by_indices(T, device=None):
    rows, columns = torch.triu_indices(T, T, offset=1, device=device)
    mask = torch.zeros(T * T, device=device)
    mask[rows * T + columns] = -torch.inf
    return mask.reshape(T, T)


def mask_by_rows(T, device=None):
    """Row t: t + 1 zeros, then -inf."""
    endless = torch.tensor([0.0] * T + [-math.inf] * T, device=device)
    return torch.stack([endless[T - 1 - t : 2 * T - 1 - t] for t in range(T)])


def mask_of_ones(T, device=None):
    return torch.ones(T, T).tril()


def mask_on_the_cpu(T, device=None):
    return torch.full((T, T), -math.inf).triu(1)


def mask_of_zeros(T, device=None):
    return torch.zeros(T, T, device=device)


def mask_true_is_hidden(T, device=None):
    return torch.ones(T, T, dtype=torch.bool).triu(1)


def mask_with_nan(T, device=None):
    return torch.ones(T, T).triu(1) * -math.inf


def attention_by_einsum(Q, K, V, mask=None, dropout=0.0):
    S = torch.einsum("...td,...sd->...ts", Q, K) * Q.size(-1) ** -0.5
    A = torch.softmax(S if mask is None else S + mask, dim=-1)
    return torch.einsum("...ts,...sv->...tv", F.dropout(A, dropout, dropout > 0), V), A


def attention_by_rows(Q, K, V, mask=None, dropout=0.0):
    outputs, weights = [], []
    for t in range(Q.shape[-2]):
        s = (Q[..., t, None, :] * K).sum(-1) / math.sqrt(K.shape[-1])
        if mask is not None:
            s = s + mask[t]
        a = (s - s.amax(-1, keepdim=True)).exp()
        a = a / a.sum(-1, keepdim=True)
        weights.append(a)
        a = nn.Dropout(dropout)(a)
        outputs.append((a[..., None] * V).sum(-2))
    return torch.stack(outputs, -2), torch.stack(weights, -2)


def attention_masked_after_and_renormalised(Q, K, V, mask=None, dropout=0.0):
    A = torch.softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), dim=-1)
    if mask is not None:
        A = A * (mask == 0)
        A = A / A.sum(-1, keepdim=True)
    kept = torch.rand_like(A) >= dropout
    return A * kept / (1 - dropout) @ V, A


def attention_in_loops(Q, K, V, mask=None, dropout=0.0):
    """One matrix of the batch after the other, in float64."""
    lead = Q.shape[:-2]
    flat = (X.reshape(-1, *X.shape[-2:]).double() for X in (Q, K, V))
    outputs, weights = [], []
    for q, k, v in zip(*flat):
        s = torch.empty(len(q), len(k), dtype=q.dtype, device=q.device)
        s = torch.addmm(s, q, k.T, beta=0, alpha=1 / math.sqrt(q.shape[1]))
        if mask is not None:
            s = torch.where(mask == 0, s, -math.inf)
        a = (s - s.logsumexp(1, keepdim=True)).exp()
        weights.append(a)
        keep = torch.bernoulli(torch.full_like(a, 1 - dropout))
        outputs.append((a * keep / (1 - dropout)) @ v)
    return tuple(torch.stack(X).view(*lead, *X[0].shape).to(Q.dtype) for X in (outputs, weights))


def attention_by_keys(Q, K, V, mask=None, dropout=0.0):
    """The scores of one key at a time, a column each."""
    q = Q / torch.tensor(Q.size(-1), dtype=Q.dtype, device=Q.device).sqrt()
    columns = [(q * K.narrow(-2, s, 1)).sum(-1) for s in range(K.size(-2))]
    scores = torch.stack(columns, -1)
    if mask is not None:
        scores += mask
    weights = nn.functional.softmax(scores, dim=-1)
    mixed = nn.Dropout(p=dropout)(weights).matmul(V)
    return mixed, weights


def attention_by_library(Q, K, V, mask=None, dropout=0.0):
    """The output by the library's function, the weights as the output for V = 1."""
    one = torch.eye(K.shape[-2], dtype=K.dtype, device=K.device).expand(*K.shape[:-1], -1)
    A = F.scaled_dot_product_attention(Q, K, one, mask)
    return F.scaled_dot_product_attention(Q, K, V, mask, dropout_p=dropout), A


class Attention(nn.Module):
    """As a module that is called."""

    def forward(self, Q, K, V, mask=None, dropout=0.0):
        S = torch.matmul(Q, K.mT).div(Q.shape[-1] ** 0.5)
        A = (S + (torch.zeros_like(S) if mask is None else mask)).softmax(-1)
        return self.drop(A, dropout) @ V, A

    def drop(self, A, rate):
        return A * (torch.rand_like(A) >= rate) / (1 - rate) if rate else A


def attention_scaled_by_keys(Q, K, V, mask=None, dropout=0.0):
    S = Q @ K.mT / math.sqrt(K.shape[-2])
    A = (S if mask is None else S + mask).softmax(-1)
    return F.dropout(A, dropout, dropout > 0) @ V, A


def attention_without_weights(Q, K, V, mask=None, dropout=0.0):
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)


def attention_no_batch(Q, K, V, mask=None, dropout=0.0):
    A = torch.softmax(
        Q @ K.permute(0, 2, 1) / Q.shape[-1] ** 0.5 + (0 if mask is None else mask), -1
    )
    return A @ V, A


def attention_without_dropout(Q, K, V, mask=None, dropout=0.0):
    return attention_by_einsum(Q, K, V, mask)


def attention_drops_outputs(Q, K, V, mask=None, dropout=0.0):
    out, A = attention_by_einsum(Q, K, V, mask)
    return F.dropout(out, dropout), A


def attention_drops_values(Q, K, V, mask=None, dropout=0.0):
    return attention_by_einsum(Q, K, F.dropout(V, dropout), mask)


def attention_without_rescaling(Q, K, V, mask=None, dropout=0.0):
    _, A = attention_by_einsum(Q, K, V, mask)
    return (A * (torch.rand_like(A) >= dropout)) @ V, A


def attention_returns_dropped_weights(Q, K, V, mask=None, dropout=0.0):
    S = Q @ K.mT / Q.shape[-1] ** 0.5 + (0 if mask is None else mask)
    A = F.dropout(S.softmax(-1), dropout)
    return A @ V, A


def attention_returns_one_value_with_dropout(Q, K, V, mask=None, dropout=0.0):
    out, A = attention_by_einsum(Q, K, V, mask, dropout)
    return (out, A) if dropout == 0 else out


def attention_hard(Q, K, V, mask=None, dropout=0.0):
    S = Q @ K.mT / Q.shape[-1] ** 0.5 + (0 if mask is None else mask)
    A = F.one_hot(S.argmax(-1), K.shape[-2]).to(Q.dtype)
    return A @ V, A


def softmax_by_true_elements(x, dim=-1):
    """Only scores that are not -inf are touched: what is indexed has a length of its own."""
    x = x - x.max(dim, keepdim=True).values
    e = torch.zeros_like(x)
    e[x > -math.inf] = x[x > -math.inf].exp()
    return e / e.sum(dim, keepdim=True)


def softmax_stays_in_float64(x, dim=-1):
    return torch.softmax(x.double(), dim)


def softmax_always_in_float32(x, dim=-1):
    return torch.softmax(x.float(), dim)


def mask_in_float64(T, device=None):
    mask = torch.zeros(T, T, dtype=torch.float64, device=device)
    return mask.masked_fill(torch.ones(T, T, dtype=torch.bool, device=device).triu(1), -math.inf)


def attention_in_float64(Q, K, V, mask=None, dropout=0.0):
    return attention_by_einsum(Q.double(), K.double(), V.double(), mask, dropout)


def attention_squeezed(Q, K, V, mask=None, dropout=0.0):
    out, A = attention_by_einsum(Q, K, V, mask, dropout)
    return out.squeeze(), A


def attention_drops_without_a_mask_only(Q, K, V, mask=None, dropout=0.0):
    return attention_by_einsum(Q, K, V, mask, dropout if mask is None else 0.0)


def attention_drops_with_a_mask_only(Q, K, V, mask=None, dropout=0.0):
    return attention_by_einsum(Q, K, V, mask, 0.0 if mask is None else dropout)


def attention_rescaled_without_a_mask_only(Q, K, V, mask=None, dropout=0.0):
    if mask is None:
        return attention_by_einsum(Q, K, V, mask, dropout)
    return attention_without_rescaling(Q, K, V, mask, dropout)


def attention_by_view(Q, K, V, mask=None, dropout=0.0):
    flat = [X.view(-1, *X.shape[-2:]) for X in (Q, K, V)]
    out, A = attention_by_einsum(*flat, mask, dropout)
    return out.reshape(*Q.shape[:-1], V.shape[-1]), A.reshape(*Q.shape[:-1], K.shape[-2])


class Head(nn.Module):
    """The parameters of a head, made in a loop."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.d_k = d_k
        for n in "QKV":
            setattr(self, f"W_{n}", nn.Parameter(torch.randn(d_model, d_k) * 0.02))
            setattr(self, f"b_{n}", nn.Parameter(torch.zeros(d_k)))

    def project(self, x):
        return (x @ getattr(self, f"W_{n}") + getattr(self, f"b_{n}") for n in "QKV")


class HeadByFill(Head):
    def forward(self, x):
        Q, K, V = self.project(x)
        T = x.size(-2)
        ahead = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        S = (Q @ K.transpose(-1, -2) / self.d_k**0.5).masked_fill(ahead, -torch.inf)
        return S.softmax(-1) @ V


class HeadWithSwappedWeights(HeadByFill):
    """Q from W_K and K from W_Q, each with its own bias."""

    def project(self, x):
        return x @ self.W_K + self.b_Q, x @ self.W_Q + self.b_K, x @ self.W_V + self.b_V


class HeadWithSwappedValueWeights(HeadByFill):
    def project(self, x):
        return x @ self.W_Q + self.b_Q, x @ self.W_V + self.b_K, x @ self.W_K + self.b_V


class HeadWithKeyBias(HeadByFill):
    def project(self, x):
        return x @ self.W_Q + self.b_K, x @ self.W_K + self.b_K, x @ self.W_V + self.b_V


class HeadByPrefixes(Head):
    def forward(self, x):
        Q, K, V = self.project(x)
        rows = []
        for t in range(x.shape[-2]):
            s = torch.einsum("...d,...sd->...s", Q[..., t, :], K[..., : t + 1, :]) / math.sqrt(
                self.d_k
            )
            rows.append(torch.einsum("...s,...sd->...d", s.softmax(-1), V[..., : t + 1, :]))
        return torch.stack(rows, -2)


class HeadInOneProduct(nn.Module):
    """All three projections in one product; each parameter written out."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Parameter(torch.empty(d_model, d_k))
        self.W_K = nn.Parameter(torch.empty(d_model, d_k))
        self.W_V = nn.Parameter(torch.empty(d_model, d_k))
        self.b_Q = nn.Parameter(torch.zeros(d_k))
        self.b_K = nn.Parameter(torch.zeros(d_k))
        self.b_V = nn.Parameter(torch.zeros(d_k))
        for W in (self.W_Q, self.W_K, self.W_V):
            nn.init.normal_(W, std=0.02)

    def forward(self, x):
        W = torch.cat((self.W_Q, self.W_K, self.W_V), dim=1)
        b = torch.cat((self.b_Q, self.b_K, self.b_V))
        Q, K, V = torch.chunk(F.linear(x, W.T, b), 3, dim=-1)
        output, _ = attention_by_keys(Q, K, V, mask_by_filling(x.shape[-2], x.device))
        return output


class HeadByLibrary(Head):
    def forward(self, x):
        if x.ndim == 2:
            return self.forward(x[None])[0]
        return F.scaled_dot_product_attention(*self.project(x), is_causal=True)


class HeadWithPlainTensors(Head):
    def __init__(self, d_model, d_k):
        nn.Module.__init__(self)
        self.d_k = d_k
        for n in "QKV":
            setattr(self, f"W_{n}", torch.randn(d_model, d_k) * 0.02)
            setattr(self, f"b_{n}", torch.zeros(d_k))

    forward = HeadByFill.forward


class HeadTransposed(HeadByFill):
    def __init__(self, d_model, d_k):
        super().__init__(d_model, d_k)
        for n in "QKV":
            setattr(self, f"W_{n}", nn.Parameter(torch.randn(d_k, d_model)))

    def project(self, x):
        return (x @ getattr(self, f"W_{n}").T + getattr(self, f"b_{n}") for n in "QKV")


class HeadOnTheCPU(Head):
    def forward(self, x):
        Q, K, V = self.project(x)
        mask = torch.full((x.shape[-2],) * 2, -math.inf, device="cpu").triu(1)
        return (Q @ K.mT / self.d_k**0.5 + mask).softmax(-1) @ V


class HeadWithOldMask(Head):
    """The mask of the first forward, for ever."""

    mask = None

    def forward(self, x):
        Q, K, V = self.project(x)
        T = x.shape[-2]
        if self.mask is None or self.mask.device != x.device:
            self.mask = torch.full((T, T), -math.inf, device=x.device).triu(1)
        return (Q @ K.mT / self.d_k**0.5 + self.mask[:T, :T]).softmax(-1) @ V


class HeadByTrueElements(Head):
    """Boolean indexing, and a loop over what it finds."""

    def forward(self, x):
        Q, K, V = self.project(x)
        S = Q @ K.mT / math.sqrt(self.d_k)
        T = x.shape[-2]
        ahead = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        for t, s in ahead.nonzero().tolist():
            S[..., t, s] = -math.inf
        return S.softmax(-1) @ V


class HeadWithPlainMask(Head):
    """The mask is a plain attribute, made once: it stays where the module was made."""

    def __init__(self, d_model, d_k):
        super().__init__(d_model, d_k)
        self.mask = torch.full((64, 64), -math.inf).triu(1)

    def forward(self, x):
        Q, K, V = self.project(x)
        T = x.shape[-2]
        return (Q @ K.mT / self.d_k**0.5 + self.mask[:T, :T]).softmax(-1) @ V


class HeadWithBooleanMask(Head):
    """The same, with a mask of True and False."""

    def __init__(self, d_model, d_k):
        super().__init__(d_model, d_k)
        self.ahead = torch.ones(64, 64, dtype=torch.bool).triu(1)

    def forward(self, x):
        Q, K, V = self.project(x)
        T = x.shape[-2]
        S = (Q @ K.mT / self.d_k**0.5).masked_fill(self.ahead[:T, :T], -math.inf)
        return S.softmax(-1) @ V


class HeadWithBuffer(HeadWithPlainMask):
    """A buffer moves with the module."""

    def __init__(self, d_model, d_k):
        super().__init__(d_model, d_k)
        mask = self.mask
        del self.mask
        self.register_buffer("mask", mask, persistent=False)


class HeadWithMaskInFloat64(Head):
    def forward(self, x):
        Q, K, V = self.project(x)
        mask = mask_in_float64(x.shape[-2], x.device)
        return (Q @ K.mT / self.d_k**0.5 + mask).softmax(-1) @ V.double()


class HeadSqueezed(HeadByFill):
    def forward(self, x):
        return super().forward(x).squeeze()


class HeadWithLargeWeights(HeadByFill):
    def __init__(self, d_model, d_k):
        super().__init__(d_model, d_k)
        for n in "QKV":
            setattr(self, f"W_{n}", nn.Parameter(torch.randn(d_model, d_k)))


class HeadWithRandomBiases(HeadByFill):
    def __init__(self, d_model, d_k):
        super().__init__(d_model, d_k)
        for n in "QKV":
            setattr(self, f"b_{n}", nn.Parameter(torch.randn(d_k) * 0.02))


def variance_by_trace(d_k, n=10_000, scaled=True):
    """Many small batches; E[s^2] - E[s]^2."""
    first = second = 0.0
    for part in torch.arange(n).split(1000):
        q, k = torch.randn(2, len(part), d_k)
        scores = torch.einsum("nd,nd->n", q, k).double()
        first += scores.sum().item() / n
        second += scores.square().sum().item() / n
    return (second - first**2) / d_k**scaled


def variance_of_scaled_queries(d_k, n=10_000, scaled=True):
    q = torch.normal(0.0, 1.0, size=(d_k, n))
    k = torch.empty(d_k, n).normal_()
    scale = math.sqrt(d_k) if scaled else 1.0
    return torch.std((q / scale * k).sum(0), correction=0).pow(2).item()


def variance_by_distribution(d_k, n=10_000, scaled=True):
    normal = torch.distributions.Normal(0, 1)
    q, k = normal.sample((n, d_k)), normal.sample((n, d_k))
    scores = F.linear(q, k[:1]) * 0 + (q[:, None] @ k[..., None])[..., 0]
    if scaled:
        scores /= d_k**0.5
    return float(torch.var(scores, dim=None))


def variance_of_every_pair(d_k, n=10_000, scaled=True):
    q, k = torch.randn(n, d_k), torch.randn(n, d_k)
    scores = q @ k.T
    return (scores / math.sqrt(d_k) if scaled else scores).var().item()


def variance_on_the_diagonal(d_k, n=10_000, scaled=True):
    q, k = torch.randn(n, d_k), torch.randn(n, d_k)
    scores = torch.einsum("id,jd->ij", q, k).diagonal()
    return (scores / math.sqrt(d_k) if scaled else scores).var().item()


def variance_of_sums_over_pairs(d_k, n=10_000, scaled=True):
    q, k = torch.randn(d_k, n), torch.randn(d_k, n)
    scores = (q * k).sum(-1)
    return (scores / math.sqrt(d_k) if scaled else scores).var().item()


def variance_by_formula(d_k, n=10_000, scaled=True):
    return 1.0 if scaled else float(d_k)


def variance_of_one_draw(d_k, n=10_000, scaled=True):
    torch.manual_seed(0)
    return variance_by_matrix_product(d_k, n, scaled)


def variance_of_products(d_k, n=10_000, scaled=True):
    products = torch.randn(n, d_k) * torch.randn(n, d_k)
    return (products / math.sqrt(d_k) if scaled else products).var().item()


def mean_of_scores(d_k, n=10_000, scaled=True):
    scores = (torch.randn(n, d_k) * torch.randn(n, d_k)).sum(-1)
    return (scores / math.sqrt(d_k) if scaled else scores).mean().item()


def variance_of_means(d_k, n=10_000, scaled=True):
    means = (torch.randn(n, d_k) * torch.randn(n, d_k)).mean(-1)
    return (means / math.sqrt(d_k) if scaled else means).var().item()


def variance_by_matrix_product(d_k, n=10_000, scaled=True):
    q, k = torch.randn(n, 1, d_k), torch.randn(n, d_k, 1)
    scores = (q @ k).flatten() * (d_k**-0.5 if scaled else 1)
    return float(((scores - scores.mean()) ** 2).mean())


def variance_by_loop(d_k, n=10_000, scaled=True):
    total = torch.zeros(n)
    for _ in range(d_k):
        total += torch.randn(n) * torch.randn(n)
    return torch.var(total).item() / (d_k if scaled else 1)


def variance_as_tensor(d_k, n=10_000, scaled=True):
    scores = (torch.randn(n, d_k) * torch.randn(n, d_k)).sum(-1)
    return (scores / math.sqrt(d_k) if scaled else scores).var()


def variance_as_tensor_of_all(d_k, n=10_000, scaled=True):
    return torch.randn(n, d_k).var(0)


RIGHT = {
    "softmax": [
        softmax_by_logsumexp,
        softmax_in_float64,
        softmax_by_true_elements,
        softmax_in_one_pass,
        softmax_on_the_last_axis,
        softmax_by_library,
    ],
    "causal_mask": [
        mask_by_comparison,
        mask_by_loops,
        mask_by_logarithm,
        mask_by_filling,
        mask_by_indices,
        mask_by_rows,
    ],
    "attention": [
        attention_by_einsum,
        attention_by_rows,
        attention_masked_after_and_renormalised,
        attention_in_loops,
        attention_by_keys,
        attention_by_library,
        Attention(),
    ],
    "AttentionHead": [
        HeadByFill,
        HeadByPrefixes,
        HeadByTrueElements,
        HeadWithBuffer,
        HeadInOneProduct,
        HeadByLibrary,
    ],
    "score_variance": [
        variance_by_matrix_product,
        variance_by_loop,
        variance_by_trace,
        variance_of_scaled_queries,
        variance_by_distribution,
    ],
}

WRONG = {
    "softmax": {
        "stays in float64": softmax_stays_in_float64,
        "float32": softmax_always_in_float32,
        "overflows": softmax_overflows,
        "one_maximum_for_all": softmax_with_one_maximum,
        "sum_over_all": softmax_by_one_sum,
        "mean_subtracted": softmax_from_the_mean,
        "mean subtracted in float64": softmax_from_the_mean_in_float64,
        "a small number in the denominator": softmax_with_epsilon,
        "cuts the graph": softmax_detached,
        "changes its input": softmax_in_place,
        "constant": softmax_global_maximum_zeros,
    },
    "causal_mask": {
        "float64": mask_in_float64,
        "ones": mask_of_ones,
        "zero_fill": mask_of_zeros,
        "device ignored": mask_on_the_cpu,
        "boolean": mask_true_is_hidden,
        "0 times infinity": mask_with_nan,
    },
    "attention": {
        "float64": attention_in_float64,
        "squeeze": attention_squeezed,
        "dropout without a mask only": attention_drops_without_a_mask_only,
        "dropout with a mask only": attention_drops_with_a_mask_only,
        "rescaled without a mask only": attention_rescaled_without_a_mask_only,
        "view": attention_by_view,
        "no weights": attention_without_weights,
        "scaled_by_keys": attention_scaled_by_keys,
        "one batch dimension only": attention_no_batch,
        "argmax": attention_hard,
        "one value with dropout": attention_returns_one_value_with_dropout,
        "dropout ignored": attention_without_dropout,
        "outputs dropped": attention_drops_outputs,
        "values dropped": attention_drops_values,
        "kept weights as they were": attention_without_rescaling,
        "dropped weights returned": attention_returns_dropped_weights,
    },
    "AttentionHead": {
        "mask is a plain attribute": HeadWithPlainMask,
        "boolean mask is a plain attribute": HeadWithBooleanMask,
        "mask in float64": HeadWithMaskInFloat64,
        "squeeze": HeadSqueezed,
        "no parameters": HeadWithPlainTensors,
        "q_k_weights_swapped": HeadWithSwappedWeights,
        "k_v_weights_swapped": HeadWithSwappedValueWeights,
        "b_K_for_b_Q": HeadWithKeyBias,
        "weights (d_k, d)": HeadTransposed,
        "mask stays on the CPU": HeadOnTheCPU,
        "mask of the first call": HeadWithOldMask,
        "weights of deviation 1": HeadWithLargeWeights,
        "random biases": HeadWithRandomBiases,
    },
    "score_variance": {
        "not a number": variance_as_tensor_of_all,
        "every q with every k": variance_of_every_pair,
        "every q with every k, then the diagonal": variance_on_the_diagonal,
        "sums over the pairs": variance_of_sums_over_pairs,
        "a tensor without axes": variance_as_tensor,
        "the formula": variance_by_formula,
        "always the same draw": variance_of_one_draw,
        "the mean": mean_of_scores,
        "products_not_summed": variance_of_products,
        "averaged": variance_of_means,
    },
}
