"""Two processes know of each other's turns: what runs in one is read, joined and stopped in the other."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.domain.moderation.phrases import Action
from gateway.errors import JournalUnavailable
from gateway.running_turns import RunningTurns
from gateway.turn_reader import TurnReader
from gateway.use_cases import use_cases
from sessions.adapters.memory_turn_lock import MemoryTurnLock
from sessions.domain.events import Blocked, Cancelled, Delta, Done, Failed, TurnEvent
from sessions.domain.moderation import BlockReason
from sessions.domain.turn import IdempotencyKey, TurnState
from sessions.errors import IdempotencyKeyReused, SessionBusy, TurnNotFound
from sessions.moderation_ports import Moderation
from tests.support.eventually import eventually
from tests.support.moderated import banned, moderation
from tests.support.open_admission import unlimited
from tests.support.session_fakes import broken, viewer
from tests.support.shared_turns import Neighbourhood
from tests.support.stage import Stage, staged

WRITABLE = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
KEY = IdempotencyKey("k-1", "digest")


@dataclass
class Two:
    """Two processes with one stage, one store and one lock."""

    stage: Stage
    place: Neighbourhood
    here: RunningTurns
    there: RunningTurns

    async def begun(self, key: IdempotencyKey | None = None) -> TurnReader:
        """A turn that runs here, and is known there."""
        reader = await self.here.take(self.stage.order(key=key))
        self.place.journals.leases.add(self.stage.session.id)
        await eventually(lambda: (self.stage.session.id, reader.number) in self.place.journals._kept)
        return reader


@asynccontextmanager
async def two(
    *script: str | asyncio.Event | Exception, grace_s: float = 5.0, rules: Moderation | None = None
) -> AsyncIterator[Two]:
    stage, place = await staged(), Neighbourhood()
    stage.tutor.script = script
    ruled = replace(stage.outside, moderation=rules or stage.outside.moderation)
    stage.use = use_cases(replace(ruled, lock=MemoryTurnLock()))
    async with AsyncExitStack() as stack:
        made = []
        for name in ("here", "there"):
            shared = await stack.enter_async_context(place.living(name, stage.use.read_turn))
            turns = RunningTurns(
                take_turn=unlimited(stage.use.take_turn),
                read_turn=stage.use.read_turn,
                shared=shared,
                grace_s=grace_s,
                on_end=lambda _: None,
            )
            made.append(await stack.enter_async_context(turns))
        await eventually(lambda: len(place.boxes) == 2)
        yield Two(stage, place, *made)


async def read(reader: TurnReader, after: int = 0) -> list[tuple[int, TurnEvent]]:
    return [each async for each in reader.events(after)]


def text(events: list[tuple[int, TurnEvent]]) -> str:
    return "".join(event.text for _, event in events if isinstance(event, Delta))


@given(pieces=st.lists(st.text(WRITABLE, min_size=1, max_size=4), max_size=8), after=st.integers(0, 40), data=st.data())
@settings(max_examples=50)
async def test_a_reader_may_change_the_process_at_any_place(pieces: list[str], after: int, data: st.DataObject) -> None:
    """It reads here, there, and here again; whatever was released meanwhile, it has each character once."""
    gates = [asyncio.Event() for _ in pieces]
    async with two(*(part for pair in zip(gates, pieces, strict=True) for part in pair)) as both:
        await both.begun()
        whole, place = "", 0
        for gate in gates:
            gate.set()
            turns = data.draw(st.sampled_from((both.here, both.there)))
            reader = await turns.read(both.stage.trainee, both.stage.session.id, 1)
            async for reached, event in reader.events(place):
                assert reached > place
                place = reached
                whole += event.text if isinstance(event, Delta) else ""
                if isinstance(event, Delta):
                    break
        rest = await read(await both.there.read(both.stage.trainee, both.stage.session.id, 1), place)
        whole += text(rest)
        tail = await read(await both.there.read(both.stage.trainee, both.stage.session.id, 1), after)
    (stored,) = await both.stage.turns()
    assert whole == stored.reply == "".join(pieces)
    assert text(tail) == stored.reply[max(0, after - 1) :]


async def test_the_same_key_joins_there_what_runs_here() -> None:
    go_on = asyncio.Event()
    async with two("Hello", go_on, " there.") as both:
        first = await both.begun(KEY)
        joined = await both.there.take(both.stage.order(key=KEY))
        assert (joined.number, joined.replica, joined.pin) == (first.number, first.replica, first.pin)
        with pytest.raises(IdempotencyKeyReused):
            await both.there.take(both.stage.order(key=IdempotencyKey(KEY.key, "other")))
        with pytest.raises(SessionBusy):
            await both.there.take(both.stage.order(key=IdempotencyKey("another", "digest")))
        with pytest.raises(SessionBusy):
            await both.there.take(both.stage.order())
        go_on.set()
        events = await read(joined)
    (stored,) = await both.stage.turns()
    assert text(events) == stored.reply
    last = events[-1][1]
    assert isinstance(last, Done)
    assert replace(last.turn, idempotency=KEY) == stored
    assert len(both.stage.tutor.requests) == 1


async def test_who_joins_a_masked_turn_there_is_told_its_message_as_it_is_kept() -> None:
    go_on = asyncio.Event()
    masking = moderation(banned("morning", action=Action.MASK))
    async with two("Good morning", go_on, " there.", rules=masking) as both:
        await both.begun(KEY)
        joined = await both.there.take(both.stage.order(key=KEY))
        go_on.set()
        events = await read(joined)
    (stored,) = await both.stage.turns()
    assert (stored.text, stored.reply, text(events)) == ("Good ***.", "Good *** there.", "Good *** there.")
    last = events[-1][1]
    assert isinstance(last, Done)
    assert replace(last.turn, idempotency=KEY) == stored


async def test_a_blocked_turn_ends_alike_in_both_processes() -> None:
    go_on = asyncio.Event()
    async with two("Hello", go_on, " secret friend.", rules=moderation(banned("secret"))) as both:
        first = await both.begun(KEY)
        joined = await both.there.take(both.stage.order(key=KEY))
        go_on.set()
        here, there = await read(first), await read(joined)
        kept = await both.place.journals.read(both.stage.session.id, 1)
    assert text(here) == text(there) == "Hello "
    assert here[-1] == there[-1] == (8, Blocked(BlockReason.BANNED_PHRASE))
    assert "secret" not in repr(kept)


async def test_a_key_whose_turn_has_failed_or_whose_process_is_gone_is_played_anew() -> None:
    async with two("Hel", broken()) as both:
        await read(await both.begun(KEY))
        both.stage.tutor.script = ("Hello.",)
        assert text(await read(await both.there.take(both.stage.order(key=KEY)))) == "Hello."
    go_on = asyncio.Event()
    async with two("Hello", go_on) as both:
        await both.begun(KEY)
        del both.place.boxes["here"]
        with pytest.raises(SessionBusy):
            await both.there.take(both.stage.order(key=KEY))
        both.place.boxes["here"] = asyncio.Queue()
        go_on.set()


async def test_a_key_is_played_where_nobody_can_tell_of_others() -> None:
    async with two("Hello.") as both:
        both.place.journals.away = True
        assert text(await read(await both.there.take(both.stage.order(key=KEY)))) == "Hello."


async def test_a_turn_is_stopped_from_the_other_process() -> None:
    async with two("Hello", asyncio.Event()) as both:
        reader = await both.begun()
        session, trainee = both.stage.session.id, both.stage.trainee
        await both.there.cancel(trainee, session, 1)
        assert (await read(reader))[-1][1] == Cancelled()
        await both.there.cancel(trainee, session, 1)
        with pytest.raises(TurnNotFound):
            await both.there.cancel(trainee, session, 2)
        with pytest.raises(TurnNotFound):
            await both.there.read(trainee, session, 2)
        both.place.journals.away = True
        for asking in (both.there.cancel(trainee, session, 2), both.there.read(trainee, session, 2)):
            with pytest.raises(JournalUnavailable):
                await asking
    assert [turn.state for turn in await both.stage.turns()] == [TurnState.CANCELLED]


async def test_a_turn_whose_process_cannot_be_reached_is_not_said_to_be_missing_before_its_lease_is_over() -> None:
    go_on = asyncio.Event()
    async with two("Hello", go_on) as both:
        await both.begun()
        box = both.place.boxes.pop("here")
        with pytest.raises(JournalUnavailable):
            await both.there.cancel(both.stage.trainee, both.stage.session.id, 1)
        both.place.journals.leases.clear()
        with pytest.raises(TurnNotFound):
            await both.there.cancel(both.stage.trainee, both.stage.session.id, 1)
        both.place.boxes["here"] = box
        go_on.set()


async def test_somebody_elses_turn_is_neither_read_nor_stopped() -> None:
    go_on = asyncio.Event()
    async with two("Hello", go_on) as both:
        await both.begun()
        for turns in (both.here, both.there):
            for asking in (turns.read, turns.cancel):
                with pytest.raises(Exception, match="no such session"):
                    await asking(viewer(), both.stage.session.id, 1)
        go_on.set()


async def test_a_running_turn_is_read_without_the_record_by_who_asked_for_it() -> None:
    go_on = asyncio.Event()
    async with two("Hello", go_on) as both:
        await both.begun()
        both.stage.records.away = True
        reader = await both.here.read(both.stage.trainee, both.stage.session.id, 1)
        both.stage.records.away = False
        go_on.set()
        assert text(await read(reader)) == "Hello"


async def test_a_turn_that_nobody_reads_is_stopped_after_the_grace() -> None:
    async with two("Hello", asyncio.Event()) as both, _heeding(both.here, grace_s=0.2):
        reader = await both.begun()
        await asyncio.wait_for(_stays(reader, 0.5), 5)
        assert both.here.count == 1
        await eventually(lambda: both.here.count == 0)
        assert both.here.counters()["turns_unread"] == 1
    assert [turn.state for turn in await both.stage.turns()] == [TurnState.CANCELLED]
    assert [turn.reply for turn in await both.stage.turns()] == ["Hello"]


async def test_a_reader_elsewhere_and_a_key_keep_a_turn() -> None:
    go_on = asyncio.Event()
    async with two("Hello", go_on) as both, _heeding(both.here, grace_s=0.1):
        await both.begun()
        reading = asyncio.ensure_future(read(await both.there.read(both.stage.trainee, both.stage.session.id, 1)))
        await asyncio.wait([reading], timeout=0.5)
        go_on.set()
        assert isinstance((await reading)[-1][1], Done)
        both.stage.tutor.script = ("Hello", waiting := asyncio.Event())
        await both.begun(KEY)
        await asyncio.sleep(0.5)
        waiting.set()
    assert [turn.state for turn in await both.stage.turns()] == [TurnState.COMPLETED] * 2


@asynccontextmanager
async def _heeding(turns: RunningTurns, *, grace_s: float) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(turns.heed_readers(grace_s=grace_s))
        yield
        task.cancel()


async def _stays(reader: TurnReader, seconds: float) -> None:
    """Read for a while, then leave."""
    reading = asyncio.ensure_future(read(reader))
    await asyncio.wait([reading], timeout=seconds)
    reading.cancel()


async def test_when_a_process_stops_its_turns_end_for_readers_elsewhere_and_its_own_readers_are_let_go() -> None:
    async with AsyncExitStack() as stack:
        both = await stack.enter_async_context(two("Hello", asyncio.Event(), grace_s=0.05))
        await both.begun()
        elsewhere = asyncio.ensure_future(read(await both.there.read(both.stage.trainee, both.stage.session.id, 1)))
        await eventually(lambda: both.there.gauges()["turns_followed"] == 1)
        both.here.stop()
        last = (await asyncio.wait_for(elsewhere, 5))[-1][1]
    assert isinstance(last, Failed)
    assert last.error.code == "server_stopping"
