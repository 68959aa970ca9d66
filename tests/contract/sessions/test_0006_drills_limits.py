"""What the tables of drills and limits refuse, whatever a statement of ours gets wrong."""

import pytest
from sqlalchemy import insert, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from sessions.adapters.postgres.drills import PostgresDrills
from sessions.adapters.postgres.records import PostgresRecords
from sessions.adapters.postgres.tables import account_limits, tenant_limits
from tests.support.drill_world import drill
from tests.support.records_fixture import add_sessions, write_scenarios
from tests.support.records_world import ELSEWHERE, HERE, session, settle

pytestmark = pytest.mark.postgres

IN_A_DRILL = "update sessions set drill_id = (select id from drills where drills.tenant_id"


@pytest.fixture
async def filled(database_engine: AsyncEngine) -> AsyncEngine:
    """A database with a drill and limits here, and a drill elsewhere."""
    await settle(database_engine)
    records = PostgresRecords(engine=database_engine)
    await write_scenarios(records)
    await add_sessions(records, session())
    for one in (drill(), drill("theirs", ELSEWHERE)):
        await PostgresDrills(engine=database_engine).add(one)
    async with database_engine.begin() as connection:
        await connection.execute(insert(tenant_limits).values(tenant_id=HERE.tenant, sessions=0))
        await connection.execute(insert(account_limits).values(tenant_id=HERE.tenant, account_id=HERE.trainee))
    return database_engine


@pytest.mark.parametrize(
    ("change", "refused_by"),
    [
        ("update drills set state = 'paused'", "drills_state_check"),
        ("update drills set version = 0", "drills_version_check"),
        ("update drills set ends_at = starts_at", "drills_times_check"),
        ("update drills set expected_trainees = 0", "drills_people_check"),
        ("update drills set seats = -1", "drills_people_check"),
        ("update drills set walk_ins = -1", "drills_people_check"),
        ("update drills set turns_in_flight = 0", "drills_people_check"),
        ("update drills set scenario_id = gen_random_uuid()", "drills_scenario_fkey"),
        ("update drills set created_by = gen_random_uuid()", "drills_author_fkey"),
        (f"{IN_A_DRILL} <> sessions.tenant_id)", "sessions_drill_fkey"),
        ("update tenant_limits set requests_per_minute = -1", "tenant_limits_check"),
        ("update tenant_limits set sessions = -1", "tenant_limits_check"),
        ("update tenant_limits set tenant_id = gen_random_uuid()", "tenant_limits_tenant_fkey"),
        ("update account_limits set turns_in_flight = -1", "account_limits_check"),
        (
            "update account_limits set tenant_id = (select t.id from tenants t where t.id <> account_limits.tenant_id)",
            "account_limits_account_fkey",
        ),
    ],
)
async def test_nonsense_is_refused(filled: AsyncEngine, change: str, refused_by: str) -> None:
    with pytest.raises(IntegrityError, match=refused_by):
        async with filled.begin() as connection:
            await connection.execute(text(change))


async def test_a_drill_with_sessions_is_not_deleted(filled: AsyncEngine) -> None:
    async with filled.begin() as connection:
        await connection.execute(text(f"{IN_A_DRILL} = sessions.tenant_id)"))
    with pytest.raises(IntegrityError, match="sessions_drill_fkey"):
        async with filled.begin() as connection:
            await connection.execute(text("delete from drills"))
