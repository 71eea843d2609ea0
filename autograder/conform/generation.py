"""Rows on generate and load_gpt2_weights."""

import numpy as np
import torch

from autograder import references
from autograder.conform.row import Worst, Wrong, prop
from autograder.conform.subject import Subject
from autograder.oracle import model as oracle

GROUP = "generation"
PROMPT = references.about()["references"]["short"]["prompt"]


def greedy(subject: Subject, model, prompt: np.ndarray, new_tokens: int, **options) -> np.ndarray:
    out = subject.generate(model, subject.ids(prompt), new_tokens, temperature=0, **options)
    want = (len(prompt), prompt.shape[1] + new_tokens)
    if tuple(out.shape) != want:
        raise Wrong(f"generate returns {tuple(out.shape)}, not prompt and new tokens {want}")
    return out.cpu().numpy()


@prop(
    GROUP,
    "greedy ids",
    "transformers' continuation, token by token",
    0,
    "logits of the last position, the largest at temperature 0; the new id is appended",
)
def greedy_ids(subject: Subject) -> Worst:
    worst = Worst()
    for name in ("short", "full", "deep"):
        r = references.load(name)
        want = r["greedy"]
        got = greedy(subject, subject.model(r), want[:, :PROMPT], want.shape[1] - PROMPT)
        first = [int(i) for i in np.argwhere(got != want)[0]] if (got != want).any() else []
        worst.note((got != want).sum(), f"{name}: the first other id is at {first}")
    return worst


@prop(
    GROUP,
    "past n_positions",
    "greedy, only the last n_positions seen",
    0,
    "ids[:, -n_positions:] goes into the model, and all ids come back",
)
def past_end(subject: Subject) -> Worst:
    worst, r = Worst(), references.load("full")
    prompt, new_tokens = r["ids"][:, :PROMPT], r.sizes.n_positions
    want = oracle.greedy(r.parameters, prompt, r.sizes.H, new_tokens)
    got = greedy(subject, subject.model(r), prompt, new_tokens)
    worst.note((got != want).sum(), "ids that differ")
    return worst


@prop(
    GROUP,
    "use_cache",
    "greedy ids with and without",
    0,
    "keys and values go on where they stopped: positions offset by the length of the cache",
)
def use_cache(subject: Subject) -> Worst:
    worst, r = Worst(), references.load("full")
    model, prompt = subject.model(r), r["ids"][:, :PROMPT]
    with_cache, without = (
        greedy(subject, model, prompt, r.sizes.n_positions, use_cache=flag)
        for flag in (True, False)
    )
    worst.note((with_cache != without).sum(), "ids that differ")
    return worst


@prop(
    GROUP,
    "sampling",
    "frequencies of 4000 draws, total variation",
    0.06,
    "softmax(logits / temperature); top_k and top_p applied before it, so that the rest sums to 1",
)
def sampling(subject: Subject) -> Worst:
    worst, r, draws = Worst(), references.load("short"), 4000
    prompt = r["ids"][:1, :PROMPT]
    model, many = subject.model(r), np.repeat(prompt, draws, axis=0)
    logits = oracle.forward(r.parameters, prompt, r.sizes.H).logits[0, -1]
    for options in ({"temperature": 0.6}, {"temperature": 2.0}, {"top_k": 4}, {"top_p": 0.6}):
        rng = torch.Generator(subject.device).manual_seed(0)
        out = subject.generate(model, subject.ids(many), 1, generator=rng, **options)
        seen = np.bincount(out[:, -1].cpu().numpy(), minlength=r.sizes.V) / draws
        (option, value), *_ = options.items()
        distance = np.abs(seen - allowed(logits, **options)).sum() / 2
        worst.note(distance, f"{option} {value}: the frequencies are not the distribution")
    return worst


def allowed(logits: np.ndarray, temperature: float = 1.0, top_k=None, top_p=None) -> np.ndarray:
    """(V,) -> the distribution that sampling should follow."""
    p = oracle.softmax(logits / temperature)
    order = np.argsort(-p)
    keep = len(p) if top_k is None else top_k
    if top_p is not None:
        keep = int(np.searchsorted(p[order].cumsum(), top_p)) + 1
    kept = np.zeros_like(p)
    kept[order[:keep]] = p[order[:keep]]
    return kept / kept.sum()


@prop(
    GROUP,
    "generate: mode",
    "evaluation inside, the earlier mode after",
    0,
    "model.eval() before the first token, model.train(earlier) after the last",
)
def mode(subject: Subject) -> Worst:
    worst, r = Worst(), references.load("short")
    prompt, new_tokens = r["ids"][:, :PROMPT], r.sizes.n_positions - PROMPT
    want = greedy(subject, subject.model(r), prompt, new_tokens)
    model = subject.model(r, dropout=0.3)
    for training in (True, False):
        model.train(training)
        got = greedy(subject, model, prompt, new_tokens)
        worst.note(model.training != training, f"model.training is {model.training} afterwards")
        worst.note((got != want).sum(), f"with model.training {training}, dropout changes the ids")
    return worst
