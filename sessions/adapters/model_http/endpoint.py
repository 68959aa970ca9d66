"""One address that is asked by POST with JSON, in bounded time and for a bounded answer.

Whatever goes wrong is counted and answered with nothing. After some failures in a row it is left alone for a while, so
that a model that hangs does not cost every turn its whole patience.
"""

import asyncio
from collections.abc import Callable, Mapping

import httpx
import msgspec
import structlog
from structlog.typing import FilteringBoundLogger

_MOST_BYTES = 32 * 1024 * 1024
_FAILURES_BEFORE_REST = 3
_REST_S = 5.0

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class ModelEndpoint:
    """`name` is what logs call it."""

    def __init__(self, *, client: httpx.AsyncClient, name: str, url: str, key: str, ticks: Callable[[], float]) -> None:
        self._client = client
        self._name = name
        self._url = url
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self._ticks = ticks
        self._in_a_row = 0
        self._rests_until = 0.0
        self.failures = 0

    async def ask(self, body: Mapping[str, object], *, within_s: float) -> bytes | None:
        """The answer to a 200; None otherwise."""
        if self._ticks() < self._rests_until:
            return None
        try:
            async with asyncio.timeout(within_s):
                return await self._answer(msgspec.json.encode(body))
        except (httpx.HTTPError, TimeoutError) as error:
            self.failed(type(error).__name__)
            return None

    def failed(self, why: str) -> None:
        """The answer was none, or none that anything can be done with."""
        self.failures += 1
        self._in_a_row += 1
        if self._in_a_row == 1:
            _log.warning("a model for searching does not answer", model=self._name, reason=why)
        if self._in_a_row >= _FAILURES_BEFORE_REST:
            self._rests_until = self._ticks() + _REST_S

    def worked(self) -> None:
        """The answer was of use."""
        if self._in_a_row:
            _log.info("a model for searching answers again", model=self._name, failures=self.failures)
        self._in_a_row = 0

    async def _answer(self, body: bytes) -> bytes | None:
        # The client's own patience would end before that of many passages.
        whole = self._client.stream("POST", self._url, content=body, headers=self._headers, timeout=None)
        async with whole as response:
            if response.status_code != httpx.codes.OK:
                self.failed(f"status {response.status_code}")
                return None
            read = bytearray()
            async for piece in response.aiter_bytes():
                read += piece
                if len(read) > _MOST_BYTES:
                    self.failed("the answer is too long")
                    return None
            return bytes(read)
