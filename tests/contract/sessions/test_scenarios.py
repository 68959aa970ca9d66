"""What the records promise about scenarios, on dictionaries and on Postgres."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import update

from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.records import PostgresRecords
from sessions.adapters.postgres.tables import scenario_versions
from sessions.domain.citation import KnowledgeBaseId
from sessions.domain.outline import NO_OUTLINE, Outline, Point
from sessions.domain.page import Cursor
from sessions.domain.scenario import ScenarioId
from sessions.domain.tiers import Tier
from sessions.errors import ScenarioNotFound
from sessions.ports import Records
from tests.support.records_fixture import given_up, write_scenarios
from tests.support.records_world import (
    CONTENT,
    ELSEWHERE,
    HERE,
    NOON,
    scenario,
    settle,
    uuid_of,
)


async def test_a_scenario_comes_back_as_it_was_written(records: Records) -> None:
    async with records.begin() as work:
        assert await work.scenarios.get(HERE.tenant, scenario().id) == scenario()
        assert await work.scenarios.get(HERE.tenant, scenario().id, 1) == scenario()


async def test_what_it_says_of_knowledge_and_models_comes_back_too(records: Records) -> None:
    full = replace(
        CONTENT,
        knowledge_base=KnowledgeBaseId(uuid_of("manual")),
        tiers=((Tier.ROLE_PLAY, "名 large/7b"), (Tier.SENSITIVE, "b")),
        is_sensitive=True,
        outline=Outline((Point("报价", ("our price", "报价")),), (Point("promise", ("保本",)),)),
    )
    async with records.begin() as work:
        await work.scenarios.add_version(HERE.tenant, scenario().id, full, by=HERE.instructor, at=NOON)
    async with records.begin() as work:
        found = await work.scenarios.get(HERE.tenant, scenario().id)
    assert found is not None
    assert found.content == full


async def test_a_scenario_of_another_tenant_is_not_there(records: Records) -> None:
    async with records.begin() as work:
        assert await work.scenarios.get(ELSEWHERE.tenant, scenario().id) is None
        with pytest.raises(ScenarioNotFound):
            await work.scenarios.add_version(ELSEWHERE.tenant, scenario().id, CONTENT, by=ELSEWHERE.instructor, at=NOON)


async def test_a_new_version_leaves_the_old_one_as_it_was(records: Records) -> None:
    later, revised = NOON + timedelta(days=1), replace(CONTENT, title="Second try")
    async with records.begin() as work:
        written = await work.scenarios.add_version(HERE.tenant, scenario().id, revised, by=HERE.instructor, at=later)
    assert written == replace(scenario(), version=2, latest_version=2, content=revised, created_at=later)
    async with records.begin() as work:
        assert await work.scenarios.get(HERE.tenant, scenario().id) == written
        assert await work.scenarios.get(HERE.tenant, scenario().id, 1) == replace(scenario(), latest_version=2)
        assert await work.scenarios.get(HERE.tenant, scenario().id, 3) is None
        assert await work.scenarios.get(HERE.tenant, scenario().id, 0) is None


async def test_a_version_of_no_scenario_is_refused(records: Records) -> None:
    async with records.begin() as work:
        with pytest.raises(ScenarioNotFound):
            await work.scenarios.add_version(
                HERE.tenant, ScenarioId(uuid_of("nothing")), CONTENT, by=HERE.instructor, at=NOON
            )


async def test_versions_written_at_once_are_numbered_without_gaps(records: Records) -> None:
    async def revise() -> int:
        async with records.begin() as work:
            written = await work.scenarios.add_version(HERE.tenant, scenario().id, CONTENT, by=HERE.instructor, at=NOON)
            return written.version

    assert sorted(await asyncio.gather(*(revise() for _ in range(8)))) == list(range(2, 10))


async def test_a_version_that_was_given_up_leaves_no_gap(records: Records) -> None:
    async with given_up(records) as work:
        await work.scenarios.add_version(HERE.tenant, scenario().id, CONTENT, by=HERE.instructor, at=NOON)
    async with records.begin() as work:
        written = await work.scenarios.add_version(HERE.tenant, scenario().id, CONTENT, by=HERE.instructor, at=NOON)
    assert written.version == 2


async def test_scenarios_are_listed_newest_first_by_their_first_version(records: Records) -> None:
    async with records.begin() as work:
        for hours in (1, 2, 3):
            await work.scenarios.add(scenario(f"s{hours}", at=NOON + timedelta(hours=hours)))
        await work.scenarios.add_version(
            HERE.tenant, ScenarioId(uuid_of("s1")), CONTENT, by=HERE.instructor, at=NOON + timedelta(days=1)
        )
        first = await work.scenarios.list(HERE.tenant, limit=3)
        assert [item.id for item in first.items] == [uuid_of("s3"), uuid_of("s2"), uuid_of("s1")]
        assert first.next == Cursor(NOON + timedelta(hours=1), uuid_of("s1"))
        rest = await work.scenarios.list(HERE.tenant, limit=3, after=first.next)
        assert [item.id for item in rest.items] == [scenario().id]
        assert rest.next is None


@pytest.mark.postgres
async def test_content_from_before_outlines_has_none(database_url: str) -> None:
    engine = postgres_engine(database_url)
    await settle(engine)
    records = PostgresRecords(engine=engine)
    await write_scenarios(records)
    async with engine.begin() as connection:
        await connection.execute(
            update(scenario_versions).values(content=scenario_versions.c.content.op("-")("outline"))
        )
    async with records.begin() as work:
        found = await work.scenarios.get(HERE.tenant, scenario().id)
    assert found == scenario()
    assert found.content.outline == NO_OUTLINE
    await engine.dispose()
