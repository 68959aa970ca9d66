"""Working sets of one process, for tests and for trying things out."""

from typing_extensions import override

from sessions.domain.history import History
from sessions.domain.session import Session, SessionId
from sessions.ports import WorkingSets


class MemoryWorkingSets(WorkingSets):
    def __init__(self) -> None:
        self._kept: dict[SessionId, tuple[Session, History]] = {}

    @override
    async def get(self, session: Session) -> History | None:
        kept = self._kept.get(session.id)
        return kept[1] if kept is not None and _state(kept[0]) == _state(session) else None

    @override
    async def put(self, session: Session, history: History) -> None:
        kept = self._kept.get(session.id)
        if kept is None or _state(kept[0]) <= _state(session):
            self._kept[session.id] = (session, history)

    @override
    async def latest(self, session: SessionId) -> tuple[Session, History] | None:
        return self._kept.get(session)

    @override
    async def drop(self, session: SessionId) -> None:
        self._kept.pop(session, None)

    def clear(self) -> None:
        """Lose everything, as a store does that is emptied."""
        self._kept.clear()


def _state(session: Session) -> tuple[int, int]:
    return session.version, session.note_count
