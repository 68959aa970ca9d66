"""Cases that users of other routers have reported and no other test names; docs/cases.md lists them all."""

import asyncio
from pathlib import Path
from random import Random

import pytest
from redis.asyncio import Redis

from router.adapters.memory_pins import MemoryPins
from router.adapters.redis_pins import RedisPins
from router.domain.asks import Asks
from router.domain.engine_metrics import EngineMetrics
from router.domain.exchange import Call, CallPath
from router.domain.fleet import AffinityKey, Health, ReplicaId
from router.domain.pin import Demand
from router.ports import PinStore
from router.settings import RouterSettings
from tests.support.router_crowd import MODEL, PlayedReplicas
from tests.support.router_house import A, B, House


@pytest.fixture(params=["memory", "redis"])
def pins(request: pytest.FixtureRequest) -> PinStore:
    if request.param == "memory":
        return MemoryPins(ttl_s=3_600)
    client: Redis = request.getfixturevalue("redis_client")
    return RedisPins(client=client, ttl_s=3_600, timeout_s=5.0)


@pytest.mark.redis
async def test_two_hundred_sessions_of_very_different_length_leave_no_replica_above_the_bound(pins: PinStore) -> None:
    dice = Random(3)  # noqa: S311
    replicas = [ReplicaId(f"replica-{number}") for number in range(4)]
    for number in range(200):
        demand = Demand(min(16_000, int(500 * dice.paretovariate(1.2))), f"scenario-{number % 3}")
        await pins.claim(AffinityKey(f"session-{number}"), replicas, replacing=None, demand=demand)
    tokens = [load.kv_tokens for load in (await pins.loads(replicas)).values()]
    assert max(tokens) <= 1.1 * sum(tokens) / len(tokens)


async def test_what_runs_is_counted_through_looks_and_flapping_health() -> None:
    house = House()
    running = [
        await house.router.carry(_call(number), session=AffinityKey(f"session-{number}"), asks=Asks(prefer=A))
        for number in range(5)
    ]
    for told in (EngineMetrics(running=5), EngineMetrics(), EngineMetrics(running=0), EngineMetrics(running=9)):
        house.book.saw_metrics(A, told)
        house.fleet.change(A, health=Health.DOWN)
        house.fleet.change(A, health=Health.READY)
        assert house.book.own() == {A: 5}
    house.fleet.change(A, health=Health.DOWN)
    for each in running:
        each.close()
    assert house.is_idle()
    assert house.book.streams(A) >= 0
    house.book.saw_metrics(A, EngineMetrics(running=0))
    assert (house.book.streams(A), house.book.streams(B)) == (0, 0)


async def test_sessions_that_come_and_are_never_ended_take_bounded_memory() -> None:
    """Pins are a kilobyte at most until their time to live is over; whatever else is kept has a size of its own."""
    house = House(engine=PlayedReplicas(), settings=RouterSettings(prompt_memory_bytes=1 << 18))

    async def meet(numbers: range) -> None:
        for number in numbers:
            await house.read(_call(number), session=AffinityKey(f"session-{number}"))
            if number % 100 == 0:
                await asyncio.sleep(0)

    await meet(range(5_000))
    before = _resident_bytes()
    await meet(range(5_000, 15_000))
    assert _resident_bytes() - before < 16 << 20
    assert house.prompts.size_bytes <= 1 << 20


def _call(number: int) -> Call:
    body = f'{{"model":"{MODEL}","stream":true,"messages":[{{"role":"user","content":"I am {number}. {"x" * 500}"}}]}}'
    return Call(CallPath.CHAT, body.encode(), MODEL, is_streamed=True, request_id=f"turn-of-{number}")


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
