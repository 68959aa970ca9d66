"""Read the finished turns of a session."""

from collections.abc import Sequence

from sessions.domain.session import SessionId
from sessions.domain.turn import Turn
from sessions.domain.viewer import Viewer
from sessions.errors import TurnNotFound
from sessions.ports import Records
from sessions.use_cases.read_session import seen_session, visible_session


class ReadTurn:
    def __init__(self, *, records: Records) -> None:
        self._records = records

    async def __call__(self, viewer: Viewer, session: SessionId, number: int) -> Turn:
        """Raises `SessionNotFound` or `TurnNotFound`."""
        found = await seen_session(self._records, viewer, session, number)
        if found.turn is None:
            raise TurnNotFound("the session has no such turn")
        return found.turn


class ListTurns:
    def __init__(self, *, records: Records) -> None:
        self._records = records

    async def __call__(self, viewer: Viewer, session: SessionId, limit: int, after: int = 0) -> Sequence[Turn]:
        async with self._records.begin() as work:
            await visible_session(work, viewer, session)
            return await work.turns.page(session, limit=limit, after=after)
