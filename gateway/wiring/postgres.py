"""The connection to Postgres, and how it is asked whether it answers."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.wiring.background import background
from router.fleet.adapters.fleet_database import FleetDatabase
from sessions.adapters.postgres.engine import asking_engine, postgres_engine
from sessions.adapters.postgres.reach import PostgresReach
from sessions.adapters.postgres.schema import schema_trouble
from sessions.tenant_wall import EVERY_TENANT, STEP

_LOOK_EVERY_S = 0.5


@asynccontextmanager
async def database(url: str) -> AsyncIterator[AsyncEngine]:
    engine = postgres_engine(url)
    try:
        yield engine
    finally:
        await engine.dispose()


def fleet_database(engine: AsyncEngine) -> FleetDatabase:
    """The fleet is one for all tenants; its transactions step down from the owner's rights as those of tenants do."""
    return FleetDatabase(engine=engine, step=text(STEP).bindparams(side=EVERY_TENANT))


@dataclass(slots=True)
class Postgres:
    """A Postgres of which it is known whether it answers."""

    engine: AsyncEngine
    reach: PostgresReach
    missing: str | None = "has not been asked yet"
    """Why it cannot serve this process yet; None for good once it could."""

    def gauges(self) -> Mapping[str, float]:
        return {"postgres_away": float(self.reach.is_away)}

    async def first_served(self) -> None:
        while (trouble := await schema_trouble(self.engine)) is not None:
            self.missing = trouble
            await asyncio.sleep(_LOOK_EVERY_S)
        self.missing = None

    def counters(self) -> Mapping[str, float]:
        return {"postgres_outages": self.reach.outages}


@asynccontextmanager
async def watched_database(url: str, *, patience_s: float) -> AsyncIterator[Postgres]:
    """Asked all the time while it is entered."""
    async with database(url) as engine:
        asking = asking_engine(url)
        reach = PostgresReach(engine=engine, asking=asking, patience_s=patience_s)
        postgres = Postgres(engine, reach)
        await reach.ask()
        try:
            async with background(reach.run(), postgres.first_served()):
                try:
                    yield postgres
                finally:
                    await reach.stop()
        finally:
            await asking.dispose()
