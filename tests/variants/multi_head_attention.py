"""Chapter 4."""

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.check import find
from autograder.standins import attention


def split_by_chunks(x, n_head):
    return torch.stack(x.chunk(n_head, dim=-1), dim=-3)


def split_by_slices(x, n_head):
    d_k = x.shape[-1] // n_head
    out = x.new_empty(*x.shape[:-2], n_head, x.shape[-2], d_k)
    for h in range(n_head):
        out[..., h, :, :] = x[..., h * d_k : (h + 1) * d_k]
    return out


def split_by_strides(x, n_head):
    return x.unflatten(-1, (n_head, x.shape[-1] // n_head)).movedim(-2, -3).contiguous()


def split_by_index(x, n_head):
    """Every entry is looked up: head h, column j comes from column h d_k + j."""
    columns = torch.arange(x.shape[-1], device=x.device).view(n_head, -1)
    return x[..., columns].movedim(-2, 0).movedim(0, -3)


class Splitter(nn.Module):
    """A module that flattens whatever stands before the positions."""

    def forward(self, x, n_head):
        flat = x.reshape(-1, *x.shape[-2:])
        heads = flat.reshape(len(flat), x.shape[-2], n_head, -1).permute(0, 2, 1, 3)
        return heads.reshape(*x.shape[:-2], *heads.shape[1:])


def split_into_modules(x, n_head):
    return Splitter()(x, n_head)


def split_by_unfold(x, n_head):
    d_k = x.shape[-1] // n_head
    return x.unfold(-1, d_k, d_k).swapaxes(-3, -2)


def split_along_positions(x, n_head):
    """The pieces are cut from the wrong axis, and are not all of one size."""
    return torch.stack(x.chunk(n_head, dim=-2), dim=-3)


def split_by_width(x, n_head):
    """torch.split takes the width of a piece."""
    return torch.stack(x.split(n_head, dim=-1), dim=-3)


def split_3d_only(x, n_head):
    B, T, d = x.shape
    return x.view(B, T, n_head, d // n_head).permute(0, 2, 1, 3)


def split_detached(x, n_head):
    return split_by_chunks(x.detach(), n_head)


def split_as_list(x, n_head):
    return list(x.chunk(n_head, dim=-1))


def merge_by_cat(x):
    return torch.cat([x[..., h, :, :] for h in range(x.shape[-3])], dim=-1)


def merge_by_einsum(x):
    H, d_k = x.shape[-3], x.shape[-1]
    place = torch.eye(H * d_k, dtype=x.dtype, device=x.device).reshape(H, d_k, H * d_k)
    return torch.einsum("...htk,hkd->...td", x, place)


def merge_by_flatten(x):
    return x.movedim(-3, -2).flatten(-2)


def merge_into_new(x):
    out = x.new_zeros(*x.shape[:-3], x.shape[-2], x.shape[-3] * x.shape[-1])
    for h, head in enumerate(x.unbind(-3)):
        out[..., h * x.shape[-1] : (h + 1) * x.shape[-1]] = head
    return out


def merge_by_view_of_a_copy(x):
    *batch, H, T, d_k = x.shape
    flat = x.reshape(-1, H, T, d_k).transpose(1, 2).contiguous()
    return flat.view(*batch, T, H * d_k)


class Merger:
    """A class that holds the function."""

    def __call__(self, x):
        H, d_k = x.shape[-3], x.shape[-1]
        columns = torch.arange(H * d_k, device=x.device)
        return x.movedim(-3, -2)[..., columns // d_k, columns % d_k]


def merge_by_index(x):
    return Merger()(x)


def merge_by_view_alone(x):
    """After a transpose, view fails."""
    return x.transpose(-3, -2).view(*x.shape[:-3], x.shape[-2], -1)


def merge_4d_only(x):
    B, H, T, d_k = x.shape
    return x.permute(0, 2, 1, 3).reshape(B, T, H * d_k)


def merge_in_numpy(x):
    return torch.from_numpy(merge_by_flatten(x).detach().cpu().numpy())


def merge_transposed(x):
    return merge_by_flatten(x).transpose(-1, -2)


def merge_across(x):
    """The sizes are read off after the transpose of the wrong axes."""
    x = x.transpose(-2, -1)
    *batch, H, T, d_k = x.shape
    return x.reshape(*batch, T, H * d_k)


def merge_flattened(x):
    return x.flatten(-2)


def merge_turned(x):
    return x.mT.flatten(-2)


def split_squeezed(x, n_head):
    return split_by_chunks(x, n_head).squeeze()


def split_of_wide_heads(x, n_head):
    """Right, unless a head is one column wide."""
    return torch.stack([c if c.shape[-1] > 1 else c.squeeze() for c in x.chunk(n_head, -1)], -3)


def split_by_numbers(x, n_head):
    """The columns of a head are found by a comparison."""
    owner = torch.arange(x.shape[-1], device=x.device) // (x.shape[-1] // n_head)
    return torch.stack([x[..., owner == h] for h in range(n_head)], dim=-3)


def split_to_float32(x, n_head):
    return split_by_chunks(x, n_head).float()


def merge_squeezed(x):
    return merge_by_cat(x).squeeze()


def merge_to_float32(x):
    return merge_by_cat(x).float()


def merge_by_view(x):
    """x.view fails on heads that come out of a transpose."""
    H, T, d_k = x.shape[-3:]
    flat = x.view(-1, H, T, d_k)
    return flat.movedim(1, 2).reshape(*x.shape[:-3], T, H * d_k)


class Layer(nn.Module):
    """The parameters, made in another way; the heads one by one."""

    def __init__(self, d_model, n_head, dropout=0.0):
        super().__init__()
        self.n_head, self.d_k, self.p = n_head, d_model // n_head, dropout
        for n in "QKVO":
            setattr(self, f"W_{n}", nn.Parameter(torch.normal(0.0, 0.02, (d_model, d_model))))
            setattr(self, f"b_{n}", nn.Parameter(torch.zeros(d_model)))

    def project(self, x):
        return (x @ getattr(self, f"W_{n}") + getattr(self, f"b_{n}") for n in "QKV")

    def rate(self):
        return self.p if self.training else 0.0


class LayerByHeads(Layer):
    def forward(self, x):
        T, out = x.shape[-2], self.b_O
        ahead = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        for h in range(self.n_head):
            own = slice(h * self.d_k, (h + 1) * self.d_k)
            q = x @ self.W_Q[:, own] + self.b_Q[own]
            k = x @ self.W_K[:, own] + self.b_K[own]
            v = x @ self.W_V[:, own] + self.b_V[own]
            S = (q @ k.mT / math.sqrt(self.d_k)).masked_fill(ahead, -math.inf)
            A = F.dropout(S.softmax(-1), self.p, self.training)
            out = out + A @ v @ self.W_O[own]
        return out


class LayerByEinsum(Layer):
    def forward(self, x):
        H, T = self.n_head, x.shape[-2]
        Q, K, V = (p.unflatten(-1, (H, self.d_k)) for p in self.project(x))
        S = torch.einsum("...thk,...shk->...hts", Q, K) * self.d_k**-0.5
        S = S + torch.full((T, T), -math.inf, device=x.device).triu(1)
        A = F.dropout(torch.softmax(S, -1), self.rate(), self.training)
        W_O = self.W_O.unflatten(0, (H, self.d_k))
        return torch.einsum("...hts,...shk,hkd->...td", A, V, W_O) + self.b_O


class LayerBySDPA(Layer):
    def forward(self, x):
        Q, K, V = (split_by_chunks(p, self.n_head) for p in self.project(x))
        heads = F.scaled_dot_product_attention(Q, K, V, is_causal=True, dropout_p=self.rate())
        return F.linear(merge_by_cat(heads), self.W_O.T, self.b_O)


class LayerInDouble(LayerByEinsum):
    def forward(self, x):
        p = {k: v.double() for k, v in self.named_parameters()}
        Q, K, V = (
            split_by_chunks(x.double() @ p[f"W_{n}"] + p[f"b_{n}"], self.n_head) for n in "QKV"
        )
        rate = self.rate()
        heads = F.scaled_dot_product_attention(Q, K, V, is_causal=True, dropout_p=rate)
        return (merge_by_cat(heads) @ p["W_O"] + p["b_O"]).to(x.dtype)


class LayerOfPackedWeights(Layer):
    """One product for Q, K and V; the mask is a buffer, the dropout a module."""

    def __init__(self, d_model, n_head, dropout=0.0):
        super().__init__(d_model, n_head, dropout)
        self.drop = nn.Dropout(dropout)
        self.register_buffer("seen", torch.ones(64, 64).tril().bool(), persistent=False)

    def forward(self, x):
        *batch, T, d = x.shape
        W = torch.cat([self.W_Q, self.W_K, self.W_V], dim=1)
        b = torch.cat([self.b_Q, self.b_K, self.b_V])
        packed = torch.addmm(b, x.reshape(-1, d), W).view(-1, T, 3, self.n_head, self.d_k)
        Q, K, V = packed.permute(2, 0, 3, 1, 4)
        S = Q.matmul(K.transpose(2, 3)).div(math.sqrt(self.d_k))
        hidden = torch.tensor(-math.inf, dtype=S.dtype, device=S.device)
        A = self.drop(torch.where(self.seen[:T, :T], S, hidden).softmax(dim=3))
        joined = A.matmul(V).transpose(1, 2).reshape(-1, d)
        return torch.addmm(self.b_O, joined, self.W_O).view(*batch, T, d)


class LayerOfLists(nn.Module):
    """Parameters made one by one, positions too; the running sum is changed in place."""

    def __init__(self, d_model, n_head, dropout=0.0):
        super().__init__()
        self.n_head = n_head
        self.dropout = nn.Dropout(p=dropout)
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            self.register_parameter(name, nn.Parameter(torch.empty(d_model, d_model)))
            nn.init.normal_(self.get_parameter(name), mean=0.0, std=0.02)
        for name in ("b_Q", "b_K", "b_V", "b_O"):
            self.register_parameter(name, nn.Parameter(torch.empty(d_model).fill_(0)))

    def forward(self, x):
        H, d = self.n_head, x.shape[-1]
        q, k, v = (
            split_by_slices(x @ W + b, H)
            for W, b in ((self.W_Q, self.b_Q), (self.W_K, self.b_K), (self.W_V, self.b_V))
        )
        rows = []
        for t in range(x.shape[-2]):
            scores = (q[..., t : t + 1, :] * k[..., : t + 1, :]).sum(-1) * (d // H) ** -0.5
            weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
            rows.append((self.dropout(weights)[..., None] * v[..., : t + 1, :]).sum(-2))
        out = merge_into_new(torch.stack(rows, -2)) @ self.W_O
        out += self.b_O
        return out


class LayerOfLinears(nn.Module):
    def __init__(self, d_model, n_head, dropout=0.0):
        super().__init__()
        self.n_head = n_head
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x):
        Q, K, V = (split_by_chunks(f(x), self.n_head) for f in (self.W_Q, self.W_K, self.W_V))
        return self.W_O(merge_by_cat(F.scaled_dot_product_attention(Q, K, V, is_causal=True)))


class LayerWithAMaskOfFixedSize(LayerBySDPA):
    def forward(self, x):
        Q, K, V = (split_by_chunks(p, self.n_head) for p in self.project(x))
        mask = torch.full((4, 4), -math.inf).triu(1)
        heads = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)
        return merge_by_cat(heads) @ self.W_O + self.b_O


class LayerThatHidesItself(LayerBySDPA):
    """torch's attention gives 0 where nothing can be seen."""

    def forward(self, x):
        Q, K, V = (split_by_chunks(p, self.n_head) for p in self.project(x))
        mask = x.new_full((x.shape[-2],) * 2, -math.inf).triu(0)
        return merge_by_cat(attention(Q, K, V, mask)[0]) @ self.W_O + self.b_O


class LayerThatIsNaN(LayerBySDPA):
    """The same mask, and a softmax written out."""

    def forward(self, x):
        Q, K, V = (split_by_chunks(p, self.n_head) for p in self.project(x))
        mask = x.new_full((x.shape[-2],) * 2, -math.inf).triu(0)
        A = (Q @ K.mT / math.sqrt(self.d_k) + mask).softmax(-1)
        return merge_by_cat(A @ V) @ self.W_O + self.b_O


class LayerThatKeepsItsFirstMask(LayerByEinsum):
    mask = None

    def forward(self, x):
        H, T = self.n_head, x.shape[-2]
        Q, K, V = (p.unflatten(-1, (H, self.d_k)).movedim(-2, -3) for p in self.project(x))
        if self.mask is None or self.mask.device != x.device:
            self.mask = torch.full((T, T), -math.inf, device=x.device).triu(1)
        S = Q @ K.mT * self.d_k**-0.5 + self.mask[:T, :T]
        A = F.dropout(S.softmax(-1), self.rate(), self.training)
        return merge_by_cat(A @ V) @ self.W_O + self.b_O


class LayerThatDetaches(LayerBySDPA):
    def forward(self, x):
        Q, K, V = (split_by_chunks(p, self.n_head) for p in self.project(x))
        heads = F.scaled_dot_product_attention(Q, K.detach(), V, is_causal=True)
        return merge_by_cat(heads) @ self.W_O + self.b_O


class LayerThatAlwaysDrops(LayerBySDPA):
    def rate(self):
        return self.p


class LayerThatNeverDrops(LayerBySDPA):
    def rate(self):
        return 0.0


class LayerThatDropsItsOutput(LayerBySDPA):
    def forward(self, x):
        Q, K, V = (split_by_chunks(p, self.n_head) for p in self.project(x))
        heads = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
        return F.dropout(merge_by_cat(heads) @ self.W_O + self.b_O, self.p, self.training)


class LayerWithPlainMask(LayerByEinsum):
    """The mask is a plain attribute, made once."""

    def __init__(self, d_model, n_head, dropout=0.0):
        super().__init__(d_model, n_head, dropout)
        self.mask = torch.full((64, 64), -math.inf).triu(1)

    def forward(self, x):
        T = x.shape[-2]
        Q, K, V = (split_by_chunks(p, self.n_head) for p in self.project(x))
        A = self.dropped((Q @ K.mT * self.d_k**-0.5 + self.hidden(T, x)).softmax(-1))
        return merge_by_cat(A @ V) @ self.W_O + self.b_O

    def hidden(self, T, x):
        return self.mask[:T, :T]

    def dropped(self, A):
        return F.dropout(A, self.rate(), self.training)


class LayerWithMaskInFloat64(LayerWithPlainMask):
    def hidden(self, T, x):
        mask = torch.full((T, T), -math.inf, device=x.device, dtype=torch.float64)
        return mask.triu(1)

    def forward(self, x):
        return super().forward(x.double()) if x.dtype == torch.float64 else self.narrow(x)

    def narrow(self, x):
        Q, K, V = (split_by_chunks(p, self.n_head) for p in self.project(x))
        A = (Q @ K.mT * self.d_k**-0.5 + self.hidden(x.shape[-2], x)).softmax(-1)
        return merge_by_cat(self.dropped(A) @ V.double()) @ self.W_O.double() + self.b_O


class LayerWithoutRescaling(LayerWithPlainMask):
    """Drops by hand, and does not divide what is kept."""

    def hidden(self, T, x):
        return self.mask[:T, :T].to(x.device)

    def dropped(self, A):
        return A * (torch.rand_like(A) >= self.rate())


class LayerThatKeepsTheRate(LayerWithoutRescaling):
    """Takes the rate for the share that is kept."""

    def dropped(self, A):
        p = self.rate()
        return A if p == 0 else F.dropout(A, 1 - p if p < 0.9 else p)


class LayerSqueezed(LayerBySDPA):
    """With one head, the axis of the heads is gone."""

    def forward(self, x):
        Q, K, V = (split_by_chunks(p, self.n_head).squeeze() for p in self.project(x))
        heads = F.scaled_dot_product_attention(Q, K, V, is_causal=True, dropout_p=self.rate())
        return merge_by_cat(heads) @ self.W_O + self.b_O


class LayerSqueezedAtTheEnd(LayerBySDPA):
    def forward(self, x):
        return super().forward(x).squeeze()


class LayerThatForgetsItsHeads(LayerBySDPA):
    """n_head under another name: exercise 4.4 could not read it."""

    def __init__(self, d_model, n_head, dropout=0.0):
        super().__init__(d_model, n_head, dropout)
        self.heads = n_head
        del self.n_head

    def forward(self, x):
        Q, K, V = (split_by_chunks(p, self.heads) for p in self.project(x))
        heads = F.scaled_dot_product_attention(Q, K, V, dropout_p=self.rate(), is_causal=True)
        return merge_by_cat(heads) @ self.W_O + self.b_O


class LayerOfLargeWeights(LayerBySDPA):
    def __init__(self, d_model, n_head, dropout=0.0):
        super().__init__(d_model, n_head, dropout)
        for n in "QKVO":
            setattr(self, f"W_{n}", nn.Parameter(torch.rand(d_model, d_model)))


def heads_of(attn, x, dtype=None):
    x = x if dtype is None else x.to(dtype)
    for h in range(attn.n_head):
        own = slice(h * x.shape[-1] // attn.n_head, (h + 1) * x.shape[-1] // attn.n_head)
        q, k, v = (
            x @ getattr(attn, f"W_{n}")[:, own].to(x.dtype)
            + getattr(attn, f"b_{n}")[own].to(x.dtype)
            for n in "QKV"
        )
        yield own, F.scaled_dot_product_attention(q, k, v, is_causal=True)


def writes_by_loop(attn, x):
    return torch.stack([head @ attn.W_O[own] for own, head in heads_of(attn, x)], dim=-3)


def writes_in_double(attn, x):
    writes = [head @ attn.W_O[own].double() for own, head in heads_of(attn, x, torch.float64)]
    return torch.stack(writes, dim=-3).to(x.dtype)


def writes_by_differences(attn, x):
    """With the rows of one head at zero, the layer's output lacks what this head writes."""
    whole, writes = attn(x), []
    for h in range(attn.n_head):
        keep = torch.ones_like(attn.W_O).view(attn.n_head, -1, x.shape[-1])
        keep[h] = 0
        without = {"W_O": attn.W_O * keep.view_as(attn.W_O)}
        writes.append(whole - torch.func.functional_call(attn, without, x))
    return torch.stack(writes, dim=-3)


def writes_by_einsum(attn, x):
    H, W_O = attn.n_head, attn.W_O.unflatten(0, (attn.n_head, -1))
    q, k, v = (
        (x @ getattr(attn, f"W_{n}") + getattr(attn, f"b_{n}")).unflatten(-1, (H, -1))
        for n in "QKV"
    )
    S = torch.einsum("...thk,...shk->...hts", q, k) / math.sqrt(q.shape[-1])
    t = torch.arange(x.shape[-2], device=x.device)
    A = S.masked_fill(t > t[:, None], -math.inf).softmax(-1)
    return torch.einsum("...hts,...shk,hkd->...htd", A, v, W_O)


def writes_of_padded_heads(attn, x):
    """Side by side with zeros in the place of the other heads, through the whole of W_O."""
    padded = []
    for own, head in heads_of(attn, x):
        wide = torch.zeros_like(x)
        wide[..., own] = head
        padded.append(wide)
    return torch.stack(padded, -3) @ attn.W_O


def writes_through_square_blocks(attn, x):
    """A slice of W_O along both axes: of width d_k."""
    return torch.stack([head @ attn.W_O[own, own] for own, head in heads_of(attn, x)], dim=-3)


def writes_with_W_O_cut_the_wrong_way(attn, x):
    H, d = attn.n_head, x.shape[-1]
    heads = torch.stack([head for _, head in heads_of(attn, x)], dim=-3)
    return heads @ attn.W_O.view(H, d, d // H)


def writes_as_list(attn, x):
    return list(writes_by_loop(attn, x).unbind(-3))


def writes_without_graph(attn, x):
    with torch.no_grad():
        return writes_by_loop(attn, x)


def writes_that_spoil_the_layer(attn, x):
    attn.b_O.data.zero_()
    return writes_by_loop(attn, x)


def writes_one_batch_dimension(attn, x):
    B, T, d = x.shape
    return writes_by_loop(attn, x).view(B, attn.n_head, T, d)


def ablate_by_sum(attn, x, head):
    others = [h for h in range(attn.n_head) if h != head]
    return writes_by_loop(attn, x)[..., others, :, :].sum(-3) + attn.b_O


def ablate_a_copy(attn, x, head):
    attn = copy.deepcopy(attn)
    attn.W_O.data.view(attn.n_head, -1, x.shape[-1])[head] = 0
    return attn(x)


def ablate_zero_output(attn, x, head):
    joined = [o * (h != head) for h, (_, o) in enumerate(heads_of(attn, x))]
    return torch.cat(joined, dim=-1) @ attn.W_O + attn.b_O


def ablate_zero_values(attn, x, head):
    own = torch.arange(attn.n_head, device=x.device).repeat_interleave(x.shape[-1] // attn.n_head)
    V = {"W_V": attn.W_V * (own != head), "b_V": attn.b_V * (own != head)}
    return torch.func.functional_call(attn, V, x)


def ablate_by_functional_call(attn, x, head):
    rows = torch.ones(attn.n_head, 1, 1, dtype=x.dtype, device=x.device)
    rows[head] = 0
    W_O = (attn.W_O.unflatten(0, (attn.n_head, -1)) * rows).flatten(0, 1)
    return torch.func.functional_call(attn, {"W_O": W_O}, (x,))


def ablate_by_einsum(attn, x, head):
    kept = [h for h in range(attn.n_head) if h != head]
    return torch.einsum("...htd->...td", writes_by_einsum(attn, x)[..., kept, :, :]) + attn.b_O


def ablate_a_sequence(attn, x, head):
    """Takes the batch for the heads."""
    return attn(x) - writes_by_loop(attn, x)[head]


def ablate_a_position(attn, x, head):
    return attn(x) - writes_by_loop(attn, x)[..., head, :]


def ablate_by_cat(attn, x, head):
    """One head less to be merged."""
    joined = torch.cat([o for h, (_, o) in enumerate(heads_of(attn, x)) if h != head], dim=-1)
    return joined @ attn.W_O + attn.b_O


def ablate_for_good(attn, x, head):
    attn.W_O.data.view(attn.n_head, -1, x.shape[-1])[head] = 0
    return attn(x)


def ablate_in_place(attn, x, head):
    attn.W_O.view(attn.n_head, -1, x.shape[-1])[head] = 0
    return attn(x)


def ablate_without_graph(attn, x, head):
    return ablate_by_sum(attn, x, head).detach()


def ablate_always_the_first(attn, x, head):
    return ablate_by_sum(attn, x, 0)


def known(name):
    """The known mistakes of a component that takes a layer, as functions in torch."""

    def solution(mistake):
        def function(attn, x, *rest):
            state = dict(attn.named_parameters())
            return mistake.wrong((x.shape[-1], attn.n_head), state, x, *rest)

        return function

    return {m.name: solution(m) for m in find(name).mistakes}


RIGHT = {
    "split_heads": [
        split_by_chunks,
        split_by_slices,
        split_by_strides,
        split_by_numbers,
        split_by_index,
        split_into_modules,
        split_by_unfold,
    ],
    "merge_heads": [
        merge_by_cat,
        merge_by_einsum,
        merge_by_flatten,
        merge_into_new,
        merge_by_view_of_a_copy,
        merge_by_index,
    ],
    "MultiHeadAttention": [
        LayerByHeads,
        LayerByEinsum,
        LayerBySDPA,
        LayerInDouble,
        LayerOfPackedWeights,
        LayerOfLists,
    ],
    "head_writes": [
        writes_by_loop,
        writes_in_double,
        writes_by_differences,
        writes_by_einsum,
        writes_of_padded_heads,
    ],
    "ablate_head": [
        ablate_by_sum,
        ablate_a_copy,
        ablate_zero_output,
        ablate_zero_values,
        ablate_by_functional_call,
        ablate_by_einsum,
    ],
}

WRONG = {
    "split_heads": {
        "squeeze": split_squeezed,
        "heads of one column": split_of_wide_heads,
        "float32": split_to_float32,
        "three axes only": split_3d_only,
        "cuts the graph": split_detached,
        "a list": split_as_list,
        "along the positions": split_along_positions,
        "by the width of a piece": split_by_width,
    },
    "merge_heads": {
        "squeeze": merge_squeezed,
        "float32": merge_to_float32,
        "view": merge_by_view,
        "view after a transpose": merge_by_view_alone,
        "four axes only": merge_4d_only,
        "through numpy": merge_in_numpy,
        "transposed": merge_transposed,
        "d_k_for_T": merge_across,
        "T_joined": merge_flattened,
        "T_joined_transposed": merge_turned,
    },
    "MultiHeadAttention": {
        "mask is a plain attribute": LayerWithPlainMask,
        "mask in float64": LayerWithMaskInFloat64,
        "kept weights as they were": LayerWithoutRescaling,
        "the rate is what is kept": LayerThatKeepsTheRate,
        "squeezes the heads": LayerSqueezed,
        "squeeze": LayerSqueezedAtTheEnd,
        "mask of the first call": LayerThatKeepsItsFirstMask,
        "mask_hides_itself": LayerThatIsNaN,
        "mask_hides_itself_0": LayerThatHidesItself,
        "made of nn.Linear": LayerOfLinears,
        "mask of a fixed size": LayerWithAMaskOfFixedSize,
        "cuts the graph": LayerThatDetaches,
        "drops in eval mode": LayerThatAlwaysDrops,
        "never drops": LayerThatNeverDrops,
        "drops its output": LayerThatDropsItsOutput,
        "large initial weights": LayerOfLargeWeights,
        "no attribute n_head": LayerThatForgetsItsHeads,
    },
    "head_writes": known("head_writes")
    | {
        "a list": writes_as_list,
        "square_blocks": writes_through_square_blocks,
        "W_O cut into (H, d, d_k)": writes_with_W_O_cut_the_wrong_way,
        "no gradient": writes_without_graph,
        "changes the layer": writes_that_spoil_the_layer,
        "one batch dimension only": writes_one_batch_dimension,
    },
    "ablate_head": known("ablate_head")
    | {
        "changes the layer": ablate_for_good,
        "changes the layer, gradients on": ablate_in_place,
        "no gradient": ablate_without_graph,
        "head_ignored": ablate_always_the_first,
        "the batch for the heads": ablate_a_sequence,
        "the positions for the heads": ablate_a_position,
        "one head less to merge": ablate_by_cat,
    },
}
