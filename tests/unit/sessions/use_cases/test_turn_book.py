"""A turn is written whole or not at all, and what is at hand grows with it."""

from dataclasses import replace

from sessions.adapters.memory_working_sets import MemoryWorkingSets
from sessions.domain.history import History, with_turn
from sessions.domain.note import NoteMaker
from sessions.domain.turn import TurnState
from sessions.use_cases.note_book import CompactionOutcome, NoteBook, NoteDraft
from sessions.use_cases.session_histories import SessionHistories
from sessions.use_cases.turn_book import TurnBook
from tests.support.records_world import turn
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
