"""The answer that streams a turn: events as they come, heartbeats in between, until the end or until the client goes.

It is an ASGI response of its own, because a generator behind the framework's streaming response may be left to the
garbage collector when the client goes. Here three parts share one task group: a reader that gathers events, a listener
that notices a lost client, and the writer, upon whose end the other two are stopped. The turn runs elsewhere and
learns nothing of this.

A client who reads slowly holds up the writer, and so the reader, which then keeps nothing but its place. One who reads
nothing for long is cut off by the server below, which alone can end such a connection.
"""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing, suppress
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from gateway.api.event_text import HEARTBEAT, MEDIA_TYPE, event_text
from gateway.api.lost_client import until_gone
from gateway.domain.limit_headers import limit_headers
from gateway.turn_reader import TurnReader

_FULL_BYTES: Final = 16_384
_HEADERS = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}


def turn_headers(reader: TurnReader) -> dict[str, str]:
    """Where the turn runs, how it came there, and what is left of its account's quotas."""
    known = {"X-Replica-ID": reader.replica, "X-Session-Pin": reader.pin}
    where = {name: value for name, value in known.items() if value is not None}
    return {**where, **limit_headers(reader.standing)}


class TurnStream(Response):
    def __init__(self, reader: TurnReader, *, after: int, heartbeat_s: float, headers: Mapping[str, str]) -> None:
        super().__init__(headers={**_HEADERS, **headers}, media_type=MEDIA_TYPE)
        del self.headers["content-length"]
        self._reader = reader
        self._after = after
        self._heartbeat_s = heartbeat_s

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        mailbox = _Mailbox()
        async with asyncio.TaskGroup() as tasks:
            gathering = tasks.create_task(self._gather(mailbox))
            listening = tasks.create_task(_listen(receive, mailbox))
            with suppress(OSError):  # newer servers tell of a lost client by refusing what is sent
                await self._write(send, mailbox)
            gathering.cancel()
            listening.cancel()

    async def _gather(self, mailbox: "_Mailbox") -> None:
        async with aclosing(self._reader.events(self._after)) as events:
            async for place, event in events:
                if place > self._after:
                    await mailbox.put(event_text(self._reader.number, place, event))
        mailbox.close()

    async def _write(self, send: Send, mailbox: "_Mailbox") -> None:
        is_last = False
        while not is_last:
            chunk = await mailbox.take(timeout_s=self._heartbeat_s)
            if mailbox.is_abandoned:
                return
            is_last = mailbox.is_finished
            body = chunk or (b"" if is_last else HEARTBEAT)
            await send({"type": "http.response.body", "body": body, "more_body": not is_last})


async def _listen(receive: Receive, mailbox: "_Mailbox") -> None:
    await until_gone(receive)
    mailbox.abandon()


class _Mailbox:
    """Between the reader and the writer: what is ready together leaves together. It holds little."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._size = 0
        self._has_room = asyncio.Event()
        self._is_closed = False
        self._changed = asyncio.Event()
        self.is_abandoned = False

    @property
    def is_finished(self) -> bool:
        """Whether everything was put in and taken out."""
        return self._is_closed and not self._waiting

    async def put(self, written: bytes) -> None:
        """Wait for room behind it."""
        self._waiting.append(written)
        self._size += len(written)
        self._changed.set()
        if self._size >= _FULL_BYTES:
            self._has_room.clear()
            await self._has_room.wait()

    def close(self) -> None:
        self._is_closed = True
        self._changed.set()

    def abandon(self) -> None:
        self.is_abandoned = True
        self._changed.set()

    async def take(self, *, timeout_s: float) -> bytes:
        """Everything that waits, as soon as something changes; nothing when the time is over."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._changed.wait()
        except TimeoutError:
            return b""
        self._changed.clear()
        written = b"".join(self._waiting)
        self._waiting.clear()
        self._size = 0
        self._has_room.set()
        return written
