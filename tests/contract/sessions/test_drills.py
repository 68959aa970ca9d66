"""What the drills promise, on dictionaries and on Postgres."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from sessions.adapters.memory_drills import MemoryDrills
from sessions.adapters.postgres.drills import PostgresDrills
from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.records import PostgresRecords
from sessions.domain.drill import DrillEvent, changed, ended
from sessions.domain.page import Cursor
from sessions.domain.session import SessionFilter
from sessions.drill_ports import Drills
from sessions.errors import DrillMoved, RecordsUnavailable
from sessions.ports import Records
from tests.support.drill_world import drill, plan
from tests.support.records_fixture import add_sessions, write_scenarios
from tests.support.records_world import ELSEWHERE, HERE, session, settle


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
async def drills(request: pytest.FixtureRequest) -> AsyncIterator[Drills]:
    if request.param == "memory":
        yield MemoryDrills()
        return
    engine = postgres_engine(request.getfixturevalue("database_url"))
    await settle(engine)
    await write_scenarios(PostgresRecords(engine=engine))
    yield PostgresDrills(engine=engine)
    await engine.dispose()


async def test_a_drill_comes_back_as_it_was_written(drills: Drills) -> None:
    bare = drill("bare", seats=None, walk_ins=0, turns_in_flight=None)
    for one in (drill(), bare, drill("theirs", ELSEWHERE)):
        await drills.add(one)
    assert await drills.get(HERE.tenant, drill().id) == drill()
    assert await drills.get(HERE.tenant, bare.id) == bare
    assert await drills.get(HERE.tenant, drill("theirs", ELSEWHERE).id) is None


async def test_a_change_is_written_over_the_version_before_it(drills: Drills) -> None:
    await drills.add(drill())
    second = changed(drill(), plan(name="Friday's", seats=None))
    await drills.advance(second)
    third = ended(second, DrillEvent.CANCEL)
    await drills.advance(third)
    assert await drills.get(HERE.tenant, drill().id) == third
    for stale in (second, third, replace(third, version=5), replace(third, version=4, tenant=ELSEWHERE.tenant)):
        with pytest.raises(DrillMoved):
            await drills.advance(stale)
    assert await drills.get(HERE.tenant, drill().id) == third


async def test_of_two_changes_at_once_one_is_written(drills: Drills) -> None:
    await drills.add(drill())
    wanted = [changed(drill(), plan(name=f"plan {number}")) for number in range(5)]
    answers = await asyncio.gather(*(drills.advance(one) for one in wanted), return_exceptions=True)
    assert sorted(type(answer).__name__ for answer in answers) == ["DrillMoved"] * 4 + ["NoneType"]
    assert await drills.get(HERE.tenant, drill().id) == wanted[answers.index(None)]


async def test_drills_are_listed_newest_first_in_pages(drills: Drills) -> None:
    written = [drill(f"d{minutes}", minutes=minutes) for minutes in range(4)]
    for one in (*written, drill("theirs", ELSEWHERE, minutes=9)):
        await drills.add(one)
    first = await drills.list(HERE.tenant, limit=3)
    assert list(first.items) == written[:0:-1]
    assert first.next == Cursor(written[1].created_at, written[1].id)
    last = await drills.list(HERE.tenant, limit=3, after=first.next)
    assert (list(last.items), last.next) == (written[:1], None)


@pytest.mark.postgres
async def test_sessions_of_a_drill_are_found_by_it(database_url: str) -> None:
    engine = postgres_engine(database_url)
    await settle(engine)
    records: Records = PostgresRecords(engine=engine)
    await write_scenarios(records)
    await PostgresDrills(engine=engine).add(drill())
    inside = replace(session("inside"), drill=drill().id)
    await add_sessions(records, inside, session("outside"))
    async with records.begin() as work:
        found = await work.sessions.list(HERE.teacher, SessionFilter(drill=drill().id), limit=9)
        assert found.items == (inside,)
        assert await work.sessions.get(HERE.teacher, inside.id) == inside
    await engine.dispose()


@pytest.mark.postgres
async def test_a_database_that_is_away_is_told_as_that() -> None:
    engine = postgres_engine("postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(RecordsUnavailable):
        await PostgresDrills(engine=engine).get(HERE.tenant, drill().id)
    await engine.dispose()
