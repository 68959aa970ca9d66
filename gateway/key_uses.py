"""When each key was last used: noted in memory, written down in the background, and lost without harm."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from gateway.access_ports import KeyLedger
from gateway.domain.access import KeyId
from gateway.domain.remembered import Remembered
from gateway.errors import KeysUnavailable

_MOST = 10_000


class KeyUses:
    """Of each key at most one use in `every_s` is written; requests never wait for it."""

    def __init__(
        self, *, ledger: KeyLedger, clock: Callable[[], datetime], every_s: float = 60.0, gather_s: float = 1.0
    ) -> None:
        self._ledger = ledger
        self._clock = clock
        self._every_s = every_s
        self._gather_s = gather_s
        self._noted = Remembered[KeyId, None](_MOST)
        self._waiting: set[KeyId] = set()
        self._has_some = asyncio.Event()
        self.lost = 0

    def saw(self, key: KeyId) -> None:
        now = self._clock().timestamp()
        if self._noted.get(key, now=now) is None and len(self._waiting) < _MOST:
            self._noted.put(key, None, until=now + self._every_s)
            self._waiting.add(key)
            self._has_some.set()

    async def keep(self) -> None:
        while True:
            await self._has_some.wait()
            await asyncio.sleep(self._gather_s)  # what comes meanwhile goes into the same statement
            self._has_some.clear()
            keys, self._waiting = self._waiting, set()
            try:
                await self._ledger.used(keys, at=self._clock())
            except KeysUnavailable:
                self.lost += len(keys)
