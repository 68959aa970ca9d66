"""A script runs whole or not at all, and never for longer than it may."""

import os
import signal
import time
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gateway.local.redis_server import redis_server
from router.adapters.redis_script import RedisAway, RedisScript
from tests.support.redis_fixture import redis_client_of

pytestmark = pytest.mark.redis


async def test_files_run_one_after_the_other_as_one_script(redis_client: Redis) -> None:
    script = RedisScript("pins", "epoch", client=redis_client, timeout_s=5.0)
    assert await script.run([1_000, ""]) == b""
    await redis_client.script_flush()
    await redis_client.set("dy:p2:epoch", "7")
    assert await script.run([1_000, ""]) == b"7"


async def test_an_error_of_the_script_is_told_in_our_words(redis_client: Redis) -> None:
    with pytest.raises(RedisAway, match="ResponseError"):
        await RedisScript("board", client=redis_client, timeout_s=5.0).run(["no such step", 5, 1])


async def test_a_frozen_redis_is_waited_for_so_long(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        client = redis_client_of(server.url)
        script = RedisScript("pins", "epoch", client=client, timeout_s=0.2)
        await script.run([1_000, ""])
        os.kill(server.pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            with pytest.raises(RedisAway, match=r"within 0\.2 s"):
                await script.run([1_000, ""])
            assert time.monotonic() - began < 1.0
        finally:
            os.kill(server.pid, signal.SIGCONT)
        await client.aclose()
