"""The promise of `PinUse`, on memory and on a real Redis."""

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from router.adapters.memory_pins import MemoryPins
from router.adapters.redis_pins import RedisPins
from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Demand
from router.errors import PinStoreUnavailable
from tests.support.engine_process import free_port
from tests.support.redis_fixture import redis_client_of

pytestmark = pytest.mark.redis

A, B, NOBODY = ReplicaId("a"), ReplicaId("副本 b"), ReplicaId("nobody")
TTL_S = 3600
Both = MemoryPins | RedisPins


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "redis"])
async def pins(request: pytest.FixtureRequest, redis_client: Redis, clock: Clock) -> AsyncIterator[Both]:
    if request.param == "memory":
        yield MemoryPins(ttl_s=TTL_S, clock=clock)
    else:
        yield RedisPins(client=redis_client, ttl_s=TTL_S, timeout_s=5.0, clock=clock)


async def pinned_to(pins: Both, replica: ReplicaId, *names: str) -> None:
    for name in names:
        await pins.claim(AffinityKey(name), [replica], replacing=None, demand=Demand())


async def test_nobody_uses_what_was_never_pinned(pins: Both) -> None:
    assert (await pins.in_use([A, B], within_s=60)).sessions == {A: 0, B: 0}
    assert (await pins.in_use([], within_s=60)).sessions == {}


async def test_sessions_count_while_they_are_used(pins: Both, clock: Clock) -> None:
    await pinned_to(pins, A, "one", "two")
    await pinned_to(pins, B, "会话")
    clock.now += 100
    assert (await pins.in_use([A, B, NOBODY], within_s=101)).sessions == {A: 2, B: 1, NOBODY: 0}
    await pins.get(AffinityKey("two"))
    assert (await pins.in_use([B, A], within_s=100)).sessions == {A: 1, B: 0}
    assert (await pins.loads([A]))[A].sessions == 2
    await pins.end(AffinityKey("two"))
    assert (await pins.in_use([A], within_s=100)).sessions == {A: 0}


async def test_a_session_that_has_moved_counts_where_it_is(pins: Both) -> None:
    pin = await pins.claim(AffinityKey("one"), [A], replacing=None, demand=Demand())
    await pins.claim(AffinityKey("one"), [B], replacing=pin, demand=Demand())
    assert (await pins.in_use([A, B], within_s=60)).sessions == {A: 0, B: 1}


async def test_none_counts_past_its_time_to_live(pins: Both, clock: Clock) -> None:
    await pinned_to(pins, A, "one")
    clock.now += TTL_S
    assert (await pins.in_use([A], within_s=2 * TTL_S)).sessions == {A: 0}


async def test_a_store_that_was_emptied_has_another_name(redis_client: Redis) -> None:
    pins = RedisPins(client=redis_client, ttl_s=TTL_S)
    empty = (await pins.in_use([A], within_s=60)).contents
    await pinned_to(pins, A, "one")
    filled = (await pins.in_use([A], within_s=60)).contents
    await pinned_to(pins, A, "two")
    assert (await pins.in_use([A], within_s=60)).contents == filled != empty == ""
    await redis_client.flushall()
    assert (await pins.in_use([A], within_s=60)).contents == ""


async def test_a_store_that_is_away_is_unavailable() -> None:
    client = redis_client_of(f"redis://127.0.0.1:{free_port()}")
    with pytest.raises(PinStoreUnavailable):
        await RedisPins(client=client, ttl_s=TTL_S).in_use([A], within_s=60)
    await client.aclose()
