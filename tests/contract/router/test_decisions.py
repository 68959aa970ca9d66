"""The promise of `DecisionLog`, on memory and on a real Redis."""

import pytest
from redis.asyncio import Redis

from router.adapters.memory_decisions import MemoryDecisions
from router.adapters.redis_decisions import RedisDecisions
from router.domain.decision import Attempt, Decision
from router.domain.fleet import ReplicaId
from router.ports import DecisionLog

pytestmark = pytest.mark.redis


def decision(request_id: str) -> Decision:
    return Decision(request_id, "m", 1.0, attempts=[Attempt(ReplicaId("a"), "new session", "completed")])


@pytest.fixture(params=["memory", "redis"])
def log(request: pytest.FixtureRequest, redis_client: Redis) -> DecisionLog:
    own = MemoryDecisions(most=3)
    return own if request.param == "memory" else RedisDecisions(client=redis_client, own=own, timeout_s=5.0)


async def test_what_was_written_is_found(log: DecisionLog) -> None:
    log.write(decision("回合 1"))
    assert await log.find("回合 1") == decision("回合 1")
    assert await log.find("another") is None
    assert await log.find("x" * 5_000) is None


async def test_the_last_one_of_an_id_counts(log: DecisionLog) -> None:
    log.write(decision("r"))
    later = Decision("r", "m", 2.0)
    log.write(later)
    assert await log.find("r") == later


async def test_only_so_many_are_kept(log: DecisionLog) -> None:
    for number in range(5):
        log.write(decision(str(number)))
    assert [await log.find(str(number)) is not None for number in range(5)] == [False, False, True, True, True]
