"""The answer to a chat completion, as a stream or whole; when the client goes, the engine is told to stop.

The call is carried only when the answer is asked for its bytes, because who waits for a replica may go as well.
"""

import asyncio
from collections.abc import Awaitable, Mapping
from time import perf_counter

import structlog
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from gateway.api.event_text import HEARTBEAT, MEDIA_TYPE
from gateway.api.lost_client import ClientGone, until_gone
from gateway.api.openai_errors import error_event
from gateway.domain.accept import JSON
from gateway.domain.limit_headers import limit_headers
from gateway.errors import GatewayError
from gateway.open_chat import OpenChat
from gateway.openai_chats import ChatOrder, OpenAiChats
from gateway.problems import problem
from router.errors import RouterError
from sessions.errors import SessionsError

_OURS = (GatewayError, RouterError, SessionsError)

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class ChatAnswer(Response):
    def __init__(self, chats: OpenAiChats, order: ChatOrder, *, heartbeat_s: float) -> None:
        super().__init__()
        self._chats = chats
        self._order = order
        self._heartbeat_s = heartbeat_s

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with asyncio.TaskGroup() as tasks:
            serving = tasks.create_task(_caught(self._serve(_noticing(send))))
            listening = tasks.create_task(until_gone(receive))
            await asyncio.wait({serving, listening}, return_when=asyncio.FIRST_COMPLETED)
            serving.cancel()
            listening.cancel()
        if serving.cancelled():
            raise ClientGone
        if (refusal := serving.result()) is not None:
            raise refusal

    async def _serve(self, send: Send) -> None:
        asked = perf_counter()
        async with self._chats.open(self._order) as chat:
            if chat.is_streamed:
                await _start(send, chat, asked, {"Content-Type": MEDIA_TYPE, "X-Accel-Buffering": "no"})
                last = await _Stream(send, heartbeat_s=self._heartbeat_s).carry(chat)
            else:
                last = await chat.read()
        # What it took is given back by now, so that whoever has seen the end can ask again at once.
        if not chat.is_streamed:
            await _start(send, chat, asked, {"Content-Type": JSON, "Content-Length": str(len(last))})
        await send({"type": "http.response.body", "body": last})


class _Stream:
    """Sends what comes, and something that clients skip when nothing has come for a while."""

    def __init__(self, send: Send, *, heartbeat_s: float) -> None:
        self._send = send
        self._heartbeat_s = heartbeat_s
        self._at = 0.0

    async def carry(self, chat: OpenChat) -> bytes:
        """What ends the stream, and is still to be sent."""
        async with asyncio.TaskGroup() as tasks:
            beating = tasks.create_task(self._beat())
            try:
                while (last := await chat.read()) and not chat.is_done:
                    await self._tell(last)
            except RouterError as error:
                _log.warning("a chat completion broke", replica=chat.replica, error=type(error).__name__)
                last = error_event(problem(error))
            beating.cancel()
        return last

    async def _beat(self) -> None:
        now = self._at = asyncio.get_running_loop().time()
        while True:
            await asyncio.sleep(self._at + self._heartbeat_s - now)
            now = asyncio.get_running_loop().time()
            if now >= self._at + self._heartbeat_s:
                await self._tell(HEARTBEAT)

    async def _tell(self, data: bytes) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": True})
        self._at = asyncio.get_running_loop().time()


def _noticing(send: Send) -> Send:
    """Newer servers tell of a lost client by refusing what is sent."""

    async def told(message: Message) -> None:
        try:
            await send(message)
        except OSError as gone:
            raise asyncio.CancelledError from gone

    return told


async def _start(send: Send, chat: OpenChat, asked: float, headers: Mapping[str, str]) -> None:
    told = {
        **headers,
        **limit_headers(chat.standing),
        "Cache-Control": "no-store, no-transform",
        "X-Replica-ID": chat.replica,
        "X-Session-Pin": chat.pin,
        "OpenAI-Processing-Ms": str(round((perf_counter() - asked) * 1000)),
    }
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in told.items()]
    await send({"type": "http.response.start", "status": 200, "headers": raw})


async def _caught(work: Awaitable[None]) -> Exception | None:
    """A task group would wrap a refusal, which the application's handlers would not know any more."""
    try:
        await work
    except _OURS as refusal:
        return refusal
    return None
