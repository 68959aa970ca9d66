"""Who leads, by an advisory lock of Postgres on a line of its own.

The lock goes with the line. A leader that is killed closes it; one that stands still stops asking, and the server ends
a line that was idle for too long. What the old leader does when it wakes is fenced off (`fence`).
"""

import asyncio
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg
import structlog
from psycopg.abc import Query
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from router.fleet.adapters.fence import LEADER, LEAST_TOKEN, LOCKS, PASS_ALONE, TOKENS
from router.fleet.ports import Leadership

_Line = psycopg.AsyncConnection[tuple[object, ...]]

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class PostgresLeadership(Leadership):
    """Needs Postgres 14 or newer, without a pooler between that shares lines.

    `idle_s`: a leader that stands still for so long has lost; `patience_s`: an answer that takes longer does not come.
    `address` is libpq's and may hold a password.
    """

    def __init__(self, *, address: str, name: str, idle_s: float = 15.0, patience_s: float = 5.0) -> None:
        self._address = address
        self._name = name
        self._idle_s = idle_s
        self._patience_s = patience_s
        self._one_asks = asyncio.Lock()
        self._line: _Line | None = None
        self._token: int | None = None
        self._is_away = False

    @property
    @override
    def name(self) -> str:
        return self._name

    @property
    def token(self) -> int | None:
        """What this process leads by, and writes with; None: it does not lead."""
        return self._token

    @override
    async def held(self) -> bool:
        async with self._one_asks:
            try:
                await self._ask()
            except (psycopg.Error, OSError) as error:
                await self._lose(_reason(error))
                if not self._is_away:
                    _log.warning("nobody can be asked who leads the fleet", reason=_reason(error))
                self._is_away = True
            else:
                self._is_away = False
        return self._token is not None

    async def run(self) -> None:
        """Never returns; keeps the line from being idle, however long a round takes."""
        while True:
            await self.held()
            await asyncio.sleep(self._idle_s / 3)

    async def close(self) -> None:
        """Let somebody else lead, at once."""
        async with self._one_asks:
            await self._lose("it ends")

    async def _ask(self) -> None:
        if self._line is None:
            self._line = await self._connected()
        if self._token is not None:
            await self._answer(self._line, b"select 1")
        elif await self._answer(self._line, f"select pg_try_advisory_lock({LOCKS}, {LEADER})".encode()):
            token = LEAST_TOKEN + secrets.randbelow(TOKENS)
            await self._answer(self._line, f"select pg_advisory_lock({LOCKS}, {token})".encode())
            await self._answer(self._line, PASS_ALONE.encode())
            self._token = token
            _log.info("this process leads the fleet now", leader=self._name)

    async def _connected(self) -> _Line:
        return await psycopg.AsyncConnection.connect(
            self._address,
            autocommit=True,
            application_name="drillyard fleet",
            connect_timeout=max(2, round(self._patience_s)),
            target_session_attrs="read-write",
            options=f"-c idle_session_timeout={round(self._idle_s * 1000)}",
            keepalives_idle=5,
            keepalives_interval=2,
            keepalives_count=3,
            tcp_user_timeout=round(self._patience_s * 1000),
        )

    async def _answer(self, line: _Line, question: Query) -> object:
        with self._patience(line):
            found = await (await line.execute(question)).fetchone()
        return None if found is None else found[0]

    @contextmanager
    def _patience(self, line: _Line) -> Iterator[None]:
        """The driver would cancel what takes too long by asking the same server."""
        timer = asyncio.get_running_loop().call_later(self._patience_s, _hang_up, line)
        try:
            yield
        finally:
            timer.cancel()

    async def _lose(self, reason: str) -> None:
        led, self._token = self._token is not None, None
        line, self._line = self._line, None
        if line is not None:
            with suppress(psycopg.Error, OSError):
                await line.close()
        if led:
            _log.warning("this process no longer leads the fleet", leader=self._name, reason=reason)


def _reason(error: Exception) -> str:
    """What a server says; other words may repeat an address that cannot be read, and its password with it."""
    words = str(error).strip().splitlines() if isinstance(error, psycopg.OperationalError) else []
    return words[0] if words else type(error).__name__


def _hang_up(line: _Line) -> None:
    if not line.closed:
        with suppress(OSError), socket.socket(fileno=os.dup(line.fileno())) as ours:
            ours.shutdown(socket.SHUT_RDWR)
