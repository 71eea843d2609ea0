"""Stand-ins for chapter 8."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def sample_next(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    # logits (B, V) -> (B,)
    """Draw one token a row from softmax(logits / temperature), cut to the top k, then to the top p;
    temperature 0 takes the largest."""
    if temperature == 0:
        return logits.argmax(-1)
    ranked, ids = (logits / temperature).sort(descending=True)
    if top_k is not None:
        ranked[:, top_k:] = -math.inf
    p = F.softmax(ranked, -1)
    if top_p is not None:
        p = p * (F.pad(p.cumsum(-1), (1, 0))[:, :-1] < top_p)
    pick = torch.multinomial(p, 1, generator=generator)
    return ids.gather(-1, pick).squeeze(-1)


@torch.no_grad()
def generate(
    model: nn.Module,
    ids: Tensor,
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    use_cache: bool = True,
    generator: torch.Generator | None = None,
) -> Tensor:
    # ids (B, T) -> (B, T + max_new_tokens)
    """Continue ids token by token; the model sees the last n_positions. There is no cache here."""
    mode = model.training
    model.eval()
    prompt = ids.shape[-1]
    ids = F.pad(ids, (0, max_new_tokens))
    for end in range(prompt, ids.shape[-1]):
        seen = ids[:, max(0, end - model.config.n_positions) : end]
        logits = model(seen)[:, -1]
        ids[:, end] = sample_next(logits, temperature, top_k, top_p, generator)
    model.train(mode)
    return ids.clone()
