"""What the tables of notes refuse, and that rows from before them go on."""

from dataclasses import replace

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from sessions.adapters.postgres.records import PostgresRecords
from sessions.domain.tiers import Tier
from tests.support.records_fixture import add_sessions, write_scenarios
from tests.support.records_world import HERE, note, session, settle, turn

pytestmark = pytest.mark.postgres


@pytest.fixture
async def filled(database_engine: AsyncEngine) -> AsyncEngine:
    """A database with a session, a turn and two notes in it."""
    await settle(database_engine)
    records = PostgresRecords(engine=database_engine)
    await write_scenarios(records)
    await add_sessions(records, session())
    async with records.begin(session().tenant) as work:
        await work.turns.add(turn(1))
        await work.notes.add(note(1))
        await work.notes.add(note(2, from_turn=11, to_turn=20))
    return database_engine


@pytest.mark.parametrize(
    ("change", "refused_by"),
    [
        ("update notes set seq = 1", "notes_pkey"),
        ("update notes set seq = seq - 1", "notes_seq_check"),
        ("update notes set from_turn = 0", "notes_turns_check"),
        ("update notes set to_turn = from_turn - 1", "notes_turns_check"),
        ("update notes set made_by = 'trainee'", "notes_made_by_check"),
        ("update notes set tenant_id = (select id from tenants where id <> tenant_id limit 1)", "notes_session_fkey"),
        ("update notes set text = null", "null value"),
        ("delete from sessions", "fkey"),
    ],
)
async def test_nonsense_is_refused(filled: AsyncEngine, change: str, refused_by: str) -> None:
    with pytest.raises(IntegrityError, match=refused_by):
        async with filled.begin() as connection:
            await connection.execute(text(change))


async def test_rows_of_a_process_of_the_version_before_are_read(filled: AsyncEngine) -> None:
    """It names none of the columns that were added."""
    old = (
        "insert into turns (tenant_id, session_id, number, state, text, reply, started_at, ended_at, text_tokens,"
        " reply_tokens, prompt_tokens, cached_tokens, completion_tokens, queue_ms, e2e_ms, continued)"
        " select tenant_id, session_id, 2, state, text, reply, started_at, ended_at, text_tokens,"
        " reply_tokens, prompt_tokens, cached_tokens, completion_tokens, queue_ms, e2e_ms, continued"
        " from turns where number = 1"
    )
    async with filled.begin() as connection:
        await connection.execute(text(old))
    async with PostgresRecords(engine=filled).begin(session().tenant) as work:
        read = await work.turns.get(session().id, 2)
        seen = await work.sessions.get(HERE.teacher, session().id)
    assert read is not None
    assert (read.scene, read.model, read.tier, read.fell_back, read.citations) == ("", "", Tier.ROLE_PLAY, False, ())
    assert seen == replace(session(), note_count=2)
