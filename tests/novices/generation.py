"""Wrong solutions of notebook 8, generation."""

import torch
from jaxtyping import Float, Int
from novices.novice import Novice
from torch import Tensor, nn

from autograder.standins import sample_next, softmax


def sample_next_wrong_way_back(
    logits: Float[Tensor, "B V"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "B"]:
    """Brings the top-p cut back with the sorting order itself instead of its inverse."""
    if temperature == 0:
        return logits.argmax(dim=-1)
    z = logits / temperature
    if top_k is not None:
        k = min(top_k, z.shape[-1])
        smallest = z.topk(k).values[:, -1:]
        z = z.masked_fill(z < smallest, -torch.inf)
    if top_p is not None:
        values, order = z.sort(descending=True)
        p = softmax(values)
        before = p.cumsum(dim=-1) - p
        drop = before >= top_p
        z = z.masked_fill(drop.gather(-1, order), -torch.inf)
    return torch.multinomial(softmax(z), 1, generator=generator)[:, 0]


def sample_next_top_p_of_all(
    logits: Float[Tensor, "B V"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "B"]:
    """Cuts top-p by the probabilities of all tokens instead of those that top-k left, summing
    to 1."""
    if temperature == 0:
        return torch.argmax(logits, dim=-1)
    z = logits / temperature
    probs = softmax(z, dim=-1)
    keep = torch.ones_like(z, dtype=torch.bool)
    if top_k is not None:
        threshold = z.topk(min(top_k, z.shape[-1]), dim=-1).values[:, -1, None]
        keep &= z >= threshold
    if top_p is not None:
        sorted_probs, order = probs.sort(dim=-1, descending=True)
        nucleus = sorted_probs.cumsum(-1) - sorted_probs < top_p
        keep &= torch.zeros_like(keep).scatter(-1, order, nucleus)
    probs = probs * keep  # multinomial does not need the sum to be 1
    return torch.multinomial(probs, 1, generator=generator).squeeze(1)


@torch.no_grad()
def generate_forgets_the_start(
    model: nn.Module,
    ids: Int[Tensor, "B T"],
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    use_cache: bool = True,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "B T+max_new_tokens"]:
    """Cuts the text itself to the last n_positions tokens, so that the result has lost its
    start."""
    was_training = model.training
    model.eval()
    for _ in range(max_new_tokens):
        ids = ids[:, -model.config.n_positions :]
        logits = model(ids)[:, -1]
        new = sample_next(logits, temperature, top_k, top_p, generator)
        ids = torch.cat([ids, new[:, None]], dim=1)
    model.train(was_training)
    return ids


@torch.no_grad()
def generate_leaves_training_mode(
    model: nn.Module,
    ids: Int[Tensor, "B T"],
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    use_cache: bool = True,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "B T+max_new_tokens"]:
    """Leaves the model in training mode afterwards, even if it was found in eval mode."""
    model.eval()
    n = model.config.n_positions
    out = ids.clone()
    while out.shape[1] < ids.shape[1] + max_new_tokens:
        logits = model(out[:, -n:])[:, -1, :]
        nxt = sample_next(
            logits, temperature=temperature, top_k=top_k, top_p=top_p, generator=generator
        )
        out = torch.cat((out, nxt.unsqueeze(1)), dim=1)
    model.train()
    return out


NOVICES = {
    "sample_next": {
        "top-p brought back the wrong way": Novice(
            sample_next_wrong_way_back,
            points_at=("argsort", "sorted order", "back into", "rank", "scatter"),
        ),
        "top-p of all tokens": Novice(
            sample_next_top_p_of_all,
            points_at=("what is left", "after top", "summing to 1", "top_k", "top-k"),
        ),
    },
    "generate": {
        "start of the text lost": Novice(
            generate_forgets_the_start,
            points_at=("whole prompt", "every token", "prompt", "shape"),
        ),
        "training mode afterwards": Novice(
            generate_leaves_training_mode,
            points_at=("model.training", "training mode", "mode in which", "eval"),
        ),
    },
}
