"""A history is the same from the working set and from the records."""

from dataclasses import replace

import pytest

from sessions.adapters.memory_working_sets import MemoryWorkingSets
from sessions.domain.history import History, history, with_turn
from sessions.errors import RecordsUnavailable, SessionNotFound
from sessions.use_cases import session_histories
from sessions.use_cases.session_histories import SessionHistories
from tests.support.session_fakes import FragileRecords, viewer
from tests.support.stage import Stage, staged


def histories_of(stage: Stage, sets: MemoryWorkingSets) -> SessionHistories:
    return SessionHistories(records=stage.records, working_sets=sets)


async def test_what_is_not_at_hand_is_rebuilt_and_kept() -> None:
    stage, sets = await staged(), MemoryWorkingSets()
    for text in ("first", "second"):
        await stage.play(text)
    histories = histories_of(stage, sets)
    known = await histories.known(stage.author, stage.session.id)
    assert known.history == history([], await stage.turns())
    assert known.content == stage.scenario.content
    assert known.session.turn_count == 2
    assert await sets.get(known.session) == known.history
    assert await histories.known(stage.trainee, stage.session.id) == known


async def test_what_is_at_hand_is_taken_as_it_is() -> None:
    stage, sets = await staged(), MemoryWorkingSets()
    told = History(bridge="only here")
    histories = histories_of(stage, sets)
    await histories.keep(stage.session, told)
    assert (await histories.known(stage.trainee, stage.session.id)).history == told
    assert await histories.of(replace(stage.session, version=2)) == History()


async def test_a_history_from_before_the_records_were_set_back_is_not_taken() -> None:
    stage, sets = await staged(), MemoryWorkingSets()
    await stage.play("first")
    histories = histories_of(stage, sets)
    known = await histories.known(stage.trainee, stage.session.id)
    before = with_turn(known.history, replace(known.history.turns[0], number=2, text="lost"))
    await histories.keep(known.session, before)
    assert await histories.known(stage.trainee, stage.session.id) == known


async def test_no_turn_is_played_in_the_place_of_one_that_waits_elsewhere_unless_that_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage, sets = await staged(), MemoryWorkingSets()
    first = await stage.play("first")
    histories = histories_of(stage, sets)
    known = await histories.known(stage.trainee, stage.session.id)
    assert await histories.before_a_turn(known.session) == known.history
    waiting = with_turn(known.history, replace(first, number=2, text="acknowledged elsewhere"))
    await histories.keep(replace(known.session, version=known.session.version + 1, turn_count=2), waiting)
    for _ in range(2):
        with pytest.raises(RecordsUnavailable):
            await histories.before_a_turn(known.session)
    assert await histories.of(known.session) == known.history
    monkeypatch.setattr(session_histories, "_BEHIND_S", 0.0)
    assert await histories.before_a_turn(known.session) == known.history


async def test_what_is_known_of_sessions_that_lag_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_histories, "_MOST_BEHIND", 3)
    stage, sets = await staged(), MemoryWorkingSets()
    histories = histories_of(stage, sets)
    for version in range(2, 9):
        await histories.keep(replace(stage.session, version=version), History())
        with pytest.raises(RecordsUnavailable):
            await histories.before_a_turn(stage.session)
    assert len(histories._behind) == 3


async def test_of_a_closed_session_nothing_is_kept_at_hand() -> None:
    stage, sets = await staged(), MemoryWorkingSets()
    await stage.play("first")
    closed = await stage.use.close_session(stage.trainee, stage.session.id)
    assert (await histories_of(stage, sets).known(stage.trainee, closed.id)).history.played == 1
    assert await sets.get(closed) is None


async def test_a_session_that_begins_has_nothing_on_record_to_be_read() -> None:
    stage, sets = await staged(), MemoryWorkingSets()
    histories = SessionHistories(records=gone(), working_sets=sets)
    assert await histories.before_a_turn(stage.session) == History()
    assert await sets.get(stage.session) == History()
    with pytest.raises(RecordsUnavailable):
        await histories.before_a_turn(replace(stage.session, turn_count=1))


def gone() -> FragileRecords:
    records = FragileRecords()
    records.away = True
    return records


async def test_turns_come_by_their_numbers() -> None:
    stage = await staged()
    for number in range(1, 6):
        await stage.play(f"message {number}")
    turns = await histories_of(stage, MemoryWorkingSets()).turns(stage.session, 2, 4)
    assert [turn.number for turn in turns] == [2, 3, 4]


async def test_a_stranger_is_told_nothing() -> None:
    stage = await staged()
    with pytest.raises(SessionNotFound):
        await histories_of(stage, MemoryWorkingSets()).known(viewer(sees_all=True), stage.session.id)
