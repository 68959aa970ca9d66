"""Asks one replica over HTTP, as whoever warms it up must: pages, and chats whose first token is timed."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from time import perf_counter

import httpx

from router.domain.engine_metrics import read_metrics
from router.domain.error_body import error_message
from router.domain.exchange import FinishReason
from router.domain.sse import DONE, MAX_EVENT_BYTES, SEPARATOR, event_data

_MOST_BYTES = 4 << 20
_NOT_NOW = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
_WHOLE = frozenset({FinishReason.STOP, FinishReason.LENGTH})
_FULL = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})


class NotNow(Exception):
    """No answer that is one; asked again it may give one."""

    def __init__(self, detail: str, *, is_full: bool = False) -> None:
        super().__init__(detail)
        self.is_full = is_full


class Refused(Exception):
    """It answers, and says that what is asked is wrong; only `status` is free of what was asked."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(f"HTTP {status}: {words}")
        self.status = status


@dataclass(frozen=True, slots=True)
class Reply:
    text: str
    finish: str
    first_token_s: float
    cached_tokens: int | None
    """None: the engine does not tell."""


class EngineChat:
    """The client should take no proxy from the environment, and keep no cookies. `api_key` is for engines that demand
    one.
    """

    def __init__(self, *, client: httpx.AsyncClient, api_key: str = "") -> None:
        self._client = client
        self._headers = {"Accept-Encoding": "identity", "Connection": "close"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"

    async def page(self, url: str, path: str, *, within_s: float) -> bytes:
        """Raises `NotNow` for all but a 200."""
        async with self._asked(url, path, None, within_s=within_s) as response:
            if response.status_code != HTTPStatus.OK:
                raise NotNow(f"answers HTTP {response.status_code} to {path}")
            return b"".join([chunk async for chunk in _bounded(response)])

    async def json(self, url: str, path: str, *, within_s: float) -> object:
        """Raises `NotNow`."""
        return _json(await self.page(url, path, within_s=within_s), path)

    async def tokens(self, url: str, *, within_s: float) -> int | None:
        """How many it has read and written since its start; None where it does not tell."""
        try:
            page = await self.page(url, "/metrics", within_s=within_s)
        except NotNow:
            return None
        return read_metrics(page.decode(errors="replace")).tokens_total

    async def chat(self, url: str, wanted: Mapping[str, object], *, name: str, within_s: float) -> Reply:
        """The whole of a streamed chat; raises `NotNow` or `Refused`. `name` tells it in the engine's log."""
        body = {**wanted, "stream": True, "stream_options": {"include_usage": True}}
        asked_at = perf_counter()
        async with self._asked(url, "/v1/chat/completions", body, within_s=within_s, name=name) as response:
            if response.status_code != HTTPStatus.OK:
                raise await _refusal(response)
            return await _reply(response, asked_at)

    @asynccontextmanager
    async def _asked(
        self, url: str, path: str, content: Mapping[str, object] | None, *, within_s: float, name: str = ""
    ) -> AsyncIterator[httpx.Response]:
        headers = self._headers | ({"X-Request-Id": name} if name else {})
        try:
            async with asyncio.timeout(within_s):
                method, address = "GET" if content is None else "POST", url.rstrip("/") + path
                request = self._client.build_request(method, address, json=content, headers=headers, timeout=None)
                response = await self._client.send(request, stream=True)
                async with aclosing(response):
                    yield response
        except TimeoutError as error:
            raise NotNow(f"has not answered {path} within {within_s:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise NotNow(f"cannot be reached ({type(error).__name__})") from error


async def _bounded(response: httpx.Response) -> AsyncIterator[bytes]:
    """Packed it could be a thousand times as long as it looks, so it is taken as it comes."""
    size = 0
    async for chunk in response.aiter_raw():
        size += len(chunk)
        if size > _MOST_BYTES:
            raise NotNow("answers without end")
        yield chunk


async def _refusal(response: httpx.Response) -> Exception:
    status, content = response.status_code, b"".join([chunk async for chunk in _bounded(response)])
    try:
        words = error_message(json.loads(content))
    except (ValueError, RecursionError):
        words = "no message"
    is_ours = HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR and status not in _NOT_NOW
    if is_ours:
        return Refused(status, words)
    return NotNow(f"answers HTTP {status}: {words}", is_full=status in _FULL)


async def _reply(response: httpx.Response, asked_at: float) -> Reply:
    text, finish, first_at = "", "", 0.0
    cached: int | None = None
    async with aclosing(_events(response)) as events:
        async for event in events:
            piece, ending = _said(event)
            if (piece or ending) and not first_at:
                first_at = perf_counter()
            text, finish = text + piece, ending or finish
            told = _cached_tokens(event)
            cached = cached if told is None else told
    if finish not in _WHOLE:
        raise NotNow("ends its answer in the middle")
    return Reply(text, finish, first_at - asked_at, cached)


async def _events(response: httpx.Response) -> AsyncGenerator[Mapping[str, object], None]:
    tail = b""
    async for chunk in _bounded(response):
        *blocks, tail = (tail + chunk).replace(b"\r\n", b"\n").split(SEPARATOR)
        if len(tail) > MAX_EVENT_BYTES:
            raise NotNow("answers without end")
        for block in blocks:
            data = event_data(block)
            if data is None or data == DONE:
                continue
            event = _json(data, "a chat")
            if not isinstance(event, dict) or "error" in event:
                raise NotNow(f"answers a chat with an error: {error_message(event)}")
            yield event


def _json(content: bytes, what: str) -> object:
    try:
        body: object = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise NotNow(f"answers {what} with what is no JSON") from error
    return body


def _said(event: Mapping[str, object]) -> tuple[str, str]:
    """The text of an event, what a model thinks aloud included, and why the answer ended with it."""
    choices = event.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        return "", ""
    delta, finish = choice.get("delta"), choice.get("finish_reason")
    parts = [delta.get(name) for name in ("reasoning_content", "content")] if isinstance(delta, dict) else []
    return "".join(part for part in parts if isinstance(part, str)), finish if isinstance(finish, str) else ""


def _cached_tokens(event: Mapping[str, object]) -> int | None:
    usage = event.get("usage")
    details = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return cached if isinstance(cached, int) else None
