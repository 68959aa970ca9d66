"""Without the store of locks turns go on; a session that is busy stays busy."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
from structlog.testing import capture_logs
from typing_extensions import override

from sessions.adapters.forgiving_turn_lock import ForgivingTurnLock
from sessions.adapters.memory_turn_lock import MemoryTurnLock
from sessions.domain.session import SessionId
from sessions.errors import SessionBusy, TurnLockUnavailable
from sessions.ports import TurnLease, TurnLock

SESSION = SessionId(uuid4())


class LostLock(TurnLock):
    def __init__(self) -> None:
        self.away = True
        self._lock = MemoryTurnLock()

    @override
    @asynccontextmanager
    async def hold(self, session: SessionId, *, taken: str = "") -> AsyncIterator[TurnLease]:
        if self.away:
            raise TurnLockUnavailable("no answer")
        async with self._lock.hold(session, taken=taken) as lease:
            yield lease


async def test_a_lost_store_is_counted_and_logged_once_per_outage() -> None:
    lost = LostLock()
    lock = ForgivingTurnLock(lost)
    with capture_logs() as logged:
        for _ in range(3):
            async with lock.hold(SESSION) as lease:
                assert not lease.is_held
        lost.away = False
        async with lock.hold(SESSION) as lease:
            assert lease.is_held
        lost.away = True
        async with lock.hold(SESSION):
            pass
    assert lock.failures == 4
    assert [entry["event"] for entry in logged] == ["turn lock lost", "turn lock back", "turn lock lost"]


async def test_a_busy_session_is_refused_as_before() -> None:
    lock = ForgivingTurnLock(MemoryTurnLock())
    async with lock.hold(SESSION):
        with pytest.raises(SessionBusy):
            async with lock.hold(SESSION):
                pass


async def test_what_goes_wrong_under_the_lock_comes_out_as_it_is() -> None:
    lock = ForgivingTurnLock(MemoryTurnLock())
    with pytest.raises(ZeroDivisionError):
        async with lock.hold(SESSION):
            raise ZeroDivisionError
    async with lock.hold(SESSION) as lease:
        assert lease.is_held
