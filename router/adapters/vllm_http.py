"""The `Engine` over HTTP, as vLLM's OpenAI server speaks it; bodies pass as they are."""

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from http import HTTPStatus
from math import inf

from typing_extensions import override

from router.adapters.request_names import request_name
from router.adapters.upstream.client import UpstreamClient
from router.adapters.upstream.errors import (
    AnswerBroken,
    ConnectTimedOut,
    HeaderInvalid,
    OutOfPatience,
    TargetInvalid,
    UpstreamError,
)
from router.adapters.upstream.reply import Reply
from router.adapters.upstream.request import header_lines, request_bytes
from router.domain.error_body import error_message
from router.domain.exchange import Call
from router.domain.fleet import Replica, ReplicaId
from router.domain.patience import Limits, Patience
from router.errors import (
    EngineBroke,
    EngineBusy,
    EngineConnectLate,
    EngineError,
    EngineRejected,
    EngineTimedOut,
    EngineUnreachable,
)
from router.ports import Answer, Engine
from router.settings import EngineKind, RouterSettings

_ERROR_BODY_BYTES = 1 << 16
_ERROR_BODY_S = 0.5
_WHOLE_BODY_BYTES = 1 << 24
_DETOKENIZE = "/detokenize"
_SAYING_S = 1.0
# These 4xx say something about the replica's state and nothing about the request.
_NOT_THE_REQUESTS_FAULT = frozenset(
    {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS},
)
_READABLE = (b"", b"identity")
# Written here and nowhere else; an `Authorization` of the caller's is not the engine's to see.
_OURS = frozenset({"accept", "accept-encoding", "authorization", "content-type", "x-request-id"})


class VllmEngine(Engine):
    """Each call is one request over the wiring's client. `api_key` is for engines that demand one."""

    def __init__(self, *, client: UpstreamClient, settings: RouterSettings, api_key: str = "") -> None:
        self._client = client
        self._engine = settings.engine
        # A whole answer comes when the engine has finished it: its silence until then says nothing.
        self._whole = Limits(connect_s=settings.connect_timeout_s, total_s=settings.total_timeout_s)
        self._streamed = Limits(
            connect_s=settings.connect_timeout_s,
            total_s=settings.total_timeout_s,
            # Only vLLM is known to send its status line before any work; with others it may come with the first token.
            answer_s=settings.answer_timeout_s if settings.engine is EngineKind.VLLM else inf,
            first_event_s=settings.first_byte_timeout_s,
            event_s=settings.chunk_timeout_s,
        )
        key = (("authorization", f"Bearer {api_key}"),) if api_key else ()
        always = (("content-type", "application/json"), ("accept-encoding", "identity"), *key)
        self._streamed_lines = header_lines((*always, ("accept", "text/event-stream")))
        self._whole_lines = header_lines((*always, ("accept", "application/json")))

    @override
    async def open(self, replica: Replica, call: Call) -> Answer:
        limits = self._streamed if call.is_streamed else self._whole
        patience = Patience(limits, now=asyncio.get_running_loop().time())
        try:
            target = self._client.target(replica.url)
            request = request_bytes(target, call.path, self._lines(call), call.body)
            reply = await self._client.open(target, request, patience=patience)
        except UpstreamError as error:
            raise _before_the_answer(replica.id, error) from error
        if reply.status != HTTPStatus.OK:
            raise await _refusal(replica.id, reply)
        if reply.header(b"content-encoding") not in _READABLE:
            reply.close()
            raise EngineBusy(replica.id, "it answered in an encoding that was not asked for")
        return _VllmAnswer(replica.id, reply, room=sys.maxsize if call.is_streamed else _WHOLE_BODY_BYTES)

    @override
    def give_up(self, replica: Replica, *, waited_s: float) -> None:
        with suppress(TargetInvalid):
            self._client.give_up(self._client.target(replica.url), waited_s=waited_s)

    @override
    async def text_of(self, replica: Replica, tokens: Sequence[int]) -> str | None:
        limits = Limits(connect_s=_SAYING_S, total_s=_SAYING_S)
        patience = Patience(limits, now=asyncio.get_running_loop().time())
        body = json.dumps({"tokens": list(tokens)}, separators=(",", ":")).encode()
        with suppress(UpstreamError, TimeoutError):
            async with asyncio.timeout(_SAYING_S):
                target = self._client.target(replica.url)
                request = request_bytes(target, _DETOKENIZE, self._whole_lines, body)
                return await _said(await self._client.open(target, request, patience=patience))
        return None

    def _lines(self, call: Call) -> str:
        always = self._streamed_lines if call.is_streamed else self._whole_lines
        return always + _name_line(call.request_id, self._engine) + _passed_on(call.headers)


def _name_line(request_id: str, engine: EngineKind) -> str:
    if engine is EngineKind.VLLM and request_id.isascii() and request_id.isprintable():
        # As the other way would write it: what is new in every request is not worth two searches.
        return f"x-request-id: {request_id}\r\n"
    return header_lines(request_name(request_id, engine))


@lru_cache(maxsize=4096)
def _passed_on(headers: tuple[tuple[str, str], ...]) -> str:
    """Mostly the name of a session, which comes again with each of its turns."""
    for name, _ in headers:
        if name.lower() in _OURS:
            raise HeaderInvalid(f"the header {name!r} is not the caller's to set")
    return header_lines(headers)


class _VllmAnswer(Answer):
    __slots__ = ("_content_type", "_replica", "_reply", "_room")

    def __init__(self, replica: ReplicaId, reply: Reply, *, room: int) -> None:
        self._replica = replica
        self._reply = reply
        self._room = room
        self._content_type = reply.header(b"content-type").decode("latin-1")

    @property
    @override
    def content_type(self) -> str:
        return self._content_type

    @override
    async def read(self) -> bytes:
        try:
            data = await self._reply.read()
        except OutOfPatience as error:
            raise EngineTimedOut(self._replica, str(error)) from error
        except AnswerBroken as error:
            raise EngineBroke(self._replica, str(error)) from error
        if self._room != sys.maxsize:
            self._room -= len(data)
            if self._room < 0:
                self.close()
                raise EngineBroke(self._replica, f"the answer is longer than {_WHOLE_BODY_BYTES} bytes")
        return data

    @override
    def short_cut(self, take: Callable[[bytes], bool] | None) -> None:
        # What passes there is not counted, so only where there is no limit.
        if self._room == sys.maxsize or take is None:
            self._reply.short_cut(take)

    @override
    def close(self) -> None:
        self._reply.close()


def _before_the_answer(replica: ReplicaId, error: UpstreamError) -> EngineError:
    match error:
        case OutOfPatience():
            return EngineTimedOut(replica, str(error))
        case HeaderInvalid():
            return EngineRejected(replica, str(error))
        case ConnectTimedOut():
            return EngineConnectLate(replica, str(error))
        case _:
            return EngineUnreachable(replica, str(error))


async def _refusal(replica: ReplicaId, reply: Reply) -> EngineError:
    body = await _error_body(reply)
    detail = f"HTTP {reply.status}: {_message(body)}"
    is_client_error = HTTPStatus.BAD_REQUEST <= reply.status < HTTPStatus.INTERNAL_SERVER_ERROR
    if is_client_error and reply.status not in _NOT_THE_REQUESTS_FAULT:
        return EngineRejected(replica, detail, status=reply.status, body=body)
    return EngineBusy(replica, detail, status=reply.status)


async def _said(reply: Reply) -> str | None:
    body = bytearray()
    try:
        while len(body) <= _WHOLE_BODY_BYTES and (data := await reply.read()):
            body += data
    finally:
        reply.close()
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return None
    text = said.get("prompt") if isinstance(said, dict) else None
    return text if isinstance(text, str) else None


async def _error_body(reply: Reply) -> bytes:
    """What of it comes soon; the status alone already says enough."""
    body = bytearray()
    try:
        with suppress(UpstreamError, TimeoutError):
            async with asyncio.timeout(_ERROR_BODY_S):
                while len(body) < _ERROR_BODY_BYTES and (data := await reply.read()):
                    body += data
    finally:
        reply.close()
    return bytes(body[:_ERROR_BODY_BYTES])


def _message(body: bytes) -> str:
    try:
        return error_message(json.loads(body))
    except (ValueError, RecursionError):
        return "no message"
