"""The connection to Redis, and how it is asked whether it answers."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

_CONNECT_TIMEOUT_S = 1.0
_MOST_CONNECTIONS = 64


@dataclass(frozen=True, slots=True)
class SharedRedis:
    """A Redis by a client and, for who keeps a line of its own, by its address, which may hold a password."""

    client: Redis
    url: str = field(repr=False)


@asynccontextmanager
async def shared_redis(url: str) -> AsyncIterator[SharedRedis]:
    # One that refuses the hundred and first at once would leave a class that begins together without pins.
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=_MOST_CONNECTIONS,
        timeout=None,
        # Whoever asks bounds its own wait. The client's time-out would be asyncio.wait_for, which on Python 3.11 can
        # swallow a cancellation.
        socket_timeout=None,
        socket_connect_timeout=_CONNECT_TIMEOUT_S,
        retry=Retry(NoBackoff(), 1),  # the connection to a restarted server is dead, a new one is not
    )
    client = Redis.from_pool(pool)
    try:
        yield SharedRedis(client, url)
    finally:
        await client.aclose()


def redis_probe(client: Redis) -> Callable[[], Awaitable[str | None]]:
    async def ask() -> str | None:
        try:
            await client.ping()
        except (RedisError, OSError) as error:
            return f"cannot be asked ({type(error).__name__}); turns go on without pins and leases"
        return None

    return ask
