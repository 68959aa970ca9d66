"""A router put together in this process, with Redis and without, before a simulated replica."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest
from redis.asyncio import Redis

from gateway.errors import FleetUnfit
from gateway.local.redis_server import RedisServer
from gateway.wiring.redis import SharedRedis, shared_redis
from gateway.wiring.routing import Plan, Routing, routing
from router.adapters.static_fleet import StaticFleet
from router.domain.board import RouterId
from router.domain.exchange import Call, CallPath
from router.domain.fitness import Expectation
from router.domain.fleet import AffinityKey, ReplicaId, ReplicaSpec
from router.settings import RouterSettings
from tests.support.simulator_process import SimulatorProcess, simulator

BODY = b'{"model":"smollm2","messages":[{"role":"user","content":"Hi"}],"max_tokens":2}'
KEY = AffinityKey("session")
A = ReplicaId("a")
QUICK = RouterSettings(board_interval_s=0.05, probe_interval_s=0.3)


@pytest.fixture(scope="module")
def replica() -> Iterator[SimulatorProcess]:
    with simulator("--speed-up", "50", "--enable-prompt-tokens-details") as running:
        yield running


@pytest.fixture
async def shared(redis_client: Redis, running_redis: RedisServer) -> AsyncIterator[SharedRedis]:
    """As the wiring makes it, of an empty database."""
    del redis_client
    async with shared_redis(running_redis.url) as client:
        yield client


def plan(
    replica: SimulatorProcess,
    *,
    name: str = "one",
    redis: SharedRedis | None = None,
    expectations: tuple[Expectation, ...] = (),
    has_pin_cache: bool = True,
    engine_key: str = "",
) -> Plan:
    return Plan(
        settings=QUICK,
        source=StaticFleet(replicas=[ReplicaSpec(A, replica.url)]),
        name=RouterId(name),
        redis=redis,
        expectations=expectations,
        has_pin_cache=has_pin_cache,
        engine_key=engine_key,
    )


async def said(running: Routing, request_id: str = "r-1") -> bytes:
    call = Call(CallPath.CHAT, BODY, "smollm2", is_streamed=False, request_id=request_id)
    carried = await running.router.carry(call, session=KEY)
    try:
        return await carried.read()
    finally:
        carried.close()


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    while True:
        if await is_so():
            return
        await asyncio.sleep(0.02)


async def known_to(running: Routing, request_id: str) -> bool:
    return await running.router.decision(request_id) is not None


async def acknowledged_by(running: Routing, *routers: str) -> bool:
    progress = await running.orders.progress(A)
    return progress is not None and progress.acknowledged == routers


async def test_without_a_redis_one_process_has_everything(replica: SimulatorProcess) -> None:
    async with routing(plan(replica)) as running:
        assert b'"chat.completion"' in await said(running)
        assert (await running.router.pins(KEY))["smollm2"].replica == A
        assert await running.router.decision("r-1") is not None
        (status,) = await running.orders.list()
        assert (status.replica.id, status.pinned and status.pinned.sessions) == (A, 1)


@pytest.mark.parametrize("has_pin_cache", [True, False], ids=["cached", "asked"])
async def test_with_a_redis_routers_share_pins_orders_and_decisions(
    replica: SimulatorProcess, shared: SharedRedis, *, has_pin_cache: bool
) -> None:
    first = plan(replica, redis=shared, has_pin_cache=has_pin_cache)
    second = plan(replica, name="two", redis=shared, has_pin_cache=has_pin_cache)
    async with asyncio.timeout(30), routing(first) as one, routing(second) as two:
        await said(one)
        assert await two.router.pins(KEY) == await one.router.pins(KEY)
        await until(lambda: known_to(two, "r-1"))
        assert (await one.orders.drain(A, within_s=60)).replica == A
        await until(lambda: acknowledged_by(one, "one", "two"))
        assert two.router.fleet().open_to("smollm2") == ()


async def test_who_leaves_is_no_longer_waited_for(replica: SimulatorProcess, shared: SharedRedis) -> None:
    async with asyncio.timeout(30), routing(plan(replica, redis=shared)) as one:
        async with routing(plan(replica, name="two", redis=shared)):
            await one.board.take_round()
            assert set(one.board.last.routers) == {"one", "two"}
        await one.board.take_round()
        assert set(one.board.last.routers) == {"one"}


async def test_a_redis_that_is_away_delays_nobody(replica: SimulatorProcess) -> None:
    async with (
        asyncio.timeout(20),
        shared_redis("redis://127.0.0.1:1") as away,
        routing(plan(replica, redis=away)) as running,
    ):
        assert b'"chat.completion"' in await said(running)


async def test_a_fleet_of_others_is_refused_in_plain_words(replica: SimulatorProcess) -> None:
    with pytest.raises(FleetUnfit, match="a serves smollm2 instead of another"):
        async with routing(plan(replica, expectations=(Expectation("another", 512, ()),))):
            pass


async def test_engines_are_shown_the_key_that_they_demand_in_turns_and_probes_alike() -> None:
    with simulator("--speed-up", "50", "--api-key", "sesame") as guarded:
        async with routing(plan(guarded, engine_key="sesame")) as running:
            assert b'"chat.completion"' in await said(running)
        async with routing(plan(guarded, engine_key="another")) as running:
            (status,) = await running.orders.list()
            assert "HTTP 401" in status.replica.reason


async def test_what_only_the_process_knows_is_told_as_figures(replica: SimulatorProcess, shared: SharedRedis) -> None:
    async with routing(plan(replica, redis=shared)) as running:
        assert running.router.numbers().canaries == {(A, "passed"): 1}
        assert running.gauges()["router_fleet_source_age_seconds"] == 0
        assert 0 <= running.gauges()["router_orders_age_seconds"] < 10
        assert running.counters() == {
            "router_orders_failures": 0,
            "router_fleet_source_failures": 0,
            "router_decisions_lost": 0,
            "router_drained_warm": 0,
            "router_drained_cold": 0,
        }


async def test_a_router_that_stops_tries_no_replica_out(replica: SimulatorProcess) -> None:
    async with routing(plan(replica)) as running:
        running.stop()
        assert b'"chat.completion"' in await said(running)
