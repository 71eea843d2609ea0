"""Chapter 1."""

from collections import Counter
from dataclasses import asdict, dataclass, field, replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder.check import find

# ------------------------------------------------------------------ embed


def embed_by_one_hot(ids, E, P):
    return F.one_hot(ids, E.shape[0]).to(E.dtype) @ E + P[: ids.size(-1)]


def embed_by_positions(ids, E, P):
    t = torch.arange(ids.shape[-1], device=ids.device).expand_as(ids)
    return F.embedding(ids, E) + F.embedding(t, P)


def embed_by_loop(ids, E, P):
    return torch.stack([E[ids[..., t]] + P[t] for t in range(ids.shape[-1])], dim=-2)


def embed_by_index_select(ids, E, P):
    tokens = E.index_select(0, ids.reshape(-1)).reshape(*ids.shape, E.shape[-1])
    return torch.add(tokens, P.narrow(0, 0, ids.shape[-1]))


def embed_by_einsum(tokens, token_table, place_table):
    one_hot = torch.nn.functional.one_hot(tokens, len(token_table)).to(token_table.dtype)
    T = tokens.size(-1)
    return torch.einsum("...tv,vd->...td", one_hot, token_table) + place_table[torch.arange(T)]


def embed_by_gather(ids, E, P):
    flat = ids.reshape(-1, 1).expand(-1, E.shape[1])
    x = E.gather(0, flat).reshape(ids.shape + E.shape[1:])
    x += P[: x.shape[-2]]  # a tensor of its own: nobody else sees the change
    return x


def embed_in_float64(ids, E, P):
    T = ids.shape[-1]
    return (E.double()[ids] + P.double()[:T]).type_as(E)


def embed_flattened(ids, E, P):
    """All sentences in one row, and back."""
    *batch, T = ids.shape
    rows = ids.reshape(-1, T)
    x = torch.stack([torch.stack([E[i] for i in row]) + P[:T] for row in rows])
    return x.reshape(*batch, T, -1)


def embed_positions_alone(ids, E, P):
    return P[: ids.shape[-1]]


def embed_joined(ids, E, P):
    places = P[: ids.shape[-1]].expand(*ids.shape, -1)
    return torch.cat([places, E[ids]], dim=-1)


class Lookup:
    """A callable that holds nothing."""

    def places(self, P, T):
        return torch.cat([P[t : t + 1] for t in range(T)])

    def __call__(self, ids, E, P):
        return torch.embedding(E, ids) + self.places(P, ids.shape[-1])


def embed_adds_in_place(ids, E, P):
    P[: ids.shape[-1]] += E[ids[0]] * 0 + 1
    return E[ids] + P[: ids.shape[-1]] - 1


def embed_copies(ids, E, P):
    return torch.tensor(E.detach().numpy()[ids.numpy()]) + P[: ids.shape[-1]]


def embed_two_axes_only(ids, E, P):
    B, T = ids.shape
    return E[ids] + P[:T]


def embed_on_the_cpu(ids, E, P):
    return F.one_hot(ids.cpu(), len(E)).float() @ E.cpu() + P.cpu()[: ids.shape[-1]]


def embed_rounds(ids, E, P):
    return (E[ids] + P[: ids.shape[-1]]).half().float()


def embed_row_by_row(ids, E, P):
    return torch.stack([E[row] + P[: len(row)] for row in ids])


def embed_by_list(ids, E, P):
    """Looks the ids up one by one, as Python numbers."""
    rows = [E[i] for i in ids.flatten().tolist()]
    return torch.stack(rows).reshape(*ids.shape, -1) + P[: ids.shape[-1]]


def embed_by_view(ids, E, P):
    return E[ids.view(-1)].view(*ids.shape, -1) + P[: ids.shape[-1]]


def embed_in_float32(ids, E, P):
    return (E[ids] + P[: ids.shape[-1]]).to(torch.float32)


def embed_squeezed(ids, E, P):
    return (E[ids] + P[: ids.shape[-1]]).squeeze()


# ------------------------------------------------------------------ Embedding


class Tables(nn.Module):
    def __init__(self, vocab_size, n_positions, d_model):
        super().__init__()
        self.E = nn.Parameter(torch.randn(vocab_size, d_model) * 0.02)
        self.P = nn.Parameter(torch.randn(n_positions, d_model) * 0.02)

    def check(self, ids):
        if self.P.shape[0] < ids.shape[-1]:
            raise ValueError(f"n_positions is {self.P.shape[0]}, T is {ids.shape[-1]}")


class EmbeddingByPositions(Tables):
    def forward(self, ids):
        self.check(ids)
        return self.E[ids] + self.P[torch.arange(ids.shape[-1], device=ids.device)]


class EmbeddingByOneHot(Tables):
    def forward(self, ids):
        self.check(ids)
        return embed_by_one_hot(ids, self.E, self.P)


class EmbeddingInitialised(Tables):
    def __init__(self, vocab_size, n_positions, d_model):
        nn.Module.__init__(self)
        self.n_positions = n_positions
        for name, rows in (("P", n_positions), ("E", vocab_size)):
            table = torch.zeros(rows, d_model)
            self.register_parameter(name, nn.Parameter(nn.init.normal_(table, 0, 0.02)))

    def forward(self, ids):
        if ids.shape[-1] > self.n_positions:
            raise ValueError(f"at most {self.n_positions} tokens, not {ids.shape[-1]}")
        return embed_by_loop(ids, self.E, self.P)


class EmbeddingWithPlacesAsBuffer(nn.Module):
    """The numbers of the positions are a buffer, as in HuggingFace's GPT-2."""

    def __init__(self, vocab_size, n_positions, d_model):
        super().__init__()
        self.E = nn.Parameter(torch.empty(vocab_size, d_model).normal_(std=0.02))
        self.P = nn.Parameter(torch.empty(n_positions, d_model).normal_(std=0.02))
        self.register_buffer("places", torch.arange(n_positions), persistent=False)
        self.most = n_positions

    def forward(self, ids):
        T = ids.size(-1)
        if not T <= self.most:
            raise ValueError("T = %d is more than n_positions = %d" % (T, self.most))
        return F.embedding(ids, self.E) + F.embedding(self.places[:T], self.P)


class EmbeddingInNewStyle(nn.Module):
    def __init__(self, vocab_size: int, n_positions: int, d_model: int) -> None:
        super().__init__()
        sizes = {"E": vocab_size, "P": n_positions}
        for name in sizes:
            normal = torch.distributions.Normal(0.0, 0.02)
            setattr(self, name, nn.Parameter(normal.sample((sizes[name], d_model))))

    def forward(self, ids):
        match ids.shape[-1], len(self.P):
            case T, n if T > n:
                raise ValueError(f"sequence of {T} exceeds the context of {n}")
            case T, _:
                return self.E[ids].add(self.P[:T])


class EmbeddingAssertsItsOwn(Tables):
    """Catches an error of its own and raises the one that is asked for."""

    def forward(self, ids):
        *_, T = ids.shape
        try:
            assert T <= len(self.P), f"{T} > {len(self.P)}"
        except AssertionError as error:
            raise ValueError(str(error)) from error
        return torch.stack([self.E[ids[..., t]] + self.P[t] for t in range(T)], -2)


class EmbeddingOfPlainTensors(Tables):
    def __init__(self, vocab_size, n_positions, d_model):
        nn.Module.__init__(self)
        self.E = 0.02 * torch.randn(vocab_size, d_model)
        self.P = 0.02 * torch.randn(n_positions, d_model)

    forward = EmbeddingByPositions.forward


class EmbeddingOfSubmodules(Tables):
    def __init__(self, vocab_size, n_positions, d_model):
        nn.Module.__init__(self)
        self.E = nn.Embedding(vocab_size, d_model)
        self.P = nn.Embedding(n_positions, d_model)

    def forward(self, ids):
        return self.E(ids) + self.P(torch.arange(ids.shape[-1], device=ids.device))


class EmbeddingWithoutLimit(Tables):
    def forward(self, ids):
        return self.E[ids] + self.P[: ids.shape[-1]]


class EmbeddingAsserts(Tables):
    def forward(self, ids):
        assert ids.shape[-1] <= len(self.P)
        return self.E[ids] + self.P[: ids.shape[-1]]


class EmbeddingOneTooFew(Tables):
    def forward(self, ids):
        if ids.shape[-1] >= len(self.P):
            raise ValueError("too many tokens")
        return self.E[ids] + self.P[: ids.shape[-1]]


class EmbeddingThatNamesNoNumbers(Tables):
    def forward(self, ids):
        if ids.shape[-1] > len(self.P):
            raise ValueError("too long")
        return self.E[ids] + self.P[: ids.shape[-1]]


class EmbeddingOfUnitVariance(EmbeddingByPositions):
    def __init__(self, vocab_size, n_positions, d_model):
        super().__init__(vocab_size, n_positions, d_model)
        self.E = nn.Parameter(torch.randn(vocab_size, d_model))


class EmbeddingTransposed(EmbeddingByPositions):
    def __init__(self, vocab_size, n_positions, d_model):
        super().__init__(vocab_size, n_positions, d_model)
        self.E = nn.Parameter(0.02 * torch.randn(d_model, vocab_size))


class EmbeddingDetached(Tables):
    def forward(self, ids):
        self.check(ids)
        return self.E.data[ids] + self.P[: ids.shape[-1]]


class TooLong(ValueError):
    """An error of one's own, which is a ValueError too."""


class EmbeddingWithItsOwnError(EmbeddingByPositions):
    def check(self, ids):
        if ids.shape[-1] > len(self.P):
            raise TooLong(f"{ids.shape[-1]} tokens for {len(self.P)} positions")


class EmbeddingOfLists(Tables):
    def forward(self, ids):
        self.check(ids)
        return embed_by_list(ids, self.E, self.P)


class EmbeddingWithPlainPositions(Tables):
    """The numbers of the positions are a plain attribute: they do not move with the module."""

    def __init__(self, vocab_size, n_positions, d_model):
        super().__init__(vocab_size, n_positions, d_model)
        self.t = torch.nn.functional.one_hot(torch.arange(n_positions)).float()

    def forward(self, ids):
        self.check(ids)
        return self.E[ids] + self.t[: ids.shape[-1]].to(self.P.dtype) @ self.P


class EmbeddingInFloat32(Tables):
    def forward(self, ids):
        self.check(ids)
        return embed_in_float32(ids, self.E, self.P)


class EmbeddingSqueezed(Tables):
    def forward(self, ids):
        self.check(ids)
        return embed_squeezed(ids, self.E, self.P)


# ------------------------------------------------------------------ GPT2Config


@dataclass(frozen=True)
class Fields:
    vocab_size: int = 50257
    n_positions: int = 1024
    n_layer: int = 12
    n_head: int = 12
    d_model: int = 768
    dropout: float = 0.0
    tie_weights: bool = True

    def __post_init__(self):
        if self.d_model != self.n_head * (self.d_model // self.n_head):
            raise ValueError("d_model must be a multiple of n_head")


def sized(base=Fields, **sizes):
    """A class with the four constructors; sizes are (n_layer, n_head, d_model)."""
    right = {"small": (12, 12, 768), "medium": (24, 16, 1024), "large": (36, 20, 1280)}
    right["xl"] = (48, 25, 1600)

    def constructor(L, H, d):
        return classmethod(lambda cls: cls(n_layer=L, n_head=H, d_model=d))

    made = {s: constructor(*sizes.get(s, right[s])) for s in right}
    return dataclass(frozen=True)(type("GPT2Config", (base,), made))


@dataclass(frozen=True)
class ConfigStatic:
    vocab_size: int = 50_257
    n_positions: int = 2**10
    n_layer: int = 12
    n_head: int = 12
    d_model: int = 64 * 12
    dropout: float = field(default=0.0)
    tie_weights: bool = True

    def __post_init__(self):
        if (self.d_model / self.n_head) % 1 != 0:
            raise ValueError("uneven heads")

    @staticmethod
    def of_heads(n_layer, n_head):
        return ConfigStatic(n_layer=n_layer, n_head=n_head, d_model=64 * n_head)

    small = staticmethod(lambda: ConfigStatic())
    medium = staticmethod(lambda: ConfigStatic.of_heads(24, 16))
    large = staticmethod(lambda: ConfigStatic.of_heads(36, 20))
    xl = staticmethod(lambda: ConfigStatic.of_heads(48, 25))


@dataclass(frozen=True)
class ConfigWithMore(Fields):
    bias: bool = True  # further fields are welcome, as long as they have defaults

    @property
    def d_k(self):
        return self.d_model // self.n_head

    @classmethod
    def named(cls, size):
        L, d = {"small": (12, 768), "medium": (24, 1024), "large": (36, 1280), "xl": (48, 1600)}[
            size
        ]
        return cls(n_layer=L, n_head=d // 64, d_model=d)

    @classmethod
    def small(cls):
        return cls.named("small")

    @classmethod
    def medium(cls):
        return cls.named("medium")

    @classmethod
    def large(cls):
        return cls.named("large")

    @classmethod
    def xl(cls):
        return cls.named("xl")


@dataclass(frozen=True)
class ConfigByReplace(Fields):
    def __post_init__(self):
        width, rest = divmod(self.d_model, self.n_head)
        if rest != 0:
            raise ValueError(f"{self.n_head} heads of {width} leave {rest} features over")

    @classmethod
    def small(cls):
        return cls()

    @classmethod
    def medium(cls):
        return replace(cls.small(), n_layer=24, n_head=16, d_model=1024)

    @classmethod
    def large(cls):
        return replace(cls.small(), n_layer=36, n_head=20, d_model=1280)

    @classmethod
    def xl(cls):
        return cls(**asdict(cls.small()) | {"n_layer": 48, "n_head": 25, "d_model": 1600})


@dataclass(frozen=True, order=True, slots=True)
class ConfigWithEverything:
    vocab_size: int = 50257
    n_positions: int = 1024
    n_layer: int = 12
    n_head: int = 12
    d_model: int = 768
    dropout: float = 0.0
    tie_weights: bool = True

    def __post_init__(self):
        if self.d_model not in range(0, self.d_model + 1, self.n_head):
            raise ValueError(self.d_model, self.n_head)

    @classmethod
    def small(cls):
        return cls(50257, 1024, 12, 12, 768, 0.0, True)

    @classmethod
    def medium(cls):
        return cls(50257, 1024, 24, 16, 1024, 0.0, True)

    @classmethod
    def large(cls):
        return cls(50257, 1024, 36, 20, 1280, 0.0, True)

    @classmethod
    def xl(cls):
        return cls(50257, 1024, 48, 25, 1600, 0.0, True)


def xl_missing():
    @classmethod
    def stub(cls):
        raise NotImplementedError("write this part")

    space = {s: vars(sized())[s] for s in ("small", "medium", "large")} | {"xl": stub}
    return dataclass(frozen=True)(type("GPT2Config", (Fields,), space))


def only_small():
    """Three stubs are no heads that are refused."""

    @classmethod
    def stub(cls):
        raise NotImplementedError("write this part")

    space = {"small": vars(sized())["small"], **dict.fromkeys(("medium", "large", "xl"), stub)}
    return dataclass(frozen=True)(type("GPT2Config", (Fields,), space))


def mutable():
    """The right fields and sizes in a class that is not frozen."""
    wanted = sized()
    space = {k: v for k, v in vars(wanted).items() if k in ("small", "medium", "large", "xl")}
    space |= {"__post_init__": Fields.__post_init__, **{k: v for k, v in asdict(Fields()).items()}}
    space["__annotations__"] = dict(Fields.__annotations__)
    return dataclass(type("GPT2Config", (), space))


def medium_by_division():
    """n_head is 16.0: the remainder is none the worse for it."""
    return sized(medium=(24, 1024 / 64, 1024))


def small_returns_none():
    made = sized()
    made.small = classmethod(lambda cls: None)
    return made


def unchecked():
    return sized(type("Unchecked", (Fields,), {"__post_init__": lambda self: None}))


def unrefused(medium, large, xl, small=(12, 12, 768)):
    """Sizes that do not fit, in a class that takes them."""
    base = type("Unchecked", (Fields,), {"__post_init__": lambda self: None})
    return sized(base, small=small, medium=medium, large=large, xl=xl)


def refusing(condition):
    """A __post_init__ with another condition."""

    def post_init(self):
        if condition(self.d_model, self.n_head):
            raise ValueError(f"d_model {self.d_model} is not a multiple of n_head {self.n_head}")

    return sized(type("Refusing", (Fields,), {"__post_init__": post_init}))


def returning_the_error():
    def post_init(self):
        return ValueError() if self.d_model % self.n_head else None

    return sized(type("Returning", (Fields,), {"__post_init__": post_init}))


def handing(hand):
    """(L, H, d) -> what a constructor hands to cls: positional, named."""
    right = {"small": (12, 12, 768), "medium": (24, 16, 1024), "large": (36, 20, 1280)}

    def constructor(L, H, d):
        args, kwargs = hand(L, H, d)
        return classmethod(lambda cls: cls(*args, **kwargs))

    made = {s: constructor(*sizes) for s, sizes in (right | {"xl": (48, 25, 1600)}).items()}
    return dataclass(frozen=True)(type("GPT2Config", (Fields,), made))


def asserting():
    def post_init(self):
        assert self.d_model % self.n_head == 0

    return sized(type("Asserting", (Fields,), {"__post_init__": post_init}))


def reversed_remainder():
    def post_init(self):
        if self.n_head % self.d_model:
            raise ValueError("n_head must be a multiple of d_model")

    return sized(type("Reversed", (Fields,), {"__post_init__": post_init}))


def too_strict():
    def post_init(self):
        if self.d_model != 64 * self.n_head:
            raise ValueError("heads are 64 wide")

    return sized(type("Strict", (Fields,), {"__post_init__": post_init}))


def reordered():
    @dataclass(frozen=True)
    class Reordered:
        n_layer: int = 12
        n_head: int = 12
        d_model: int = 768
        vocab_size: int = 50257
        n_positions: int = 1024
        dropout: float = 0.0
        tie_weights: bool = True
        __post_init__ = Fields.__post_init__

    return sized(Reordered)


def plain_class():
    class Plain:
        def __init__(self, *values, **named):
            given = asdict(Fields()) | dict(zip(asdict(Fields()), values)) | named
            self.__dict__.update(given)
            Fields(**given)

    right = sized()
    for size in ("small", "medium", "large", "xl"):
        make = staticmethod(lambda size=size: Plain(**asdict(getattr(right, size)())))
        setattr(Plain, size, make)
    return Plain


class UnevenHeads(ValueError):
    pass


def refusing_with_its_own_error():
    def post_init(self):
        if self.d_model % self.n_head:
            raise UnevenHeads(self.d_model, self.n_head)

    return sized(type("Refusing", (Fields,), {"__post_init__": post_init}))


def with_defaults(**defaults):
    @dataclass(frozen=True)
    class Changed(Fields):
        vocab_size: int = defaults.get("vocab_size", 50257)
        dropout: float = defaults.get("dropout", 0.0)
        tie_weights: bool = defaults.get("tie_weights", True)

    return sized(Changed)


# ------------------------------------------------------------------ count_parameters


def count_in_floats(config):
    counts = count_by_formula(config)
    d, L = config.d_model, config.n_layer
    return counts | {"feedforward": L * (4 * d * d / 0.5 + 5 * d)}


def count_by_formula(config):
    V, T, d = config.vocab_size, config.n_positions, config.d_model
    counts = dict(
        token_embedding=V * d,
        position_embedding=T * d,
        attention=4 * config.n_layer * d * (d + 1),
        feedforward=config.n_layer * d * (8 * d + 5),
        layer_norm=2 * d * (2 * config.n_layer + 1),
        unembedding=(not config.tie_weights) * d * V,
    )
    return {**counts, "total": sum(counts.values())}


def count_by_shapes(config):
    d, L = config.d_model, config.n_layer
    size = lambda *shapes: sum(np.prod(s) for s in shapes)  # noqa: E731
    parts = {"total": 0}
    parts["unembedding"] = 0 if config.tie_weights else size((d, config.vocab_size))
    parts["layer_norm"] = size(*[(d,), (d,)] * (2 * L), (d,), (d,))
    parts["feedforward"] = L * size((d, 4 * d), (4 * d,), (4 * d, d), (d,))
    parts["attention"] = L * size(*[(d, d)] * 4, *[(d,)] * 4)
    parts["position_embedding"] = size((config.n_positions, d))
    parts["token_embedding"] = size((config.vocab_size, d))
    parts["total"] = sum(parts.values())
    return parts


def count_by_blocks(config):
    d = config.d_model
    counts = dict.fromkeys(("token_embedding", "position_embedding", "attention"), 0)
    counts |= dict.fromkeys(("feedforward", "layer_norm", "unembedding"), 0)
    counts["token_embedding"] += config.vocab_size * d
    counts["position_embedding"] += config.n_positions * d
    for _ in range(config.n_layer):
        for _ in "QKVO":
            counts["attention"] += d * d + d
        counts["feedforward"] += d * 4 * d + 4 * d + 4 * d * d + d
        counts["layer_norm"] += 2 * (d + d)
    counts["layer_norm"] += d + d
    if not config.tie_weights:
        counts["unembedding"] += d * config.vocab_size
    counts["total"] = sum(counts.values())
    return counts


def count_by_coefficients(config):
    """Each part as a V d + b T d + c d^2 + e d."""
    c = config
    coefficients = {
        "token_embedding": (1, 0, 0, 0),
        "position_embedding": (0, 1, 0, 0),
        "attention": (0, 0, 4 * c.n_layer, 4 * c.n_layer),
        "feedforward": (0, 0, 8 * c.n_layer, 5 * c.n_layer),
        "layer_norm": (0, 0, 0, 4 * c.n_layer + 2),
        "unembedding": (1 - c.tie_weights, 0, 0, 0),
    }
    sizes = (c.vocab_size * c.d_model, c.n_positions * c.d_model, c.d_model**2, c.d_model)
    counts = {k: sum(a * n for a, n in zip(v, sizes)) for k, v in coefficients.items()}
    counts["total"] = sum(counts.values())
    return counts


def count_in_a_counter(config):
    d, counts = config.d_model, Counter()
    for _ in range(config.n_layer):
        counts["attention"] += sum(rows * d for rows in [d + 1] * 4)
        counts["feedforward"] += (d + 1) * 4 * d + (4 * d + 1) * d
        counts["layer_norm"] += 4 * d
    counts["layer_norm"] += 2 * d
    counts["token_embedding"] = config.vocab_size * d
    counts["position_embedding"] = config.n_positions * d
    counts["unembedding"] = {True: 0, False: config.vocab_size * d}[config.tie_weights]
    counts["total"] = counts.total()
    return counts


def count_empty_tensors(config):
    """Tensors without memory; heads one by one."""
    V, T, L = config.vocab_size, config.n_positions, config.n_layer
    H, d = config.n_head, config.d_model
    d_k = d // H

    def size(*shapes):
        return sum(torch.empty(shape, device="meta").numel() for shape in shapes)

    return {
        "token_embedding": (token := size((V, d))),
        "position_embedding": (position := size((T, d))),
        "attention": (attention := L * H * size(*[(d, d_k), d_k] * 3, (d_k, d)) + L * size((d,))),
        "feedforward": (feedforward := L * size((d, 4 * d), (4 * d,), (4 * d, d), (d,))),
        "layer_norm": (norms := (2 * L + 1) * size((2, d))),
        "unembedding": (unembedding := 0 if config.tie_weights else size((d, V))),
        "total": token + position + attention + feedforward + norms + unembedding,
    }


def count_as_tensors(config):
    return {k: torch.tensor(v) for k, v in count_by_formula(config).items()}


def count_with_other_keys(config):
    return {k.replace("_", " "): v for k, v in count_by_formula(config).items()}


def count_with_total_of_one_block(config):
    counts = count_by_formula(config)
    return counts | {"total": count_by_formula(replace(config, n_layer=1))["total"]}


def count_total_only(config):
    return count_by_formula(config)["total"]


def count_without_a_key(config):
    counts = count_by_formula(config)
    if config.tie_weights:
        del counts["unembedding"]
    return counts


def count_in_millions(config):
    return {k: v / 1e6 for k, v in count_by_formula(config).items()}


def count_of_small(config):
    return count_by_formula(Fields())


def count_approximately(config):
    counts = count_by_formula(config)
    d = config.d_model
    counts |= {"attention": config.n_layer * 4 * d**2, "feedforward": config.n_layer * 8 * d**2}
    return counts | {"total": sum(v for k, v in counts.items() if k != "total")}


def miscounted(mistake):
    """The check knows each number by another name: GPT2Config(): "attention"."""
    return lambda config: {k.split('"')[1]: n for k, n in mistake.wrong(asdict(config)).items()}


RIGHT = {
    "embed": [
        embed_by_one_hot,
        embed_by_positions,
        embed_by_loop,
        embed_by_index_select,
        embed_by_list,
        embed_by_einsum,
        embed_by_gather,
        embed_in_float64,
        embed_flattened,
        Lookup(),
    ],
    "Embedding": [
        EmbeddingByPositions,
        EmbeddingByOneHot,
        EmbeddingInitialised,
        EmbeddingWithItsOwnError,
        EmbeddingOfLists,
        EmbeddingWithPlacesAsBuffer,
        EmbeddingInNewStyle,
        EmbeddingAssertsItsOwn,
    ],
    "GPT2Config": [
        ConfigStatic,
        ConfigWithMore,
        sized(),
        refusing_with_its_own_error(),
        ConfigByReplace,
        ConfigWithEverything,
    ],
    "count_parameters": [
        count_by_formula,
        count_by_shapes,
        count_by_blocks,
        count_by_coefficients,
        count_in_a_counter,
        count_empty_tensors,
    ],
}

WRONG = {
    "embed": {
        "positions_alone": embed_positions_alone,
        "concatenated_positions_first": embed_joined,
        "view": embed_by_view,
        "float32": embed_in_float32,
        "squeeze": embed_squeezed,
        "changes P": embed_adds_in_place,
        "cuts the graph to E": embed_copies,
        "one batch dimension only": embed_two_axes_only,
        "moves to the CPU": embed_on_the_cpu,
        "half precision": embed_rounds,
        "a loop over the batch": embed_row_by_row,
    },
    "Embedding": {
        "a plain attribute": EmbeddingWithPlainPositions,
        "float32": EmbeddingInFloat32,
        "squeeze": EmbeddingSqueezed,
        "no parameters": EmbeddingOfPlainTensors,
        "nn.Embedding": EmbeddingOfSubmodules,
        "no limit": EmbeddingWithoutLimit,
        "AssertionError": EmbeddingAsserts,
        "one too few": EmbeddingOneTooFew,
        "a message without numbers": EmbeddingThatNamesNoNumbers,
        "unit variance": EmbeddingOfUnitVariance,
        "E of shape (d, V)": EmbeddingTransposed,
        "cuts the graph to E": EmbeddingDetached,
    },
    "GPT2Config": {
        "not frozen": mutable(),
        "no refusal": unchecked(),
        "xl is still a stub": xl_missing(),
        "a size that is a float": medium_by_division(),
        "small returns None": small_returns_none(),
        "AssertionError": asserting(),
        "remainder the wrong way round": reversed_remainder(),
        "width 64 demanded": too_strict(),
        "other order of fields": reordered(),
        "no dataclass": plain_class(),
        "always_small": sized(medium=(12, 12, 768), large=(12, 12, 768), xl=(12, 12, 768)),
        "depth_only": sized(medium=(24, 12, 768), large=(36, 12, 768), xl=(48, 12, 768)),
        "depth_in_sublayers": sized(
            small=(24, 12, 768), medium=(48, 16, 1024), large=(72, 20, 1280), xl=(96, 25, 1600)
        ),
        "heads_are_64": sized(
            small=(12, 64, 768), medium=(24, 64, 1024), large=(36, 64, 1280), xl=(48, 64, 1600)
        ),
        "medium_large_swapped": sized(medium=(36, 20, 1280), large=(24, 16, 1024)),
        "depth_forgotten": sized(medium=(12, 16, 1024), large=(12, 20, 1280), xl=(12, 25, 1600)),
        "heads_forgotten": unrefused((24, 12, 1024), (36, 12, 1280), (48, 12, 1600)),
        "heads_stay_16": sized(large=(36, 16, 1280), xl=(48, 16, 1600)),
        "layers_heads_swapped": unrefused((16, 24, 1024), (20, 36, 1280), (25, 48, 1600)),
        "width_forgotten": handing(lambda L, H, d: ((), {"n_layer": L, "n_head": H})),
        "width_forgotten_unrefused": unrefused((24, 16, 768), (36, 20, 768), (48, 25, 768)),
        "given_by_position": handing(lambda L, H, d: ((L, H, d), {})),
        "dropout_in_constructors": handing(
            lambda L, H, d: ((), {"n_layer": L, "n_head": H, "d_model": d, "dropout": 0.1})
        ),
        "heads_refused": handing(lambda L, H, d: ((), {"n_layer": L, "d_model": d})),
        "layers and heads swapped, and refused": handing(
            lambda L, H, d: ((), {"n_layer": H, "n_head": L, "d_model": d})
        ),
        "only small is written": only_small(),
        "given_by_position_L_d_H": handing(lambda L, H, d: ((L, d, H), {})),
        "another name of a field": handing(lambda L, H, d: ((), {"n_layers": L, "d_model": d})),
        "width 1536 for large": sized(large=(36, 24, 1536)),
        "refuses what fits": refusing(lambda d, H: d % H == 0),
        "refuses whatever is not 64 wide": refusing(lambda d, H: d / H != 64),
        "refuses everything": refusing(lambda d, H: d // H),
        "returns the error": returning_the_error(),
        "untied": with_defaults(tie_weights=False),
        "dropout": with_defaults(dropout=0.1),
        "padded_vocabulary": with_defaults(vocab_size=50304),
    },
    "count_parameters": {
        "the total only": count_total_only,
        "a key is missing": count_without_a_key,
        "in millions": count_in_millions,
        "floats": count_in_floats,
        "ignores the configuration": count_of_small,
        "12 d^2": count_approximately,
        "tensors": count_as_tensors,
        "other keys": count_with_other_keys,
        "the total of one block": count_with_total_of_one_block,
    }
    | {m.name: miscounted(m) for m in find("count_parameters").mistakes},
}
