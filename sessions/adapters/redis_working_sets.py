"""Working sets in Redis, over all processes.

They only spare the records: what Redis does not tell in time, or tells unreadably, is rebuilt from them. So nothing of
it is an error; it is counted. The texts of the talk are in here and must not reach a log.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, TypeVar

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from sessions.adapters.lua_script import lua_script
from sessions.adapters.stored_history import packed, packed_session, unpacked, unpacked_session
from sessions.domain.history import History
from sessions.domain.session import Session, SessionId
from sessions.ports import WorkingSets

_NO_ANSWER: Final = (RedisError, OSError, TimeoutError)
Answer = TypeVar("Answer")

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class RedisWorkingSets(WorkingSets):
    """`WorkingSets` on Redis 6.2 or newer; an answer that takes longer than `timeout_s` counts as none."""

    def __init__(self, *, client: Redis, ttl_s: float, timeout_s: float) -> None:
        self._client = client
        self._ttl_ms = round(ttl_s * 1000)
        self._timeout_s = timeout_s
        self._put = lua_script(client, "put_working_set")
        self._is_away = False
        self.hits = 0
        self.misses = 0
        self.failures = 0

    @override
    async def get(self, session: Session) -> History | None:
        found = await self._found(session)
        if found is None:
            self.misses += 1
        else:
            self.hits += 1
        return found

    @override
    async def put(self, session: Session, history: History) -> None:
        data = packed(session.id, history)
        if data is None:
            return
        row = packed_session(session)
        try:
            async with self._answering():
                await self._put(
                    keys=[_key(session.id)], args=[session.version, session.note_count, data, self._ttl_ms, row]
                )
        except _NO_ANSWER as error:
            self._lost(error)

    @override
    async def latest(self, session: SessionId) -> tuple[Session, History] | None:
        try:
            async with self._answering():
                row, data = await self._client.hmget(_key(session), ["session", "history"])
        except _NO_ANSWER as error:
            self._lost(error)
            return None
        if not isinstance(row, bytes) or not isinstance(data, bytes):
            return None
        found, history = unpacked_session(session, row), unpacked(session, data)
        return None if found is None or history is None else (found, history)

    @override
    async def drop(self, session: SessionId) -> None:
        try:
            async with self._answering():
                await self._client.delete(_key(session))
        except _NO_ANSWER as error:
            self._lost(error)

    async def _found(self, session: Session) -> History | None:
        try:
            async with self._answering():
                version, notes, data = await self._client.hmget(_key(session.id), ["version", "notes", "history"])
        except _NO_ANSWER as error:
            self._lost(error)
            return None
        is_of_this_row = (version, notes) == (b"%d" % session.version, b"%d" % session.note_count)
        return unpacked(session.id, data) if is_of_this_row and isinstance(data, bytes) else None

    @asynccontextmanager
    async def _answering(self) -> AsyncIterator[None]:
        async with asyncio.timeout(self._timeout_s):
            yield
        if self._is_away:
            _log.info("working sets back", failures=self.failures)
        self._is_away = False

    def _lost(self, error: Exception) -> None:
        self.failures += 1
        if not self._is_away:
            _log.warning("working sets lost", error=type(error).__name__)
        self._is_away = True


def _key(session: SessionId) -> str:
    return f"dy:set:{session}"
