"""The connection to Postgres, and how it is asked whether it answers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import sqlalchemy
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.readiness import Probe
from sessions.adapters.postgres.engine import postgres_engine


@asynccontextmanager
async def database(url: str) -> AsyncIterator[AsyncEngine]:
    engine = postgres_engine(url)
    try:
        yield engine
    finally:
        await engine.dispose()


def postgres_probe(engine: AsyncEngine) -> Probe:
    async def ask() -> str | None:
        try:
            async with engine.connect() as connection:
                await connection.execute(sqlalchemy.text("SELECT 1"))
        except (SQLAlchemyError, OSError) as error:
            return f"cannot be asked ({type(error).__name__})"
        return None

    return ask
