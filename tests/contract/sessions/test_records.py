"""What the records promise, on dictionaries and on Postgres."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from sessions.adapters.memory_records import MemoryRecords
from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.records import PostgresRecords
from sessions.domain.page import Cursor
from sessions.domain.scenario import ScenarioId
from sessions.domain.session import Session, SessionFilter, SessionId, State
from sessions.domain.turn import IdempotencyKey, Timings, TurnError, TurnState
from sessions.errors import IdempotencyKeyReused, ScenarioNotFound, SessionMoved, ValueUnstorable
from sessions.ports import OutboxEntry, Records, UnitOfWork
from tests.support.records_world import (
    CONTENT,
    ELSEWHERE,
    HERE,
    NOON,
    failed,
    scenario,
    session,
    settle,
    turn,
    uuid_of,
)

ANY = SessionFilter()
KEY = IdempotencyKey("order 7", "digest of order 7")


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
async def records(request: pytest.FixtureRequest) -> AsyncIterator[Records]:
    """Both tenants live in it, each with one scenario."""
    if request.param == "memory":
        made: Records = MemoryRecords()
        await _write_scenarios(made)
        yield made
        return
    engine = postgres_engine(request.getfixturevalue("database_url"))
    await settle(engine)
    made = PostgresRecords(engine=engine)
    await _write_scenarios(made)
    yield made
    await engine.dispose()


async def _write_scenarios(records: Records) -> None:
    async with records.begin() as work:
        await work.scenarios.add(scenario())
        await work.scenarios.add(scenario("renewal elsewhere", ELSEWHERE))


async def _add(records: Records, *sessions: Session) -> None:
    async with records.begin() as work:
        for one in sessions:
            await work.sessions.add(one, None)


class _Unwanted(Exception):
    pass


@asynccontextmanager
async def given_up(records: Records) -> AsyncIterator[UnitOfWork]:
    """A transaction whose block raises at its end."""
    with suppress(_Unwanted):
        async with records.begin() as work:
            yield work
            raise _Unwanted


async def test_a_scenario_comes_back_as_it_was_written(records: Records) -> None:
    async with records.begin() as work:
        assert await work.scenarios.get(HERE.tenant, scenario().id) == scenario()
        assert await work.scenarios.get(HERE.tenant, scenario().id, 1) == scenario()


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


async def test_a_session_comes_back_as_it_was_written(records: Records) -> None:
    async with records.begin() as work:
        assert await work.sessions.add(session(), None) == session()
    async with records.begin() as work:
        assert await work.sessions.get(HERE.teacher, session().id) == session()
        assert await work.sessions.get(HERE.as_trainee(), session().id) == session()


async def test_a_session_is_not_there_for_other_trainees_and_other_tenants(records: Records) -> None:
    await _add(records, session())
    async with records.begin() as work:
        assert await work.sessions.get(HERE.as_trainee(HERE.other_trainee), session().id) is None
        assert await work.sessions.get(ELSEWHERE.teacher, session().id) is None
        assert (await work.sessions.list(HERE.as_trainee(HERE.other_trainee), ANY, limit=9)).items == ()
        assert (await work.sessions.list(ELSEWHERE.teacher, ANY, limit=9)).items == ()


async def test_sessions_are_listed_by_who_asks_trainee_and_state(records: Records) -> None:
    mine, theirs = session("mine"), replace(session("theirs", minutes=1), trainee=HERE.other_trainee)
    closed = replace(session("closed", minutes=2), state=State.CLOSED, closed_at=NOON)
    await _add(records, mine, theirs, closed)

    async def listed(which: SessionFilter, *, trainee: bool = False) -> list[SessionId]:
        async with records.begin() as work:
            viewer = HERE.as_trainee() if trainee else HERE.teacher
            return [item.id for item in (await work.sessions.list(viewer, which, limit=9)).items]

    assert await listed(ANY) == [closed.id, theirs.id, mine.id]
    assert await listed(ANY, trainee=True) == [closed.id, mine.id]
    assert await listed(SessionFilter(trainee=HERE.other_trainee)) == [theirs.id]
    assert await listed(SessionFilter(trainee=HERE.other_trainee), trainee=True) == []
    assert await listed(SessionFilter(state=State.OPEN)) == [theirs.id, mine.id]
    assert await listed(SessionFilter(trainee=HERE.trainee, state=State.CLOSED)) == [closed.id]


async def test_pages_neither_repeat_nor_lose_sessions_of_one_moment(records: Records) -> None:
    many = [session(f"s{number}", minutes=number // 4) for number in range(10)]
    await _add(records, *many)
    seen: list[Session] = []
    cursor: Cursor | None = None
    async with records.begin() as work:
        for _ in range(4):
            page = await work.sessions.list(HERE.teacher, ANY, limit=3, after=cursor)
            seen += page.items
            cursor = page.next
    assert cursor is None
    assert seen == sorted(many, key=lambda one: (one.created_at, one.id), reverse=True)


async def test_a_page_that_ends_with_the_list_has_no_next(records: Records) -> None:
    await _add(records, session("a"), session("b", minutes=1))
    async with records.begin() as work:
        assert (await work.sessions.list(HERE.teacher, ANY, limit=2)).next is None


async def test_the_same_key_gives_the_earlier_session(records: Records) -> None:
    async with records.begin() as work:
        first = await work.sessions.add(session("first"), KEY)
    async with records.begin() as work:
        assert await work.sessions.add(session("again"), KEY) == first
    async with records.begin() as work:
        assert (await work.sessions.list(HERE.teacher, ANY, limit=9)).items == (first,)


async def test_the_earlier_session_is_given_as_it_stands_now(records: Records) -> None:
    async with records.begin() as work:
        first = await work.sessions.add(session("first"), KEY)
        await work.sessions.advance(replace(first, version=2, turn_count=1))
    async with records.begin() as work:
        assert (await work.sessions.add(session("again"), KEY)).turn_count == 1


async def test_the_same_key_with_another_content_is_refused(records: Records) -> None:
    async with records.begin() as work:
        await work.sessions.add(session("first"), KEY)
    with pytest.raises(IdempotencyKeyReused):
        async with records.begin() as work:
            await work.sessions.add(session("again"), replace(KEY, digest="another"))


async def test_a_key_belongs_to_one_trainee(records: Records) -> None:
    theirs = replace(session("theirs"), trainee=HERE.other_trainee)
    async with records.begin() as work:
        assert await work.sessions.add(session("mine"), KEY) == session("mine")
        assert await work.sessions.add(theirs, replace(KEY, digest="another")) == theirs
        elsewhere = session("elsewhere", ELSEWHERE)
        assert await work.sessions.add(elsewhere, KEY) == elsewhere


async def test_sessions_asked_for_at_once_with_one_key_are_one(records: Records) -> None:
    async def start(name: str) -> Session:
        async with records.begin() as work:
            return await work.sessions.add(session(name), KEY)

    answers = await asyncio.gather(*(start(f"s{number}") for number in range(8)))
    assert len({answer.id for answer in answers}) == 1
    async with records.begin() as work:
        assert (await work.sessions.list(HERE.teacher, ANY, limit=9)).items == (answers[0],)


async def test_a_key_whose_session_was_given_up_is_free(records: Records) -> None:
    async with given_up(records) as work:
        await work.sessions.add(session("first"), KEY)
    async with records.begin() as work:
        assert await work.sessions.add(session("again"), replace(KEY, digest="another")) == session("again")


async def test_advancing_writes_state_count_and_end(records: Records) -> None:
    await _add(records, session())
    closed = replace(session(), version=2, turn_count=3, state=State.CLOSED, closed_at=NOON + timedelta(hours=1))
    async with records.begin() as work:
        await work.sessions.advance(closed)
    async with records.begin() as work:
        assert await work.sessions.get(HERE.teacher, session().id) == closed


@pytest.mark.parametrize("version", [1, 3])
async def test_advancing_from_another_version_moves_nothing(records: Records, version: int) -> None:
    await _add(records, session())
    async with records.begin() as work:
        with pytest.raises(SessionMoved):
            await work.sessions.advance(replace(session(), version=version, turn_count=1))
    async with records.begin() as work:
        assert await work.sessions.get(HERE.teacher, session().id) == session()


async def test_a_missing_session_cannot_advance(records: Records) -> None:
    async with records.begin() as work:
        with pytest.raises(SessionMoved):
            await work.sessions.advance(replace(session(), version=2))


async def test_of_two_who_advance_at_once_one_is_told_that_the_session_moved(records: Records) -> None:
    await _add(records, session())

    async def advance(count: int) -> None:
        async with records.begin() as work:
            await work.turns.add(turn(count))
            await work.sessions.advance(replace(session(), version=2, turn_count=count))

    outcomes = await asyncio.gather(advance(1), advance(2), return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {SessionMoved, type(None)}
    async with records.begin() as work:
        stored = await work.sessions.get(HERE.teacher, session().id)
        assert stored is not None
        assert [one.number for one in await work.turns.all(session().id)] == [stored.turn_count]


async def test_a_turn_comes_back_as_it_was_written(records: Records) -> None:
    await _add(records, session())
    odd = replace(
        turn(2, key="k"),
        state=TurnState.FAILED,
        reply="",
        finish_reason=None,
        timings=Timings(),
        replica=None,
        continued=True,
        error=TurnError("tutor_broke", "the reply did not end", retryable=True),
    )
    async with records.begin() as work:
        await work.turns.add(turn(1))
        await work.turns.add(odd)
    async with records.begin() as work:
        assert list(await work.turns.all(session().id)) == [turn(1), odd]
        assert await work.turns.get(session().id, 2) == odd
        assert await work.turns.get(session().id, 3) is None


async def test_turns_are_paged_by_number(records: Records) -> None:
    await _add(records, session(), session("other"))
    async with records.begin() as work:
        for number in (3, 1, 2, 4):
            await work.turns.add(turn(number))
        await work.turns.add(turn(1, of=session("other")))
        assert [one.number for one in await work.turns.page(session().id, limit=2)] == [1, 2]
        assert [one.number for one in await work.turns.page(session().id, limit=9, after=2)] == [3, 4]
        assert [one.number for one in await work.turns.all(session().id)] == [1, 2, 3, 4]
        assert await work.turns.all(SessionId(uuid_of("nothing"))) == []


async def test_a_taken_number_is_refused_and_the_transaction_goes_on(records: Records) -> None:
    await _add(records, session())
    async with records.begin() as work:
        await work.turns.add(turn(1))
        with pytest.raises(SessionMoved):
            await work.turns.add(replace(turn(1), text="another"))
        assert await work.turns.get(session().id, 1) == turn(1)


async def test_a_turn_of_no_session_is_refused(records: Records) -> None:
    async with records.begin() as work:
        with pytest.raises(SessionMoved):
            await work.turns.add(turn(1))


async def test_a_key_names_one_turn_that_did_not_fail(records: Records) -> None:
    await _add(records, session(), session("other"))
    async with records.begin() as work:
        await work.turns.add(failed(turn(1, key="k")))
        await work.turns.add(failed(turn(2, key="k")))
        assert await work.turns.by_key(session().id, "k") == failed(turn(2, key="k"))
        await work.turns.add(turn(3, key="k"))
        with pytest.raises(SessionMoved):
            await work.turns.add(turn(4, key="k"))
        await work.turns.add(turn(4, key="another"))
        await work.turns.add(turn(5))
        await work.turns.add(turn(1, of=session("other"), key="k"))
        assert await work.turns.by_key(session().id, "k") == turn(3, key="k")
        assert await work.turns.by_key(session().id, "nothing") is None
        assert await work.turns.by_key(session("other").id, "another") is None


async def test_the_outbox_gives_back_the_oldest_first(records: Records) -> None:
    entries = [
        OutboxEntry(HERE.tenant, "turn.finished", f"turn {number}", {"n": number, "ok": True, "none": None}, NOON)
        for number in range(3)
    ]
    async with records.begin() as work:
        for entry in entries:
            await work.outbox.add(entry)
    async with records.begin() as work:
        assert list(await work.outbox.pending(limit=2)) == entries[:2]
        assert list(await work.outbox.pending(limit=9)) == entries


async def test_a_block_that_raises_leaves_nothing_behind(records: Records) -> None:
    await _add(records, session())
    async with given_up(records) as work:
        await work.scenarios.add(scenario("another"))
        await work.sessions.add(session("second"), KEY)
        await work.sessions.advance(replace(session(), version=2, turn_count=1))
        await work.turns.add(turn(1))
        await work.outbox.add(OutboxEntry(HERE.tenant, "k", "s", {}, NOON))
    async with records.begin() as work:
        assert await work.scenarios.get(HERE.tenant, scenario("another").id) is None
        assert (await work.sessions.list(HERE.teacher, ANY, limit=9)).items == (session(),)
        assert await work.turns.all(session().id) == []
        assert await work.outbox.pending(limit=9) == []


async def test_a_block_that_is_cancelled_leaves_nothing_behind(records: Records) -> None:
    written, never = asyncio.Event(), asyncio.Event()

    async def write() -> None:
        async with records.begin() as work:
            await work.sessions.add(session(), None)
            written.set()
            await never.wait()

    task = asyncio.create_task(write())
    await written.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with records.begin() as work:
        assert await work.sessions.get(HERE.teacher, session().id) is None


@pytest.mark.parametrize("text", ["a\x00b", "half a pair \ud83d"], ids=["nul", "surrogate"])
async def test_what_no_database_holds_is_refused_in_our_words(records: Records, text: str) -> None:
    await _add(records, session())
    unstorable = replace(CONTENT, persona=text)
    with pytest.raises(ValueUnstorable):
        async with records.begin() as work:
            await work.turns.add(replace(turn(1), reply=text))
    with pytest.raises(ValueUnstorable):
        async with records.begin() as work:
            await work.scenarios.add(replace(scenario("another"), content=unstorable))
    with pytest.raises(ValueUnstorable):
        async with records.begin() as work:
            await work.scenarios.add_version(HERE.tenant, scenario().id, unstorable, by=HERE.instructor, at=NOON)
    with pytest.raises(ValueUnstorable):
        async with records.begin() as work:
            await work.sessions.add(replace(session("second"), metadata={"note": text}), None)


async def test_text_that_only_looks_like_a_nul_is_kept(records: Records) -> None:
    await _add(records, session())
    async with records.begin() as work:
        await work.turns.add(replace(turn(1), text=r"\x00 \u0000 \ud83d"))
        assert (await work.turns.all(session().id))[0].text == r"\x00 \u0000 \ud83d"
