"""HTTP to a router that runs alone, for a gateway that uses it; errors come in the router's own words."""

import asyncio
from collections.abc import Iterable
from http import HTTPStatus

from router.adapters.upstream.client import UpstreamClient
from router.adapters.upstream.errors import OutOfPatience, UpstreamError
from router.adapters.upstream.reply import Reply
from router.adapters.upstream.request import header_lines, request_bytes
from router.domain.patience import Limits, Patience
from router.errors import EngineBroke, EngineTimedOut, EngineUnreachable
from router.settings import RouterSettings

ROUTER = "router"
"""Stands where errors name a replica: which one it was, the router has not told."""

_CONTROL_S = 5.0
_SLACK_S = 5.0
_MOST_BODY_BYTES = 1 << 22


class LineReply:
    """An answer as it arrives; whoever opened it must close it."""

    __slots__ = ("_reply",)

    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    @property
    def status(self) -> int:
        return self._reply.status

    def header(self, name: str) -> str:
        return self._reply.header(name.encode()).decode("latin-1")

    async def read(self) -> bytes:
        """The next bytes; empty at the end. Raises `EngineBroke` or `EngineTimedOut`."""
        try:
            return await self._reply.read()
        except OutOfPatience as error:
            raise EngineTimedOut(ROUTER, str(error)) from error
        except UpstreamError as error:
            raise EngineBroke(ROUTER, str(error)) from error

    async def body(self) -> bytes:
        """All of a short answer."""
        parts, room = [], _MOST_BODY_BYTES
        try:
            while data := await self.read():
                parts.append(data)
                room -= len(data)
                if room < 0:
                    raise EngineBroke(ROUTER, f"the answer is longer than {_MOST_BODY_BYTES} bytes")
        finally:
            self.close()
        return b"".join(parts)

    def close(self) -> None:
        self._reply.close()


class RouterLine:
    """`settings` are taken for those of the router too: its own time-outs come first, these only find it frozen."""

    def __init__(self, *, client: UpstreamClient, url: str, key: str, settings: RouterSettings) -> None:
        self._client = client
        self._url = url.rstrip("/")
        self._headers = (("authorization", f"Bearer {key}"),) if key else ()
        self._control = Limits(connect_s=settings.connect_timeout_s, total_s=_CONTROL_S)
        begin_s = settings.answer_timeout_s + settings.first_byte_timeout_s
        answer_s = settings.queue_timeout_s + settings.max_attempts * settings.answer_timeout_s + _SLACK_S
        total_s = settings.total_timeout_s + settings.queue_timeout_s + _SLACK_S
        self._whole = Limits(connect_s=settings.connect_timeout_s, total_s=total_s)
        self._streamed = Limits(
            connect_s=settings.connect_timeout_s,
            total_s=total_s,
            answer_s=answer_s,
            first_event_s=answer_s + settings.max_attempts * begin_s,
            event_s=settings.chunk_timeout_s + settings.max_attempts * begin_s + _SLACK_S,
        )

    async def stream(self, path: str, *, headers: Iterable[tuple[str, str]], body: bytes) -> LineReply:
        """Return once the status has come, which the router sends when a replica has taken the request.

        Raises `EngineUnreachable` or `EngineTimedOut`.
        """
        wanted = (*self._headers, ("content-type", "application/json"), ("accept", "text/event-stream"), *headers)
        return await self._open("POST", path, wanted, body, self._streamed)

    async def whole(self, path: str, *, headers: Iterable[tuple[str, str]], body: bytes) -> LineReply:
        """As `stream`, for an answer that the router begins when all of it is there."""
        wanted = (*self._headers, ("content-type", "application/json"), ("accept", "application/json"), *headers)
        return await self._open("POST", path, wanted, body, self._whole)

    async def ask(self, method: str, path: str, *, body: bytes = b"") -> tuple[HTTPStatus, bytes]:
        """A short call; raises `EngineUnreachable`, `EngineTimedOut` or `EngineBroke`."""
        wanted = (*self._headers, ("content-type", "application/json"), ("accept", "application/json"))
        reply = await self._open(method, path, wanted, body, self._control)
        return HTTPStatus(reply.status), await reply.body()

    async def _open(
        self, method: str, path: str, headers: Iterable[tuple[str, str]], body: bytes, limits: Limits
    ) -> LineReply:
        patience = Patience(limits, now=asyncio.get_running_loop().time())
        try:
            target = self._client.target(self._url)
            request = request_bytes(target, path, header_lines(headers), body, method=method)
            return LineReply(await self._client.open(target, request, patience=patience))
        except OutOfPatience as error:
            raise EngineTimedOut(ROUTER, str(error)) from error
        except UpstreamError as error:
            raise EngineUnreachable(ROUTER, str(error)) from error
