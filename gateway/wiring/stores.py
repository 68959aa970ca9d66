"""The connections to Redis and Postgres, and how each is asked whether it answers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import sqlalchemy
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.readiness import Probe
from sessions.adapters.postgres.engine import postgres_engine

_REDIS_CONNECT_TIMEOUT_S = 1.0


@asynccontextmanager
async def database(url: str) -> AsyncIterator[AsyncEngine]:
    engine = postgres_engine(url)
    try:
        yield engine
    finally:
        await engine.dispose()


@dataclass(frozen=True, slots=True)
class SharedRedis:
    """A Redis by a client and, for who keeps a line of its own, by its address, which may hold a password."""

    client: Redis
    url: str = field(repr=False)


@asynccontextmanager
async def shared_redis(url: str) -> AsyncIterator[SharedRedis]:
    async with redis_client(url) as client:
        yield SharedRedis(client, url)


@asynccontextmanager
async def redis_client(url: str) -> AsyncIterator[Redis]:
    client: Redis = Redis.from_url(
        url,
        # Whoever asks bounds its own wait. The client's time-out would be asyncio.wait_for, which on Python 3.11 can
        # swallow a cancellation.
        socket_timeout=None,
        socket_connect_timeout=_REDIS_CONNECT_TIMEOUT_S,
        retry=Retry(NoBackoff(), 1),  # the connection to a restarted server is dead, a new one is not
    )
    try:
        yield client
    finally:
        await client.aclose()


def postgres_probe(engine: AsyncEngine) -> Probe:
    async def ask() -> str | None:
        try:
            async with engine.connect() as connection:
                await connection.execute(sqlalchemy.text("SELECT 1"))
        except (SQLAlchemyError, OSError) as error:
            return f"cannot be asked ({type(error).__name__})"
        return None

    return ask


def redis_probe(client: Redis) -> Probe:
    async def ask() -> str | None:
        try:
            await client.ping()
        except (RedisError, OSError) as error:
            return f"cannot be asked ({type(error).__name__}); turns go on without pins and leases"
        return None

    return ask
