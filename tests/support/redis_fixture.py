"""A real Redis for the tests that need one: started once, emptied for each."""

from collections.abc import AsyncIterator, Iterator

import pytest
from redis import Redis as BlockingRedis
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from gateway.local.redis_server import RedisServer, redis_server


@pytest.fixture(scope="session")
def running_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def empty_redis(running_redis: RedisServer) -> RedisServer:
    """The same server with nothing left in it, such as replicas that an earlier test's operators have added."""
    with BlockingRedis.from_url(running_redis.url) as client:
        client.flushall()
    return running_redis


@pytest.fixture
async def redis_client(running_redis: RedisServer) -> AsyncIterator[Redis]:
    """A client of an empty database; it does not try again, so that a lost Redis shows at once."""
    client = redis_client_of(running_redis.url)
    await client.flushall()
    yield client
    await client.aclose()


def redis_client_of(url: str) -> Redis:
    # As in the wiring: the client's own time-out can swallow a cancellation on Python 3.11.
    return Redis.from_url(url, retry=Retry(NoBackoff(), 0), socket_timeout=None, socket_connect_timeout=1.0)
