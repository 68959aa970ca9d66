"""What the records promise of the questions of every turn, on dictionaries and on Postgres."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.local.free_port import free_port
from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.question import Question, Questions
from sessions.adapters.postgres.records import PostgresRecords
from sessions.adapters.postgres.tables import sessions
from sessions.domain.citation import Citation, DocumentId
from sessions.domain.moderation import Action, Direction, Judgement, Mark, Source
from sessions.domain.session import Session, closed, with_turn
from sessions.domain.turn import Turn, TurnState
from sessions.errors import RecordsUnavailable, SessionMoved, ValueUnstorable
from sessions.ports import FoundSession, OutboxEntry, Records
from sessions.tenant_wall import side_of
from tests.support.eventually import comes_true
from tests.support.records_fixture import add_sessions, write_scenarios
from tests.support.records_world import CONTENT, ELSEWHERE, HERE, NOON, failed, note, session, settle, turn, uuid_of

RUN = session()
MINE = HERE.as_trainee()
AFTER = with_turn(RUN)
ENTRY = OutboxEntry(HERE.tenant, "turn.completed", str(RUN.id), {"turn": 1, "replica": "vllm-0", "tier": None}, NOON)

ODD = replace(
    turn(1, key="k"),
    state=TurnState.FAILED,
    finish_reason=None,
    replica=None,
    continued=True,
    citations=(Citation(DocumentId(uuid_of("terms")), "条款 terms.md", 3, "Returns > 退货", 7.25),),
    moderation=Judgement(
        (Mark(Direction.OUTPUT, Source.PHRASE, "r1", "fraud", 2, Action.MASK, "销售", 3, 1, 4, "ab12"),)
    ),
)


@pytest.fixture
async def engine(database_url: str) -> AsyncIterator[AsyncEngine]:
    made = postgres_engine(database_url, pool_size=1)
    await settle(made)
    await write_scenarios(PostgresRecords(engine=made))
    yield made
    await made.dispose()


async def stored(records: Records) -> tuple[Session | None, list[Turn], list[OutboxEntry]]:
    async with records.begin() as work:
        row = await work.sessions.get(MINE, RUN.id)
        return row, list(await work.turns.all(RUN.id)), list(await work.outbox.pending(limit=9))


async def test_a_session_is_found_with_the_turn_that_is_asked_for(records: Records) -> None:
    await add_sessions(records, RUN, session("other"))
    async with records.begin(HERE.tenant) as work:
        for each in (failed(turn(1, key="k")), turn(2), turn(3, key="k"), turn(1, of=session("other"), key="other")):
            await work.turns.add(each)
    assert await records.find(MINE, RUN.id) == FoundSession(RUN)
    assert await records.find(MINE, RUN.id, 1) == FoundSession(RUN, failed(turn(1, key="k")))
    assert await records.find(MINE, RUN.id, 4) == FoundSession(RUN)
    assert await records.find(MINE, RUN.id, "k") == FoundSession(RUN, turn(3, key="k"))
    assert await records.find(MINE, RUN.id, "other") == FoundSession(RUN)
    assert await records.find(HERE.teacher, RUN.id, 2) == FoundSession(RUN, turn(2))


async def test_what_a_viewer_may_not_see_is_not_found(records: Records) -> None:
    await add_sessions(records, RUN)
    await records.add_turn(AFTER, turn(1, key="k"), ENTRY)
    for viewer in (HERE.as_trainee(HERE.other_trainee), ELSEWHERE.teacher, ELSEWHERE.as_trainee(HERE.trainee)):
        for asked in (None, 1, "k"):
            assert await records.find(viewer, RUN.id, asked) is None
    assert await records.find(MINE, session("never").id, 1) is None


async def test_a_version_says_what_it_says_to_its_tenant(records: Records) -> None:
    assert await records.content(HERE.tenant, RUN.scenario, 1) == CONTENT
    assert await records.content(HERE.tenant, RUN.scenario, 2) is None
    assert await records.content(ELSEWHERE.tenant, RUN.scenario, 1) is None


async def test_a_row_goes_on_with_its_entry_or_not_at_all(records: Records) -> None:
    await add_sessions(records, RUN)
    ended = closed(RUN, at=NOON)
    assert await records.advance(ended, ENTRY) == ended
    assert await stored(records) == (ended, [], [ENTRY])
    for late in (ended, replace(ended, version=4), replace(ended, version=3, tenant=ELSEWHERE.tenant)):
        with pytest.raises(SessionMoved):
            await records.advance(late, replace(ENTRY, kind="late", tenant=late.tenant))
    assert await stored(records) == (ended, [], [ENTRY])


@pytest.mark.parametrize("written", [turn(1), turn(1, key="k"), ODD], ids=["plain", "with a key", "odd"])
async def test_a_turn_is_written_with_its_row_and_its_entry(records: Records, written: Turn) -> None:
    await add_sessions(records, RUN)
    assert await records.add_turn(AFTER, written, ENTRY) == AFTER
    assert await stored(records) == (AFTER, [written], [ENTRY])


@pytest.mark.parametrize(
    ("row", "late"),
    [
        (AFTER, turn(2)),
        (with_turn(with_turn(AFTER)), turn(2)),
        (with_turn(AFTER), turn(1)),
        (with_turn(AFTER), turn(2, key="k")),
        (replace(with_turn(AFTER), tenant=ELSEWHERE.tenant), turn(2)),
    ],
    ids=["an old row", "a row to come", "its number is taken", "its key is taken", "another tenant's"],
)
async def test_a_turn_that_comes_too_late_leaves_nothing_behind(records: Records, row: Session, late: Turn) -> None:
    await add_sessions(records, RUN)
    await records.add_turn(AFTER, turn(1, key="k"), ENTRY)
    before = await stored(records)
    with pytest.raises(SessionMoved):
        await records.add_turn(row, late, replace(ENTRY, kind="late", tenant=row.tenant))
    assert await stored(records) == before


async def test_of_many_at_once_one_is_written(records: Records) -> None:
    await add_sessions(records, RUN)
    asked = [records.add_turn(AFTER, turn(1, key=f"k{number}"), ENTRY) for number in range(8)]
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Session", *["SessionMoved"] * 7]
    row, turns, entries = await stored(records)
    assert (row, len(turns), entries) == (AFTER, 1, [ENTRY])


@pytest.mark.parametrize("text", ["a\x00b", "half a pair \ud83d"], ids=["nul", "surrogate"])
async def test_what_no_database_holds_is_refused(records: Records, text: str) -> None:
    await add_sessions(records, RUN)
    with pytest.raises(ValueUnstorable):
        await records.add_turn(AFTER, replace(turn(1), reply=text), ENTRY)
    assert await stored(records) == (RUN, [], [])
    assert await records.add_turn(AFTER, turn(1), ENTRY) == AFTER


async def test_a_note_that_was_counted_while_the_turn_waited_for_the_row_is_in_it(database_url: str) -> None:
    engine = postgres_engine(database_url)
    await settle(engine)
    records = PostgresRecords(engine=engine)
    await write_scenarios(records)
    await add_sessions(records, RUN)

    async def waits_for_a_lock() -> bool:
        async with engine.connect() as connection:
            return bool((await connection.execute(text("select 1 from pg_locks where not granted"))).all())

    async with records.begin(HERE.tenant) as work:
        await work.notes.add(note(1))
        writing = asyncio.create_task(records.add_turn(AFTER, turn(1), ENTRY))
        await comes_true(waits_for_a_lock)
    assert await writing == replace(AFTER, note_count=1)
    await engine.dispose()


async def test_a_question_sees_its_own_side_of_the_wall_alone(engine: AsyncEngine) -> None:
    await add_sessions(PostgresRecords(engine=engine), RUN)
    questions, every = Questions(engine=engine, limit_s=5), Question(select(sessions.c.id))
    assert await questions.ask(side_of(HERE.tenant), every, {}) == (RUN.id,)
    assert await questions.ask(side_of(ELSEWHERE.tenant), every, {}) is None


async def test_on_which_side_a_question_stood_is_forgotten_with_it(engine: AsyncEngine) -> None:
    records = PostgresRecords(engine=engine)
    await add_sessions(records, RUN)
    asked = text("select current_setting('drillyard.tenant', true), current_user = session_user")
    await records.find(MINE, RUN.id)
    async with engine.connect() as connection:
        assert tuple((await connection.execute(asked)).one()) == ("", True)
    await records.add_turn(AFTER, turn(1), ENTRY)
    with pytest.raises(SessionMoved):
        await records.add_turn(AFTER, turn(1), ENTRY)
    async with engine.connect() as connection:
        assert tuple((await connection.execute(asked)).one()) == ("", True)


async def test_a_question_that_is_cancelled_leaves_a_line_that_works(engine: AsyncEngine) -> None:
    records = PostgresRecords(engine=engine)
    await add_sessions(records, RUN)
    sleeping = Question(text("select pg_sleep(60)"))
    with pytest.raises(RecordsUnavailable, match=r"within 0\.2 s"):
        await Questions(engine=engine, limit_s=0.2).write(side_of(HERE.tenant), sleeping, {})
    assert await records.find(MINE, RUN.id) == FoundSession(RUN)
    assert await records.add_turn(AFTER, turn(1), ENTRY) == AFTER


async def test_a_database_without_its_tables_says_so(empty_database_url: str) -> None:
    engine = postgres_engine(empty_database_url)
    with pytest.raises(RecordsUnavailable, match="drillyard db migrate"):
        await PostgresRecords(engine=engine).find(MINE, RUN.id)
    await engine.dispose()


async def test_a_database_that_is_not_there_is_unavailable() -> None:
    engine = postgres_engine(f"postgresql://nobody@127.0.0.1:{free_port()}/nothing")
    records = PostgresRecords(engine=engine)
    with pytest.raises(RecordsUnavailable):
        await records.find(MINE, RUN.id)
    with pytest.raises(RecordsUnavailable):
        await records.add_turn(AFTER, turn(1), ENTRY)
    await engine.dispose()


async def test_a_server_that_hangs_up_in_the_middle_of_a_question_is_unavailable(
    engine: AsyncEngine, database_url: str
) -> None:
    other = postgres_engine(database_url)

    async def end_the_sleeper() -> bool:
        async with other.connect() as connection:
            ended = text("select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'")
            return bool((await connection.execute(ended)).all())

    questions, sleeping = Questions(engine=engine, limit_s=60), Question(text("select pg_sleep(60)"))
    asking = asyncio.create_task(questions.ask(side_of(HERE.tenant), sleeping, {}))
    await comes_true(end_the_sleeper)
    with pytest.raises(RecordsUnavailable):
        await asking
    assert await PostgresRecords(engine=engine).find(MINE, RUN.id) is None
    await other.dispose()
