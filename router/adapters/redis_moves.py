"""Hears from Redis which sessions other routers have moved or ended.

The connection is our own and not one of the Redis client's pool, because of one question that no client answers: has
something arrived that nobody has read yet? A message is applied in the same call that takes it off the socket, so that
after a look at the socket nothing can be on its way inside this process.
"""

import asyncio
import select
import ssl
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import cast

import hiredis
import structlog
from redis.asyncio.connection import parse_url
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Pin
from router.domain.pin_record import Move

_log: FilteringBoundLogger = structlog.get_logger(__name__)

_CHANNEL = "dy:p2:moves"
_PING_S = 0.25
_PROOF_S = 1.0
_CONNECT_S = 2.0
_RETRY_S = 0.2

Heard = Callable[[Move], None]


class RedisMoves:
    """One subscription after the other; `run` keeps it up."""

    def __init__(self, *, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._clock = clock
        self._heard: Heard = _nobody
        self._line: _Line | None = None
        self._number = 0

    def tell(self, heard: Heard) -> None:
        self._heard = heard

    @property
    def number(self) -> int:
        """Counts the subscriptions. What is known from an earlier one may have missed a message."""
        return self._number

    def vouches(self, now: float) -> bool:
        """Whether everything that was told up to a second ago has been heard."""
        return self._line is not None and now - self._line.proof < _PROOF_S

    def has_unread(self) -> bool:
        """Whether something has arrived that comes to be heard when the event loop gets round to it."""
        return self._line is not None and self._line.has_unread()

    async def run(self) -> None:
        while True:
            try:
                await self._listen()
            except (OSError, TimeoutError) as error:
                _log.debug("no subscription to moves", error=type(error).__name__)
            await asyncio.sleep(_RETRY_S)

    async def _listen(self) -> None:
        line = _Line(heard=self._pass_on, clock=self._clock)
        async with asyncio.timeout(_CONNECT_S):
            await _connect(line, self._url)
        try:
            async with asyncio.timeout(_CONNECT_S):
                await line.subscribed.wait()
            if line.lost.is_set():
                return
            self._number += 1
            self._line = line
            await self._keep_asking(line)
        finally:
            self._line = None
            line.close()

    async def _keep_asking(self, line: "_Line") -> None:
        while not line.lost.is_set() and self._clock() - line.proof < _PROOF_S:
            line.ping()
            try:
                async with asyncio.timeout(_PING_S):
                    await line.lost.wait()
            except TimeoutError:
                continue

    def _pass_on(self, move: Move) -> None:
        self._heard(move)


class _Line(asyncio.Protocol):
    """One connection that has subscribed. `proof` is when that was asked which has been answered last."""

    def __init__(self, *, heard: Heard, clock: Callable[[], float]) -> None:
        self._heard = heard
        self._clock = clock
        self._replies = hiredis.Reader()
        self._asked: deque[float] = deque()
        self._poll = select.poll()
        self._transport: asyncio.Transport | None = None
        self.subscribed, self.lost = asyncio.Event(), asyncio.Event()
        self.proof = clock()

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)

    @override
    def data_received(self, data: bytes) -> None:
        self._replies.feed(data)
        try:
            while (reply := self._replies.gets()) is not False:
                self._take(reply)
        except (hiredis.ProtocolError, ValueError):  # not in our words, so it may be any session's
            self.close()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self.lost.set()
        self.subscribed.set()

    def send(self, *words: str) -> None:
        if self._transport is not None:
            self._transport.write(_command(words))

    def subscribe(self) -> None:
        self.proof = self._clock()
        self.send("SUBSCRIBE", _CHANNEL)

    def ping(self) -> None:
        self._asked.append(self._clock())
        self.send("PING")

    def has_unread(self) -> bool:
        return self._transport is not None and bool(self._poll.poll(0))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _take(self, reply: object) -> None:
        match reply:
            case [b"message", _, bytes(content)]:
                self._heard(_move(content))
            case [b"pong", _] if self._asked:
                self.proof = self._asked.popleft()
            case [b"subscribe", *_]:
                self.subscribed.set()
            case hiredis.ReplyError():
                _log.warning("moves cannot be subscribed to", detail=str(reply))
                self.close()
            case _:
                pass  # the answer to AUTH


async def _connect(line: _Line, url: str) -> None:
    where = parse_url(url)
    loop = asyncio.get_running_loop()
    if path := where.get("path"):
        await loop.create_unix_connection(lambda: line, str(path))
    else:
        secure = ssl.create_default_context() if url.startswith("rediss:") else None
        host, port = str(where.get("host", "127.0.0.1")), int(where.get("port", 6379))
        await loop.create_connection(lambda: line, host, port, ssl=secure)
    if password := where.get("password"):
        line.send("AUTH", str(where.get("username") or "default"), str(password))
    line.subscribe()


def _command(words: Sequence[str]) -> bytes:
    encoded = [word.encode() for word in words]
    return b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in encoded)


def _move(content: bytes) -> Move:
    generation, replica, key = content.split(b"\0", 2)
    number = int(generation)
    return Move(AffinityKey(key.decode()), Pin(ReplicaId(replica.decode()), number) if number else None)


def _nobody(_: Move) -> None:
    """Stands in until somebody listens."""
