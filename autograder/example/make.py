"""Train the running example and round it: python -m autograder.example.make [--seed N] [--out FILE].

A GPT-2 of one block learns sentences such as "the owl saw the mouse ." from windows that begin
anywhere. An L1 penalty draws each weight to 0, and gamma to 1, so that few numbers are left; in
the second half the loss is that of the rounded weights, and the gradient goes to the exact ones.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from pathlib import Path

import torch
from torch import Tensor

from autograder.standins.architecture import GPT2Config
from autograder.standins.forward_pass import GPT2

WORDS = ". a cat hid mouse owl saw the".split()
CONFIG = {"vocab_size": len(WORDS), "n_positions": 7, "n_layer": 1, "n_head": 2, "d_model": 6}
STEPS, BATCH, RATE, PENALTY = 9000, 64, 0.01, 4e-4


def tell(sentences: int, rng: random.Random) -> list[str]:
    """Article, noun, verb, article, another noun, full stop."""
    told = []
    for _ in range(sentences):
        subject, other = rng.sample(["cat", "mouse", "owl"], 2)
        articles = [rng.choice(["the", "a"]) for _ in range(2)]
        told += [articles[0], subject, rng.choice(["hid", "saw"]), articles[1], other, "."]
    return told


def rounded(p: Tensor) -> Tensor:
    return (p * 10).round() / 10


def train(seed: int) -> dict[str, Tensor]:
    torch.manual_seed(seed)
    text = torch.tensor([WORDS.index(word) for word in tell(10_000, random.Random(seed))])
    window = torch.arange(CONFIG["n_positions"] + 1)
    model = GPT2(GPT2Config(**CONFIG))
    parameters = dict(model.named_parameters())
    for p in parameters.values():
        if p.dim() > 1:
            torch.nn.init.normal_(p, std=0.4)
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE, betas=(0.9, 0.98))
    for step in range(STEPS):
        second_half = max(0.0, 2 * step / STEPS - 1)
        for group in optimiser.param_groups:
            cooled = max(0.02, 0.5 * (1 + math.cos(math.pi * second_half)))
            group["lr"] = RATE * min(1, step / 100) * cooled
        exact = {name: p.data for name, p in parameters.items()}
        if second_half:
            for p in parameters.values():
                p.data = rounded(p.data)
        batch = text[torch.randint(len(text) - len(window), (BATCH, 1)) + window]
        loss = model.loss(batch[:, :-1], batch[:, 1:])
        for name, p in parameters.items():
            loss = loss + PENALTY * (p - float(name.endswith("gamma"))).abs().sum()
        optimiser.zero_grad()
        loss.backward()
        for name, p in parameters.items():
            p.data = exact[name]
        optimiser.step()
    return {name: rounded(p.detach()) for name, p in parameters.items()}


def to_json(weights: dict[str, Tensor]) -> str:
    """One line a row, so that a difference can be read."""

    def row(values: list[float]) -> str:
        return json.dumps([round(v, 1) + 0.0 for v in values])

    def table(p: Tensor) -> str:
        if p.dim() == 1:
            return row(p.tolist())
        return "[\n      " + ",\n      ".join(map(row, p.tolist())) + "\n    ]"

    entries = ",\n    ".join(f'"{name}": {table(p)}' for name, p in weights.items())
    head = f'"words": {json.dumps(WORDS)},\n  "config": {json.dumps(CONFIG)},\n  "weights": '
    return "{\n  " + head + "{\n    " + entries + "\n  }\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("weights.json"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    given.out.write_text(to_json(train(given.seed)), encoding="utf-8")


if __name__ == "__main__":
    main()
