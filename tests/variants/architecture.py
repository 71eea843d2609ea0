"""Chapter 1."""

from dataclasses import asdict, dataclass, field

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


def xl_missing():
    @classmethod
    def stub(cls):
        raise NotImplementedError("write this part")

    space = {s: vars(sized())[s] for s in ("small", "medium", "large")} | {"xl": stub}
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
    return lambda config: mistake.wrong(asdict(config))


RIGHT = {
    "embed": [
        embed_by_one_hot,
        embed_by_positions,
        embed_by_loop,
        embed_by_index_select,
        embed_by_list,
    ],
    "Embedding": [
        EmbeddingByPositions,
        EmbeddingByOneHot,
        EmbeddingInitialised,
        EmbeddingWithItsOwnError,
        EmbeddingOfLists,
    ],
    "GPT2Config": [ConfigStatic, ConfigWithMore, sized(), refusing_with_its_own_error()],
    "count_parameters": [count_by_formula, count_by_shapes, count_by_blocks],
}

WRONG = {
    "embed": {
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
    }
    | {m.name: miscounted(m) for m in find("count_parameters").mistakes},
}
