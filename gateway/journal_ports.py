"""What the edge needs so that a turn can be followed and stopped from a process that does not run it."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from gateway.domain.journal import Head, KeptJournal, Letter, Outcome, Page
from sessions.domain.session import SessionId


class Journals(Protocol):
    """Keeps what running turns have released, for minutes after their end. Every method raises `JournalUnavailable`."""

    async def write(self, pages: Sequence[Page]) -> Sequence[Outcome]:
        """All of them in one step, with one outcome for each. Writing a page again changes nothing."""

    async def read(self, session: SessionId, turn: int) -> KeptJournal | None:
        """The latest attempt at the turn; nothing where a part of it is missing."""

    async def latest(self, session: SessionId) -> Head | None:
        """The attempt that has begun last in the session."""

    async def is_running(self, session: SessionId) -> bool:
        """Whether some process holds the lease of the session's turns."""


class Mail(Protocol):
    """Letters between processes. One that is sent to nobody, or while the receiver connects anew, is lost."""

    async def send(self, to: str, letter: Letter) -> bool:
        """Whether it has reached somebody; raises `JournalUnavailable`."""

    def letters(self) -> AsyncIterator[Letter]:
        """What is sent to this process, for ever."""
