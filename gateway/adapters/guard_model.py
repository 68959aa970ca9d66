"""A guard model behind OpenAI's chat completions, as vLLM serves it."""

import asyncio
import json
from collections.abc import Mapping, Sequence

import httpx
from typing_extensions import override

from gateway.adapters.patience import patience
from gateway.guard_ports import GuardModel, Silence

_OK = 200
_UNREADABLE_BODIES = frozenset({400, 413, 422})
_MOST_TOKENS = 64
"""Of an answer; the verdict comes first."""


class GuardOverHttp(GuardModel):
    """Follows no redirect, and reads no more than `limit_bytes`; `url` is the server's, with or without /v1."""

    def __init__(
        self,
        *,
        client: httpx.AsyncClient,
        url: str,
        model: str,
        timeout_s: float,
        at_once: int,
        limit_bytes: int = 262_144,
    ) -> None:
        self._client = client
        self._url = f"{url.rstrip('/').removesuffix('/v1')}/v1/chat/completions"
        self._model = model
        self._timeout_s = timeout_s
        self._places = asyncio.Semaphore(at_once)
        self._limit_bytes = limit_bytes

    @override
    async def answer(self, conversation: Sequence[Mapping[str, str]]) -> str | Silence:
        try:
            async with patience(self._timeout_s), self._places:
                return await self._asked(conversation)
        except (TimeoutError, httpx.TimeoutException):
            return Silence.TIMED_OUT
        except (httpx.HTTPError, httpx.InvalidURL):
            return Silence.UNREACHABLE

    async def _asked(self, conversation: Sequence[Mapping[str, str]]) -> str | Silence:
        body = {
            "model": self._model,
            "messages": [dict(each) for each in conversation],
            "max_tokens": _MOST_TOKENS,
            "temperature": 0,
            "stream": False,
        }
        content = json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        async with self._client.stream("POST", self._url, content=content, headers=headers) as answer:
            if answer.status_code in _UNREADABLE_BODIES:
                return Silence.REFUSED
            if answer.status_code != _OK:
                return Silence.BROKEN
            return await self._text(answer)

    async def _text(self, answer: httpx.Response) -> str | Silence:
        body = bytearray()
        async for piece in answer.aiter_raw():
            body += piece
            if len(body) > self._limit_bytes:
                return Silence.NONSENSE
        return _content(bytes(body))


def _content(body: bytes) -> str | Silence:
    try:
        match json.loads(body.decode()):
            case {"choices": [{"message": {"content": str(content)}}, *_]}:
                return content
            case _:
                return Silence.NONSENSE
    except (ValueError, RecursionError):
        return Silence.NONSENSE
