"""Two routers with caches over one real Redis: what one moves the other sees, whatever happens to the subscription."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs
from typing_extensions import override

from gateway.local.redis_server import RedisServer, redis_server
from router.adapters.pin_cache import CachedPins
from router.adapters.redis_moves import RedisMoves
from router.adapters.redis_pins import RedisPins
from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Demand, Pin
from router.domain.pin_record import Move, PinRecord
from router.errors import PinStoreUnavailable
from tests.support.cached_pins import cached_pins, until
from tests.support.redis_fixture import redis_client_of

pytestmark = pytest.mark.redis

KEY = AffinityKey("model\nsession")
A, B, C = ReplicaId("a"), ReplicaId("b"), ReplicaId("副本")
ONE = Demand(3, "scenario")
TTL_S = 3_600

Routers = tuple[CachedPins, CachedPins]


class CountedPins(RedisPins):
    """Counts how often the cache asked it."""

    finds = 0

    @override
    async def find(self, key: AffinityKey) -> PinRecord | None:
        self.finds += 1
        return await super().find(key)


def counted(client: Redis, *, timeout_s: float = 5.0) -> CountedPins:
    return CountedPins(client=client, ttl_s=TTL_S, timeout_s=timeout_s)


@pytest.fixture
def behind(redis_client: Redis) -> CountedPins:
    """The store behind the second router."""
    return counted(redis_client)


@pytest.fixture
async def routers(redis_client: Redis, running_redis: RedisServer, behind: CountedPins) -> AsyncIterator[Routers]:
    url = running_redis.url
    async with (
        cached_pins(url, counted(redis_client), ttl_s=TTL_S) as one,
        cached_pins(url, behind, ttl_s=TTL_S) as two,
    ):
        yield one, two


async def until_answered_from_memory(pins: CachedPins, behind: CountedPins) -> None:
    deadline = time.monotonic() + 10
    asked = -1
    while asked != behind.finds:
        assert time.monotonic() < deadline
        asked = behind.finds
        await asyncio.sleep(0.02)
        await pins.get(KEY)


async def ask_for_seconds(pins: CachedPins, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert await pins.get(KEY) is not None
        await asyncio.sleep(0.05)


async def test_a_session_moved_at_one_router_is_found_at_the_other(routers: Routers, behind: CountedPins) -> None:
    one, two = routers
    pin = await one.claim(KEY, [A], replacing=None, demand=ONE)
    assert await two.get(KEY) == pin
    for target in [B, C, A] * 100:
        pin = await one.claim(KEY, [target], replacing=pin, demand=ONE)
        assert await two.get(KEY) == pin
    assert behind.finds < 20  # the moves were heard, not asked for


async def test_a_session_ended_at_one_router_is_gone_at_the_other(routers: Routers) -> None:
    one, two = routers
    for _ in range(50):
        pin = await one.claim(KEY, [A], replacing=None, demand=ONE)
        assert await two.get(KEY) == pin
        await one.end(KEY)
        assert await two.get(KEY) is None


async def test_two_routers_that_move_one_session_at_once_agree(routers: Routers) -> None:
    one, two = routers
    pin = await one.claim(KEY, [A], replacing=None, demand=ONE)
    for _ in range(30):
        won = await asyncio.gather(
            one.claim(KEY, [B, A], replacing=pin, demand=ONE), two.claim(KEY, [C, A], replacing=pin, demand=ONE)
        )
        assert won[0] == won[1] == await one.get(KEY) == await two.get(KEY)
        pin = won[0]


async def test_what_moved_while_nobody_listened_is_asked_for(
    routers: Routers, redis_client: Redis, behind: CountedPins
) -> None:
    one, two = routers
    pin = await one.claim(KEY, [A], replacing=None, demand=ONE)
    await two.get(KEY)
    await redis_client.client_kill_filter(_type="pubsub")
    for target in (B, C):
        pin = await RedisPins(client=redis_client, ttl_s=TTL_S).claim(KEY, [target], replacing=pin, demand=ONE)
        assert await two.get(KEY) == await one.get(KEY) == pin
    await until_answered_from_memory(two, behind)


async def test_a_flushed_redis_has_its_pins_back_at_the_next_telling(routers: Routers, redis_client: Redis) -> None:
    one, two = routers
    pin = await one.claim(KEY, [A], replacing=None, demand=ONE)
    await one.claim(AffinityKey("other"), [B], replacing=None, demand=ONE)
    await two.get(KEY)
    await one.touch_used()
    await two.touch_used()
    await redis_client.flushall()
    await asyncio.gather(one.touch_used(), two.touch_used())
    bare = counted(redis_client)
    assert await bare.find(KEY) == PinRecord(Pin(A, pin.generation + 1), ONE)
    assert await one.get(KEY) == await two.get(KEY) == Pin(A, pin.generation + 1)
    assert await bare.get(AffinityKey("other")) == Pin(B, 2)
    assert {replica: load.sessions for replica, load in (await bare.loads([A, B])).items()} == {A: 1, B: 1}


async def test_a_frozen_redis_is_noticed_and_the_last_pin_stays_known(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        client = redis_client_of(server.url)
        store = counted(client, timeout_s=0.2)
        async with cached_pins(server.url, store, ttl_s=TTL_S) as pins:
            pin = await pins.claim(KEY, [A], replacing=None, demand=ONE)
            os.kill(server.pid, signal.SIGSTOP)
            try:
                with pytest.raises(PinStoreUnavailable):
                    await ask_for_seconds(pins, 5)  # the cache answers for one more
            finally:
                os.kill(server.pid, signal.SIGCONT)
            assert await pins.get(KEY) == pin
        await client.aclose()


async def test_a_redis_that_comes_back_empty_has_its_pins_back(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        client = redis_client_of(server.url)
        async with cached_pins(server.url, counted(client), ttl_s=TTL_S) as pins:
            pin = await pins.claim(KEY, [A], replacing=None, demand=ONE)
            await pins.touch_used()
            os.kill(server.pid, signal.SIGKILL)
            port = int(server.url.rsplit(":", 1)[1].split("/")[0])
            with redis_server(tmp_path / "again", port=port):
                async with asyncio.timeout(10):
                    while True:
                        with suppress(PinStoreUnavailable):
                            await pins.touch_used()
                            break
                        await asyncio.sleep(0.05)
                assert await pins.get(KEY) == Pin(A, pin.generation + 1)
        await client.aclose()


async def test_it_signs_in_where_it_must_and_says_when_it_may_not(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        client = redis_client_of(server.url)
        await client.config_set("requirepass", "pass word")
        told: list[Move] = []
        welcome = RedisMoves(url=server.url.replace("redis://", "redis://:pass%20word@"))
        welcome.tell(told.append)
        refused = RedisMoves(url=server.url)
        with capture_logs() as logs:
            running = [asyncio.ensure_future(feed.run()) for feed in (welcome, refused)]
            await until(lambda: welcome.number == 1 and len(logs) > 0)
            await client.publish("dy:p2:moves", "3\0a\0model\nkey")
            await client.publish("dy:p2:moves", "0\0\0model\nkey")
            await until(lambda: len(told) == 2)
            for task in running:
                task.cancel()
            await asyncio.wait(running)
        key = AffinityKey("model\nkey")
        assert told == [Move(key, Pin(A, 3)), Move(key, None)]
        assert refused.number == 0
        assert logs[0]["event"] == "moves cannot be subscribed to"
        await client.aclose()


async def test_a_message_that_is_not_ours_ends_the_subscription(
    redis_client: Redis, running_redis: RedisServer
) -> None:
    feed = RedisMoves(url=running_redis.url)
    running = asyncio.ensure_future(feed.run())
    await until(lambda: feed.number == 1)
    await redis_client.publish("dy:p2:moves", "nonsense")
    await until(lambda: feed.number == 2)
    running.cancel()
    await asyncio.wait([running])


async def test_a_redis_that_is_not_there_is_tried_again(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        port = int(server.url.rsplit(":", 1)[1].split("/")[0])
    feed = RedisMoves(url=server.url)
    running = asyncio.ensure_future(feed.run())
    await asyncio.sleep(0.05)
    assert feed.number == 0
    assert not feed.has_unread()
    with redis_server(tmp_path, port=port):
        await until(lambda: feed.number == 1)
        running.cancel()
        await asyncio.wait([running])
