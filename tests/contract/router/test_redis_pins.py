"""What only the Redis store can show: outages, scripts that were flushed, keys that are left behind."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gateway.local.redis_server import redis_server
from router.adapters.redis_pins import RedisPins
from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Pin
from router.errors import PinStoreUnavailable
from tests.support.redis_fixture import redis_client_of

pytestmark = pytest.mark.redis

KEY, A = AffinityKey("session-1"), ReplicaId("a")


def store(client: Redis, timeout_s: float = 5.0) -> RedisPins:
    return RedisPins(client=client, ttl_s=3600, timeout_s=timeout_s)


async def test_flushed_scripts_are_loaded_again(redis_client: Redis) -> None:
    pins = store(redis_client)
    await pins.claim(KEY, [A], replacing=None)
    await redis_client.script_flush()
    assert await pins.get(KEY) == Pin(A, 1)


async def test_every_key_has_our_prefix_and_goes_by_itself(redis_client: Redis) -> None:
    await store(redis_client).claim(KEY, [A], replacing=None)
    keys = sorted(await redis_client.keys("*"))
    assert keys == [b"dy:pin:session-1", b"dy:sessions:a"]
    for key in keys:
        assert 3500 < await redis_client.ttl(key) <= 3600


async def test_a_key_of_another_kind_is_an_error_in_our_words(redis_client: Redis) -> None:
    await redis_client.set("dy:pin:session-1", "not a hash")
    with pytest.raises(PinStoreUnavailable):
        await store(redis_client).get(KEY)


async def test_a_redis_that_ends_is_unavailable_and_a_new_one_is_used_again(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        client = redis_client_of(server.url)
        pins = store(client)
        await pins.claim(KEY, [A], replacing=None)
    for call in (pins.get(KEY), pins.claim(KEY, [A], replacing=None), pins.end(KEY), pins.sessions([A])):
        with pytest.raises(PinStoreUnavailable):
            await call
    port = int(server.url.rsplit(":", 1)[1].split("/")[0])
    with redis_server(tmp_path, port=port):
        assert await pins.claim(KEY, [A], replacing=None) == Pin(A, 1)
        await client.aclose()


async def test_a_frozen_redis_costs_a_turn_no_more_than_the_time_out(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        client = redis_client_of(server.url)
        pins = store(client, timeout_s=0.2)
        await pins.claim(KEY, [A], replacing=None)
        os.kill(server.pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            with pytest.raises(PinStoreUnavailable, match=r"within 0\.2 s"):
                await pins.get(KEY)
            assert time.monotonic() - began < 1.0
        finally:
            os.kill(server.pid, signal.SIGCONT)
        assert await pins.get(KEY) == Pin(A, 1)
        await client.aclose()


async def test_calls_that_were_cancelled_do_not_mix_up_later_answers(redis_client: Redis) -> None:
    pins = store(redis_client)
    keys = [AffinityKey(f"s-{number}") for number in range(40)]
    for number, key in enumerate(keys):
        await pins.claim(key, [ReplicaId(f"r-{number}")], replacing=None)
    tasks = [asyncio.ensure_future(pins.get(key)) for key in keys]
    for task in tasks[::2]:
        await asyncio.sleep(0)
        task.cancel()
    await asyncio.wait(tasks)
    for number, key in enumerate(keys):
        assert await pins.get(key) == Pin(ReplicaId(f"r-{number}"), 1)
