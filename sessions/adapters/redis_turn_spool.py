"""The spool in Redis, over all processes: what one of them could not write, any of them writes.

It lives as long as that Redis keeps it, which with an append-only file is longer than the server's process. The texts
of the talk are in here and must not reach a log.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final
from uuid import UUID

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from sessions.adapters.lua_script import lua_script
from sessions.adapters.stored_spooled import packed, unpacked
from sessions.domain.session import SessionId
from sessions.domain.spooled import SpooledTurn
from sessions.errors import RecordsUnavailable, SessionMoved
from sessions.spool_ports import TurnSpool

_SESSIONS, _SIZE, _DRAINER, _ASIDE = "dy:spool", "dy:spool:size", "dy:spool:drainer", "dy:spool:aside"
_DRAINER_MS: Final = 10_000
_NO_ANSWER: Final = (RedisError, OSError, TimeoutError)
_KEPT, _TAKEN = 1, -1

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class RedisTurnSpool(TurnSpool):
    """On Redis 6.2 or newer; an answer that takes longer than `timeout_s` counts as none."""

    def __init__(self, *, client: Redis, most_turns: int, most_bytes: int, timeout_s: float = 1.0) -> None:
        self._client = client
        self._room = (most_turns, most_bytes)
        self._timeout_s = timeout_s
        self._owner = secrets.token_hex(8)
        self._put = lua_script(client, "put_spooled_turn")
        self._remove = lua_script(client, "remove_spooled_turn")
        self._list = lua_script(client, "list_spooled_sessions")
        self.failures = 0

    @override
    async def put(self, spooled: SpooledTurn) -> None:
        session, number = spooled.session.id, spooled.turn.number
        try:
            async with asyncio.timeout(self._timeout_s):
                answer = await self._put(
                    keys=[_key(session), _SESSIONS, _SIZE], args=[number, packed(spooled), *self._room, str(session)]
                )
        except _NO_ANSWER as error:
            self.failures += 1
            raise RecordsUnavailable("the spool in Redis cannot be asked") from error
        if answer == _TAKEN:
            raise SessionMoved(f"turn {number} of session {session} waits in the spool already")
        if answer != _KEPT:
            raise RecordsUnavailable("the spool in Redis is full")

    @override
    async def of(self, session: SessionId) -> Sequence[SpooledTurn]:
        waiting: list[bytes | str] = []
        async with self._answering():
            waiting = await self._client.hvals(_key(session))
        found = [spooled for data in waiting if (spooled := unpacked(data)) is not None]
        return sorted(found, key=lambda one: one.turn.number)

    @override
    async def waiting(self, *, limit: int) -> Sequence[SessionId]:
        found: list[bytes] = []
        async with self._answering():
            found = await self._list(keys=[_SESSIONS, _DRAINER], args=[self._owner, _DRAINER_MS, limit])
        return [SessionId(UUID(each.decode())) for each in found]

    @override
    async def remove(self, spooled: SpooledTurn) -> None:
        await self._taken_out(spooled)

    @override
    async def set_aside(self, spooled: SpooledTurn) -> None:
        await self._taken_out(spooled, _ASIDE)

    async def count(self) -> tuple[int, int]:
        """How many turns wait, and how many were set aside."""
        waiting, aside = 0, 0
        async with self._answering():
            waiting = int(await self._client.hget(_SIZE, "turns") or 0)
            aside = await self._client.llen(_ASIDE)
        return waiting, aside

    async def _taken_out(self, spooled: SpooledTurn, *to: str) -> None:
        session = spooled.session.id
        async with self._answering():
            await self._remove(keys=[_key(session), _SESSIONS, _SIZE, *to], args=[spooled.turn.number, str(session)])

    @asynccontextmanager
    async def _answering(self) -> AsyncIterator[None]:
        """What fails in here is tried again by the next round."""
        try:
            async with asyncio.timeout(self._timeout_s):
                yield
        except _NO_ANSWER as error:
            self.failures += 1
            _log.debug("spool not asked", error=type(error).__name__)


def _key(session: SessionId) -> str:
    return f"dy:spool:{session}"
