"""The Redis that all parts of a process share."""

import asyncio

from gateway.local.redis_server import RedisServer
from gateway.wiring.redis import shared_redis


async def test_a_class_that_begins_together_waits_for_its_turn(running_redis: RedisServer) -> None:
    async with shared_redis(running_redis.url) as shared:
        answers = await asyncio.gather(*(shared.client.echo(str(number)) for number in range(1_000)))
        assert answers == [str(number).encode() for number in range(1_000)]
        assert int((await shared.client.info("clients"))["connected_clients"]) <= 100
