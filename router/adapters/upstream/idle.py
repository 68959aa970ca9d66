"""The connections that wait for their next request, by where they lead."""

import asyncio
import time
from collections import OrderedDict

from router.adapters.upstream.connection import Connection
from router.adapters.upstream.target import Origin


class IdleConnections:
    """The one that was used last is taken first, so that the others grow old and go. Neither taking nor giving back
    searches them.
    """

    def __init__(self, *, idle_s: float) -> None:
        self._idle_s = idle_s
        self._by_origin: dict[Origin, OrderedDict[Connection, None]] = {}
        self._sweep_timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return sum(map(len, self._by_origin.values()))

    def take(self, origin: Origin) -> Connection | None:
        waiting = self._by_origin.get(origin)
        while waiting:
            connection, _ = waiting.popitem()
            if _now() - connection.idle_since >= self._idle_s:
                # It was the youngest of them; those below it go with the next sweep.
                connection.abort()
                break
            if connection.is_usable:
                return connection
        return None

    def put(self, connection: Connection) -> None:
        connection.idle_since = _now()
        self._by_origin.setdefault(connection.origin, OrderedDict())[connection] = None
        if self._sweep_timer is None:
            self._sweep_at(connection.idle_since + self._idle_s)

    def forget(self, connection: Connection) -> None:
        waiting = self._by_origin.get(connection.origin)
        if waiting is not None:
            waiting.pop(connection, None)

    def drop_all(self) -> None:
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
            self._sweep_timer = None
        for waiting in self._by_origin.values():
            for connection in waiting:
                connection.abort()
        self._by_origin.clear()

    def _sweep_at(self, moment: float) -> None:
        self._sweep_timer = asyncio.get_running_loop().call_later(moment - _now(), self._sweep)

    def _sweep(self) -> None:
        self._sweep_timer = None
        oldest = [moment for origin in list(self._by_origin) if (moment := self._drop_expired(origin)) is not None]
        if oldest:
            self._sweep_at(min(oldest) + self._idle_s)

    def _drop_expired(self, origin: Origin) -> float | None:
        """Since when the oldest of those that stay has been idle."""
        waiting, expired = self._by_origin[origin], _now() - self._idle_s
        while waiting:
            oldest = next(iter(waiting))
            if oldest.idle_since > expired:
                return oldest.idle_since
            del waiting[oldest]
            oldest.abort()
        del self._by_origin[origin]
        return None


_now = time.monotonic
