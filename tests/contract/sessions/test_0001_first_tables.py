"""What the first tables refuse, whatever a statement of ours gets wrong."""

from dataclasses import replace

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from sessions.adapters.postgres.records import PostgresRecords
from sessions.domain.turn import TurnError
from tests.support.records_fixture import add_sessions, write_scenarios
from tests.support.records_world import failed, session, settle, turn

pytestmark = pytest.mark.postgres


@pytest.fixture
async def filled(database_engine: AsyncEngine) -> AsyncEngine:
    """A database with a session and a turn in it."""
    await settle(database_engine)
    records = PostgresRecords(engine=database_engine)
    await write_scenarios(records)
    await add_sessions(records, session())
    async with records.begin(session().tenant) as work:
        await work.turns.add(turn(1))
        await work.turns.add(replace(failed(turn(2)), error=TurnError("tutor_broke", "it broke", retryable=True)))
    return database_engine


@pytest.mark.parametrize(
    ("change", "refused_by"),
    [
        ("update accounts set role = 'god'", "accounts_role_check"),
        ("update accounts set name = 'the same'", "accounts_tenant_id_name_key"),
        ("update tenants set slug = 'the same'", "tenants_slug_key"),
        ("update tenants set id = null", "null value"),
        ("update scenarios set latest_version = 0", "scenarios_latest_version_check"),
        ("update scenario_versions set version = version + 1", "sessions_scenario_version_fkey"),
        ("update sessions set state = 'paused'", "sessions_state_check"),
        ("update sessions set state = 'closed'", "sessions_closed_at_check"),
        ("update sessions set closed_at = now()", "sessions_closed_at_check"),
        ("update sessions set version = 0", "sessions_version_check"),
        ("update sessions set turn_count = -1", "sessions_turn_count_check"),
        ("update sessions set idempotency_key = 'k'", "sessions_idempotency_check"),
        ("update turns set number = number - 1", "turns_number_check"),
        ("update turns set state = 'running'", "turns_state_check"),
        ("update turns set error_code = null where number = 2", "turns_error_check"),
        ("update turns set idempotency_digest = 'd'", "turns_idempotency_check"),
        ("delete from sessions", "turns_session_fkey"),
        ("delete from tenants", "fkey"),
        (
            "insert into api_keys select 'k', tenant_id, id, 'short', now() from accounts limit 1",
            "api_keys_secret_check",
        ),
    ],
)
async def test_nonsense_is_refused(filled: AsyncEngine, change: str, refused_by: str) -> None:
    with pytest.raises(IntegrityError, match=refused_by):
        async with filled.begin() as connection:
            await connection.execute(text(change))
