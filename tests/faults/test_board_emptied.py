"""Redis comes back without its data: replicas that only the board named go on, with the sessions they hold."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack

import pytest

from gateway.local.redis_server import RedisServer
from gateway.wiring.redis import SharedRedis, shared_redis
from gateway.wiring.routing import Plan, Routing, routing
from router.adapters.redis_board import RedisBoard
from router.adapters.redis_pins import RedisPins
from router.adapters.static_fleet import StaticFleet
from router.domain.board import RouterId
from router.domain.exchange import ChatRequest, Message
from router.domain.fleet import AffinityKey, ReplicaId, ReplicaSpec
from router.fleet.adapters.board_routers import BoardRouters
from router.settings import RouterSettings
from tests.support.eventually import comes_true, eventually
from tests.support.simulator_process import simulator

pytestmark = pytest.mark.redis

SETTINGS = RouterSettings(board_interval_s=0.1, probe_interval_s=0.5, canary_interval_s=0)
KEYS = [AffinityKey(f"trainee-{number}") for number in range(6)]


@pytest.fixture
def replicas() -> Iterator[list[ReplicaSpec]]:
    with simulator("--speed-up", "50") as one, simulator("--speed-up", "50") as two:
        yield [ReplicaSpec(ReplicaId(name), each.url) for name, each in (("a", one), ("b", two))]


@pytest.fixture
async def redis(running_redis: RedisServer) -> AsyncIterator[SharedRedis]:
    async with shared_redis(running_redis.url) as shared:
        await shared.client.flushall()
        yield shared


@pytest.fixture
async def routers(redis: SharedRedis) -> AsyncIterator[list[Routing]]:
    """Two of them, whose lists name no replica."""
    async with AsyncExitStack() as stack:
        plans = [
            Plan(settings=SETTINGS, source=StaticFleet(replicas=[]), name=RouterId(name), redis=redis)
            for name in ("r1", "r2")
        ]
        yield [await stack.enter_async_context(routing(plan)) for plan in plans]


async def read_by_all(board: RedisBoard) -> None:
    """Return once each router has read what stands there now: it reports after it has read, so two reports later."""
    for _ in range(2):
        said = {name: report.at for name, report in (await board.read()).routers.items()}

        async def again(said: dict[RouterId, float] = said) -> bool:
            now = (await board.read()).routers
            return all(name in now and now[name].at > at for name, at in said.items())

        await comes_true(again)


async def replica_of(key: AffinityKey, routers: list[Routing]) -> ReplicaId:
    """Where one turn of the session ran; each session keeps to one router."""
    request = ChatRequest("smollm2", (Message("user", "Hello?"),), 4, 0.0, "t", f"{key}-1", key)
    async with routers[KEYS.index(key) % 2].router.turn(key, request) as stream:
        async for _ in stream:
            pass
        return stream.replica


async def test_no_turn_fails_and_no_session_moves(
    routers: list[Routing], replicas: list[ReplicaSpec], redis: SharedRedis
) -> None:
    controllers = BoardRouters(
        board=RedisBoard(client=redis.client),
        pins=RedisPins(client=redis.client, ttl_s=3600),
        session_idle_s=60,
        drain_within_s=60,
    )
    for replica in replicas:
        await controllers.join(replica)
    await eventually(lambda: all(len(each.router.fleet().ready) == 2 for each in routers), within_s=20)
    before = [await replica_of(key, routers) for key in KEYS]
    assert set(before) == {replica.id for replica in replicas}

    await redis.client.flushall()
    until = time.monotonic() + 2.0
    while time.monotonic() < until:
        assert [await replica_of(key, routers) for key in KEYS] == before
        await asyncio.sleep(0.05)
    assert (await controllers.state([])).joined == {}

    for replica in replicas:
        await controllers.join(replica)
    await read_by_all(RedisBoard(client=redis.client))
    assert [await replica_of(key, routers) for key in KEYS] == before
    await controllers.leave(ReplicaId("a"))
    await eventually(lambda: all(len(each.router.fleet().replicas) == 1 for each in routers))
