"""Whether Redis answers at all; one that does not is waited for by nobody.

It is asked over and over on a line of its own. Once it refuses or leaves a question unanswered, every open line is hung
up, so that whoever waits on one hears at once that there will be no answer, and no new line is tried until it answers
again. So an outage costs who meets it a moment once, whatever is asked of Redis, and the next ones nothing.
"""

import asyncio
from weakref import WeakSet

import structlog
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as NoConnection
from structlog.typing import FilteringBoundLogger

from gateway.adapters.patience import patience
from gateway.adapters.redis_answer import NO_ANSWER

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class RedisReach:
    """`asking` is a client of its own for the questions, with the same server behind it."""

    def __init__(self, *, asking: Redis, patience_s: float, interval_s: float) -> None:
        self._asking = asking
        self._patience_s = patience_s
        self._interval_s = interval_s
        self._lines: WeakSet[AbstractConnection] = WeakSet()
        self.is_away = False
        self.outages = 0

    def watched(self, kind: type[AbstractConnection]) -> type[AbstractConnection]:
        """Connections of this kind that are hung up, and not tried, while it is away."""
        reach = self

        class Watched(kind):  # type: ignore[valid-type, misc]  # plain, over TLS or through a Unix socket: as its URL says
            async def _connect(self) -> None:
                if reach.is_away:
                    raise NoConnection("it does not answer")
                await super()._connect()
                reach._lines.add(self)

        return Watched

    async def run(self) -> None:
        while True:
            await self.ask()
            await asyncio.sleep(self._interval_s)

    async def ask(self) -> None:
        error = await self._error()
        if error is None:
            self._back()
        else:
            await self._lost(error)

    async def _error(self) -> str | None:
        try:
            async with patience(self._patience_s):
                await self._asking.ping()
        except NO_ANSWER as error:
            return type(error).__name__
        return None

    async def _lost(self, error: str) -> None:
        if not self.is_away:
            self.outages += 1
            _log.warning("redis lost", error=error)
        self.is_away = True
        for line in tuple(self._lines):
            await line.disconnect(nowait=True)

    def _back(self) -> None:
        if self.is_away:
            _log.info("redis back")
        self.is_away = False
