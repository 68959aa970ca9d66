"""The policy for a turn lock whose store is away: turns go on without it.

Nothing is lost by that: two turns of one session at once cannot both be written, since the record accepts only one
successor of a session's version. So each failure is counted, an outage is logged once, and the trainee learns nothing
of it.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import structlog
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from sessions.domain.session import SessionId
from sessions.errors import TurnLockUnavailable
from sessions.ports import TurnLease, TurnLock

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class _NoLease(TurnLease):
    @property
    @override
    def is_held(self) -> bool:
        return False


class ForgivingTurnLock(TurnLock):
    def __init__(self, lock: TurnLock) -> None:
        self._lock = lock
        self._away = False
        self.failures = 0

    @override
    @asynccontextmanager
    async def hold(self, session: SessionId, *, taken: str = "") -> AsyncIterator[TurnLease]:
        async with AsyncExitStack() as held:
            yield await self._lease(held, session, taken)

    async def _lease(self, held: AsyncExitStack, session: SessionId, taken: str) -> TurnLease:
        try:
            lease = await held.enter_async_context(self._lock.hold(session, taken=taken))
        except TurnLockUnavailable as error:
            self.failures += 1
            if not self._away:
                _log.warning("turn lock lost", detail=str(error))
            self._away = True
            return _NoLease()
        if self._away:
            _log.info("turn lock back", failures=self.failures)
        self._away = False
        return lease
