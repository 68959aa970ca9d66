"""Two processes' journals as they are wired, on real Redis."""

import asyncio
import time

import pytest
from redis.asyncio import Redis

from gateway.journal_settings import JournalSettings
from gateway.turn_journal import TurnJournal
from gateway.wiring.journal import shared_turns
from sessions.adapters.redis_turn_lock import RedisTurnLock
from sessions.domain.events import Accepted, Delta
from tests.support.stage import staged

pytestmark = pytest.mark.redis


async def test_what_one_process_tells_the_other_finds_while_the_lease_is_held(redis_client: Redis) -> None:
    stage, settings = await staged(), JournalSettings()
    stage.tutor.script = ("Hello", gate := asyncio.Event())
    session = stage.session.id
    async with (
        shared_turns(settings, redis_client, stage.use.read_turn) as here,
        shared_turns(settings, redis_client, stage.use.read_turn) as there,
        RedisTurnLock(client=redis_client, lease_s=5).hold(session),
        stage.use.take_turn.begin(stage.order()) as turn,
    ):
        journal = TurnJournal(Accepted(session, 1, "replica-1"))
        here.tell(stage.order(), turn, journal)
        journal.add("Hello")
        assert await there._journals.is_running(session)
        deadline = time.monotonic() + 5
        while (reader := await there.find(stage.trainee, session, 1)) is None:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)
        events = reader.events()
        assert [await anext(events) for _ in range(2)] == [(1, Accepted(session, 1, "replica-1")), (6, Delta("Hello"))]
        await events.aclose()
        gate.set()
