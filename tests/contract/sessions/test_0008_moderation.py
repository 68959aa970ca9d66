"""What the tables of moderation refuse, whatever a statement of ours gets wrong."""

import psycopg
import pytest
from sqlalchemy import insert, text
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from sessions.adapters.postgres.moderation_tables import (
    moderation_audit,
    moderation_decisions,
    moderation_settings,
    phrase_list_versions,
    phrase_lists,
    withheld_texts,
)
from sessions.adapters.postgres.records import PostgresRecords
from tests.support.records_fixture import add_sessions, write_scenarios
from tests.support.records_world import ELSEWHERE, HERE, NOON, session, settle, turn, uuid_of

pytestmark = pytest.mark.postgres

LIST = {
    "id": uuid_of("list"),
    "tenant_id": HERE.tenant,
    "name": "banned",
    "direction": "both",
    "latest_version": 1,
    "live_version": 1,
    "created_by": HERE.instructor,
    "created_at": NOON,
}
VERSION = {
    "list_id": uuid_of("list"),
    "version": 1,
    "tenant_id": HERE.tenant,
    "content": {},
    "phrase_count": 0,
    "created_by": HERE.instructor,
    "created_at": NOON,
}
SETTINGS = {"tenant_id": HERE.tenant, "content": {}, "changed_by": HERE.instructor, "changed_at": NOON}
WITHHELD = {"session_id": session().id, "number": 1, "tenant_id": HERE.tenant, "text": "what was said"}
DECISION = {
    "session_id": session().id,
    "number": 1,
    "tenant_id": HERE.tenant,
    "decision": "confirmed",
    "note": "",
    "effect": {},
    "decided_by": HERE.instructor,
    "decided_at": NOON,
}
ENTRY = {
    "tenant_id": HERE.tenant,
    "at": NOON,
    "actor": HERE.instructor,
    "action": "list_created",
    "subject": "banned",
    "facts": {},
}
NONSENSE = {
    "update turns set state = 'running'": "turns_state_check",
    "update phrase_lists set direction = 'sideways'": "phrase_lists_direction_check",
    "update phrase_lists set live_version = 2": "phrase_lists_version_check",
    "update phrase_lists set live_version = 0": "phrase_lists_version_check",
    "update phrase_lists set scenario_id = gen_random_uuid()": "phrase_lists_scenario_fkey",
    "update phrase_lists set created_by = :instructor": "phrase_lists_author_fkey",
    "update phrase_list_versions set version = 0": "phrase_list_versions_version_check",
    "update phrase_list_versions set tenant_id = :tenant": "phrase_list_versions_list_fkey",
    "update moderation_settings set tenant_id = :tenant": "moderation_settings_author_fkey",
    "update moderation_decisions set decision = 'perhaps'": "moderation_decisions_decision_check",
    "update moderation_decisions set decided_by = :instructor": "moderation_decisions_author_fkey",
    "update moderation_decisions set number = 2": "moderation_decisions_turn_fkey",
    "update withheld_texts set tenant_id = :tenant": "withheld_texts_session_fkey",
    "update withheld_texts set number = 2": "withheld_texts_turn_fkey",
}
"""Changes, and the constraint that refuses each."""
THEIRS = {"tenant": ELSEWHERE.tenant, "instructor": ELSEWHERE.instructor}


@pytest.fixture
async def filled(database_engine: AsyncEngine) -> AsyncEngine:
    """A database with one row of each kind."""
    await settle(database_engine)
    records = PostgresRecords(engine=database_engine)
    await write_scenarios(records)
    await add_sessions(records, session())
    async with records.begin(HERE.tenant) as work:
        await work.turns.add(turn(1))
    async with database_engine.begin() as connection:
        for table, row in (
            (phrase_lists, LIST),
            (phrase_list_versions, VERSION),
            (moderation_settings, SETTINGS),
            (withheld_texts, WITHHELD),
            (moderation_decisions, DECISION),
            (moderation_audit, ENTRY),
        ):
            await connection.execute(insert(table).values(row))
    return database_engine


async def test_nonsense_is_refused(filled: AsyncEngine) -> None:
    assert {change: await refused_by(filled, change) for change in NONSENSE} == NONSENSE


async def refused_by(filled: AsyncEngine, change: str) -> str | None:
    try:
        async with filled.begin() as connection:
            await connection.execute(text(change), THEIRS)
    except IntegrityError as error:
        return error.orig.diag.constraint_name if isinstance(error.orig, psycopg.Error) else None
    return None


async def test_the_audit_trail_is_only_ever_added_to(filled: AsyncEngine) -> None:
    for change in (
        "update moderation_audit set actor = tenant_id",
        "delete from moderation_audit",
        "truncate moderation_audit",
    ):
        with pytest.raises(DBAPIError, match="only ever added to"):
            async with filled.begin() as connection:
                await connection.execute(text(change))


async def test_a_turn_takes_with_it_what_was_withheld_and_decided(filled: AsyncEngine) -> None:
    async with filled.begin() as connection:
        await connection.execute(text("delete from turns"))
        left = await connection.execute(
            text("select (select count(*) from withheld_texts) + (select count(*) from moderation_decisions)")
        )
        assert left.scalar_one() == 0
