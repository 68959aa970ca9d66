"""Turn leases within one process; they need no renewal, since a holder that dies takes them along."""

import secrets
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
        self._owners: dict[SessionId, str] = {}

    @override
    @asynccontextmanager
    async def hold(self, session: SessionId, *, taken: str = "") -> AsyncIterator[TurnLease]:
        owner = taken or secrets.token_hex(16)
        if self._owners.setdefault(session, owner) != owner:
            raise SessionBusy(retry_after_s=_RETRY_AFTER_S)
        lease = MemoryTurnLease()
        try:
            yield lease
        finally:
            lease.given_back = True
            if self._owners.get(session) == owner:
                del self._owners[session]
