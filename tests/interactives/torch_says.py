"""What PyTorch computes of what the interactives show, in double precision."""

import random

import torch

from autograder import example
from autograder.example.trace import run

SENTENCE, T_MAX = example.sentence, example.config["n_positions"]
WEIGHTS = {name: (w.double() * 10).round() / 10 for name, w in example.weights.items()}
PUBLISHED = {  # (d, L, tied) -> parameters, with a vocabulary of 50257
    (768, 12, True): 124_439_808,
    (1024, 24, True): 354_823_168,
    (1280, 36, True): 774_030_080,
    (1600, 48, True): 1_557_611_200,
    (768, 12, False): 163_037_184,
}


def f64(values):
    return torch.tensor(values, dtype=torch.float64)


def jacobian(scores):
    return torch.autograd.functional.jacobian(lambda s: s.softmax(0), f64(scores))


def counted(d, L, V, tied):
    """The parameters of modules of those sizes, which have shapes and no memory."""
    from torch import nn

    with torch.device("meta"):
        block = nn.TransformerEncoderLayer(d, 1, 4 * d)
        tables = [nn.Embedding(V, d), nn.Embedding(1024, d), nn.LayerNorm(d)]
        tables += [] if tied else [nn.Linear(d, V, bias=False)]
    size = lambda module: sum(p.numel() for p in module.parameters())  # noqa: E731
    return {
        "total": L * size(block) + sum(map(size, tables)),
        "attention": L * size(block.self_attn),
        "feedforward": L * (size(block.linear1) + size(block.linear2)),
        "layer_norm": L * (size(block.norm1) + size(block.norm2)) + size(tables[2]),
        "token_embedding": size(tables[0]),
        "position_embedding": size(tables[1]),
        "unembedding": 0 if tied else size(tables[3]),
    }


def forward(ids, causal=True):
    """The stages of the running example for a list of ids."""
    return run(WEIGHTS, example.config["n_head"], torch.tensor(ids), causal)


def stages(words, causal=True):
    """The stages of the running example for a list of words."""
    return forward(example.encode(words).tolist(), causal)


def texts_of(length):
    """Thirty texts of so many words, as ids."""
    dice = random.Random(length)
    return [[dice.randrange(len(example.words)) for _ in range(length)] for _ in range(30)]
