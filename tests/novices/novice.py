"""A wrong solution as a new student might hand it in."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Novice:
    """A wrong solution, and words of which a good message contains at least one."""

    target: object
    points_at: tuple[str, ...]
