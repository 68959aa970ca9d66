"""The connection to Redis, and whether it answers."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from gateway.adapters.joint_redis import JointRedis
from gateway.adapters.redis_reach import RedisReach
from gateway.store_settings import RedisSettings
from gateway.wiring.background import background

_CONNECT_TIMEOUT_S = 1.0
_MOST_CONNECTIONS = 64
_USUAL = RedisSettings()


@dataclass(frozen=True, slots=True)
class SharedRedis:
    """A Redis by a client and, for who keeps a line of its own, by its address, which may hold a password."""

    client: Redis
    url: str = field(repr=False)
    reach: RedisReach

    def gauges(self) -> Mapping[str, float]:
        return {"redis_away": float(self.reach.is_away)}

    def counters(self) -> Mapping[str, float]:
        return {"redis_outages": self.reach.outages}


@asynccontextmanager
async def shared_redis(url: str, settings: RedisSettings = _USUAL) -> AsyncIterator[SharedRedis]:
    """It is asked all the time, while this is entered, whether it answers."""
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
    asking = Redis.from_url(url, retry=Retry(NoBackoff(), 0), socket_timeout=None, max_connections=1)
    reach = RedisReach(asking=asking, patience_s=settings.patience_s, interval_s=settings.ask_interval_s)
    pool.connection_class = reach.watched(pool.connection_class)
    client = JointRedis(pool)
    await reach.ask()
    try:
        async with background(reach.run()):
            yield SharedRedis(client, url, reach)
    finally:
        await asking.aclose()
        await client.aclose()
