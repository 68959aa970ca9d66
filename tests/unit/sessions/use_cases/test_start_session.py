"""A session starts once, however often it is asked for under one key, and in a seat of its drill."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from gateway.use_cases import use_cases
from sessions.domain.drill import DrillId
from sessions.domain.scenario import ScenarioId
from sessions.domain.session import SessionFilter
from sessions.domain.turn import IdempotencyKey
from sessions.errors import (
    DrillClosed,
    DrillInvalid,
    DrillNotFound,
    IdempotencyKeyReused,
    ScenarioNotFound,
    ValueUnstorable,
)
from sessions.use_cases.start_session import SessionOrder
from tests.support.counted_seats import CountedSeats, NoSeat
from tests.support.drill_world import plan
from tests.support.session_fakes import START, content, viewer
from tests.support.stage import Stage, staged

KEY = IdempotencyKey("k-1", "digest")
OTHER_KEY = IdempotencyKey("k-2", "digest")


async def test_a_session_opens_in_the_first_scene_with_the_opening_line() -> None:
    stage = await staged()
    assert (stage.session.scene, stage.session.opening) == ("complaint", "Where is my desk?")
    assert stage.session.is_open


async def test_the_same_key_gives_the_same_session_and_one_outbox_entry() -> None:
    stage = await staged()
    order = SessionOrder(stage.trainee, stage.scenario.id, {"group": "b"}, KEY)
    sessions = await asyncio.gather(*(stage.use.start_session(order) for _ in range(5)))
    assert len({session.id for session in sessions}) == 1
    async with stage.records.begin() as work:
        assert len(await work.outbox.pending(limit=10)) == 2
    with pytest.raises(IdempotencyKeyReused):
        await stage.use.start_session(SessionOrder(stage.trainee, stage.scenario.id, {}, IdempotencyKey("k-1", "no")))


async def test_a_foreign_or_missing_scenario_starts_nothing() -> None:
    stage = await staged()
    for who, what in ((viewer(), stage.scenario.id), (stage.trainee, ScenarioId(uuid4()))):
        with pytest.raises(ScenarioNotFound):
            await stage.use.start_session(SessionOrder(who, what, {}))


async def seated(**changes: object) -> tuple[Stage, CountedSeats, DrillId]:
    """A stage with counted seats, and a drill of its scenario that is on now."""
    stage, seats = await staged(), CountedSeats()
    stage.outside = replace(stage.outside, seats=seats)
    stage.use = use_cases(stage.outside)
    hour = timedelta(hours=1)
    usual = {"scenario": stage.scenario.id, "starts_at": START - hour, "ends_at": START + hour}
    drill = await stage.use.create_drill(stage.author, plan(**(usual | changes)))
    return stage, seats, drill.id


async def test_a_session_of_a_drill_has_a_seat_in_it_until_it_is_closed() -> None:
    stage, seats, drill = await seated()
    session = await stage.use.start_session(SessionOrder(stage.trainee, stage.scenario.id, {}, drill=drill))
    assert session.drill == drill
    assert seats.taken == {session.id: await stage.use.read_drill(stage.author, drill)}
    await stage.use.close_session(stage.trainee, session.id)
    assert (seats.taken, seats.given_back) == ({}, [session.id])


async def test_the_same_key_takes_no_second_seat() -> None:
    stage, seats, drill = await seated()
    order = SessionOrder(stage.trainee, stage.scenario.id, {}, KEY, drill)
    first = await stage.use.start_session(order)
    assert await stage.use.start_session(order) == first
    assert list(seats.taken) == [first.id]
    await asyncio.gather(*(stage.use.start_session(replace(order, idempotency=OTHER_KEY)) for _ in range(5)))
    assert len(seats.taken) == 2


async def test_without_a_seat_nothing_is_written_and_what_is_not_written_has_none() -> None:
    stage, seats, drill = await seated()
    order = SessionOrder(stage.trainee, stage.scenario.id, {}, KEY, drill)
    seats.free = 0
    with pytest.raises(NoSeat):
        await stage.use.start_session(order)
    assert (await stage.use.list_sessions(stage.author, SessionFilter(drill=drill), 10)).items == ()
    seats.free = 1
    with pytest.raises(ValueUnstorable):
        await stage.use.start_session(replace(order, metadata={"note": "\x00"}))
    assert not seats.taken
    await stage.use.start_session(order)


async def test_a_drill_takes_sessions_of_its_scenario_and_tenant_alone_and_not_for_ever() -> None:
    stage, seats, drill = await seated()
    order = SessionOrder(stage.trainee, stage.scenario.id, {}, None, drill)
    stranger = viewer()
    other = await stage.use.create_scenario(stage.author, content(title="Another"))
    with pytest.raises(DrillNotFound):
        await stage.use.start_session(replace(order, viewer=stranger))
    with pytest.raises(DrillInvalid):
        await stage.use.start_session(replace(order, scenario=other.id))
    stage.clock.advance(7200)
    with pytest.raises(DrillClosed):
        await stage.use.start_session(order)
    assert not seats.taken


async def test_the_tutor_hears_of_the_drill() -> None:
    stage, _, drill = await seated()
    stage.session = await stage.use.start_session(SessionOrder(stage.trainee, stage.scenario.id, {}, drill=drill))
    await stage.play()
    assert stage.tutor.requests[0].asker.drill == str(drill)
