"""Closing ends a session for good, once."""

from dataclasses import replace

import pytest

from gateway.use_cases import use_cases
from sessions.adapters.memory_turn_lock import MemoryTurnLock
from sessions.domain.session import State
from sessions.errors import SessionBusy, SessionNotFound
from tests.support.session_fakes import viewer
from tests.support.stage import staged


async def test_a_closed_session_says_when_and_is_told_to_the_outbox_once() -> None:
    stage = await staged()
    await stage.play()
    closed = await stage.use.close_session(stage.trainee, stage.session.id)
    again = await stage.use.close_session(stage.author, stage.session.id)
    assert closed == again
    assert closed.state is State.CLOSED
    assert closed.closed_at is not None
    async with stage.records.begin() as work:
        kinds = [entry.kind for entry in await work.outbox.pending(limit=10)]
    assert kinds == ["session.started", "turn.completed", "session.closed"]
    assert stage.tutor.forgotten == [stage.session.id] * 2


async def test_a_session_is_not_closed_under_a_running_turn() -> None:
    stage = await staged()
    lock = MemoryTurnLock()
    close = use_cases(replace(stage.outside, lock=lock)).close_session
    async with lock.hold(stage.session.id):
        with pytest.raises(SessionBusy):
            await close(stage.trainee, stage.session.id)
    assert (await close(stage.trainee, stage.session.id)).state is State.CLOSED


async def test_a_stranger_closes_nothing() -> None:
    stage = await staged()
    with pytest.raises(SessionNotFound):
        await stage.use.close_session(viewer(sees_all=True), stage.session.id)
    assert not stage.tutor.forgotten
