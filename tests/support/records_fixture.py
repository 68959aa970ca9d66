"""The records, in memory and on Postgres, with both tenants and a scenario each in them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from sessions.adapters.memory_records import MemoryRecords
from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.records import PostgresRecords
from sessions.domain.session import Session
from sessions.ports import Records, UnitOfWork
from tests.support.records_world import ELSEWHERE, HERE, scenario, settle


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
async def records(request: pytest.FixtureRequest) -> AsyncIterator[Records]:
    if request.param == "memory":
        made: Records = MemoryRecords()
        await write_scenarios(made)
        yield made
        return
    engine = postgres_engine(request.getfixturevalue("database_url"))
    await settle(engine)
    made = PostgresRecords(engine=engine)
    await write_scenarios(made)
    yield made
    await engine.dispose()


async def write_scenarios(records: Records) -> None:
    async with records.begin() as work:
        await work.scenarios.add(scenario())
        await work.scenarios.add(scenario("renewal elsewhere", ELSEWHERE))


async def add_sessions(records: Records, *sessions: Session) -> None:
    async with records.begin() as work:
        for one in sessions:
            await work.sessions.add(one, None)


class _Unwanted(Exception):
    pass


@asynccontextmanager
async def given_up(records: Records) -> AsyncIterator[UnitOfWork]:
    """A transaction whose block raises at its end."""
    with suppress(_Unwanted):
        async with records.begin(HERE.tenant) as work:
            yield work
            raise _Unwanted
