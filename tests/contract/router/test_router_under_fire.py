"""The router over real engines and a real Redis while they are killed, frozen and left."""

import asyncio
import gc
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest
from redis.asyncio import Redis

from gateway.local.redis_server import redis_server
from router.adapters.redis_pins import RedisPins
from router.adapters.static_fleet import StaticFleet
from router.adapters.vllm_http import VllmEngine
from router.domain.exchange import ChatRequest, Finished, Message, TextPiece
from router.domain.fleet import AffinityKey, Health, Replica, ReplicaId
from router.domain.pin import PinDecision
from router.errors import EngineBroke, EngineError, EngineTimedOut
from router.service import Router
from router.settings import RouterSettings
from tests.support.engine_process import EngineProcess, scripted_engine
from tests.support.redis_fixture import redis_client_of

pytestmark = pytest.mark.redis

REQUEST = ChatRequest("smollm2", (Message("user", "hello"),), 64, 0.0, "tenant-1", "r-1")
KEY = AffinityKey("session-1")


@pytest.fixture
def engines() -> Iterator[dict[ReplicaId, EngineProcess]]:
    with scripted_engine() as one, scripted_engine() as two:
        yield {ReplicaId("one"): one, ReplicaId("two"): two}


def router_over(
    engines: dict[ReplicaId, EngineProcess], client: Redis, http: httpx.AsyncClient, **settings: float
) -> Router:
    chosen = RouterSettings.model_validate(settings)
    replicas = [Replica(name, engine.url, Health.READY) for name, engine in engines.items()]
    return Router(
        pins=RedisPins(client=client, ttl_s=3600, timeout_s=2.0),
        fleet=StaticFleet(replicas=replicas),
        engine=VllmEngine(client=http, settings=chosen),
        settings=chosen,
    )


async def take(router: Router, key: AffinityKey = KEY) -> tuple[ReplicaId, PinDecision, str]:
    async with router.turn(key, REQUEST) as routed:
        items = [item async for item in routed]
    assert isinstance(items[-1], Finished)
    return routed.replica, routed.pin, "".join(item.text for item in items if isinstance(item, TextPiece))


def other(replica: ReplicaId) -> ReplicaId:
    return ReplicaId("two" if replica == "one" else "one")


async def idle(engines: dict[ReplicaId, EngineProcess], router: Router) -> None:
    assert router.numbers().in_flight == {}
    deadline = time.monotonic() + 10
    while any(engine.running() for engine in engines.values()):
        assert time.monotonic() < deadline, "an engine still writes for nobody"
        await asyncio.sleep(0.05)


async def test_two_routers_that_meet_a_session_at_once_agree(
    engines: dict[ReplicaId, EngineProcess], redis_client: Redis, http: httpx.AsyncClient
) -> None:
    routers = [router_over(engines, redis_client, http) for _ in range(2)]
    for number in range(20):
        key = AffinityKey(f"session-{number}")
        first, second = await asyncio.gather(*(take(router, key) for router in routers))
        assert first[0] == second[0]
    assert sum((await routers[0].sessions()).values()) == 20


async def test_a_replica_killed_between_turns_costs_no_turn(
    engines: dict[ReplicaId, EngineProcess], redis_client: Redis, http: httpx.AsyncClient
) -> None:
    router = router_over(engines, redis_client, http)
    home, _, text = await take(router)
    engines[home].kill()
    assert await take(router) == (other(home), PinDecision.MOVED, text)
    assert await take(router) == (other(home), PinDecision.KEPT, text)
    lost = router.fleet().get(home)
    assert lost is not None
    assert lost.health is Health.DOWN


async def test_a_replica_killed_before_its_first_token_costs_no_turn(
    engines: dict[ReplicaId, EngineProcess], redis_client: Redis, http: httpx.AsyncClient
) -> None:
    router = router_over(engines, redis_client, http)
    home, _, text = await take(router)
    engines[home].script(fault="die", after_chunks=0)
    assert await take(router) == (other(home), PinDecision.MOVED, text)


async def test_a_replica_killed_after_its_first_token_ends_the_turn_and_the_next_one_moves(
    engines: dict[ReplicaId, EngineProcess], redis_client: Redis, http: httpx.AsyncClient
) -> None:
    router = router_over(engines, redis_client, http)
    home, _, _ = await take(router)
    engines[home].script(fault="die", after_chunks=2)
    with pytest.raises(EngineBroke):
        await take(router)
    assert router.numbers().in_flight == {}
    assert (await take(router))[:2] == (other(home), PinDecision.MOVED)


async def test_a_frozen_replica_is_left_in_bounded_time(
    engines: dict[ReplicaId, EngineProcess], redis_client: Redis, http: httpx.AsyncClient
) -> None:
    router = router_over(engines, redis_client, http, first_byte_timeout_s=0.5)
    home, _, _ = await take(router)
    engines[home].freeze()
    began = time.monotonic()
    assert (await take(router))[:2] == (other(home), PinDecision.MOVED)
    assert time.monotonic() - began < 3.0
    engines[other(home)].freeze()
    with pytest.raises(EngineTimedOut):
        await take(router)
    for engine in engines.values():
        engine.thaw()
    await idle(engines, router)


async def test_a_stall_in_the_middle_ends_in_bounded_time(
    engines: dict[ReplicaId, EngineProcess], redis_client: Redis, http: httpx.AsyncClient
) -> None:
    router = router_over(engines, redis_client, http, chunk_timeout_s=0.3)
    home, _, _ = await take(router)
    engines[home].script(fault="stall", after_chunks=2)
    with pytest.raises(EngineTimedOut):
        await take(router)
    await idle(engines, router)


async def test_a_session_finds_its_replica_while_redis_is_gone_and_after(
    engines: dict[ReplicaId, EngineProcess], http: httpx.AsyncClient, tmp_path: Path
) -> None:
    with redis_server(tmp_path) as server:
        port = int(server.url.rsplit(":", 1)[1].split("/")[0])
        client = redis_client_of(server.url)
        router = router_over(engines, client, http)
        home, decision, _ = await take(router)
        assert decision is PinDecision.NEW
    for _ in range(3):
        async with router.turn(KEY, REQUEST, prefer=home) as routed:
            assert (routed.replica, routed.pin) == (home, PinDecision.NONE)
    with redis_server(tmp_path, port=port):
        async with router.turn(KEY, REQUEST, prefer=home) as routed:
            assert (routed.replica, routed.pin) == (home, PinDecision.NEW)
        assert (await take(router))[:2] == (home, PinDecision.KEPT)
        await client.aclose()
    assert router.numbers().pin_failures == 3


async def test_a_redis_that_freezes_in_the_middle_stops_no_running_turn(
    engines: dict[ReplicaId, EngineProcess], http: httpx.AsyncClient, tmp_path: Path
) -> None:
    with redis_server(tmp_path) as server:
        client = redis_client_of(server.url)
        router = router_over(engines, client, http)
        async with router.turn(KEY, REQUEST) as routed:
            os.kill(server.pid, signal.SIGSTOP)
            try:
                assert isinstance([item async for item in routed][-1], Finished)
                assert (await take(router))[1] is PinDecision.NONE
            finally:
                os.kill(server.pid, signal.SIGCONT)
        assert (await take(router))[1] is PinDecision.KEPT
        await client.aclose()


# The HTTP client drops a connection whose request is cancelled in the very moment it was made; the collector closes it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_a_thousand_turns_left_at_any_moment_leave_nothing_behind(
    engines: dict[ReplicaId, EngineProcess], redis_client: Redis, http: httpx.AsyncClient
) -> None:
    router = router_over(engines, redis_client, http)
    for engine in engines.values():
        engine.script(reply="word " * 20, delay_s=0.02, first_delay_s=0.01)

    async def leave(number: int) -> None:
        with suppress(TimeoutError, EngineError):
            async with asyncio.timeout(number % 50 * 0.004):
                await take(router, AffinityKey(f"session-{number}"))

    for start in range(0, 1_000, 100):
        await asyncio.gather(*(leave(number) for number in range(start, start + 100)))
    await idle(engines, router)
    for engine in engines.values():
        engine.reset()
    assert (await take(router))[2]
    gc.collect()


async def test_killing_and_reviving_replicas_under_load_loses_no_place_in_flight(
    engines: dict[ReplicaId, EngineProcess], redis_client: Redis, http: httpx.AsyncClient
) -> None:
    router = router_over(engines, redis_client, http)
    victim = engines[ReplicaId("one")]
    ended: list[bool] = []

    async def play(number: int) -> None:
        for _ in range(10):
            with suppress(EngineError):
                await take(router, AffinityKey(f"session-{number}"))
                ended.append(True)

    async with _killed_at(victim, 0.2):
        await asyncio.gather(*(play(number) for number in range(20)))
    assert router.numbers().in_flight == {}
    assert len(ended) >= 180
    assert await router.sessions() == {ReplicaId("one"): 0, ReplicaId("two"): 20}


@asynccontextmanager
async def _killed_at(engine: EngineProcess, after_s: float) -> AsyncIterator[None]:
    async def kill() -> None:
        await asyncio.sleep(after_s)
        engine.kill()

    async with asyncio.TaskGroup() as group:
        group.create_task(kill())
        yield
