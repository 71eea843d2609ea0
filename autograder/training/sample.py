"""Text that a trained model writes."""

from __future__ import annotations

from types import ModuleType

import torch

from autograder.conform.row import describe
from autograder.errors import CourseError
from autograder.training.vocabulary import Vocabulary

CHUNK = 32  # tokens between two looks at whether all documents have ended


def write(
    module: ModuleType,
    model: torch.nn.Module,
    vocabulary: Vocabulary,
    prompt: str = "",
    max_new_tokens: int = 200,
    count: int = 1,
    seed: int = 0,
    **sampling,
) -> list[str]:
    """`count` continuations of the prompt by the module's own generate, each up to its document's
    end or as far as the model sees its beginning; `sampling` (temperature, top_k, top_p) goes to
    generate."""
    device = next(model.parameters()).device
    first = beginning(vocabulary, prompt)
    ids = torch.tensor([first] * count, device=device)
    generator = torch.Generator(device).manual_seed(seed)
    limit, end = len(first) + max_new_tokens, vocabulary.start_id
    sees = getattr(getattr(model, "config", None), "n_positions", None)
    if end is not None and sees and len(first) < sees:
        # One more than it sees: the last one has the whole document before it. What would come
        # after that the model never learnt: it has no beginning.
        limit = min(limit, sees + 1)
    while ids.shape[1] < limit and not all(ended(row, end) for row in ids.tolist()):
        new = limit - ids.shape[1] if end is None else min(CHUNK, limit - ids.shape[1])
        try:
            ids = module.generate(model, ids, new, generator=generator, **sampling)
        except Exception as error:  # a student's code may raise anything
            why = describe(error, module.__file__)
            raise CourseError(f"{module.__file__} cannot generate: {why}") from error
    return [text_of(row, vocabulary) for row in ids.tolist()]


def beginning(vocabulary: Vocabulary, prompt: str) -> list[int]:
    """The prompt's ids, after the start token where documents have one; never empty."""
    ids = vocabulary.encode(prompt)
    if vocabulary.start_id is not None:
        return ids if ids[:1] == [vocabulary.start_id] else [vocabulary.start_id, *ids]
    return ids or [vocabulary.tokens.index("\n") if "\n" in vocabulary.tokens else 0]


def ended(row: list[int], end: int | None) -> bool:
    return end is not None and end in row[1:]


def text_of(row: list[int], vocabulary: Vocabulary) -> str:
    """The first document in the row; dots show that it was cut off."""
    end = vocabulary.start_id
    if end is None:
        return vocabulary.decode(row).strip("\n")
    if ended(row, end):
        return vocabulary.decode(row[: row.index(end, 1)])
    return vocabulary.decode(row) + " ..."
