"""How decisions are shared through Redis, and what its loss costs."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from gateway.local.redis_server import redis_server
from router.adapters.memory_decisions import MemoryDecisions
from router.adapters.redis_decisions import RedisDecisions
from router.domain.decision import Attempt, Decision
from router.domain.fleet import ReplicaId
from router.errors import DecisionsUnavailable
from tests.support.redis_fixture import redis_client_of

pytestmark = pytest.mark.redis


def decision(request_id: str) -> Decision:
    return Decision(request_id, "m", 1.0, attempts=[Attempt(ReplicaId("a"), "new session", "completed")])


def shared(client: Redis, *, most: int = 1_000) -> RedisDecisions:
    return RedisDecisions(client=client, own=MemoryDecisions(), timeout_s=5.0, interval_s=0.02, most=most)


async def test_another_router_finds_it_for_an_hour(redis_client: Redis) -> None:
    one, two = shared(redis_client), shared(redis_client)
    one.write(decision("r"))
    running = asyncio.ensure_future(one.run())
    deadline = time.monotonic() + 10
    while (found := await two.find("r")) is None:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    running.cancel()
    assert found == decision("r")
    assert 3_500 < await redis_client.ttl("dy:decision:r") <= 3_600


async def test_above_its_limit_the_oldest_stay_at_home_and_are_counted(redis_client: Redis) -> None:
    one, two = shared(redis_client, most=10), shared(redis_client)
    for number in range(25):
        one.write(decision(str(number)))
    await one.flush()
    await one.flush()
    assert one.lost == 15
    assert await two.find("14") is None
    assert await two.find("15") == decision("15")
    assert await one.find("14") == decision("14")


async def test_a_decision_of_another_version_is_unavailable(redis_client: Redis) -> None:
    await redis_client.set("dy:decision:r", "{}")
    with pytest.raises(DecisionsUnavailable):
        await shared(redis_client).find("r")


@pytest.mark.parametrize("name", ["x" * 201, "", "a\nb", "\ud800"])
async def test_a_name_that_makes_no_key_stays_at_home(redis_client: Redis, name: str) -> None:
    log = shared(redis_client)
    log.write(decision(name))
    await log.flush()
    assert await redis_client.keys("*") == []
    assert await log.find(name) == decision(name)
    assert await shared(redis_client).find(name) is None


async def test_a_frozen_redis_costs_the_entries_and_is_logged_once(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        client = redis_client_of(server.url)
        log = RedisDecisions(client=client, own=MemoryDecisions(), timeout_s=0.1)
        os.kill(server.pid, signal.SIGSTOP)
        try:
            with capture_logs() as logs:
                for number in range(2):
                    log.write(decision(str(number)))
                    await log.flush()
            with pytest.raises(DecisionsUnavailable):
                await log.find("another")
        finally:
            os.kill(server.pid, signal.SIGCONT)
        assert [entry["event"] for entry in logs] == ["decisions are not shared"]
        assert log.lost == 2
        assert await log.find("1") == decision("1")
        await client.aclose()
