"""Pins in Redis, shared by all routers; every call is one script, so that two routers never see half a move.

`dy:pin:<key>` is a hash of replica and generation that expires; `dy:sessions:<replica>` is a sorted set of keys scored
by last use, so that what nobody ends falls out by itself. The scripts name the second kind of key themselves, which one
Redis with its replicas allows and a Redis Cluster does not.
"""

import asyncio
from collections.abc import Mapping, Sequence
from importlib.resources import files

from redis.asyncio import Redis
from redis.commands.core import AsyncScript
from redis.exceptions import RedisError
from typing_extensions import override

from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Pin
from router.errors import PinStoreUnavailable
from router.ports import PinStore

_PIN = "dy:pin:"
_SESSIONS = "dy:sessions:"


class RedisPins(PinStore):
    """Needs Redis 6.2 or newer."""

    def __init__(self, *, client: Redis, ttl_s: int, timeout_s: float = 0.5) -> None:
        self._ttl_s = ttl_s
        self._timeout_s = timeout_s
        self._get = _script(client, "get.lua")
        self._claim = _script(client, "claim.lua")
        self._end = _script(client, "end.lua")
        self._sessions = _script(client, "sessions.lua")

    @override
    async def get(self, key: AffinityKey) -> Pin | None:
        answer = await self._run(self._get, [_PIN + key], [self._ttl_s, _SESSIONS, key])
        return None if answer is None else _pin(answer)

    @override
    async def claim(
        self,
        key: AffinityKey,
        candidates: Sequence[ReplicaId],
        *,
        replacing: Pin | None,
        prefer: ReplicaId | None = None,
    ) -> Pin:
        replaced: list[str | int] = ["", 0] if replacing is None else [replacing.replica, replacing.generation]
        arguments = [self._ttl_s, _SESSIONS, key, *replaced, prefer or "", *candidates]
        return _pin(await self._run(self._claim, [_PIN + key], arguments))

    @override
    async def end(self, key: AffinityKey) -> None:
        await self._run(self._end, [_PIN + key], [_SESSIONS, key])

    @override
    async def sessions(self, replicas: Sequence[ReplicaId]) -> Mapping[ReplicaId, int]:
        counts = await self._run(self._sessions, [_SESSIONS + replica for replica in replicas], [self._ttl_s])
        return dict(zip(replicas, _integers(counts), strict=True))

    async def _run(self, script: AsyncScript, keys: Sequence[str], arguments: Sequence[str | int]) -> object:
        # The client retries and waits as its owner set it up; a turn waits for a pin only so long.
        try:
            async with asyncio.timeout(self._timeout_s):
                answer: object = await script(keys=list(keys), args=list(arguments))
        except TimeoutError as error:
            raise PinStoreUnavailable(f"Redis gave no answer within {self._timeout_s:g} s") from error
        except RedisError as error:
            raise PinStoreUnavailable(type(error).__name__) from error
        return answer


def _script(client: Redis, name: str) -> AsyncScript:
    return AsyncScript(client, files("router.adapters").joinpath("lua", name).read_text("utf-8"))


def _pin(answer: object) -> Pin:
    match answer:
        case [bytes(replica), int(generation)]:
            return Pin(ReplicaId(replica.decode()), generation)
        case _:
            raise PinStoreUnavailable("a pin came back in an unknown shape")


def _integers(answer: object) -> list[int]:
    if not isinstance(answer, list):
        raise PinStoreUnavailable("counts came back in an unknown shape")
    return [int(count) for count in answer]
