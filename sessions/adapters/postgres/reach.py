"""Whether Postgres answers at all; one that does not is waited for by nobody.

It is asked over and over on a line of its own. A server that refuses is away at once. One that is silent, because it
hangs or the network swallows what is sent to it, is away after a while; then every open line is hung up, so that who
waits on one hears at once what it would have heard after a time-out, and cancels nothing, which the driver would do by
asking the same server. While it is away new lines are refused.
"""

import asyncio
import os
import socket
from contextlib import suppress
from typing import Any
from weakref import WeakSet

import structlog
from sqlalchemy import event, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine
from structlog.typing import FilteringBoundLogger

_STEPS = 10

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class _Lines:
    """The open connections of an engine."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._open: WeakSet[Any] = WeakSet()
        event.listen(engine.sync_engine, "connect", self._opened)

    def hang_up(self) -> None:
        for line in tuple(self._open):
            if not line.closed:
                with socket.socket(fileno=os.dup(line.fileno())) as ours, suppress(OSError):
                    ours.shutdown(socket.SHUT_RDWR)

    def _opened(self, connection: Any, _: object) -> None:
        self._open.add(connection.driver_connection)


class PostgresReach:
    """`asking` is an engine of its own for the questions, with the same server behind it."""

    def __init__(
        self, *, engine: AsyncEngine, asking: AsyncEngine, patience_s: float, interval_s: float = 0.25
    ) -> None:
        self._asking = asking
        self._patience_s = patience_s
        self._interval_s = interval_s
        self._lines, self._own_line = _Lines(engine), _Lines(asking)
        self._stopping, self._ended = asyncio.Event(), asyncio.Event()
        self.is_away = False
        self.outages = 0
        event.listen(engine.sync_engine, "do_connect", self._refuse)

    async def run(self) -> None:
        """Until it is stopped, or cancelled; the latter may take as long as the server takes to hear of it."""
        try:
            while not self._stopping.is_set():
                await self.ask()
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._interval_s):
                        await self._stopping.wait()
        finally:
            self._ended.set()

    async def stop(self) -> None:
        """End the asking; a server that is silent just then is not waited for."""
        self._stopping.set()
        self.hang_up()
        await self._ended.wait()

    async def ask(self) -> str | None:
        """What is wrong with it now, or None."""
        self._step(_STEPS)
        try:
            async with self._asking.connect() as connection:
                await connection.execute(text("select 1"))
        except (SQLAlchemyError, OSError) as error:
            self._lost(type(error).__name__)
            return f"cannot be asked ({type(error).__name__})"
        finally:
            self._timer.cancel()
        self._back()
        return None

    def _step(self, left: int) -> None:
        """The patience passes in steps, each at least one round of the loop: where it is this process that is slow, an
        answer that has come is heard before the last of them."""
        if left == 0:
            self._lost("silence")
            self.hang_up()
        else:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._patience_s / _STEPS, self._step, left - 1)

    def hang_up(self) -> None:
        """Whoever waits for an answer hears that there will be none."""
        self._lines.hang_up()
        self._own_line.hang_up()

    def _lost(self, error: str) -> None:
        if not self.is_away:
            self.outages += 1
            _log.warning("postgres lost", error=error)
        self.is_away = True

    def _back(self) -> None:
        if self.is_away:
            _log.info("postgres back")
        self.is_away = False

    def _refuse(self, dialect: Any, *_: object) -> None:
        if self.is_away:
            raise dialect.loaded_dbapi.OperationalError("it does not answer")
