"""What the tables of the fleet and of repeated classes refuse, and who may see them."""

import pytest
from sqlalchemy import insert, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from router.fleet.adapters.tables import floors
from sessions.adapters.postgres.drills import PostgresDrills
from sessions.adapters.postgres.records import PostgresRecords
from sessions.adapters.postgres.tables import drill_series, drills
from sessions.adapters.postgres.transaction import begun
from sessions.tenant_wall import EVERY_TENANT, NO_TENANT
from tests.support.drill_world import drill
from tests.support.records_fixture import write_scenarios
from tests.support.records_world import ELSEWHERE, HERE, NOON, settle, uuid_of

pytestmark = pytest.mark.postgres

SERIES = {
    "id": uuid_of("series"),
    "tenant_id": HERE.tenant,
    "cron": "0 9 * * MON",
    "timezone": "Europe/Berlin",
    "minutes": 90,
    "first_at": NOON,
    "last_at": NOON,
    "created_by": HERE.instructor,
    "created_at": NOON,
}
FLOOR = {"pool": "m", "replicas": 2, "set_by": "acct", "reason": "", "set_at": NOON}
NONSENSE = {
    "update drill_series set minutes = 0": "drill_series_minutes_check",
    "update drill_series set created_by = :instructor": "drill_series_author_fkey",
    "update drill_series set tenant_id = :tenant": "drills_series_fkey",
    "update drills set series_id = gen_random_uuid()": "drills_series_fkey",
    "update drills set series_id = :series where tenant_id = :tenant": "drills_series_fkey",
    "update drills set import_key = 'row 7'": "drills_import_key",
    "update fleet_floors set replicas = -1": "fleet_floors_replicas_check",
    "insert into fleet_floors select * from fleet_floors": "fleet_floors_pkey",
}
"""Changes, and what refuses each."""
THEIRS = {"tenant": ELSEWHERE.tenant, "instructor": ELSEWHERE.instructor, "series": SERIES["id"]}


@pytest.fixture
async def filled(database_engine: AsyncEngine) -> AsyncEngine:
    """Two drills here, one of them of a series, one elsewhere, and a floor."""
    await settle(database_engine)
    await write_scenarios(PostgresRecords(engine=database_engine))
    for one in (drill(), drill("second"), drill("theirs", ELSEWHERE)):
        await PostgresDrills(engine=database_engine).add(one)
    async with database_engine.begin() as connection:
        await connection.execute(insert(drill_series).values(SERIES))
        await connection.execute(update(drills).where(drills.c.id == drill().id).values(series_id=SERIES["id"]))
        await connection.execute(insert(floors).values(FLOOR))
    return database_engine


@pytest.mark.parametrize(("change", "refused_by"), NONSENSE.items())
async def test_nonsense_is_refused(filled: AsyncEngine, change: str, refused_by: str) -> None:
    with pytest.raises(IntegrityError, match=refused_by):
        async with filled.begin() as connection:
            await connection.execute(text(change), THEIRS)


async def test_two_tenants_may_import_the_same_row(filled: AsyncEngine) -> None:
    async with filled.begin() as connection:
        done = await connection.execute(
            text("update drills set import_key = 'row 7' where id in (:ours, :theirs)"),
            {"ours": drill().id, "theirs": drill("theirs", ELSEWHERE).id},
        )
    assert done.rowcount == 2


async def test_a_drill_as_the_version_before_writes_it_is_of_no_series(filled: AsyncEngine) -> None:
    async with filled.begin() as connection:
        found = await connection.execute(
            text("select series_id, import_key from drills where id = :id"), {"id": drill("second").id}
        )
    assert found.all() == [(None, None)]


async def test_a_series_is_seen_by_its_tenant_alone(filled: AsyncEngine) -> None:
    async def seen(**whose: object) -> int:
        async with begun(filled, **whose) as work:  # type: ignore[arg-type]
            return len(await work.all(text("select id from drill_series")))

    assert [await seen(of=HERE.tenant), await seen(of=ELSEWHERE.tenant)] == [1, 0]
    assert [await seen(side=EVERY_TENANT), await seen(side=NO_TENANT)] == [1, 0]


async def test_the_fleet_is_everybodys_and_the_service_may_read_and_write_it(filled: AsyncEngine) -> None:
    async with begun(filled, side=NO_TENANT) as work:
        (who,) = await work.all(text("select current_user"))
        for table in ("fleet_replicas", "fleet_starts", "fleet_floors", "fleet_rounds", "fleet_canaries"):
            await work.changed(text(f"delete from {table}"))  # noqa: S608 - these names alone
    assert who.current_user == "drillyard_service"
