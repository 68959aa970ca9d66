"""The connection to Postgres, and how it is asked whether it answers."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.wiring.background import background
from sessions.adapters.postgres.engine import asking_engine, postgres_engine
from sessions.adapters.postgres.reach import PostgresReach


@asynccontextmanager
async def database(url: str) -> AsyncIterator[AsyncEngine]:
    engine = postgres_engine(url)
    try:
        yield engine
    finally:
        await engine.dispose()


@dataclass(frozen=True, slots=True)
class Postgres:
    """A Postgres of which it is known whether it answers."""

    engine: AsyncEngine
    reach: PostgresReach

    def gauges(self) -> Mapping[str, float]:
        return {"postgres_away": float(self.reach.is_away)}

    def counters(self) -> Mapping[str, float]:
        return {"postgres_outages": self.reach.outages}


@asynccontextmanager
async def watched_database(url: str, *, patience_s: float) -> AsyncIterator[Postgres]:
    """Asked all the time while it is entered."""
    async with database(url) as engine:
        asking = asking_engine(url)
        reach = PostgresReach(engine=engine, asking=asking, patience_s=patience_s)
        await reach.ask()
        try:
            async with background(reach.run()):
                yield Postgres(engine, reach)
        finally:
            reach.hang_up()
            await asking.dispose()
