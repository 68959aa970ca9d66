"""Turns that run in this process: joined, replayed, cancelled, outliving their readers, stopped in the end."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

import pytest
from typing_extensions import override

from gateway import followed_turns
from gateway.domain.journal import TURN_LOST
from gateway.errors import ServerStopping
from gateway.running_turns import EndedTurn, RunningTurns
from gateway.shared_turns import SharedTurns
from gateway.turn_reader import TurnReader
from gateway.use_cases import use_cases
from sessions.domain.events import Accepted, Cancelled, Delta, Done, Failed, TurnEvent
from sessions.domain.session import SessionId
from sessions.domain.turn import IdempotencyKey, TurnState
from sessions.errors import IdempotencyKeyReused, SessionBusy, SessionNotFound, TurnNotFound, TutorUnavailable
from sessions.ports import TurnLease, TurnLock
from tests.support.open_admission import unlimited
from tests.support.session_fakes import OpenLock, WordCounter, broken, viewer
from tests.support.shared_turns import Neighbourhood
from tests.support.stage import Stage, staged

KEY = IdempotencyKey("k-1", "digest")


@asynccontextmanager
async def running(
    stage: Stage,
    *,
    grace_s: float = 5.0,
    on_end: Callable[[EndedTurn], None] = lambda _: None,
    shared: SharedTurns | None = None,
) -> AsyncIterator[RunningTurns]:
    async with RunningTurns(
        take_turn=unlimited(stage.use.take_turn),
        read_turn=stage.use.read_turn,
        shared=shared or Neighbourhood().shared("here", stage.use.read_turn),
        grace_s=grace_s,
        on_end=on_end,
    ) as turns:
        yield turns


async def read(reader: TurnReader, after: int = 0) -> list[TurnEvent]:
    return [event async for _, event in reader.events(after)]


def text(events: list[TurnEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, Delta))


async def test_a_turn_is_read_from_its_acceptance_to_its_end() -> None:
    stage, ended = await staged(), list[EndedTurn]()
    async with running(stage, on_end=ended.append) as turns:
        reader = await turns.take(stage.order())
        events = await read(reader)
    assert (reader.number, reader.replica, reader.pin) == (1, "replica-1", "kept")
    assert events[0] == Accepted(stage.session.id, 1, "replica-1")
    assert text(events) == "Hello there."
    assert isinstance(events[-1], Done)
    assert [one.turn for one in ended] == await stage.turns()
    assert ended[0].counted_tokens == WordCounter().count_prompt(stage.tutor.requests[0].messages)
    assert ended[0].viewer == stage.trainee
    assert not ended[0].needs_thought


async def test_a_second_turn_is_refused_while_the_first_runs() -> None:
    stage, go_on = await staged(), asyncio.Event()
    stage.tutor.script = ("Hello", go_on)
    async with running(stage) as turns:
        await turns.take(stage.order())
        with pytest.raises(SessionBusy):
            await turns.take(stage.order())
        with pytest.raises(SessionBusy):
            await turns.take(stage.order(key=KEY))
        go_on.set()
    assert len(await stage.turns()) == 1


async def test_the_same_key_joins_the_running_turn_and_replays_the_finished_one() -> None:
    stage, go_on = await staged(), asyncio.Event()
    stage.tutor.script = ("Hello", go_on, " there.")
    async with running(stage) as turns:
        first = await turns.take(stage.order(key=KEY))
        second = await turns.take(stage.order(key=KEY))
        with pytest.raises(IdempotencyKeyReused):
            await turns.take(stage.order(key=IdempotencyKey(KEY.key, "other")))
        go_on.set()
        assert await read(first) == await read(second)
        replayed = await turns.take(stage.order(key=KEY))
        assert replayed.pin is None
        assert text(await read(replayed)) == "Hello there."
    assert len(stage.tutor.requests) == 1


async def test_two_equal_orders_at_the_same_moment_are_one_turn() -> None:
    stage = await staged()
    async with running(stage) as turns:
        readers = await asyncio.gather(*(turns.take(stage.order(key=KEY)) for _ in range(5)))
        texts = [text(await read(reader)) for reader in readers]
    assert texts == ["Hello there."] * 5
    assert len(await stage.turns()) == 1


class LateLock(OpenLock):
    """Before it is given, another process takes the same turn and ends it."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    @override
    @asynccontextmanager
    async def hold(self, session: SessionId, *, taken: str = "") -> AsyncIterator[TurnLease]:
        await self._stage.play(key=KEY)
        async with super().hold(session, taken=taken) as lease:
            yield lease


async def test_a_turn_that_another_process_ended_meanwhile_is_replayed() -> None:
    stage = await staged()
    late = use_cases(replace(stage.outside, lock=LateLock(stage)))
    async with running(replace(stage, use=late)) as turns:
        assert text(await read(await turns.take(stage.order(key=KEY)))) == "Hello there."
    assert len(stage.tutor.requests) == 1


class BusyLock(TurnLock):
    """Another process holds the lease."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    @override
    def hold(self, session: SessionId, *, taken: str = "") -> AbstractAsyncContextManager[TurnLease]:
        self.asked.set()
        raise SessionBusy(retry_after_s=1.0)


async def test_a_turn_that_another_process_tells_of_a_moment_later_is_joined() -> None:
    stage, go_on, busy, town = await staged(), asyncio.Event(), BusyLock(), Neighbourhood()
    stage.tutor.script = ("Hello", go_on, " there.")
    here, there = (town.shared(name, stage.use.read_turn) for name in ("here", "there"))
    late = use_cases(replace(stage.outside, lock=busy))
    async with (
        running(stage, shared=here) as ours,
        there.running(),
        running(replace(stage, use=late), shared=there) as theirs,
    ):
        first = await ours.take(stage.order(key=KEY))
        joining = asyncio.create_task(theirs.take(stage.order(key=KEY)))
        await busy.asked.wait()
        async with here.running():
            joined = await joining
            go_on.set()
            assert text(await read(joined)) == text(await read(first)) == "Hello there."
        with pytest.raises(SessionBusy):
            await theirs.take(stage.order(key=IdempotencyKey("k-2", "digest")))
    assert len(stage.tutor.requests) == 1


async def test_a_turn_outlives_the_one_who_asked_for_it() -> None:
    stage, go_on = await staged(), asyncio.Event()
    stage.tutor.script = ("Hello", go_on, " there.")
    async with running(stage) as turns:
        asking = asyncio.ensure_future(turns.take(stage.order()))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        go_on.set()
    assert [turn.state for turn in await stage.turns()] == [TurnState.COMPLETED]


async def test_after_the_end_the_next_turn_is_taken_at_once() -> None:
    stage = await staged()
    async with running(stage) as turns:
        for number in range(1, 6):
            reader = await turns.take(stage.order())
            assert reader.number == number
            await read(reader)
        assert turns.count == 0


async def test_a_refusal_reaches_everybody_who_waits_and_leaves_the_session_free() -> None:
    stage = await staged()
    stage.tutor.refusal = TutorUnavailable("nobody", retry_after_s=2)
    async with running(stage) as turns:
        answers = await asyncio.gather(*(turns.take(stage.order(key=KEY)) for _ in range(3)), return_exceptions=True)
        assert [type(answer) for answer in answers] == [TutorUnavailable] * 3
        stage.tutor.refusal = None
        assert text(await read(await turns.take(stage.order(key=KEY)))) == "Hello there."


async def test_a_cancelled_turn_stops_the_tutor_and_is_stored() -> None:
    stage = await staged()
    stage.tutor.script = ("Hello", asyncio.Event(), " there.")
    async with running(stage) as turns:
        reader = await turns.take(stage.order())
        await turns.cancel(stage.trainee, stage.session.id, 1)
        events = await read(reader)
        assert isinstance(events[-1], Cancelled)
        assert stage.tutor.open_replies == 0
        await turns.cancel(stage.trainee, stage.session.id, 1)
        with pytest.raises(TurnNotFound):
            await turns.cancel(stage.trainee, stage.session.id, 2)
        with pytest.raises(SessionNotFound):
            await turns.cancel(viewer(sees_all=True), stage.session.id, 1)
    assert [turn.state for turn in await stage.turns()] == [TurnState.CANCELLED]


async def test_a_running_turn_and_a_stored_one_are_read_alike_from_any_place() -> None:
    stage, go_on = await staged(), asyncio.Event()
    stage.tutor.script = ("Hello", go_on, " there.")
    async with running(stage) as turns:
        await turns.take(stage.order())
        live = await turns.read(stage.trainee, stage.session.id, 1)
        go_on.set()
        assert text(await read(live, after=4)) == "lo there."
        stored = await turns.read(stage.trainee, stage.session.id, 1)
        assert text(await read(stored, after=4)) == "lo there."
        with pytest.raises(TurnNotFound):
            await turns.read(stage.trainee, stage.session.id, 2)


async def test_a_turn_that_was_read_and_is_nowhere_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed_turns, "_LOOKS", 1)
    stage = await staged()
    async with running(stage) as turns:
        reader = await turns.read(stage.trainee, stage.session.id, 1, was_read=True)
        assert [each async for each in reader.events(4)] == [(5, TURN_LOST)]
        with pytest.raises(SessionNotFound):
            await turns.read(viewer(sees_all=True), stage.session.id, 1, was_read=True)


async def test_a_broken_reply_ends_with_a_retryable_error() -> None:
    stage = await staged()
    stage.tutor.script = ("Hel", broken())
    async with running(stage) as turns:
        events = await read(await turns.take(stage.order()))
    assert isinstance(events[-1], Failed)
    assert events[-1].error.retryable


async def test_a_fault_of_ours_ends_one_turn_and_no_other() -> None:
    stage, other = await staged(), await staged()
    stage.tutor.script = ("Hel", ZeroDivisionError("a mistake"))
    async with running(stage) as turns:
        events = await read(await turns.take(stage.order()))
        assert isinstance(events[-1], Failed)
        assert events[-1].error.code == "internal_error"
        stage.tutor.script = ("Hello.",)
        assert text(await read(await turns.take(stage.order()))) == "Hello."
    async with running(other) as turns:
        assert text(await read(await turns.take(other.order()))) == "Hello there."


async def test_leaving_waits_for_running_turns_then_stops_them() -> None:
    stage = await staged()
    stage.tutor.script = ("Hello", asyncio.Event())
    async with running(stage, grace_s=0.05) as turns:
        reader = await turns.take(stage.order())
    events = await read(reader)
    assert isinstance(events[-1], Failed)
    assert events[-1].error.code == "server_stopping"
    with pytest.raises(ServerStopping):
        await turns.take(stage.order())
    assert [turn.reply for turn in await stage.turns()] == ["Hello"]
