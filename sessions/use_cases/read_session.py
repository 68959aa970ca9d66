"""Read one session, or list those a viewer may see."""

from sessions.domain.page import Cursor, Page
from sessions.domain.session import Session, SessionFilter, SessionId
from sessions.domain.viewer import Viewer
from sessions.errors import SessionNotFound
from sessions.ports import FoundSession, Records, UnitOfWork


async def visible_session(work: UnitOfWork, viewer: Viewer, session: SessionId) -> Session:
    """The session inside a transaction; raises `SessionNotFound` alike for a missing and a foreign one."""
    found = await work.sessions.get(viewer, session)
    if found is None:
        raise SessionNotFound("there is no such session")
    return found


async def seen_session(
    records: Records, viewer: Viewer, session: SessionId, turn: int | str | None = None
) -> FoundSession:
    """As `Records.find`; raises `SessionNotFound` alike for a missing and a foreign session."""
    found = await records.find(viewer, session, turn)
    if found is None:
        raise SessionNotFound("there is no such session")
    return found


class ReadSession:
    def __init__(self, *, records: Records) -> None:
        self._records = records

    async def __call__(self, viewer: Viewer, session: SessionId) -> Session:
        return (await seen_session(self._records, viewer, session)).session


class ListSessions:
    def __init__(self, *, records: Records) -> None:
        self._records = records

    async def __call__(
        self, viewer: Viewer, which: SessionFilter, limit: int, after: Cursor | None = None
    ) -> Page[Session]:
        async with self._records.begin() as work:
            return await work.sessions.list(viewer, which, limit=limit, after=after)
