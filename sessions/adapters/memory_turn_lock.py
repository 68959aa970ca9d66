"""Turn leases within one process; they need no renewal, since a holder that dies takes them along."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from typing_extensions import override

from sessions.domain.session import SessionId
from sessions.errors import SessionBusy
from sessions.ports import TurnLease, TurnLock

_RETRY_AFTER_S = 1.0


class MemoryTurnLease(TurnLease):
    def __init__(self) -> None:
        self.given_back = False

    @property
    @override
    def is_held(self) -> bool:
        return not self.given_back


class MemoryTurnLock(TurnLock):
    def __init__(self) -> None:
        self._held: set[SessionId] = set()

    @override
    @asynccontextmanager
    async def hold(self, session: SessionId) -> AsyncIterator[TurnLease]:
        if session in self._held:
            raise SessionBusy(retry_after_s=_RETRY_AFTER_S)
        self._held.add(session)
        lease = MemoryTurnLease()
        try:
            yield lease
        finally:
            lease.given_back = True
            self._held.remove(session)
