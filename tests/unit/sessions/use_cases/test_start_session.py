"""A session starts once, however often it is asked for under one key."""

import asyncio
from uuid import uuid4

import pytest

from sessions.domain.scenario import ScenarioId
from sessions.domain.turn import IdempotencyKey
from sessions.errors import IdempotencyKeyReused, ScenarioNotFound
from sessions.use_cases.start_session import SessionOrder
from tests.support.session_fakes import viewer
from tests.support.stage import staged

KEY = IdempotencyKey("k-1", "digest")


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
