"""Letters between processes over Redis' channels: one subscription for each process, which is kept up."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Final

import structlog
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from gateway.adapters.redis_answer import NO_ANSWER, answered
from gateway.domain.journal import Letter
from gateway.domain.journal_words import Unreadable, read_letter, written_letter
from gateway.errors import JournalUnavailable
from gateway.journal_ports import Mail

_PING_S: Final = 2.0
"""A line that is silent for so long is asked whether it is there, and given up after as long again."""
_RETRY_S: Final = 0.2

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class RedisMail(Mail):
    """`name` is this process as others write to it; an answer after `timeout_s` counts as none."""

    def __init__(self, *, client: Redis, name: str, timeout_s: float = 1.0) -> None:
        self._client = client
        self._name = name
        self._timeout_s = timeout_s

    @override
    async def send(self, to: str, letter: Letter) -> bool:
        async with answered(self._timeout_s, JournalUnavailable()):
            heard = await self._client.publish(_channel(to), written_letter(letter))
        return heard > 0

    @override
    async def letters(self) -> AsyncIterator[Letter]:
        while True:
            try:
                async with self._client.pubsub() as line, aclosing(self._heard(line)) as heard:
                    async for letter in heard:
                        yield letter
            except NO_ANSWER as error:
                _log.debug("no letters from other processes", error=type(error).__name__)
            await asyncio.sleep(_RETRY_S)

    async def _heard(self, line: PubSub) -> AsyncGenerator[Letter, None]:
        """Ends when the line is dead."""
        async with asyncio.timeout(self._timeout_s):
            await line.subscribe(_channel(self._name))
        is_asked = False
        while True:
            message = await line.get_message(timeout=_PING_S)
            if message is None:
                if is_asked:
                    return
                await line.ping()
            is_asked = message is None
            if message is not None and message["type"] == "message":
                try:
                    yield read_letter(message["data"])
                except Unreadable:
                    _log.warning("a letter that cannot be read")


def _channel(name: str) -> str:
    return f"dy:jrn:to:{name}"
