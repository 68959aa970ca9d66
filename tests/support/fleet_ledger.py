"""A ledger in a real Postgres whose process leads."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.wiring.postgres import fleet_database
from router.fleet.adapters.postgres_leadership import PostgresLeadership
from router.fleet.adapters.postgres_ledger import PostgresLedger
from tests.support.postgres_fixture import libpq_url


@asynccontextmanager
async def leadership(
    database_url: str, name: str = "one", *, idle_s: float = 15.0
) -> AsyncIterator[PostgresLeadership]:
    found = PostgresLeadership(address=libpq_url(database_url), name=name, idle_s=idle_s)
    try:
        yield found
    finally:
        await found.close()


def ledger_of(engine: AsyncEngine, leader: PostgresLeadership | None = None) -> PostgresLedger:
    """As in the service, which is not the owner of its tables."""
    return PostgresLedger(database=fleet_database(engine), token=lambda: None if leader is None else leader.token)


@asynccontextmanager
async def leading_ledger(engine: AsyncEngine, database_url: str) -> AsyncIterator[PostgresLedger]:
    async with leadership(database_url) as leader:
        assert await leader.held()
        yield ledger_of(engine, leader)
