"""What the records promise about sessions, on dictionaries and on Postgres."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from sessions.domain.page import Cursor
from sessions.domain.session import Session, SessionFilter, SessionId, State
from sessions.domain.turn import IdempotencyKey
from sessions.errors import IdempotencyKeyReused, SessionMoved
from sessions.ports import Records
from tests.support.records_fixture import add_sessions, given_up
from tests.support.records_world import (
    ELSEWHERE,
    HERE,
    NOON,
    session,
)

ANY = SessionFilter()
KEY = IdempotencyKey("order 7", "digest of order 7")


async def test_a_session_comes_back_as_it_was_written(records: Records) -> None:
    async with records.begin() as work:
        assert await work.sessions.add(session(), None) == session()
    async with records.begin() as work:
        assert await work.sessions.get(HERE.teacher, session().id) == session()
        assert await work.sessions.get(HERE.as_trainee(), session().id) == session()


async def test_a_session_is_not_there_for_other_trainees_and_other_tenants(records: Records) -> None:
    await add_sessions(records, session())
    async with records.begin() as work:
        assert await work.sessions.get(HERE.as_trainee(HERE.other_trainee), session().id) is None
        assert await work.sessions.get(ELSEWHERE.teacher, session().id) is None
        assert (await work.sessions.list(HERE.as_trainee(HERE.other_trainee), ANY, limit=9)).items == ()
        assert (await work.sessions.list(ELSEWHERE.teacher, ANY, limit=9)).items == ()


async def test_sessions_are_listed_by_who_asks_trainee_and_state(records: Records) -> None:
    mine, theirs = session("mine"), replace(session("theirs", minutes=1), trainee=HERE.other_trainee)
    closed = replace(session("closed", minutes=2), state=State.CLOSED, closed_at=NOON)
    await add_sessions(records, mine, theirs, closed)

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
    await add_sessions(records, *many)
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
    await add_sessions(records, session("a"), session("b", minutes=1))
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


async def test_a_session_is_found_by_the_key_of_its_trainee(records: Records) -> None:
    async with records.begin() as work:
        first = await work.sessions.add(session("first"), KEY)
    async with records.begin() as work:
        assert await work.sessions.by_key(HERE.tenant, HERE.trainee, KEY) == first
        assert await work.sessions.by_key(HERE.tenant, HERE.other_trainee, KEY) is None
        assert await work.sessions.by_key(ELSEWHERE.tenant, HERE.trainee, KEY) is None
        assert await work.sessions.by_key(HERE.tenant, HERE.trainee, replace(KEY, key="order 8")) is None
        with pytest.raises(IdempotencyKeyReused):
            await work.sessions.by_key(HERE.tenant, HERE.trainee, replace(KEY, digest="another"))


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
    await add_sessions(records, session())
    closed = replace(session(), version=2, turn_count=3, state=State.CLOSED, closed_at=NOON + timedelta(hours=1))
    async with records.begin() as work:
        await work.sessions.advance(closed)
    async with records.begin() as work:
        assert await work.sessions.get(HERE.teacher, session().id) == closed


@pytest.mark.parametrize("version", [1, 3])
async def test_advancing_from_another_version_moves_nothing(records: Records, version: int) -> None:
    await add_sessions(records, session())
    async with records.begin() as work:
        with pytest.raises(SessionMoved):
            await work.sessions.advance(replace(session(), version=version, turn_count=1))
    async with records.begin() as work:
        assert await work.sessions.get(HERE.teacher, session().id) == session()


async def test_a_missing_session_cannot_advance(records: Records) -> None:
    async with records.begin() as work:
        with pytest.raises(SessionMoved):
            await work.sessions.advance(replace(session(), version=2))
