"""Turn leases in Redis, over all processes.

A lease is a key that expires by itself and holds its owner's random token. While the holder lives, a task of its own
renews the key at a third of its time. Renewing and giving back look at the token first, in one script, so a lease
that expired meanwhile, and may be somebody else's by now, is neither revived nor taken away.

The holder is never stopped by a renewal that fails: its turn is under way and its record is guarded by the session's
version. It can see in `is_held` that the lease is lost, or can no longer be known to be ours.
"""

import asyncio
import math
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import structlog
from redis.asyncio import Redis
from redis.commands.core import AsyncScript
from redis.exceptions import RedisError
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from sessions.adapters.lua_script import lua_script
from sessions.domain.session import SessionId
from sessions.errors import SessionBusy, TurnLockUnavailable
from sessions.ports import TurnLease, TurnLock

_TAKEN = -1
_LEAST_RETRY_S = 1
_MOST_RETRY_S = 2
_NO_ANSWER = (RedisError, OSError, TimeoutError)

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class RedisTurnLease(TurnLease):
    """Held until a moment of the loop's clock, which each renewal moves on; once lost it stays lost."""

    def __init__(self, *, key: str, owner: str, lease_s: float) -> None:
        self.key = key
        self.owner = owner
        self._lease_s = lease_s
        self._until: float | None = None

    @property
    @override
    def is_held(self) -> bool:
        return self._until is not None and _now() < self._until

    def extend(self, *, asked_at: float) -> None:
        """Redis counts from when it was asked at the earliest, so we must not count from later."""
        self._until = asked_at + self._lease_s

    def lose(self) -> None:
        self._until = None


class RedisTurnLock(TurnLock):
    """A `TurnLock` on Redis 6.2 or newer; an answer that takes longer than `timeout_s` counts as none."""

    def __init__(self, *, client: Redis, lease_s: float, timeout_s: float = 1.0) -> None:
        self._lease_s = lease_s
        self._timeout_s = timeout_s
        self._take = lua_script(client, "take_turn_lock")
        self._renew = lua_script(client, "renew_turn_lock")
        self._release = lua_script(client, "release_turn_lock")

    @override
    @asynccontextmanager
    async def hold(self, session: SessionId, *, taken: str = "") -> AsyncIterator[TurnLease]:
        owner = taken or secrets.token_hex(16)
        lease = RedisTurnLease(key=f"dy:turn:{session}", owner=owner, lease_s=self._lease_s)
        try:
            await self._acquire(lease)
        except asyncio.CancelledError:
            # Redis may have given us the lease already, and nobody would give it back.
            await self._give_back(lease)
            raise
        # A task of our own and no TaskGroup: a group would wrap the block's errors, and would tie the lease to the
        # task that took it. The task is awaited below, whatever happens in the block.
        renewing = asyncio.create_task(self._keep_renewing(lease))
        try:
            yield lease
        finally:
            renewing.cancel()
            try:
                await asyncio.wait([renewing])
            finally:
                await self._give_back(lease)

    async def _acquire(self, lease: RedisTurnLease) -> None:
        asked_at = _now()
        try:
            answer = await self._run(self._take, lease)
        except _NO_ANSWER as error:
            raise TurnLockUnavailable("the turn locks cannot be asked") from error
        if answer != _TAKEN:
            raise SessionBusy(retry_after_s=_retry_after_s(answer))
        lease.extend(asked_at=asked_at)

    async def _keep_renewing(self, lease: RedisTurnLease) -> None:
        """A Redis that is away for a moment costs nothing; one that stays away costs the lease."""
        while True:
            await asyncio.sleep(self._lease_s / 3)
            if not lease.is_held:
                _log.warning("turn lease lost", key=lease.key)
                return
            try:
                await self._renew_once(lease)
            except _NO_ANSWER as error:
                _log.warning("turn lease not renewed", key=lease.key, error=type(error).__name__)

    async def _renew_once(self, lease: RedisTurnLease) -> None:
        asked_at = _now()
        if await self._run(self._renew, lease):
            lease.extend(asked_at=asked_at)
        else:
            lease.lose()

    async def _give_back(self, lease: RedisTurnLease) -> None:
        lease.lose()
        # Nobody can be told that it failed, and nobody needs to be: the key expires.
        with suppress(*_NO_ANSWER):
            await self._run(self._release, lease)

    async def _run(self, script: AsyncScript, lease: RedisTurnLease) -> int:
        async with asyncio.timeout(self._timeout_s), _cancellable():
            return int(await script(keys=[lease.key], args=[lease.owner, round(self._lease_s * 1000)]))


@asynccontextmanager
async def _cancellable() -> AsyncIterator[None]:
    """Make sure that a cancellation comes out of the block.

    With a socket time-out the client sends under `asyncio.wait_for`, which on Python 3.11 forgets a cancellation that
    arrives just as the sending ends.
    """
    task = asyncio.current_task()
    before = task.cancelling() if task else 0
    yield
    if task and task.cancelling() > before:
        raise asyncio.CancelledError


def _retry_after_s(left_ms: int) -> int:
    """When to ask again. What is left of the lease bounds the wait for a dead holder; a living one renews it, and gives
    it back as soon as its turn ends."""
    return min(max(_LEAST_RETRY_S, math.ceil(left_ms / 1000)), _MOST_RETRY_S)


def _now() -> float:
    return asyncio.get_running_loop().time()
