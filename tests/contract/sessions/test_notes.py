"""What the records promise about notes, on dictionaries and on Postgres."""

import asyncio
from dataclasses import replace

import pytest

from sessions.domain.note import Note, NoteMaker
from sessions.domain.session import Session, SessionId, closed, with_turn
from sessions.errors import SessionMoved, ValueUnstorable
from sessions.ports import Records
from tests.support.records_fixture import add_sessions, given_up
from tests.support.records_world import ELSEWHERE, HERE, NOON, note, session, turn, uuid_of


async def stored(records: Records) -> Session:
    async with records.begin(HERE.tenant) as work:
        found = await work.sessions.get(HERE.teacher, session().id)
    assert found is not None
    return found


async def notes(records: Records) -> list[Note]:
    async with records.begin(HERE.tenant) as work:
        return list(await work.notes.all(session().id))


async def test_notes_come_back_as_they_were_written_in_their_order(records: Records) -> None:
    await add_sessions(records, session(), session("other"))
    second = replace(note(2, from_turn=11, to_turn=20), made_by=NoteMaker.EXTRACT)
    merged = note(3, from_turn=1, to_turn=20)
    for one in (note(1), second, merged, note(1, of=session("other"))):
        async with records.begin(HERE.tenant) as work:
            await work.notes.add(one)
    assert await notes(records) == [note(1), second, merged]
    assert (await stored(records)).note_count == 3
    async with records.begin(HERE.tenant) as work:
        assert list(await work.notes.all(session("other").id)) == [note(1, of=session("other"))]
        assert list(await work.notes.all(SessionId(uuid_of("nothing")))) == []


@pytest.mark.parametrize("seq", [1, 3])
async def test_a_note_that_is_not_the_next_one_is_refused(records: Records, seq: int) -> None:
    await add_sessions(records, session())
    async with records.begin(HERE.tenant) as work:
        await work.notes.add(note(1))
    with pytest.raises(SessionMoved):
        async with records.begin(HERE.tenant) as work:
            await work.notes.add(replace(note(seq), text="another"))
    assert await notes(records) == [note(1)]
    assert (await stored(records)).note_count == 1


async def test_of_two_notes_made_at_once_one_is_refused(records: Records) -> None:
    await add_sessions(records, session())

    async def write(text: str) -> None:
        async with records.begin(HERE.tenant) as work:
            await work.notes.add(replace(note(1), text=text))

    outcomes = await asyncio.gather(*(write(f"by {name}") for name in "abcd"), return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["NoneType", *["SessionMoved"] * 3]
    assert len(await notes(records)) == 1


async def test_a_note_stands_in_the_way_of_no_turn_and_no_turn_in_the_way_of_a_note(records: Records) -> None:
    await add_sessions(records, session())
    before = await stored(records)
    async with records.begin(HERE.tenant) as work:
        await work.notes.add(note(1))
    async with records.begin(HERE.tenant) as work:
        await work.sessions.advance(with_turn(before))
        await work.turns.add(turn(1))
    async with records.begin(HERE.tenant) as work:
        await work.notes.add(note(2, from_turn=11, to_turn=20))
    after = await stored(records)
    assert (after.version, after.turn_count, after.note_count) == (2, 1, 2)


async def test_a_closed_session_takes_no_note(records: Records) -> None:
    await add_sessions(records, session())
    async with records.begin(HERE.tenant) as work:
        await work.sessions.advance(closed(session(), at=NOON))
    with pytest.raises(SessionMoved):
        async with records.begin(HERE.tenant) as work:
            await work.notes.add(note(1))
    assert await notes(records) == []
    assert (await stored(records)).note_count == 0


async def test_a_note_of_no_session_is_refused(records: Records) -> None:
    with pytest.raises(SessionMoved):
        async with records.begin(HERE.tenant) as work:
            await work.notes.add(note(1))


async def test_a_note_lands_in_the_tenant_of_its_session_and_counts_there_alone(records: Records) -> None:
    foreign = session("foreign", ELSEWHERE)
    await add_sessions(records, session(), foreign)
    async with records.begin(ELSEWHERE.tenant) as work:
        await work.notes.add(note(1, of=foreign))
        seen = await work.sessions.get(ELSEWHERE.teacher, foreign.id)
        unseen = await work.sessions.get(HERE.teacher, foreign.id)
    assert seen is not None
    assert seen.note_count == 1
    assert unseen is None
    assert (await stored(records)).note_count == 0


async def test_a_note_given_up_leaves_nothing_behind(records: Records) -> None:
    await add_sessions(records, session())
    async with given_up(records) as work:
        await work.notes.add(note(1))
    assert await notes(records) == []
    assert (await stored(records)).note_count == 0


async def test_a_note_that_no_database_holds_is_refused_in_our_words(records: Records) -> None:
    await add_sessions(records, session())
    with pytest.raises(ValueUnstorable):
        async with records.begin(HERE.tenant) as work:
            await work.notes.add(replace(note(1), text="half a pair \ud83d"))
    assert await notes(records) == []
    assert (await stored(records)).note_count == 0


async def test_a_change_of_scene_is_kept(records: Records) -> None:
    await add_sessions(records, session())
    async with records.begin(HERE.tenant) as work:
        await work.sessions.advance(replace(session(), scene="closing", version=2))
    found = await stored(records)
    assert (found.scene, found.version, found.turn_count) == ("closing", 2, 0)
