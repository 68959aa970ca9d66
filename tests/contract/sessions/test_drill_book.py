"""What the book of many drills promises, on dictionaries and on Postgres."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from sessions.adapters.memory_drill_book import MemoryDrillBook
from sessions.adapters.memory_drills import MemoryDrills
from sessions.adapters.postgres.drill_book import PostgresDrillBook
from sessions.adapters.postgres.drills import PostgresDrills
from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.records import PostgresRecords
from sessions.domain.drill import Drill, DrillEvent, SeriesId, changed, ended
from sessions.domain.page import Cursor
from sessions.domain.series import Rhythm, Series
from sessions.drill_ports import DrillBook, Drills
from sessions.errors import DrillMoved, RecordsUnavailable
from tests.support.drill_world import drill, plan
from tests.support.records_fixture import write_scenarios
from tests.support.records_world import ELSEWHERE, HERE, NOON, settle, uuid_of

HOUR = timedelta(hours=1)
SERIES = Series(
    SeriesId(uuid_of("series")),
    HERE.tenant,
    Rhythm("0 9 * * MON", "Europe/Berlin", 45),
    NOON,
    NOON + 7 * 24 * HOUR,
    HERE.instructor,
    NOON,
)


@dataclass(frozen=True)
class World:
    book: DrillBook
    drills: Drills


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    if request.param == "memory":
        drills = MemoryDrills()
        yield World(MemoryDrillBook(drills), drills)
        return
    engine = postgres_engine(request.getfixturevalue("database_url"))
    await settle(engine)
    await write_scenarios(PostgresRecords(engine=engine))
    yield World(PostgresDrillBook(engine=engine), PostgresDrills(engine=engine))
    await engine.dispose()


def at(hours: float, name: str, **changes: object) -> Drill:
    moved = drill(name, starts_at=NOON + hours * HOUR, ends_at=NOON + (hours + 1) * HOUR)
    return replace(moved, **changes)  # type: ignore[arg-type]  # fields by their names


async def test_a_series_comes_back_with_its_drills_in_their_order(world: World) -> None:
    members = [at(hours, f"class {hours}", series=SERIES.id) for hours in (3, 1, 2)]
    await world.book.write(HERE.tenant, added=[*members, at(0, "alone")], of=SERIES)
    assert await world.book.series(HERE.tenant, SERIES.id) == (SERIES, [members[1], members[2], members[0]])
    assert await world.book.series(ELSEWHERE.tenant, SERIES.id) is None
    assert await world.drills.get(HERE.tenant, members[0].id) == members[0]


async def test_all_is_written_or_nothing(world: World) -> None:
    await world.book.write(HERE.tenant, added=[drill("one"), drill("two")])
    good, stale = changed(drill("one"), plan(name="moved")), replace(changed(drill("two"), plan()), version=7)
    for wrong in (stale, replace(good, id=drill("nowhere").id), replace(good, version=1)):
        with pytest.raises(DrillMoved):
            await world.book.write(HERE.tenant, added=[drill("three")], advanced=[good, wrong], of=SERIES)
    assert await world.drills.get(HERE.tenant, drill("one").id) == drill("one")
    assert await world.drills.get(HERE.tenant, drill("three").id) is None
    assert await world.book.series(HERE.tenant, SERIES.id) is None
    over = ended(drill("two"), DrillEvent.CANCEL)
    await world.book.write(HERE.tenant, added=[drill("three")], advanced=[good, over])
    found = [await world.drills.get(HERE.tenant, drill(name).id) for name in ("one", "two", "three")]
    assert found == [good, over, drill("three")]


async def test_an_import_key_is_one_drills_alone(world: World) -> None:
    mine = at(1, "mine", import_key="spring/1")
    await world.book.write(HERE.tenant, added=[mine, at(2, "other", import_key="spring/2")])
    for again in ([at(3, "again", import_key="spring/1")], [at(3, "x", import_key="n"), at(4, "y", import_key="n")]):
        with pytest.raises(DrillMoved):
            await world.book.write(HERE.tenant, added=again)
    assert await world.book.imported(HERE.tenant, ["spring/1", "spring/9"]) == [mine]
    assert await world.book.imported(HERE.tenant, []) == []
    assert await world.book.imported(ELSEWHERE.tenant, ["spring/1"]) == []
    theirs = replace(drill("theirs", ELSEWHERE), import_key="spring/1")
    await world.book.write(ELSEWHERE.tenant, added=[theirs])
    assert await world.book.imported(ELSEWHERE.tenant, ["spring/1"]) == [theirs]


async def test_of_two_imports_at_once_one_is_written(world: World) -> None:
    twice = [[at(1, f"{name} {number}", import_key=f"spring/{number}") for number in range(9)] for name in ("a", "b")]
    answers = await asyncio.gather(
        *(world.book.write(HERE.tenant, added=each) for each in twice), return_exceptions=True
    )
    assert sorted(type(answer).__name__ for answer in answers) == ["DrillMoved", "NoneType"]
    found = await world.book.imported(HERE.tenant, [f"spring/{number}" for number in range(9)])
    assert {one.id for one in found} == {one.id for one in twice[answers.index(None)]}


async def test_those_of_one_source_that_are_still_to_come(world: World) -> None:
    coming = at(2, "coming", import_key="a_b/1")
    rest = (at(1, "over", import_key="a_b/2"), at(2, "other", import_key="axb/3"), at(2, "alone"))
    await world.book.write(HERE.tenant, added=[coming, *rest, at(3, "off", import_key="a_b/4")])
    await world.book.write(HERE.tenant, advanced=[ended(at(3, "off", import_key="a_b/4"), DrillEvent.CANCEL)])
    assert await world.book.to_come(HERE.tenant, "a_b/", after=NOON + HOUR) == [coming]
    assert await world.book.to_come(ELSEWHERE.tenant, "a_b/", after=NOON) == []


async def test_drills_are_listed_by_their_start_in_pages(world: World) -> None:
    drills = [at(hours, f"class {hours}") for hours in range(5)]
    await world.book.write(HERE.tenant, added=drills[::-1])
    await world.book.write(ELSEWHERE.tenant, added=[drill("theirs", ELSEWHERE)])
    first = await world.book.held(HERE.tenant, NOON + 1.5 * HOUR, NOON + 3 * HOUR, limit=2)
    assert (first.items, first.next) == (tuple(drills[1:3]), Cursor(drills[2].plan.starts_at, drills[2].id))
    rest = await world.book.held(HERE.tenant, NOON + 1.5 * HOUR, NOON + 3 * HOUR, limit=2, after=first.next)
    assert (rest.items, rest.next) == ((drills[3],), None)


async def test_as_many_as_an_import_may_hold_are_written(world: World) -> None:
    many = [at(number / 100, f"class {number}", import_key=f"many/{number}") for number in range(1200)]
    await world.book.write(HERE.tenant, added=many)
    moved = [changed(one, replace(one.plan, name="moved")) for one in many]
    await world.book.write(HERE.tenant, advanced=moved)
    found = await world.book.imported(HERE.tenant, [str(one.import_key) for one in many])
    assert sorted(one.id for one in found if one.plan.name == "moved") == sorted(one.id for one in many)


@pytest.mark.postgres
async def test_a_database_that_is_away_is_told_as_that() -> None:
    engine = postgres_engine("postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(RecordsUnavailable):
        await PostgresDrillBook(engine=engine).imported(HERE.tenant, ["x"])
    await engine.dispose()
