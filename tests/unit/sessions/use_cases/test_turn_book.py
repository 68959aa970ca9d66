"""A turn is written whole or not at all, and what is at hand grows with it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from typing_extensions import override

from sessions.adapters.local_turn_spool import LocalTurnSpool
from sessions.adapters.memory_working_sets import MemoryWorkingSets
from sessions.domain.history import History, with_turn
from sessions.domain.note import NoteMaker
from sessions.domain.session import with_turn as with_one_more
from sessions.domain.spooled import SpooledTurn
from sessions.domain.turn import TurnState
from sessions.domain.viewer import TenantId
from sessions.errors import SessionMoved
from sessions.ports import Records, UnitOfWork
from sessions.use_cases.note_book import CompactionOutcome, NoteBook, NoteDraft
from sessions.use_cases.session_histories import SessionHistories
from sessions.use_cases.turn_book import TurnBook, written
from tests.support.records_world import turn
from tests.support.session_fakes import FragileRecords
from tests.support.stage import Stage, staged


def book_of(stage: Stage, sets: MemoryWorkingSets) -> TurnBook:
    return TurnBook(records=stage.records, histories=SessionHistories(records=stage.records, working_sets=sets))


async def test_what_is_at_hand_grows_with_the_turn() -> None:
    stage, sets = await staged(), MemoryWorkingSets()
    first = turn(1, of=stage.session)
    booked = await book_of(stage, sets).add(stage.session, History(), first)
    assert booked.turn == first
    assert booked.history == with_turn(History(), first)
    assert booked.session == replace(stage.session, version=2, turn_count=1)
    assert await sets.get(booked.session) == booked.history


async def test_a_turn_that_comes_second_is_not_written_and_says_so() -> None:
    stage, sets = await staged(), MemoryWorkingSets()
    book = book_of(stage, sets)
    await book.add(stage.session, History(), turn(1, of=stage.session))
    late = await book.add(stage.session, History(), replace(turn(1, of=stage.session), text="another"))
    assert (late.session, late.history) == (None, History())
    assert late.turn.state is TurnState.FAILED
    assert late.turn.error is not None
    assert (late.turn.error.code, late.turn.error.retryable) == ("session_moved", True)
    assert await stage.turns() == [turn(1, of=stage.session)]


async def test_records_that_are_away_are_no_reason_to_call_a_turn_done() -> None:
    stage, sets = await staged(), MemoryWorkingSets()
    stage.records.away = True
    lost = await book_of(stage, sets).add(stage.session, History(), turn(1, of=stage.session))
    assert lost.session is None
    assert lost.turn.error is not None
    assert lost.turn.error.code == "records_unavailable"


async def test_a_history_without_the_note_that_came_meanwhile_is_not_kept() -> None:
    stage, sets = await staged(), MemoryWorkingSets()
    notes = NoteBook(records=stage.records, clock=stage.clock, told=lambda _: None)
    await notes.add(stage.session, NoteDraft(1, 1, "They talked.", 2, NoteMaker.TUTOR, CompactionOutcome.FOLDED))
    booked = await book_of(stage, sets).add(stage.session, History(), turn(1, of=stage.session))
    assert booked.session is not None
    assert booked.session.note_count == 1
    for row in (booked.session, replace(booked.session, note_count=0)):
        assert await sets.get(row) is None


def spooling(stage: Stage, spool: LocalTurnSpool, records: Records | None = None) -> TurnBook:
    histories = SessionHistories(records=stage.records, working_sets=MemoryWorkingSets())
    return TurnBook(records=records or stage.records, histories=histories, spool=spool)


def a_spool(most_turns: int = 9) -> LocalTurnSpool:
    return LocalTurnSpool(most_turns=most_turns, most_bytes=1 << 20)


async def test_a_turn_waits_in_the_spool_while_the_records_are_away_and_is_done() -> None:
    stage, spool = await staged(), a_spool()
    stage.records.away = True
    first = turn(1, of=stage.session)
    booked = await spooling(stage, spool).add(stage.session, History(), first)
    assert (booked.turn, booked.session) == (first, with_one_more(stage.session))
    assert list(await spool.of(stage.session.id)) == [SpooledTurn(stage.session, first)]


async def test_a_full_spool_is_no_reason_to_call_a_turn_done() -> None:
    stage = await staged()
    stage.records.away = True
    lost = await spooling(stage, a_spool(0)).add(stage.session, History(), turn(1, of=stage.session))
    assert lost.session is None
    assert lost.turn.error is not None
    assert lost.turn.error.code == "records_unavailable"


async def test_a_turn_behind_one_that_waits_waits_behind_it() -> None:
    stage, spool = await staged(), a_spool()
    stage.records.away = True
    book = spooling(stage, spool)
    booked = await book.add(stage.session, History(), turn(1, of=stage.session))
    stage.records.away = False
    assert booked.session is not None
    second = await book.add(booked.session, booked.history, turn(2, of=stage.session))
    assert second.session == with_one_more(booked.session)
    assert await stage.turns() == []
    assert [each.turn.number for each in await spool.of(stage.session.id)] == [1, 2]


async def test_a_turn_whose_predecessor_left_the_spool_just_now_is_written() -> None:
    stage, spool = await staged(), a_spool()
    first = turn(1, of=stage.session)

    class Late(FragileRecords):
        """The first transaction finds the row as it was before the predecessor was written."""

        @override
        @asynccontextmanager
        async def begin(self, tenant: TenantId | None = None) -> AsyncIterator[UnitOfWork]:
            if not await stage.turns():
                await written(stage.records, stage.session, first)
                raise SessionMoved("too early")
            async with stage.records.begin() as work:
                yield work

    booked = await spooling(stage, spool, Late()).add(
        with_one_more(stage.session), with_turn(History(), first), turn(2, of=stage.session)
    )
    assert booked.session is not None
    assert [each.number for each in await stage.turns()] == [1, 2]
    assert spool.count == 0


async def test_a_turn_that_really_comes_second_does_not_get_into_the_spool() -> None:
    stage, spool = await staged(), a_spool()
    book = spooling(stage, spool)
    await book.add(stage.session, History(), turn(1, of=stage.session))
    late = await book.add(stage.session, History(), replace(turn(1, of=stage.session), text="another"))
    assert late.turn.error is not None
    assert (late.turn.error.code, spool.count) == ("session_moved", 0)
