"""Chapter 6."""

import math
from dataclasses import asdict
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import nn

from autograder import standins
from autograder.check import find
from autograder.standins import LayerNorm, PreNormBlock

# ------------------------------------------------------------------ init_weights


def init_by_structure(model, generator=None):
    def normal(std, *tensors):
        for tensor in tensors:
            nn.init.normal_(tensor, 0.0, std, generator=generator)

    def fill(value, *tensors):
        for tensor in tensors:
            nn.init.constant_(tensor, value)

    L = len(model.blocks)
    normal(0.02, model.E, model.P)
    if not model.config.tie_weights:
        normal(0.02, model.W_U)
    for block in model.blocks:
        a, f = block.attn, block.ffn
        normal(0.02, a.W_Q, a.W_K, a.W_V, f.W_up)
        normal(0.02 / math.sqrt(2 * L), a.W_O, f.W_down)
        fill(0, a.b_Q, a.b_K, a.b_V, a.b_O, f.b_up, f.b_down, block.ln_1.beta, block.ln_2.beta)
        fill(1, block.ln_1.gamma, block.ln_2.gamma)
    fill(1, model.ln_f.gamma)
    fill(0, model.ln_f.beta)


def init_by_copy(model, generator=None):
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() == 1:
                p.copy_(torch.full_like(p, "gamma" in name))
                continue
            std = 0.02
            if name.split(".")[-1] in {"W_O", "W_down"}:
                std /= (2 * model.config.n_layer) ** 0.5
            p.copy_(torch.randn(p.shape, generator=generator) * std)


def init_then_narrow(model, generator=None):
    for name, p in model.named_parameters():
        p.data.zero_()
        if name.endswith("gamma"):
            p.data += 1
        if p.dim() > 1:
            p.data.normal_(std=0.02, generator=generator)
        if "W_O" in name or "W_down" in name:
            p.data /= math.sqrt(2 * model.config.n_layer)


def init_by_groups(model, generator=None):
    """The kind of a parameter looked up in a table; each is filled through a new tensor."""
    L = model.config.n_layer
    tables = dict.fromkeys(("E", "P", "W_U", "W_Q", "W_K", "W_V", "W_up"), 0.02)
    tables |= dict.fromkeys(("W_O", "W_down"), 0.02 * (2 * L) ** -0.5)
    for name, parameter in model.named_parameters():
        kind = name.split(".")[-1]
        with torch.no_grad():
            if kind in tables:
                new = torch.empty(parameter.shape, dtype=torch.float64)
                parameter.copy_(new.normal_(generator=generator) * tables[kind])
            else:
                parameter.zero_()
                if kind == "gamma":
                    parameter += 1


class Starter:
    """A class that holds the function, and goes through the modules."""

    def __init__(self, model, generator):
        self.generator, self.narrow = generator, math.sqrt(2 * model.config.n_layer)

    def __call__(self, module):
        for name, p in module.named_parameters(recurse=False):
            wide = p.ndim >= 2
            std = 0.02 / self.narrow if name in ("W_O", "W_down") else 0.02
            (
                torch.nn.init.normal_(p, std=std, generator=self.generator)
                if wide
                else p.data.fill_(name == "gamma")
            )


def init_by_apply(model, generator=None):
    model.apply(Starter(model, generator))


def init_biases_too(model, generator=None):
    """Everything but gamma is drawn."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            std = 0.02
            if name.endswith(("W_O", "W_down")):
                std /= math.sqrt(2 * model.config.n_layer)
            p.fill_(1) if name.endswith("gamma") else p.normal_(0, std, generator=generator)


def init_with_xavier(model, generator=None):
    """Another framework's way: the deviation depends on the shape."""
    for name, p in model.named_parameters():
        if p.dim() > 1:
            nn.init.xavier_normal_(p, generator=generator)
        else:
            nn.init.constant_(p, float(name.endswith("gamma")))


@torch.no_grad()
def init_by_endings_that_miss(model, generator=None):
    """`name == "W_O"` is never true: a name has its block in front."""
    for name, p in model.named_parameters():
        if name in ("W_O", "W_down"):
            p.normal_(0, 0.02 / math.sqrt(2 * model.config.n_layer), generator=generator)
        elif p.dim() > 1:
            p.normal_(0, 0.02, generator=generator)
        else:
            p.fill_(1.0 if "gamma" in name else 0.0)


def init_new_tensors(model, generator=None):
    init_by_copy(model, generator)
    for block in model.blocks:
        W = torch.empty_like(block.attn.W_Q).normal_(0, 0.02, generator=generator)
        block.attn.W_Q = nn.Parameter(W)


def init_without_generator(model, generator=None):
    init_by_copy(model)


def init_with_a_seed(model, generator=None):
    torch.manual_seed(42)
    init_by_copy(model)


def init_each_with_the_same_seed(model, generator=None):
    for name, p in model.named_parameters():
        if p.dim() > 1:
            std = 0.02 * (2 * model.config.n_layer) ** (-0.5 * name.endswith(("W_O", "W_down")))
            torch.manual_seed(generator.initial_seed() if generator else torch.initial_seed())
            nn.init.normal_(p, 0.0, std)
        else:
            nn.init.constant_(p, float(name.endswith("gamma")))


def init_a_copy(model, generator=None):
    other = standins.GPT2(model.config)
    init_by_copy(other, generator)
    return other


def init_with_a_clone(model, generator=None):
    """The generator that was handed in stays where it was."""
    if generator is not None:
        generator = torch.Generator().set_state(generator.get_state())
    init_by_copy(model, generator)


def init_by_other_names(model, generator=None):
    """Nothing is done in place."""
    for name, p in model.named_parameters():
        p = 0.02 * torch.randn(p.shape, generator=generator)


def init_matrices_by_other_names(model, generator=None):
    for name, p in model.named_parameters():
        if p.dim() >= 2:
            p = 0.02 * torch.randn(p.shape, generator=generator)
        else:
            nn.init.constant_(p, float(name.endswith("gamma")))


def init_frozen(model, generator=None):
    init_by_copy(model, generator)
    model.requires_grad_(False)


def filled(deviation=0.02, write=lambda L: (2 * L) ** -0.5, vector=None, uniform=False):
    """init_weights with one thing changed. deviation, vector: numbers, or from a parameter's name;
    None leaves it as it is. write: factor for W_O and W_down, or from L and the name."""

    def init_weights(model, generator=None):
        L = model.config.n_layer
        for name, p in model.named_parameters():
            last = name.split(".")[-1]
            if p.dim() < 2:
                value = float(last == "gamma") if vector is None else vector(last)
                if value is not None:
                    nn.init.constant_(p, value)
                continue
            std = deviation(last, L) if callable(deviation) else deviation
            if last in ("W_O", "W_down"):
                std = 0.02 if std is None else std
                std *= write(L, last) if write.__code__.co_argcount == 2 else write(L)
            if std is None:
                continue
            if uniform:
                nn.init.uniform_(p, -std, std, generator=generator)
            else:
                nn.init.normal_(p, 0.0, std, generator=generator)

    return init_weights


def half(L):
    return (2 * L) ** -0.5


INIT_MISTAKES = {
    "writes_not_narrowed": filled(write=lambda L: 1),
    "narrowed_by_L": filled(write=lambda L: L**-0.5),
    "narrowed_without_root": filled(write=lambda L: 1 / (2 * L)),
    "root_of_L_only": filled(write=lambda L: 0.5 * L**-0.5),
    "widened": filled(write=lambda L: (2 * L) ** 0.5),
    "W_up_for_W_down": filled(
        lambda name, L: 0.02 * (half(L) if name == "W_up" else 1),
        write=lambda L, name: half(L) if name == "W_O" else 1,
    ),
    "deviation_1": filled(1.0),
    "deviation_1_for_all": filled(1.0, write=lambda L: 1),
    "root_of_each": filled(0.02**0.5, write=lambda L: (2 * L) ** -0.25),
    "squared_0.02": filled(0.02**2),
    "squared": filled(0.02**2, write=lambda L: 1 / (2 * L)),
    "squared_for_writes": filled(write=lambda L: 0.02 / (2 * L)),
    "beta_is_1": filled(vector=lambda name: float(name in ("gamma", "beta"))),
    "biases_left": filled(
        vector=lambda name: float(name == "gamma") if name in ("gamma", "beta") else None
    ),
    "only_W_O": filled(write=lambda L, name: half(L) if name == "W_O" else 1),
    "only_W_down": filled(write=lambda L, name: half(L) if name == "W_down" else 1),
    "all_narrowed": filled(lambda name, L: 0.02 * half(L), write=lambda L: 1),
    "blocks_narrowed": filled(
        lambda name, L: 0.02 * (1 if name in ("E", "P", "W_U") else half(L)), write=lambda L: 1
    ),
    "tables_of_deviation_1": filled(lambda name, L: 1.0 if name in ("E", "P") else 0.02),
    "E_of_deviation_1": filled(lambda name, L: 1.0 if name == "E" else 0.02),
    "P_of_deviation_0.01": filled(lambda name, L: 0.01 if name == "P" else 0.02),
    "variance_of_0.02": filled(0.02**0.5),
    "uniform": filled(uniform=True),
    "gamma_is_0": filled(vector=lambda name: 0.0),
    "all_vectors_1": filled(vector=lambda name: 1.0),
    "nothing_changed": init_by_other_names,
    "matrices_left": init_matrices_by_other_names,
    "vectors_left": filled(vector=lambda name: None),
    "tables_left": filled(lambda name, L: None if name in ("E", "P", "W_U") else 0.02),
    "W_U_left": filled(lambda name, L: None if name == "W_U" else 0.02),
}

# ------------------------------------------------------------------ cross_entropy


def loss_by_log_softmax(logits, targets):
    log_p = torch.log_softmax(logits, dim=-1)
    return -(log_p * F.one_hot(targets, logits.shape[-1])).sum(-1).mean()


def loss_by_rows(logits, targets):
    losses = []
    for row, target in zip(logits.flatten(0, -2), targets.flatten()):
        row = row - row.max()
        losses.append(row.exp().sum().log() - row[target])
    return torch.stack(losses).mean()


def loss_in_double(logits, targets):
    log_p = logits.double().log_softmax(-1)
    return -torch.take_along_dim(log_p, targets.unsqueeze(-1), -1).mean().to(logits.dtype)


def loss_by_chunks(logits, targets):
    """A few rows at a time, and the sum divided at the end."""
    rows, wanted = logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)
    total = logits.new_zeros(())
    for z, i in zip(rows.split(3), wanted.split(3)):
        top = z.max(-1, keepdim=True).values
        total = total + ((z - top).exp().sum(-1).log() + top[:, 0]).sum()
        total = total - z[torch.arange(len(i), device=i.device), i].sum()
    return total / len(rows)


def loss_by_einsum(logits, targets):
    one = torch.zeros_like(logits).scatter(-1, targets[..., None], 1.0)
    picked = torch.einsum("...v,...v->...", logits, one)
    return torch.mean(torch.logsumexp(logits, dim=-1) - picked)


def loss_of_differences(logits, targets):
    """log sum_j e^(z_j - z_i): the target's logit is taken off first."""
    own = torch.take_along_dim(logits, targets[..., None], dim=-1)
    return torch.logsumexp(logits - own, dim=-1).mean()


def loss_with_epsilon(logits, targets, epsilon=1e-9):
    p = logits.softmax(-1).gather(-1, targets[..., None])
    return -(p + epsilon).log().mean()


def loss_with_another_epsilon(logits, targets):
    return loss_with_epsilon(logits, targets, 1e-12)


def loss_rolled(logits, targets):
    return loss_by_log_softmax(logits, targets.roll(-1, -1))


def loss_over_positions(logits, targets):
    return -logits.log_softmax(-2).gather(-1, targets[..., None]).mean()


def loss_of_softmax_over_positions(logits, targets):
    return -logits.softmax(-2).gather(-1, targets[..., None]).log().mean()


def loss_clamped(logits, targets):
    return -logits.softmax(-1).gather(-1, targets[..., None]).clamp(min=1e-7).log().mean()


def loss_without_an_axis(logits, targets):
    return (logits.logsumexp(-1) - logits.gather(-1, targets).squeeze(-1)).mean()


def loss_with_axes_that_spread(logits, targets):
    """What is picked keeps its axis, so that the difference is a table of all pairs."""
    return (logits.logsumexp(-1) - logits.gather(-1, targets[..., None])).mean()


def loss_by_every_target(logits, targets):
    return -logits.log_softmax(-1)[..., targets].mean()


def loss_mean_of_one_hot(logits, targets):
    return -(logits.log_softmax(-1) * F.one_hot(targets, logits.shape[-1])).mean()


def loss_naive(logits, targets):
    p = logits.exp() / logits.exp().sum(-1, keepdim=True)
    return -p.gather(-1, targets[..., None]).log().mean()


def loss_underflows(logits, targets):
    return -logits.softmax(-1).gather(-1, targets[..., None]).log().mean()


def loss_as_float(logits, targets):
    return loss_by_log_softmax(logits, targets).item()


def loss_in_place(logits, targets):
    logits -= logits.max(-1, keepdim=True).values
    return loss_by_log_softmax(logits, targets)


def loss_three_axes_only(logits, targets):
    B, T, V = logits.shape
    return F.cross_entropy(logits.view(B * T, V), targets.view(B * T))


def loss_with_a_constant(logits, targets):
    return loss_underflows(logits + 1e-9, targets) + 1e-3


def loss_by_lists(logits, targets):
    """Each logit is picked with a Python number."""
    rows = logits.reshape(-1, logits.shape[-1])
    picked = torch.stack([row[i] for row, i in zip(rows, targets.flatten().tolist())])
    return (rows.logsumexp(-1) - picked).mean()


def loss_by_comparison(logits, targets):
    """What is picked is found by a comparison."""
    own = torch.arange(logits.shape[-1], device=logits.device) == targets[..., None]
    return (logits.logsumexp(-1).flatten() - logits[own]).mean()


def loss_by_view(logits, targets):
    return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))


def loss_by_view_of_targets(logits, targets):
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.view(-1))


def loss_by_view_of_logits(logits, targets):
    return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.reshape(-1))


def loss_squeezed(logits, targets):
    """Where squeeze() takes away an axis of the targets too, the two no longer fit."""
    picked = logits.gather(-1, targets[..., None]).squeeze()
    return (logits.logsumexp(-1) - picked).mean()


def loss_stays_in_double(logits, targets):
    return loss_by_log_softmax(logits.double(), targets)


def loss_always_in_float32(logits, targets):
    return loss_by_log_softmax(logits.float(), targets)


# ------------------------------------------------------------------ GPT2


def init_weights(model, generator=None):
    init_by_copy(model, generator)


def cross_entropy(logits, targets):
    return loss_by_log_softmax(logits, targets)


class Model(nn.Module):
    """A GPT-2 in other words; what follows changes a piece of it."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        V, d, T = config.vocab_size, config.d_model, config.n_positions
        self.E, self.P = nn.Parameter(torch.zeros(V, d)), nn.Parameter(torch.zeros(T, d))
        self.make_blocks(config)
        self.ln_f = LayerNorm(d)
        if not config.tie_weights:
            self.W_U = nn.Parameter(torch.zeros(d, V))
        self.start()

    def make_blocks(self, config):
        self.blocks = nn.Sequential(
            *[
                PreNormBlock(config.d_model, config.n_head, config.dropout)
                for _ in range(config.n_layer)
            ]
        )

    def start(self):
        init_weights(self)

    def refuse(self, ids):
        T = ids.shape[1]
        if T == 0 or T > self.config.n_positions:
            raise ValueError("a wrong number of tokens")
        if torch.any(ids < 0) or torch.any(ids >= self.config.vocab_size):
            raise ValueError("an unknown token")

    def embedded(self, ids):
        positions = torch.arange(ids.shape[1], device=ids.device)
        x = F.embedding(ids, self.E) + F.embedding(positions, self.P)
        return F.dropout(x, self.config.dropout, self.training)

    def unembedding(self):
        return self.E.T if self.config.tie_weights else self.W_U

    def forward(self, ids):
        self.refuse(ids)
        return self.ln_f(self.blocks(self.embedded(ids))) @ self.unembedding()

    def loss(self, ids, targets):
        return cross_entropy(self(ids), targets)


class ModelByEinsum(Model):
    def make_blocks(self, config):
        self.blocks = nn.ModuleList()
        for _ in range(config.n_layer):
            self.blocks.append(PreNormBlock(config.d_model, config.n_head, config.dropout))

    def embedded(self, ids):
        x = self.E[ids.flatten()].unflatten(0, ids.shape)
        return nn.Dropout(self.config.dropout).train(self.training)(x + self.P[None, : ids.size(1)])

    def forward(self, ids):
        if not ids.is_meta:
            self.refuse(ids)
        x = self.embedded(ids)
        for i in range(self.config.n_layer):
            x = self.blocks[i](x)
        return torch.einsum("btd,dv->btv", self.ln_f(x), self.unembedding())


class ModelThatStartsItself(Model):
    """It draws its weights alone, and computes its own loss."""

    def start(self):
        init_then_narrow(self)

    def unembedding(self):
        return self.E.clone().T if self.config.tie_weights else self.W_U

    def loss(self, ids, targets):
        logits = self.forward(ids)
        return F.cross_entropy(logits.transpose(1, 2), targets)


class ModelOfParts(nn.Module):
    """Parts registered by hand, blocks in a ModuleList under numbers, dropout written out."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.register_parameter("E", nn.Parameter(torch.ones(config.vocab_size, config.d_model)))
        self.register_parameter("P", nn.Parameter(torch.ones(config.n_positions, config.d_model)))
        self.blocks = nn.ModuleList()
        for i in range(config.n_layer):
            block = PreNormBlock(config.d_model, config.n_head, config.dropout)
            self.blocks.add_module(str(i), block)
        self.add_module("ln_f", LayerNorm(config.d_model))
        if config.tie_weights is False:
            W_U = torch.ones(config.d_model, config.vocab_size)
            self.register_parameter("W_U", nn.Parameter(W_U))
        init_by_groups(self)

    def dropped(self, x):
        p = self.config.dropout
        if not self.training or p == 0:
            return x
        return torch.where(torch.rand_like(x) < p, torch.zeros_like(x), x / (1 - p))

    def forward(self, ids):
        B, T = ids.shape
        if T < 1 or T > self.config.n_positions:
            raise ValueError("length")
        if not ids.is_meta and ((ids < 0) + (ids >= self.config.vocab_size)).any():
            raise ValueError("token")
        x = self.dropped(self.E.index_select(0, ids.reshape(-1)).view(B, T, -1) + self.P[:T])
        for _, block in self.blocks.named_children():
            x = block(x)
        matrix = self.E if self.config.tie_weights else self.W_U.mT
        return F.linear(self.ln_f(x), matrix)

    def loss(self, ids, targets):
        return loss_by_chunks(self.forward(ids), targets)


class UnknownToken(ValueError):
    pass


class RefusesWithItsOwnError(Model):
    def refuse(self, ids):
        if not 1 <= ids.size(1) <= self.config.n_positions:
            raise UnknownToken("a wrong number of tokens")
        if len(((ids < 0) | (ids >= self.config.vocab_size)).nonzero()):
            raise UnknownToken("an unknown token")


class RefusesByLists(Model):
    """Looks at every id as a Python number."""

    def refuse(self, ids):
        rows = ids.tolist()
        known = all(0 <= i < self.config.vocab_size for row in rows for i in row)
        if not (known and 0 < len(rows[0]) <= self.config.n_positions):
            raise ValueError("not these ids")


class LastPositionKept(Model):
    def forward(self, ids):
        return super().forward(ids)[:, -1:]


class PositionsAlone(Model):
    """E is not looked up, and so there is no batch."""

    def embedded(self, ids):
        return self.P[: ids.shape[1]]


class LossRollsAgain(Model):
    def loss(self, ids, targets):
        return super().loss(ids, targets.roll(-1, -1))


class LogitsSqueezed(Model):
    def forward(self, ids):
        return super().forward(ids).squeeze()


class LogitsInFloat32(Model):
    def forward(self, ids):
        return super().forward(ids).float()


class LogitsInFloat64(Model):
    def forward(self, ids):
        return super().forward(ids).double()


class IdsByView(Model):
    """Looks the ids up in one row: fails on a batch that is a slice of a longer text."""

    def embedded(self, ids):
        x = self.E[ids.view(-1)].view(*ids.shape, -1) + self.P[: ids.shape[1]]
        return F.dropout(x, self.config.dropout, self.training)


class LossByView(Model):
    def loss(self, ids, targets):
        logits = self(ids)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))


class LossInFloat64(Model):
    def loss(self, ids, targets):
        return super().loss(ids, targets).double()


class PlainPositions(Model):
    """The positions' numbers are a plain attribute: they do not move with the model."""

    def __init__(self, config):
        super().__init__(config)
        self.places = torch.eye(config.n_positions)

    def embedded(self, ids):
        x = self.E[ids] + self.places[: ids.shape[1]].to(self.P.dtype) @ self.P
        return F.dropout(x, self.config.dropout, self.training)


class DropsWithoutRescaling(Model):
    def embedded(self, ids):
        x = self.E[ids] + self.P[: ids.shape[1]]
        kept = torch.rand_like(x) >= self.config.dropout if self.training else 1
        return x * kept


class DropsTheTokensOnly(Model):
    """The dropout misses the positions' vectors."""

    def embedded(self, ids):
        x = F.dropout(self.E[ids], self.config.dropout, self.training)
        return x + self.P[: ids.shape[1]]


class TiedByCopy(Model):
    def __init__(self, config):
        super().__init__(config)
        self.W_U = nn.Parameter(self.E.detach().T.clone())

    def unembedding(self):
        return self.W_U


class TiedByOldView(Model):
    def __init__(self, config):
        super().__init__(config)
        self.head = self.E.detach().T.clone()

    def unembedding(self):
        return self.head if self.config.tie_weights else self.W_U


class TiedTwice(Model):
    def __init__(self, config):
        super().__init__(config)
        if config.tie_weights:
            self.head = self.E


class TiedWithoutGradient(Model):
    def unembedding(self):
        return self.E.detach().T if self.config.tie_weights else self.W_U


class BlocksInAList(Model):
    def make_blocks(self, config):
        self.blocks = [PreNormBlock(config.d_model, config.n_head) for _ in range(config.n_layer)]

    def forward(self, ids):
        x = self.embedded(ids)
        for block in self.blocks:
            x = block(x)
        return self.ln_f(x) @ self.unembedding()


class OneBlock(Model):
    def make_blocks(self, config):
        block = PreNormBlock(config.d_model, config.n_head, config.dropout)
        self.blocks = nn.ModuleList([block] * config.n_layer)

    forward = BlocksInAList.forward


class HeadTurned(Model):
    def __init__(self, config):
        super().__init__(config)
        if not config.tie_weights:
            self.W_U = nn.Parameter(torch.zeros(config.vocab_size, config.d_model))

    def unembedding(self):
        return self.E.T if self.config.tie_weights else self.W_U.T


class AlwaysTied(Model):
    def __init__(self, config):
        super().__init__(config)
        if not config.tie_weights:
            del self.W_U

    def unembedding(self):
        return self.E.T


class RefusesNothing(Model):
    def refuse(self, ids):
        pass


class RefusesByAssertion(Model):
    def refuse(self, ids):
        assert 0 < ids.shape[1] <= self.config.n_positions and ids.max() < self.config.vocab_size


class TakesNegativeIds(Model):
    def refuse(self, ids):
        if not 0 < ids.shape[1] <= self.config.n_positions or ids.max() >= self.config.vocab_size:
            raise ValueError("not these ids")


class NeverStarted(Model):
    def start(self):
        for p in self.parameters():
            nn.init.normal_(p)


class StartedTooEarly(Model):
    def make_blocks(self, config):
        init_weights(SimpleNamespace(config=config, named_parameters=self.named_parameters))
        super().make_blocks(config)

    def start(self):
        pass


class DropsNothing(Model):
    def __init__(self, config):
        super().__init__(config)
        for block in self.blocks:
            block.dropout = block.attn.dropout = 0.0


class DropsAlways(Model):
    def embedded(self, ids):
        return F.dropout(self.E[ids] + self.P[: ids.shape[1]], self.config.dropout)


class WithBuffer(Model):
    def __init__(self, config):
        super().__init__(config)
        self.register_buffer("mask", torch.zeros(config.n_positions, config.n_positions))


class HeadWithBias(Model):
    def __init__(self, config):
        super().__init__(config)
        self.b_U = nn.Parameter(torch.zeros(config.vocab_size))


class LossAsFloat(Model):
    def loss(self, ids, targets):
        return super().loss(ids, targets).item()


class ChangesItsIds(Model):
    def embedded(self, ids):
        return super().embedded(ids.clamp_(min=1) - (ids < 0).long())


class Wide(Model):
    """Blocks twice as wide inside."""

    def make_blocks(self, config):
        super().make_blocks(config)
        for block in self.blocks:
            block.ffn = standins.FeedForward(config.d_model, 8 * config.d_model)


def mistaken(mistake):
    """The known mistake as a model of the library with another forward pass."""

    class Mistaken(standins.GPT2):
        def forward(self, ids):
            return mistake.wrong(asdict(self.config), dict(self.named_parameters()), ids)

        def loss(self, ids, targets):
            state = dict(self.named_parameters())
            return mistake.wrong(asdict(self.config), state, ids, targets)

    return Mistaken


# ------------------------------------------------------------------ next_token_distribution


def next_by_logsumexp(logits):
    last = logits.select(-2, -1)
    return torch.exp(last - last.logsumexp(-1, keepdim=True))


def next_by_narrowing(logits):
    T = logits.shape[-2]
    return torch.softmax(logits.narrow(-2, T - 1, 1), dim=-1).squeeze(-2)


def next_in_double(logits):
    e = (logits[..., -1, :].double() - logits[..., -1, :].double().amax(-1, keepdim=True)).exp()
    return (e / e.sum(-1, keepdim=True)).to(logits.dtype)


def next_by_index_select(logits):
    last = torch.tensor([logits.shape[-2] - 1], device=logits.device)
    row = logits.index_select(-2, last).squeeze(-2)
    e = torch.exp(row - row.amax(dim=-1, keepdim=True))
    return torch.einsum("...v,...->...v", e, 1 / e.sum(-1))


class Next(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, logits):
        *batch, T, V = logits.shape
        return self.softmax(logits.reshape(-1, T, V)[:, T - 1]).reshape(*batch, V)


def next_by_module(logits):
    return Next()(logits)


def next_batch_only(logits):
    return torch.softmax(logits[:, -1], dim=-1)


def next_keeps_axis(logits):
    return torch.softmax(logits[..., -1:, :], dim=-1)


def next_overflows(logits):
    e = logits[..., -1, :].exp()
    return e / e.sum(-1, keepdim=True)


def next_exponential(logits):
    return logits[..., -1, :].exp()


def next_detached(logits):
    return next_by_logsumexp(logits.detach())


@torch.no_grad()
def next_without_graph(logits):
    return torch.softmax(logits[..., -1, :], dim=-1)


@torch.inference_mode()
def next_in_inference_mode(logits):
    return next_by_logsumexp(logits)


def next_squeezed(logits):
    return torch.softmax(logits[..., -1:, :], dim=-1).squeeze()


def next_in_float64(logits):
    return torch.softmax(logits[..., -1, :].double(), dim=-1)


def next_in_float32(logits):
    return torch.softmax(logits[..., -1, :].float(), dim=-1)


def next_by_view(logits):
    *batch, T, V = logits.shape
    return torch.softmax(logits.view(-1, T, V)[:, -1], dim=-1).reshape(*batch, V)


RIGHT = {
    "init_weights": [
        init_by_structure,
        init_by_copy,
        init_then_narrow,
        init_by_groups,
        init_by_apply,
    ],
    "cross_entropy": [
        loss_by_log_softmax,
        loss_by_rows,
        loss_in_double,
        loss_by_lists,
        loss_by_comparison,
        loss_by_chunks,
        loss_by_einsum,
        loss_of_differences,
    ],
    "GPT2": [
        Model,
        ModelByEinsum,
        ModelOfParts,
        ModelThatStartsItself,
        RefusesWithItsOwnError,
        RefusesByLists,
    ],
    "next_token_distribution": [
        next_by_logsumexp,
        next_by_narrowing,
        next_in_double,
        next_without_graph,
        next_in_inference_mode,
        next_detached,
        next_by_index_select,
        next_by_module,
    ],
}

WRONG = {
    "init_weights": INIT_MISTAKES
    | {
        "draws with a clone": init_with_a_clone,
        "new tensors": init_new_tensors,
        "ignores the generator": init_without_generator,
        "sets a seed": init_with_a_seed,
        "one seed for each": init_each_with_the_same_seed,
        "fills a copy": init_a_copy,
        "freezes the model": init_frozen,
        "biases drawn too": init_biases_too,
        "xavier": init_with_xavier,
        "names that never match": init_by_endings_that_miss,
    },
    "cross_entropy": {
        "squeeze": loss_squeezed,
        "view": loss_by_view,
        "view of the targets": loss_by_view_of_targets,
        "view of the logits": loss_by_view_of_logits,
        "stays in double": loss_stays_in_double,
        "float32": loss_always_in_float32,
        "softmax_by_hand": loss_naive,
        "log_of_softmax": loss_underflows,
        "epsilon": loss_with_epsilon,
        "every_target": loss_by_every_target,
        "mean_over_vocabulary": loss_mean_of_one_hot,
        "epsilon_1e_12": loss_with_another_epsilon,
        "rolled": loss_rolled,
        "over_positions": loss_over_positions,
        "log_of_softmax_over_positions": loss_of_softmax_over_positions,
        "clamped": loss_clamped,
        "an index without its axis": loss_without_an_axis,
        "an axis too many": loss_with_axes_that_spread,
        "a float": loss_as_float,
        "changes its input": loss_in_place,
        "three axes only": loss_three_axes_only,
        "nearly": loss_with_a_constant,
    },
    "GPT2": {m.name: mistaken(m) for m in find("GPT2").mistakes}
    | {
        "squeeze": LogitsSqueezed,
        "float32": LogitsInFloat32,
        "float64": LogitsInFloat64,
        "ids by view": IdsByView,
        "loss by view": LossByView,
        "loss in float64": LossInFloat64,
        "a plain attribute": PlainPositions,
        "kept entries as they were": DropsWithoutRescaling,
        "drops tokens only": DropsTheTokensOnly,
        "last_position_kept": LastPositionKept,
        "tokens_unused_no_batch": PositionsAlone,
        "loss_rolls_again": LossRollsAgain,
        "tied_by_copy": TiedByCopy,
        "python_list": BlocksInAList,
        "same_block": OneBlock,
        "W_U_transposed": HeadTurned,
        "never_untied": AlwaysTied,
        "tied to an old copy": TiedByOldView,
        "a second name for E": TiedTwice,
        "tied without gradient": TiedWithoutGradient,
        "refuses nothing": RefusesNothing,
        "refuses by assertion": RefusesByAssertion,
        "takes negative ids": TakesNegativeIds,
        "not initialised": NeverStarted,
        "initialised before the blocks": StartedTooEarly,
        "drops nothing in the blocks": DropsNothing,
        "drops in eval mode": DropsAlways,
        "a buffer": WithBuffer,
        "a bias at the end": HeadWithBias,
        "the loss is a float": LossAsFloat,
        "changes its ids": ChangesItsIds,
        "wide blocks": Wide,
    },
    "next_token_distribution": {
        "squeeze": next_squeezed,
        "float64": next_in_float64,
        "float32": next_in_float32,
        "view": next_by_view,
        "one batch dimension only": next_batch_only,
        "axis_kept": next_keeps_axis,
        "no_shift": next_overflows,
        "exponential_alone": next_exponential,
    },
}
