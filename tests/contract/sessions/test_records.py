"""What the records promise about records, on dictionaries and on Postgres."""

import asyncio
from dataclasses import replace

import pytest

from sessions.domain.session import SessionFilter
from sessions.domain.turn import IdempotencyKey
from sessions.errors import SessionMoved, ValueUnstorable
from sessions.ports import OutboxEntry, Records
from tests.support.records_fixture import add_sessions, given_up
from tests.support.records_world import (
    CONTENT,
    HERE,
    NOON,
    scenario,
    session,
    turn,
)

ANY = SessionFilter()
KEY = IdempotencyKey("order 7", "digest of order 7")


async def test_of_two_who_advance_at_once_one_is_told_that_the_session_moved(records: Records) -> None:
    await add_sessions(records, session())

    async def advance(count: int) -> None:
        async with records.begin(HERE.tenant) as work:
            await work.turns.add(turn(count))
            await work.sessions.advance(replace(session(), version=2, turn_count=count))

    outcomes = await asyncio.gather(advance(1), advance(2), return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {SessionMoved, type(None)}
    async with records.begin(HERE.tenant) as work:
        stored = await work.sessions.get(HERE.teacher, session().id)
        assert stored is not None
        assert [one.number for one in await work.turns.all(session().id)] == [stored.turn_count]


async def test_a_block_that_raises_leaves_nothing_behind(records: Records) -> None:
    await add_sessions(records, session())
    async with given_up(records) as work:
        await work.scenarios.add(scenario("another"))
        await work.sessions.add(session("second"), KEY)
        await work.sessions.advance(replace(session(), version=2, turn_count=1))
        await work.turns.add(turn(1))
        await work.outbox.add(OutboxEntry(HERE.tenant, "k", "s", {}, NOON))
    async with records.begin(HERE.tenant) as work:
        assert await work.scenarios.get(HERE.tenant, scenario("another").id) is None
        assert (await work.sessions.list(HERE.teacher, ANY, limit=9)).items == (session(),)
        assert await work.turns.all(session().id) == []
        assert await work.outbox.pending(limit=9) == []


async def test_a_block_that_is_cancelled_leaves_nothing_behind(records: Records) -> None:
    written, never = asyncio.Event(), asyncio.Event()

    async def write() -> None:
        async with records.begin(HERE.tenant) as work:
            await work.sessions.add(session(), None)
            written.set()
            await never.wait()

    task = asyncio.create_task(write())
    await written.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with records.begin(HERE.tenant) as work:
        assert await work.sessions.get(HERE.teacher, session().id) is None


@pytest.mark.parametrize("text", ["a\x00b", "half a pair \ud83d"], ids=["nul", "surrogate"])
async def test_what_no_database_holds_is_refused_in_our_words(records: Records, text: str) -> None:
    await add_sessions(records, session())
    unstorable = replace(CONTENT, persona=text)
    with pytest.raises(ValueUnstorable):
        async with records.begin(HERE.tenant) as work:
            await work.turns.add(replace(turn(1), reply=text))
    with pytest.raises(ValueUnstorable):
        async with records.begin(HERE.tenant) as work:
            await work.scenarios.add(replace(scenario("another"), content=unstorable))
    with pytest.raises(ValueUnstorable):
        async with records.begin(HERE.tenant) as work:
            await work.scenarios.add_version(HERE.tenant, scenario().id, unstorable, by=HERE.instructor, at=NOON)
    with pytest.raises(ValueUnstorable):
        async with records.begin(HERE.tenant) as work:
            await work.sessions.add(replace(session("second"), metadata={"note": text}), None)


async def test_text_that_only_looks_like_a_nul_is_kept(records: Records) -> None:
    await add_sessions(records, session())
    async with records.begin(HERE.tenant) as work:
        await work.turns.add(replace(turn(1), text=r"\x00 \u0000 \ud83d"))
        assert (await work.turns.all(session().id))[0].text == r"\x00 \u0000 \ud83d"
