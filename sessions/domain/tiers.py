"""Which model serves which kind of work."""

from dataclasses import dataclass
from enum import StrEnum


class Tier(StrEnum):
    """A kind of work that a model pool is chosen for."""

    ROLE_PLAY = "role_play"
    FAQ = "faq"
    SCORING = "scoring"
    SUMMARY = "summary"
    SENSITIVE = "sensitive"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The pool that serves a piece of work. `fell_back` when the pool that was wanted has no replica."""

    tier: Tier
    model: str
    fell_back: bool = False
