"""What keeps finished turns until the records answer again."""

from collections.abc import Sequence
from typing import Protocol

from sessions.domain.session import SessionId
from sessions.domain.spooled import SpooledTurn


class TurnSpool(Protocol):
    """A bounded place outside the records. Reading it never raises for a store that is away."""

    async def put(self, spooled: SpooledTurn) -> None:
        """Keep it as safely as this spool keeps anything; again for the same turn is nothing.

        Raises `RecordsUnavailable` when it is full or cannot be asked, `SessionMoved` when another turn has the number.
        """

    async def of(self, session: SessionId) -> Sequence[SpooledTurn]:
        """What waits of the session, by number."""

    async def waiting(self, *, limit: int) -> Sequence[SessionId]:
        """Sessions with turns that this process is to write now, those that wait longest first; none while another
        process does it."""

    async def remove(self, spooled: SpooledTurn) -> None:
        """It is on record."""

    async def set_aside(self, spooled: SpooledTurn) -> None:
        """It can never be written as it is: keep it where a person finds it."""
