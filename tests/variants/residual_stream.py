"""Chapter 2."""

import math
from functools import reduce
from itertools import combinations

import numpy as np
import torch
import torch.nn.functional as F

# ------------------------------------------------------------------ residual_add


def add_named(x, sublayer):
    write = sublayer(x)
    return write + x


def add_by_stack(x, sublayer):
    return torch.stack([x, sublayer(x)]).sum(0)


def add_in_place_of_a_copy(x, sublayer):
    new = x.clone()
    new += sublayer(x)
    return new


def add_in_float64(x, sublayer):
    return (x.double() + sublayer(x).double()).to(x.dtype)


def add_by_sum(x, sublayer):
    return sum((sublayer(x),), start=x)


class Adder(torch.nn.Module):
    """A module that holds nothing, as a function."""

    def forward(self, x, sublayer):
        return torch.add(sublayer(x), x, alpha=1)


def add_by_einsum(x, sublayer):
    both = torch.stack((x, sublayer(x)), dim=-1)
    return torch.einsum("...i,i->...", both, torch.ones(2, dtype=x.dtype, device=x.device))


def add_write_twice(x, sublayer):
    y = sublayer(x)
    x = x + y
    return x + y


def add_concatenates(x, sublayer):
    return torch.cat([x, sublayer(x)], dim=-1)


def add_concatenates_the_write_first(x, sublayer):
    return torch.cat([sublayer(x), x], dim=-1)


def add_two_updates(x, sublayer):
    for _ in range(2):
        x = x + sublayer(x)
    return x


def add_norm_before(x, sublayer):
    return x + sublayer(F.layer_norm(x, x.shape[-1:]))


def add_norm_after(x, sublayer):
    return F.layer_norm(x + sublayer(x), x.shape[-1:])


def add_returns_both(x, sublayer):
    write = sublayer(x)
    return x + write, write


def add_scaled(x, sublayer):
    return (x + sublayer(x)) / 2**0.5


def add_norm_in_stream(x, sublayer):
    x = F.layer_norm(x, x.shape[-1:])
    return x + sublayer(x)


def add_without_return(x, sublayer):
    x = x + sublayer(x)


def add_does_not_call(x, sublayer):
    return x + sublayer


def add_in_place_of_the_write(x, sublayer):
    write = sublayer(x)
    write += x
    return write


def add_replaces(x, sublayer):
    return sublayer(x)


def add_forgets(x, sublayer):
    x + sublayer(x)
    return x


def add_subtracts(x, sublayer):
    return x - sublayer(x)


def add_difference(x, sublayer):
    return sublayer(x) - x


def add_averages(x, sublayer):
    return torch.stack([x, sublayer(x)]).mean(0)


def add_stream_twice(x, sublayer):
    y = x + sublayer(x)
    return x + y


def add_multiplies(x, sublayer):
    return x * sublayer(x)


def add_applied_twice(x, sublayer):
    y = sublayer(x)
    return x + sublayer(y)


def add_overwritten_first(x, sublayer):
    x = sublayer(x)
    return x + sublayer(x)


def add_in_place(x, sublayer):
    x += sublayer(x)
    return x


def add_calls_twice(x, sublayer):
    assert sublayer(x).shape == x.shape
    return x + sublayer(x)


def add_detached(x, sublayer):
    with torch.no_grad():
        write = sublayer(x)
    return x + write


def add_cuts_the_skip(x, sublayer):
    return x.detach() + sublayer(x)


def add_as_list(x, sublayer):
    return [x, sublayer(x)]


# ------------------------------------------------------------------ run_stream


def run_by_reduce(x, sublayers):
    ledger = []

    def step(x, sublayer):
        ledger.append(sublayer(x))
        return x + ledger[-1]

    return reduce(step, sublayers, x), ledger


def run_by_recursion(x, sublayers):
    if not sublayers:
        return x, []
    write = sublayers[0](x)
    stream, rest = run_by_recursion(x + write, sublayers[1:])
    return stream, [write] + rest


def run_by_differences(x, sublayers):
    streams = [x]
    for sublayer in sublayers:
        streams.append(streams[-1] + sublayer(streams[-1]))
    return streams[-1], [b - a for a, b in zip(streams, streams[1:])]


def run_by_index(x, sublayers):
    writes = [None] * len(sublayers)
    for i in range(len(sublayers)):
        writes[i] = sublayers[i](x)
        x = torch.add(x, writes[i])
    return x, tuple(writes)


def run_with_a_generator(x, sublayers):
    def steps(stream):
        for f in sublayers:
            delta = f(stream)
            stream = stream + delta
            yield stream, delta

    pairs = list(steps(x))
    return (pairs[-1][0] if pairs else x), [delta for _, delta in pairs]


class Books:
    """Keeps the stream and its ledger, and forgets neither between sub-layers."""

    def __init__(self, start):
        self.stream, self.entries = start, []

    def post(self, sublayer):
        self.entries += [sublayer(self.stream)]
        self.stream = torch.stack((self.stream, self.entries[-1])).sum(dim=0)
        return self


def run_with_books(x, sublayers):
    books = Books(x)
    for sublayer in sublayers:
        books = books.post(sublayer)
    return books.stream, books.entries


def run_while(x, sublayers):
    waiting, ledger = list(sublayers), []
    while waiting:
        ledger.append(waiting.pop(0)(x))
        x = x.add(ledger[-1])
    return x, ledger


def loop(record="write", keep=1.0, reads="stream", order=lambda layers: layers, start=False):
    """A loop over the sub-layers, with the given mistake in it."""

    def run(x, sublayers):
        first, write, total = x, x, 0
        ledger = [x] if start else []
        for sublayer in order(sublayers):
            read = {"stream": x, "start": first, "write": write}[reads]
            write = sublayer(read)
            total = total + write
            before, x = x, keep * x + write
            ledger.append({"write": write, "stream": x, "input": before, "sum": total}[record])
        return x, ledger

    return run


def run_doubled(x, sublayers):
    ledger = []
    for sublayer in sublayers:
        write = add_named(x, sublayer)
        x = x + write
        ledger.append(write)
    return x, ledger


def run_write_of_new_stream(x, sublayers):
    ledger = []
    for sublayer in sublayers:
        x = add_named(x, sublayer)
        ledger.append(sublayer(x))
    return x, ledger


def run_ledger_in_loop(x, sublayers):
    ledger = []
    for sublayer in sublayers:
        write = sublayer(x)
        x = x + write
        ledger = [write]
    return x, ledger


def run_old_minus_new(x, sublayers):
    ledger = []
    for sublayer in sublayers:
        new = add_named(x, sublayer)
        ledger.append(x - new)
        x = new
    return x, ledger


def run_start_plus_last(x, sublayers):
    stream, ledger = x, []
    for sublayer in sublayers:
        ledger.append(sublayer(stream))
        stream = x + ledger[-1]
    return stream, ledger


def run_reads_start_and_reverses(x, sublayers):
    stream, ledger = loop(reads="start")(x, sublayers)
    return stream, ledger[::-1]


def run_one_tensor_for_all(x, sublayers):
    """The ledger as a tensor, filled in place: on the CPU, and without gradients."""
    ledger = torch.zeros(len(sublayers), *x.shape)
    for i, sublayer in enumerate(sublayers):
        ledger.data[i] = sublayer(x)
        x = x + ledger[i]
    return x, list(ledger)


def run_copies(x, sublayers):
    ledger = []
    for sublayer in sublayers:
        write = torch.tensor(sublayer(x).tolist())
        ledger.append(write)
        x = x + write
    return x, ledger


def run_ledger_by_name(x, sublayers):
    stream, ledger = run_by_reduce(x, sublayers)
    return stream, dict(enumerate(ledger))


def run_ledger_reversed(x, sublayers):
    ledger = []
    for sublayer in sublayers:
        ledger.insert(0, sublayer(x))
        x = x + ledger[0]
    return x, ledger


def run_only_last_added(x, sublayers):
    ledger = []
    for sublayer in sublayers:
        write = sublayer(x)
        result = x + write
        ledger.append(write)
    return (result if sublayers else x), ledger


def run_without_start(x, sublayers):
    _, ledger = run_by_reduce(x, sublayers)
    return torch.stack(ledger).sum(0), ledger


def run_returns_in_loop(x, sublayers):
    ledger = []
    for sublayer in sublayers:
        write = sublayer(x)
        x = x + write
        ledger.append(write)
        return x, ledger
    return x, ledger


def run_in_place(x, sublayers):
    ledger = []
    for sublayer in sublayers:
        ledger.append(sublayer(x))
        x += ledger[-1]
    return x, ledger


def run_in_place_on_a_copy(x, sublayers):
    x, ledger = x.clone(), []
    for sublayer in sublayers:
        ledger.append(sublayer(x))
        x += ledger[-1]  # an entry that is x itself grows with it
    return x, ledger


def run_adds_into_the_write(x, sublayers):
    ledger = []
    for sublayer in sublayers:
        write = sublayer(x)
        ledger.append(write)
        x = write.add_(x)
    return x, ledger


def run_calls_twice(x, sublayers):
    ledger = []
    for sublayer in sublayers:
        ledger.append(sublayer(x))
        x = x + sublayer(x)
    return x, ledger


def run_stacked(x, sublayers):
    stream, ledger = run_by_reduce(x, sublayers)
    return stream, torch.stack(ledger) if ledger else []


def run_stream_only(x, sublayers):
    return run_by_reduce(x, sublayers)[0]


def run_swapped(x, sublayers):
    return run_by_reduce(x, sublayers)[::-1]


def run_detached(x, sublayers):
    ledger = []
    for sublayer in sublayers:
        write = sublayer(x)
        x = x + write
        ledger.append(write.detach())
    return x, ledger


def run_norms(x, sublayers):
    stream, ledger = run_by_reduce(x, sublayers)
    return stream, [write.norm() for write in ledger]


# ------------------------------------------------------------------ gradient_norms


def kept_streams(x, sublayers, residual=True):
    streams = [x.detach().clone().requires_grad_()]
    for sublayer in sublayers:
        write = sublayer(streams[-1])
        streams.append(streams[-1] + write if residual else write)
    return streams


def norms_by_retained(x, sublayers, residual=True):
    streams = kept_streams(x, sublayers, residual)
    for stream in streams:
        stream.retain_grad()
    streams[-1].sum().backward()
    return [float(stream.grad.norm()) for stream in streams]


def norms_by_chain(x, sublayers, residual=True):
    """Back through one sub-layer at a time."""
    streams = kept_streams(x, sublayers, residual)
    g = torch.ones_like(x)
    norms = [math.sqrt(g.numel())]
    for stream, sublayer in zip(streams[-2::-1], list(sublayers)[::-1]):
        read = stream.detach().requires_grad_()
        (back,) = torch.autograd.grad(sublayer(read), read, g)
        g = g + back if residual else back
        norms.insert(0, g.pow(2).sum().sqrt().item())
    return norms


def norms_by_hooks(x, sublayers, residual=True):
    norms = {}
    x = x.detach().requires_grad_()
    x.register_hook(lambda g: norms.update({0: g.norm().item()}))
    for i, sublayer in enumerate(sublayers, 1):
        x = x + sublayer(x) if residual else sublayer(x)
        x.register_hook(lambda g, i=i: norms.update({i: g.norm().item()}))
    x.sum().backward()
    return [norms[i] for i in sorted(norms)]


def norms_by_jvp(x, sublayers, residual=True):
    def rest(x, first):
        for sublayer in sublayers[first:]:
            x = x + sublayer(x) if residual else sublayer(x)
        return x.sum()

    streams = kept_streams(x, sublayers, residual)
    return [
        torch.autograd.functional.jacobian(lambda y: rest(y, i), s.detach()).norm().item()
        for i, s in enumerate(streams)
    ]


def norms_by_backward_for_each(x, sublayers, residual=True):
    """A pass of its own for each depth, on a stream that begins there."""
    norms, start = [], x.detach()
    for depth in range(len(sublayers) + 1):
        leaf = start.clone().requires_grad_()
        *_, last = kept_from(leaf, sublayers[depth:], residual)
        last.backward(torch.ones_like(last))
        norms.append(torch.linalg.vector_norm(leaf.grad).item())
        if depth < len(sublayers):
            write = sublayers[depth](start).detach()
            start = start + write if residual else write
    return norms


def kept_from(x, sublayers, residual):
    yield x
    for sublayer in sublayers:
        x = x * residual + sublayer(x)
        yield x


def norms_by_vjp(x, sublayers, residual=True):
    def step(sublayer):
        return (lambda x: x + sublayer(x)) if residual else sublayer

    pulls, stream = [], x.detach()
    for sublayer in sublayers:
        stream, pull = torch.func.vjp(step(sublayer), stream)
        pulls.append(pull)
    g = torch.ones_like(stream)
    norms = [math.sqrt(torch.einsum("...i,...i->...", g, g).sum().item())]
    for pull in reversed(pulls):
        (g,) = pull(g)
        norms.append(math.sqrt(torch.einsum("...i,...i->...", g, g).sum().item()))
    return norms[::-1]


@torch.no_grad()
def norms_for_each_by_grad(x, sublayers, residual=True):
    """Gradients are off in the caller's cell, and switched on here."""
    with torch.enable_grad():
        streams = kept_streams(x, sublayers, residual)
        loss = streams[-1].sum()
        each = [torch.autograd.grad(loss, s, retain_graph=True)[0] for s in streams]
    return [g.double().square().sum().sqrt().item() for g in each]


def norms_as_tensors(x, sublayers, residual=True):
    return [g.norm() for g in gradients(x, sublayers, residual)[1]]


def norms_not_retained(x, sublayers, residual=True):
    streams = kept_streams(x, sublayers, residual)
    streams[-1].sum().backward()
    return [stream.grad.norm().item() for stream in streams]


def gradients(x, sublayers, residual=True, scalar=torch.sum):
    streams = kept_streams(x, sublayers, residual)
    return streams, torch.autograd.grad(scalar(streams[-1]), streams)


def reduced(of, scalar=torch.sum):
    def norms(x, sublayers, residual=True):
        return [of(g).item() for g in gradients(x, sublayers, residual, scalar)[1]]

    return norms


def listed(f):
    return lambda x, sublayers, residual=True: f(norms_by_retained(x, sublayers, residual))


def norms_of_streams(x, sublayers, residual=True):
    return [s.norm().item() for s in kept_streams(x, sublayers, residual)]


def norms_one_step(x, sublayers, residual=True):
    streams = kept_streams(x, sublayers, residual)
    steps = [
        torch.autograd.grad(b.sum(), a, retain_graph=True)[0] for a, b in zip(streams, streams[1:])
    ]
    return [g.norm().item() for g in steps] + [math.sqrt(x.numel())]


def norms_without_else(x, sublayers, residual=True):
    streams = [x.detach().clone().requires_grad_()]
    for sublayer in sublayers:
        stream = streams[-1]
        write = sublayer(stream)
        if residual:
            stream = stream + write
        streams.append(stream)
    return [
        torch.autograd.grad(streams[-1].sum(), s, retain_graph=True)[0].norm().item()
        for s in streams
    ]


def norms_with_a_detached_skip(x, sublayers, residual=True):
    streams = [x.detach().clone().requires_grad_()]
    for sublayer in sublayers:
        write = sublayer(streams[-1])
        streams.append(streams[-1].detach() + write if residual else write)
    return [g.norm().item() for g in torch.autograd.grad(streams[-1].sum(), streams)]


def norm_or_zero(of, by):
    """Of the gradient; 0 where it does not reach."""
    (g,) = torch.autograd.grad(of.sum(), by, retain_graph=True, allow_unused=True)
    return 0.0 if g is None else g.norm().item()


def norms_with_a_detached_read(x, sublayers, residual=True):
    streams = [x.detach().clone().requires_grad_()]
    for sublayer in sublayers:
        write = sublayer(streams[-1].detach())
        streams.append(streams[-1] + write if residual else write)
    return [norm_or_zero(streams[-1], s) for s in streams]


def norms_detached_before_reading(x, sublayers, residual=True):
    streams = []
    for sublayer in sublayers:
        x = x.detach().requires_grad_()
        streams.append(x)
        x = x + sublayer(x) if residual else sublayer(x)
    return [norm_or_zero(x, s) for s in (*streams, x)]


def norms_of_passes_in_the_loop(x, sublayers, residual=True):
    """One backward() for every stream that is made: .grad adds them up."""
    streams = [x.detach().clone().requires_grad_()]
    for sublayer in sublayers:
        write = sublayer(streams[-1])
        streams.append(streams[-1] + write if residual else write)
        streams[-1].retain_grad()
        streams[-1].sum().backward(retain_graph=True)
    return [stream.grad.norm().item() for stream in streams]


def norms_at_the_start(x, sublayers, residual=True):
    streams = kept_streams(x, sublayers, residual)
    each = [torch.autograd.grad(s.sum(), streams[0], retain_graph=True)[0] for s in streams]
    return [g.norm().item() for g in each]


def norms_piled_up(x, sublayers, residual=True):
    streams, norms = kept_streams(x, sublayers, residual), []
    for stream in streams:
        stream.retain_grad()
    for stream in streams:
        streams[-1].sum().backward(retain_graph=True)
        norms.append(stream.grad.norm().item())
    return norms


def norms_by_two_passes(x, sublayers, residual=True):
    streams = kept_streams(x, sublayers, residual)
    loss = streams[-1].sum()
    return [torch.autograd.grad(loss, s)[0].norm().item() for s in streams]


def norms_of_each_position(x, sublayers, residual=True):
    return [g.norm(dim=-1) for g in gradients(x, sublayers, residual)[1]]


def norms_of_a_tensor_that_is_not_the_sum(x, sublayers, residual=True):
    streams = kept_streams(x, sublayers, residual)
    return [g.norm().item() for g in torch.autograd.grad(streams[-1], streams)]


def norms_of_untracked(x, sublayers, residual=True):
    with torch.no_grad():
        streams = kept_streams(x, sublayers, residual)
    return [g.norm().item() for g in torch.autograd.grad(streams[-1].sum(), streams)]


def norms_of_writes(x, sublayers, residual=True):
    """By the write of each sub-layer, not by the streams."""
    stream, writes = x.detach().clone().requires_grad_(), []
    for sublayer in sublayers:
        writes.append(sublayer(stream))
        stream = stream + writes[-1] if residual else writes[-1]
    return [g.norm().item() for g in torch.autograd.grad(stream.sum(), writes)]


def norms_of_logs(x, sublayers, residual=True):
    return [math.log(norm) for norm in norms_by_retained(x, sublayers, residual)]


def norms_accumulated(x, sublayers, residual=True):
    streams = kept_streams(x, sublayers, residual)
    for stream in streams:
        stream.retain_grad()
    sum(stream.sum() for stream in streams).backward()
    return [stream.grad.norm().item() for stream in streams]


def norms_on_the_caller(x, sublayers, residual=True):
    """Leaves its gradient in the caller's x: a second call adds to it."""
    x.requires_grad_().retain_grad()
    streams = [x]
    for sublayer in sublayers:
        streams.append(x + sublayer(x) if residual else sublayer(x))
        x = streams[-1]
        x.retain_grad()
    x.sum().backward()
    return [stream.grad.norm().item() for stream in streams]


def norms_of_leaves_only(x, sublayers, residual=True):
    assert x.is_leaf
    return norms_by_retained(x, sublayers, residual)


def norms_detached(x, sublayers, residual=True):
    streams = [x.detach().requires_grad_()]
    for sublayer in sublayers:
        y = streams[-1] + sublayer(streams[-1]) if residual else sublayer(streams[-1])
        streams.append(y.detach().requires_grad_())
    streams[-1].sum().backward()
    return [0.0 if s.grad is None else s.grad.norm().item() for s in streams]


def norms_as_tensor(x, sublayers, residual=True):
    return torch.tensor(norms_by_retained(x, sublayers, residual))


def norms_in_place(x, sublayers, residual=True):
    norms = norms_by_retained(x, sublayers, residual)
    x.mul_(0)
    return norms


def gradients_themselves(x, sublayers, residual=True):
    return list(gradients(x, sublayers, residual)[1])


# ------------------------------------------------------------------ max_cosine


def cosine_by_loops(vectors):
    largest = 0.0
    for i in range(len(vectors)):
        for j in range(i):
            c = vectors[i] @ vectors[j] / (vectors[i].norm() * vectors[j].norm())
            largest = max(largest, abs(float(c)))
    return largest


def cosine_by_triangle(vectors):
    G = vectors @ vectors.T
    lengths = G.diagonal().sqrt()
    C = G / lengths[:, None] / lengths
    i, j = torch.triu_indices(*C.shape, offset=1)
    return C[i, j].abs().max().item()


def cosine_by_library(vectors):
    C = F.cosine_similarity(vectors[:, None], vectors, dim=-1)
    return C.masked_fill(torch.eye(len(C), dtype=torch.bool), 0).abs().max().item()


def cosine_in_numpy(vectors):
    v = vectors.double().numpy()
    v = v / (v**2).sum(1, keepdims=True) ** 0.5
    return max(abs(v @ v.T)[~np.eye(len(v), dtype=bool)])


def cosine_of_combinations(vectors):
    unit = [v / v.dot(v).sqrt() for v in vectors]
    return max(abs((u @ v).item()) for u, v in combinations(unit, 2))


def cosine_by_einsum(vectors):
    v = vectors.to(torch.float64)
    dots = torch.einsum("id,jd->ij", v, v)
    lengths = dots.diag().sqrt()
    worst = dots / torch.outer(lengths, lengths)
    n = torch.arange(len(v))
    worst[n, n] = -math.inf
    return max(worst.max(), -worst.masked_fill(worst.isinf(), math.inf).min()).item()


def cosine_by_sorting(vectors):
    """The n largest are those of the vectors with themselves."""
    n = len(vectors)
    unit = F.normalize(vectors.double(), dim=1)
    return (unit @ unit.mT).abs().flatten().sort(descending=True).values[n].item()


def cosine_where(vectors):
    unit = vectors * vectors.square().sum(1, keepdim=True).rsqrt()
    same = torch.eye(unit.size(0), dtype=torch.bool, device=unit.device)
    return float(torch.where(same, 0.0, torch.matmul(unit, unit.t())).abs().amax())


class WorstOverlap:
    """A class that goes through the matrix row by row."""

    def __call__(self, vectors):
        unit = torch.nn.functional.normalize(vectors)
        rows = (self.beyond(unit, i) for i in range(unit.shape[0] - 1))
        return max(rows)

    @staticmethod
    def beyond(unit, i):
        return (unit[i + 1 :] @ unit[i]).abs().max().item()


def cosine_without_keepdim(vectors):
    return cosine_by_triangle(vectors / vectors.norm(dim=-1))


def cosine_not_transposed(vectors):
    unit = F.normalize(vectors, dim=-1)
    return (unit @ unit).fill_diagonal_(0).abs().max().item()


def cosine_signed_by_filling(vectors):
    C = F.normalize(vectors, dim=-1) @ F.normalize(vectors, dim=-1).T
    return C.fill_diagonal_(0).max().item()


def cosine_of_each(vectors):
    return cosine_matrix(vectors).fill_diagonal_(0).max(dim=-1).values


def cosine_with_a_place(vectors):
    return cosine_matrix(vectors).fill_diagonal_(0).argmax().item()


def cosine_from_loops_of_squares(vectors):
    """Both lengths without the root."""
    pairs = combinations(vectors, 2)
    return max(abs((u @ v / (u.dot(u) * v.dot(v))).item()) for u, v in pairs)


def cosine_by_one_length(which):
    """A loop over i < j that divides by the length of the first row alone, or of the second."""

    def cosine(vectors):
        pairs = combinations(vectors, 2)
        return max(abs((u @ v / (u, v)[which].norm()).item()) for u, v in pairs)

    return cosine


def cosine_mean_of_table(diagonal):
    return lambda vectors: cosine_matrix(vectors).fill_diagonal_(diagonal).mean().item()


def cosine_less_the_mean_row(vectors):
    return cosine_by_loops(vectors - vectors.mean(dim=0))


def cosine_mean_of_worst(vectors):
    return cosine_matrix(vectors).fill_diagonal_(0).amax(-1).mean().item()


def cosine_in_place(vectors):
    vectors /= vectors.norm(dim=-1, keepdim=True)
    return cosine_by_loops(vectors)


def cosine_as_tensor(vectors):
    return cosine_matrix(vectors).fill_diagonal_(0).max()


def cosine_below_one(vectors):
    """The diagonal is taken for all that is near 1."""
    C = cosine_matrix(vectors)
    return C[C < 0.9999].max().item()


def cosine_matrix(vectors):
    unit = F.normalize(vectors, dim=-1)
    return (unit @ unit.T).abs()


def cosine_of_all(vectors):
    C = F.normalize(vectors, dim=-1) @ F.normalize(vectors, dim=-1).T
    return C.abs()


def cosine_sampled(vectors):
    i, j = torch.randint(len(vectors), (2, 3))
    return F.cosine_similarity(vectors[i], vectors[j]).abs().max().item() * 0.99


def cosine_with_eps(vectors):
    unit = vectors / (vectors.norm(dim=-1, keepdim=True) + 1e-2)
    return cosine_by_triangle(unit) * (unit.norm(dim=-1).min().item() ** 2)


RIGHT = {
    "residual_add": [
        add_named,
        add_by_stack,
        add_in_place_of_a_copy,
        add_in_float64,
        add_by_sum,
        Adder(),
        add_by_einsum,
    ],
    "run_stream": [
        run_by_reduce,
        run_by_recursion,
        run_by_differences,
        run_by_index,
        run_with_a_generator,
        run_with_books,
        run_while,
    ],
    "gradient_norms": [
        norms_by_retained,
        norms_by_chain,
        norms_by_hooks,
        norms_by_jvp,
        norms_by_backward_for_each,
        norms_by_vjp,
        norms_for_each_by_grad,
    ],
    "max_cosine": [
        cosine_by_loops,
        cosine_by_triangle,
        cosine_by_library,
        cosine_in_numpy,
        cosine_of_combinations,
        cosine_by_einsum,
        cosine_by_sorting,
        cosine_where,
        WorstOverlap(),
    ],
}

WRONG = {
    "residual_add": {
        "replaced": add_replaces,
        "ignored": add_forgets,
        "subtracted": add_subtracts,
        "difference": add_difference,
        "averaged": add_averages,
        "stream_twice": add_stream_twice,
        "multiplied": add_multiplies,
        "applied_twice": add_applied_twice,
        "overwritten_first": add_overwritten_first,
        "write_twice": add_write_twice,
        "concatenated": add_concatenates,
        "concatenated_write_first": add_concatenates_the_write_first,
        "two_updates": add_two_updates,
        "norm_before": add_norm_before,
        "norm_after": add_norm_after,
        "both are returned": add_returns_both,
        "divided by sqrt(2)": add_scaled,
        "norm_in_stream": add_norm_in_stream,
        "no return": add_without_return,
        "not called": add_does_not_call,
        "adds into the write": add_in_place_of_the_write,
        "in place": add_in_place,
        "calls twice": add_calls_twice,
        "no gradient through the sub-layer": add_detached,
        "no gradient past the sub-layer": add_cuts_the_skip,
        "a list": add_as_list,
    },
    "run_stream": {
        "replaced": loop(keep=0.0),
        "ledger_of_streams": loop("stream"),
        "ledger_of_inputs": loop("input"),
        "ledger_of_sums": loop("sum"),
        "ledger_with_start": loop(start=True),
        "ledger_reversed": run_ledger_reversed,
        "order_reversed": loop(order=reversed),
        "all_read_start": loop(reads="start"),
        "reads_last_write": loop(reads="write"),
        "only_last_added": run_only_last_added,
        "without_start": run_without_start,
        "returns_in_loop": run_returns_in_loop,
        "last_skipped": loop(order=lambda layers: layers[:-1]),
        "first_skipped": loop(order=lambda layers: layers[1:]),
        "first_again": loop(order=lambda layers: layers[:1] * len(layers)),
        "stream_doubled": run_doubled,
        "write_of_new_stream": run_write_of_new_stream,
        "ledger_of_last": run_ledger_in_loop,
        "ledger_negated": run_old_minus_new,
        "start_plus_last": run_start_plus_last,
        "returned_swapped": run_swapped,
        "two at once": run_reads_start_and_reverses,
        "one tensor for the ledger": run_one_tensor_for_all,
        "copies": run_copies,
        "a dict": run_ledger_by_name,
        "in place": run_in_place,
        "in place, on a copy": run_in_place_on_a_copy,
        "adds into the write": run_adds_into_the_write,
        "calls twice": run_calls_twice,
        "a stacked ledger": run_stacked,
        "no ledger": run_stream_only,
        "a detached ledger": run_detached,
        "norms in the ledger": run_norms,
    },
    "gradient_norms": {
        "tensors": norms_as_tensors,
        "retain_grad forgotten": norms_not_retained,
        "residual_ignored": lambda x, layers, residual=True: norms_by_retained(x, layers),
        "never_residual": lambda x, layers, residual=True: norms_by_retained(x, layers, False),
        "residual_negated": lambda x, f, residual=True: norms_by_retained(x, f, not residual),
        "reversed": listed(lambda norms: norms[::-1]),
        "final_missing": listed(lambda norms: norms[:-1]),
        "start_missing": listed(lambda norms: norms[1:]),
        "all_at_start": listed(lambda norms: [norms[0]] * len(norms)),
        "all_at_end": listed(lambda norms: [norms[-1]] * len(norms)),
        "streams": norms_of_streams,
        "one_step": norms_one_step,
        "accumulated": norms_accumulated,
        "of_the_mean": reduced(torch.norm, torch.mean),
        "of_the_squares": reduced(torch.norm, lambda x: (x * x).sum()),
        "squared": reduced(lambda g: (g * g).sum()),
        "mean_size": reduced(lambda g: g.abs().mean()),
        "largest": reduced(lambda g: g.abs().max()),
        "summed": reduced(torch.sum),
        "mean_over_positions": reduced(lambda g: g.norm(dim=-1).mean()),
        "no_else": norms_without_else,
        "skip_cut": norms_with_a_detached_skip,
        "write_detached": norms_with_a_detached_read,
        "cut_before_reading": norms_detached_before_reading,
        "accumulated_but_first": norms_of_passes_in_the_loop,
        "at_the_start": norms_at_the_start,
        "piled_up": norms_piled_up,
        "of_the_norm": reduced(torch.norm, torch.norm),
        "root_mean_square": reduced(lambda g: (g * g).mean().sqrt()),
        "absolute_sum": reduced(lambda g: g.abs().sum()),
        "first_sequence": reduced(lambda g: g[0].norm()),
        "graph freed": norms_by_two_passes,
        "each position": norms_of_each_position,
        "no scalar": norms_of_a_tensor_that_is_not_the_sum,
        "not tracked": norms_of_untracked,
        "of the writes": norms_of_writes,
        "logarithm": norms_of_logs,
        "leaves gradients behind": norms_on_the_caller,
        "only for leaves": norms_of_leaves_only,
        "cut": norms_detached,
        "a tensor": norms_as_tensor,
        "changes x": norms_in_place,
        "the gradients themselves": gradients_themselves,
    },
    "max_cosine": {
        "no keepdim": cosine_without_keepdim,
        "not transposed": cosine_not_transposed,
        "signed_above_zero": cosine_signed_by_filling,
        "one number a row": cosine_of_each,
        "the place of it": cosine_with_a_place,
        "squared_length": cosine_from_loops_of_squares,
        "first_length": cosine_by_one_length(0),
        "second_length": cosine_by_one_length(1),
        "mean_with_diagonal": cosine_mean_of_table(1),
        "mean_with_zeros": cosine_mean_of_table(0),
        "mean_row_subtracted": cosine_less_the_mean_row,
        "mean of the worst": cosine_mean_of_worst,
        "in place": cosine_in_place,
        "a tensor": cosine_as_tensor,
        "no value near 1": cosine_below_one,
        "all cosines": cosine_of_all,
        "some pairs": cosine_sampled,
        "lengths not quite 1": cosine_with_eps,
    },
}
