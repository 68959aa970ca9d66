"""A Redis that hangs, is gone or comes back: how soon that is known, and what becomes of who waits for it."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest
from redis.exceptions import RedisError

from gateway.local.free_port import free_port
from gateway.local.redis_server import redis_server
from gateway.store_settings import RedisSettings
from gateway.wiring.redis import SharedRedis, shared_redis
from tests.support.eventually import eventually
from tests.support.frozen import frozen

pytestmark = [pytest.mark.redis]

NOTICED_S = 0.35
"""A question of 0.25 s, and the pause before it."""
SLACK_S = 0.4
"""What a busy machine may add."""


async def refusal_s(redis: SharedRedis) -> float:
    began = time.monotonic()
    with pytest.raises(RedisError):
        await redis.client.get("key")
    return time.monotonic() - began


async def test_whoever_waits_for_a_hung_redis_hears_of_it_and_the_next_do_not_wait(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        async with shared_redis(server.url) as redis:
            await asyncio.gather(*(redis.client.set("key", number) for number in range(100)))
            with frozen(server.pid):
                # More than there are connections: some wait for one.
                first = await asyncio.gather(*(refusal_s(redis) for _ in range(100)))
                assert max(first) < NOTICED_S + SLACK_S
                assert max(await asyncio.gather(*(refusal_s(redis) for _ in range(100)))) < SLACK_S
            await eventually(lambda: not redis.reach.is_away)
            assert len(await asyncio.gather(*(redis.client.get("key") for _ in range(100)))) == 100
            assert redis.counters() == {"redis_outages": 1}


async def test_a_script_that_takes_long_is_an_outage_that_ends_by_itself(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        async with shared_redis(server.url) as redis:
            busy = "local t = redis.call('TIME') repeat local n = redis.call('TIME') until n[1] - t[1] >= 2"
            with pytest.raises(RedisError):
                await redis.client.eval(busy, 0)
            assert redis.gauges() == {"redis_away": 1.0}
            await eventually(lambda: not redis.reach.is_away)
            await redis.client.ping()


async def test_a_killed_redis_is_away_at_once_and_back_by_itself(tmp_path: Path) -> None:
    port = free_port()
    with redis_server(tmp_path, port=port) as server:
        async with shared_redis(server.url) as redis:
            await redis.client.ping()
            os.kill(server.pid, signal.SIGKILL)
            await eventually(lambda: redis.reach.is_away, within_s=NOTICED_S + SLACK_S)
            assert await refusal_s(redis) < SLACK_S
            with redis_server(tmp_path, port=port):
                await eventually(lambda: not redis.reach.is_away)
                await redis.client.ping()


async def test_a_blocking_read_is_no_reason_to_give_redis_up(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        async with shared_redis(server.url, RedisSettings(patience_s=0.1)) as redis:
            assert await redis.client.blpop(["nothing"], timeout=1) is None
            assert redis.reach.outages == 0


async def test_one_that_never_was_is_away_from_the_start() -> None:
    async with shared_redis("redis://127.0.0.1:1") as redis:
        assert redis.gauges() == {"redis_away": 1.0}
        assert await refusal_s(redis) < SLACK_S
