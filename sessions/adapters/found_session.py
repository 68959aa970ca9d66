"""A session with one of its turns, looked for inside a transaction."""

from sessions.domain.session import SessionId
from sessions.domain.viewer import Viewer
from sessions.ports import FoundSession, UnitOfWork


async def found_in(work: UnitOfWork, viewer: Viewer, session: SessionId, turn: int | str | None) -> FoundSession | None:
    row = await work.sessions.get(viewer, session)
    if row is None or turn is None:
        return None if row is None else FoundSession(row)
    if isinstance(turn, int):
        return FoundSession(row, await work.turns.get(session, turn))
    return FoundSession(row, await work.turns.by_key(session, turn))
