"""Sends requests, over kept connections where there are any."""

import asyncio
import ssl
from contextlib import suppress
from types import TracebackType
from typing import Self

from router.adapters.upstream.connection import Connection
from router.adapters.upstream.errors import ConnectFailed, ConnectionDropped, ConnectTimedOut
from router.adapters.upstream.idle import IdleConnections
from router.adapters.upstream.reply import Reply
from router.adapters.upstream.target import Origin, Target, target_of
from router.domain.patience import Patience

# A server closes an idle connection after its own time (uvicorn, and so vLLM: 5 s); ours must be the shorter one.
_IDLE_S = 2.0
_MOST_TARGETS = 10_000
_CLOSING_S = 1.0


class UpstreamClient:
    """As many connections as there are requests at a time; whoever opened a reply must close it."""

    def __init__(self, *, idle_s: float = _IDLE_S, tls: ssl.SSLContext | None = None) -> None:
        self._idle = IdleConnections(idle_s=idle_s)
        self._tls = tls
        self._targets: dict[str, Target] = {}
        self._connections: set[Connection] = set()
        self._is_empty = asyncio.Event()

    @property
    def connections(self) -> int:
        """Open ones, idle ones included."""
        return len(self._connections)

    @property
    def idle(self) -> int:
        return len(self._idle)

    def target(self, url: str) -> Target:
        """Raises `TargetInvalid`."""
        known = self._targets.get(url)
        if known is None:
            if len(self._targets) >= _MOST_TARGETS:
                self._targets.clear()
            known = self._targets[url] = target_of(url)
        return known

    async def open(self, target: Target, request: bytes, *, patience: Patience) -> Reply:
        """Send the request and return once the head of its answer has come.

        Raises `ConnectFailed`, `NoAnswer` or `OutOfPatience`. When cancelled nothing stays open.
        """
        kept = self._idle.take(target.origin)
        if kept is not None:
            try:
                return await _answer(kept, request, patience)
            except ConnectionDropped:
                # The server may close a kept connection at any moment, also this one. A fresh one tells the truth.
                pass
        return await _answer(await self._connect(target.origin, patience), request, patience)

    def give_up(self, target: Target, *, waited_s: float) -> None:
        """Time out what waits there for so long already and has no limit but that of the whole reply."""
        asked_before = asyncio.get_running_loop().time() - waited_s
        for connection in [each for each in self._connections if each.origin == target.origin]:
            connection.give_up(asked_before)

    async def aclose(self) -> None:
        """Cut everything; replies that are being read fail."""
        self._idle.drop_all()
        for connection in list(self._connections):
            connection.break_off("the client was closed")
        self._is_empty.clear()
        if self._connections:
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSING_S):
                    await self._is_empty.wait()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _connect(self, origin: Origin, patience: Patience) -> Connection:
        loop, within_s = asyncio.get_running_loop(), patience.connect_s
        tls = self._tls_context() if origin.is_tls else None
        try:
            async with asyncio.timeout(within_s):
                _, connection = await loop.create_connection(
                    lambda: Connection(origin=origin, on_free=self._idle.put, on_lost=self._lost),
                    origin.host,
                    origin.port,
                    ssl=tls,
                    ssl_handshake_timeout=within_s if tls else None,
                )
        except TimeoutError:
            raise ConnectTimedOut(f"no connection within {within_s:g} s") from None
        except (OSError, UnicodeError) as error:
            raise ConnectFailed(f"{type(error).__name__}: {error}") from error
        if connection.is_usable:
            self._connections.add(connection)
        return connection

    def _tls_context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls

    def _lost(self, connection: Connection) -> None:
        self._idle.forget(connection)
        self._connections.discard(connection)
        if not self._connections:
            self._is_empty.set()


async def _answer(connection: Connection, request: bytes, patience: Patience) -> Reply:
    reply = connection.ask(request, patience)
    try:
        await reply.answered()
    except BaseException:
        reply.close()
        raise
    return reply
