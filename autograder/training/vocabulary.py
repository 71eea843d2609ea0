"""The tokens that a model knows, and the way between them and text."""

from __future__ import annotations

import difflib
import re
import textwrap
from dataclasses import dataclass

from autograder.errors import CourseError

HOW_TO_SEE = "`autograder generate gpt2.py --vocabulary` shows all there are."


@dataclass(frozen=True)
class Vocabulary:
    """Token i is tokens[i]. `start` is the token that begins a document, where there is one.

    A kind of vocabulary says how a text is split into pieces and joined again."""

    tokens: tuple[str, ...]
    start: str | None = None

    kind = ""

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def ids(self) -> dict[str, int]:
        return {token: i for i, token in enumerate(self.tokens)}

    @property
    def start_id(self) -> int | None:
        return None if self.start is None else self.tokens.index(self.start)

    def encode(self, text: str) -> list[int]:
        """Token ids of a text; CourseError for what the model has never seen."""
        known = self.ids
        found = [self.known_as(piece, known) for piece in self.split(text)]
        unknown = dict.fromkeys(piece for piece in found if piece not in known)
        if unknown:
            raise CourseError(self.complaint(list(unknown)))
        return [known[piece] for piece in found]


class Words(Vocabulary):
    """Words and punctuation marks, written with spaces between."""

    kind = "words"

    def split(self, text: str) -> list[str]:
        pieces = []
        for piece in text.split():
            whole = piece in self.tokens or piece.lower() in self.tokens
            pieces += [piece] if whole else re.findall(r"\w+|[^\w\s]", piece)
        return pieces

    def known_as(self, piece: str, known: dict[str, int]) -> str:
        return piece if piece in known else piece.lower()

    def decode(self, ids: list[int]) -> str:
        """A paragraph; punctuation follows its word, and start tokens are left out."""
        words = (self.tokens[i] for i in ids)
        text = re.sub(r" ([.,;:?!])", r"\1", " ".join(w for w in words if w != self.start))
        return textwrap.fill(text, 88)

    def complaint(self, unknown: list[str]) -> str:
        lines = [f"the model knows {len(self)} words, and these are not among them:"]
        for word in unknown:
            near = difflib.get_close_matches(word, self.tokens, n=4, cutoff=0.5)
            lines.append(f"  {word}" + (f" (near it: {', '.join(near)})" if near else ""))
        return "\n".join([*lines, HOW_TO_SEE])

    def listing(self) -> str:
        return textwrap.fill(" ".join(self.tokens), 88)


class Characters(Vocabulary):
    """Single characters."""

    kind = "characters"

    def split(self, text: str) -> list[str]:
        return list(text)

    def known_as(self, piece: str, known: dict[str, int]) -> str:
        return piece

    def decode(self, ids: list[int]) -> str:
        return "".join(self.tokens[i] for i in ids)

    def complaint(self, unknown: list[str]) -> str:
        lines = [f"the model knows {len(self)} characters, and these are not among them:"]
        for character in unknown:
            other = character.swapcase()
            near = f" (near it: {other})" if other != character and other in self.tokens else ""
            lines.append(f"  {character!r}{near}")
        return "\n".join([*lines, HOW_TO_SEE])

    def listing(self) -> str:
        return " ".join(c if c.isprintable() and c != " " else repr(c) for c in self.tokens)


KINDS = {cls.kind: cls for cls in (Words, Characters)}
