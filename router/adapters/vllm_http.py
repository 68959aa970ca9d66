"""The `Engine` over HTTP, as vLLM's OpenAI server speaks it."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from http import HTTPStatus
from types import TracebackType
from typing import cast

import httpx
from typing_extensions import override

from router.domain.engine_stream import EngineStream, error_message
from router.domain.exchange import ChatRequest, Finished, StreamItem
from router.domain.fleet import Replica, ReplicaId
from router.domain.sse import EventTooLong, SseDecoder
from router.errors import EngineBroke, EngineBusy, EngineError, EngineRejected, EngineTimedOut, EngineUnreachable
from router.ports import Engine
from router.settings import RouterSettings

_ERROR_BODY_BYTES = 1 << 16
# After `[DONE]` only the end of the body is missing; who waits for it gets a connection that can be used again.
_END_OF_BODY_S = 0.5
# How a request ends whose connection was lost after it was made.
_LOST_CONNECTION = (httpx.ReadError, httpx.WriteError, httpx.CloseError, httpx.RemoteProtocolError)


class VllmEngine(Engine):
    """Streams chat completions over the wiring's client.

    The client should take no proxy from the environment, and reach replicas as `ReplicaTransport` does.
    """

    def __init__(self, *, client: httpx.AsyncClient, settings: RouterSettings) -> None:
        self._client = client
        self._settings = settings

    @override
    @asynccontextmanager
    async def stream(self, replica: Replica, request: ChatRequest) -> AsyncIterator[AsyncIterator[StreamItem]]:
        patience = _Patience(replica.id, self._settings)
        with _before_the_answer(replica.id):
            async with patience:
                response = await self._answer(self._request(replica, request))
        patience.was_answered()
        async with aclosing(response):
            if response.status_code != HTTPStatus.OK:
                raise await _refusal(replica.id, response)
            async with aclosing(_items(replica.id, response, patience)) as items:
                yield items

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        # A kept connection may be lost just as it is used, which says nothing about the replica; and since nothing was
        # generated for anybody yet, the request can go out once more.
        try:
            return await self._client.send(request, stream=True)
        except _LOST_CONNECTION:
            return await self._client.send(request, stream=True)

    def _request(self, replica: Replica, request: ChatRequest) -> httpx.Request:
        return self._client.build_request(
            "POST",
            f"{replica.url.rstrip('/')}/v1/chat/completions",
            content=body_of(request),
            headers=_headers_of(request),
            # Reading is timed here and not by the client, whose clock a keep-alive comment would start anew.
            timeout=httpx.Timeout(None, connect=self._settings.connect_timeout_s),
        )


def _headers_of(request: ChatRequest) -> dict[str, str]:
    headers = {
        "Content-Type": "application/json",
        "Accept": "text/event-stream",
        "Accept-Encoding": "identity",
        "X-Request-Id": request.request_id,
    }
    return headers | {"X-Session-ID": request.session_id} if request.session_id else headers


def body_of(request: ChatRequest) -> bytes:
    """The same request is the same bytes. A lone surrogate, which UTF-8 cannot carry, becomes a question mark."""
    body: dict[str, object] = {
        "model": request.model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.cache_salt:
        body["cache_salt"] = request.cache_salt
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


async def _items(
    replica: ReplicaId, response: httpx.Response, patience: "_Patience"
) -> AsyncGenerator[StreamItem, None]:
    decoder, stream = SseDecoder(), EngineStream(replica=replica)
    async with aclosing(cast(AsyncGenerator[bytes, None], response.aiter_raw())) as chunks:
        while True:
            with _within_the_answer(replica):
                async with patience:
                    chunk = await anext(chunks, None)
                events = stream.end() if chunk is None else decoder.feed(chunk)
            for event in events:
                item = stream.feed(event)
                if item is None:
                    continue
                yield item
                # Counted from when the taker comes back: its own slowness is not the engine's silence.
                patience.had_item()
                if isinstance(item, Finished):
                    await _read_to_the_end(chunks)
                    return


class _Patience:
    """Bounds every wait of one stream: for the status line, the first token, every other token, and in all."""

    def __init__(self, replica: ReplicaId, settings: RouterSettings) -> None:
        self._replica = replica
        self._settings = settings
        self._clock = asyncio.get_running_loop().time
        self._began = self._clock()
        self._end = self._began + settings.total_timeout_s
        self._next = self._began + min(settings.answer_timeout_s, settings.first_byte_timeout_s)
        self._complaint = f"no answer within {settings.answer_timeout_s:g} s"
        self._wait = asyncio.timeout_at(None)

    def was_answered(self) -> None:
        self._next = self._began + self._settings.first_byte_timeout_s
        self._complaint = f"no first token within {self._settings.first_byte_timeout_s:g} s"

    def had_item(self) -> None:
        self._next = self._clock() + self._settings.chunk_timeout_s
        self._complaint = f"no token for {self._settings.chunk_timeout_s:g} s"

    async def __aenter__(self) -> None:
        self._wait = asyncio.timeout_at(min(self._next, self._end))
        await self._wait.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            await self._wait.__aexit__(kind, error, traceback)
        except TimeoutError as timeout:
            raise EngineTimedOut(self._replica, self._why()) from timeout

    def _why(self) -> str:
        if self._end <= self._next:
            return f"the reply took longer than {self._settings.total_timeout_s:g} s"
        return self._complaint


@contextmanager
def _before_the_answer(replica: ReplicaId) -> Iterator[None]:
    try:
        yield
    except (httpx.TransportError, httpx.InvalidURL) as error:
        raise EngineUnreachable(replica, _detail(error)) from error


@contextmanager
def _within_the_answer(replica: ReplicaId) -> Iterator[None]:
    try:
        yield
    except (httpx.TransportError, EventTooLong) as error:
        raise EngineBroke(replica, _detail(error)) from error


def _detail(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


async def _refusal(replica: ReplicaId, response: httpx.Response) -> EngineError:
    body = bytearray()
    with suppress(httpx.TransportError, TimeoutError):
        async with asyncio.timeout(_END_OF_BODY_S):
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > _ERROR_BODY_BYTES:
                    break
    detail = f"HTTP {response.status_code}: {_message(bytes(body))}"
    if response.is_client_error and response.status_code != HTTPStatus.TOO_MANY_REQUESTS:
        return EngineRejected(replica, detail)
    return EngineBusy(replica, detail)


def _message(body: bytes) -> str:
    try:
        return error_message(json.loads(body))
    except (ValueError, RecursionError):
        return "no message"


async def _read_to_the_end(chunks: AsyncIterator[bytes]) -> None:
    with suppress(httpx.TransportError, TimeoutError):
        async with asyncio.timeout(_END_OF_BODY_S):
            async for _ in chunks:
                pass
