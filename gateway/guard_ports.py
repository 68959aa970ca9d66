"""What moderation needs of a guard model."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Protocol


class Silence(StrEnum):
    """Why there is no answer."""

    TIMED_OUT = "timed_out"
    UNREACHABLE = "unreachable"
    BROKEN = "broken"
    """The server says that it cannot answer now, or not to us."""
    REFUSED = "refused"
    """The server will not read this very conversation, which says nothing about others."""
    NONSENSE = "nonsense"
    """What came is no chat completion with a text in it."""


class GuardModel(Protocol):
    async def answer(self, conversation: Sequence[Mapping[str, str]]) -> str | Silence:
        """What the model says to it, within the time that it has."""
