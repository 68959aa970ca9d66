"""Close a session: it takes no more turns, and its replica may forget it."""

from sessions.domain.session import Session, SessionId, closed
from sessions.domain.viewer import Viewer
from sessions.drill_ports import Seats
from sessions.ports import Clock, OutboxEntry, Records, TurnLock, Tutor, WorkingSets
from sessions.use_cases.read_session import seen_session


class CloseSession:
    def __init__(
        self, *, records: Records, lock: TurnLock, tutor: Tutor, working_sets: WorkingSets, seats: Seats, clock: Clock
    ) -> None:
        self._records = records
        self._lock = lock
        self._tutor = tutor
        self._working_sets = working_sets
        self._seats = seats
        self._clock = clock

    async def __call__(self, viewer: Viewer, session: SessionId) -> Session:
        """Closing twice is nothing; raises `SessionNotFound`, or `SessionBusy` while a turn runs."""
        await seen_session(self._records, viewer, session)
        async with self._lock.hold(session):
            ended = await self._close(viewer, session)
        await self._seats.give_back(ended)
        await self._working_sets.drop(session)
        await self._tutor.forget(session)
        return ended

    async def _close(self, viewer: Viewer, session: SessionId) -> Session:
        now = self._clock.now()
        found = (await seen_session(self._records, viewer, session)).session
        ended = closed(found, at=now)
        if ended is not found:
            facts = {"turns": ended.turn_count}
            await self._records.advance(ended, OutboxEntry(ended.tenant, "session.closed", str(session), facts, now))
        return ended
