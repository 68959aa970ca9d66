"""What the calendar over all tenants promises, on dictionaries and on Postgres."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from sessions.adapters.memory_class_calendar import MemoryClassCalendar
from sessions.adapters.memory_drills import MemoryDrills
from sessions.adapters.memory_records import MemoryRecords
from sessions.adapters.memory_tenant_tiers import MemoryTenantTiers
from sessions.adapters.postgres import class_calendar
from sessions.adapters.postgres.class_calendar import PostgresClassCalendar
from sessions.adapters.postgres.drills import PostgresDrills
from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.records import PostgresRecords
from sessions.adapters.postgres.tenant_tiers import PostgresTenantTiers
from sessions.domain.drill import DrillEvent, ended
from sessions.domain.scenario import ScenarioId
from sessions.domain.tiers import Tier
from sessions.drill_ports import ClassCalendar, Drills
from sessions.errors import RecordsUnavailable
from sessions.ports import Records, TenantTiers
from tests.support.drill_world import drill
from tests.support.records_fixture import write_scenarios
from tests.support.records_world import CONTENT, ELSEWHERE, HERE, NOON, settle, uuid_of

HOUR = timedelta(hours=1)
RENEWAL = ScenarioId(uuid_of("renewal"))


@dataclass(frozen=True)
class World:
    calendar: ClassCalendar
    drills: Drills
    records: Records
    tenants: TenantTiers


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    if request.param == "memory":
        drills, records, tenants = MemoryDrills(), MemoryRecords(), MemoryTenantTiers()
        await write_scenarios(records)
        yield World(MemoryClassCalendar(drills=drills, records=records, tenants=tenants), drills, records, tenants)
        return
    engine = postgres_engine(request.getfixturevalue("database_url"))
    await settle(engine)
    stored = PostgresRecords(engine=engine)
    await write_scenarios(stored)
    yield World(
        PostgresClassCalendar(engine=engine),
        PostgresDrills(engine=engine),
        stored,
        PostgresTenantTiers(engine=engine),
    )
    await engine.dispose()


async def test_classes_of_all_tenants_come_by_their_start(world: World) -> None:
    late = drill("late", starts_at=NOON + HOUR, ends_at=NOON + 2 * HOUR)
    theirs = drill("theirs", ELSEWHERE, starts_at=NOON, ends_at=NOON + HOUR)
    over = ended(drill("over"), DrillEvent.CANCEL)
    for one in (late, theirs, drill("over")):
        await world.drills.add(one)
    await world.drills.advance(over)
    found = await world.calendar.between(NOON, NOON + HOUR)
    assert {one.drill for one in found[:2]} == {theirs, over}
    assert [one.drill for one in found[2:]] == [late]


async def test_a_class_that_only_touches_the_span_is_in_it(world: World) -> None:
    await world.drills.add(drill(starts_at=NOON, ends_at=NOON + HOUR))
    for since, until, count in ((-2, -1, 0), (-1, 0, 1), (0.5, 0.6, 1), (1, 3, 1), (2, 3, 0)):
        assert len(await world.calendar.between(NOON + since * HOUR, NOON + until * HOUR)) == count


async def test_the_latest_version_of_a_scenario_and_its_tenant_say_what_serves_it(world: World) -> None:
    await world.drills.add(drill())
    (before,) = await world.calendar.between(NOON, NOON)
    assert (before.wishes.tier, before.wishes.scenario, before.wishes.tenant) == (Tier.ROLE_PLAY, {}, {})
    content = replace(CONTENT, tiers=((Tier.ROLE_PLAY, "large"),), is_sensitive=True)
    async with world.records.begin(HERE.tenant) as work:
        await work.scenarios.add_version(HERE.tenant, RENEWAL, content, by=HERE.instructor, at=NOON)
    await world.tenants.change(HERE.tenant, {Tier.FAQ: "small"})
    (after,) = await world.calendar.between(NOON, NOON)
    assert after.wishes.tier is Tier.SENSITIVE
    assert (after.wishes.scenario, after.wishes.tenant) == ({Tier.ROLE_PLAY: "large"}, {Tier.FAQ: "small"})
    nothing, foreign = ScenarioId(uuid_of("nothing")), ScenarioId(uuid_of("renewal elsewhere"))
    assert await world.calendar.wishes(HERE.tenant, [RENEWAL, nothing, foreign]) == {RENEWAL: after.wishes}
    assert await world.calendar.wishes(HERE.tenant, []) == {}


@pytest.mark.postgres
async def test_of_too_many_those_to_be_held_first_are_shown(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_calendar, "MOST_CLASSES", 2)
    engine = postgres_engine(database_url)
    await settle(engine)
    await write_scenarios(PostgresRecords(engine=engine))
    drills = PostgresDrills(engine=engine)
    later = [drill(f"d{hours}", starts_at=NOON + hours * HOUR, ends_at=NOON + 9 * HOUR) for hours in (1, 2, 3)]
    for one in (drill("cancelled"), *later):
        await drills.add(one)
    await drills.advance(ended(drill("cancelled"), DrillEvent.CANCEL))
    found = await PostgresClassCalendar(engine=engine).between(NOON, NOON + 9 * HOUR)
    assert [one.drill for one in found] == later[:2]
    await engine.dispose()


@pytest.mark.postgres
async def test_a_database_that_is_away_is_told_as_that() -> None:
    engine = postgres_engine("postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(RecordsUnavailable):
        await PostgresClassCalendar(engine=engine).between(NOON, NOON)
    await engine.dispose()
