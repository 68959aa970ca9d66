"""The promise of `Routers`, in memory and by a board and pins that are in memory or in a real Redis."""

import pytest
from redis.asyncio import Redis

from router.adapters.memory_board import MemoryBoard
from router.adapters.memory_pins import MemoryPins
from router.adapters.redis_board import RedisBoard
from router.adapters.redis_pins import RedisPins
from router.domain.board import RouterId
from router.domain.fleet import AffinityKey, ReplicaId, ReplicaSpec
from router.domain.pin import Demand
from router.fleet.adapters.board_routers import BoardRouters
from router.fleet.adapters.memory_routers import MemoryRouters
from router.fleet.errors import RoutersUnavailable
from router.fleet.ports import Routers, RoutersState
from tests.support.engine_process import free_port
from tests.support.redis_fixture import redis_client_of

pytestmark = pytest.mark.redis

A, B = ReplicaId("a"), ReplicaId("副本 b")
SPEC = ReplicaSpec(A, "http://a:8000", frozenset({"m"}))
ROUTER = RouterId("router-1")


@pytest.fixture(params=["memory", "board in memory", "board in Redis"])
def routers(request: pytest.FixtureRequest, redis_client: Redis) -> Routers:
    match request.param:
        case "memory":
            return MemoryRouters()
        case "board in memory":
            return House().routers
        case _:
            return BoardRouters(
                board=RedisBoard(client=redis_client, timeout_s=5.0),
                pins=RedisPins(client=redis_client, ttl_s=3600, timeout_s=5.0),
                session_idle_s=60,
                drain_within_s=60,
                settled_after_s=0,
            )


async def test_nothing_is_known_at_first(routers: Routers) -> None:
    assert await routers.state([A]) == RoutersState(joined={}, drains={}, live_sessions={A: 0})


async def test_what_has_joined_is_known_until_it_leaves(routers: Routers) -> None:
    for _ in range(2):
        await routers.join(SPEC)
    assert (await routers.state([])).joined == {A: SPEC}
    for _ in range(2):
        await routers.leave(A)
    assert (await routers.state([])).joined == {}


async def test_a_drain_can_be_taken_back_and_ends_with_joining_and_leaving(routers: Routers) -> None:
    async def draining() -> set[ReplicaId]:
        return set((await routers.state([A])).drains)

    await routers.join(SPEC)
    for end in (routers.keep(A), routers.join(SPEC), routers.leave(A), routers.keep(A)):
        await routers.drain(A)
        await routers.drain(A)
        assert await draining() == {A}
        await end
        assert await draining() == set()


class House:
    """Board and pins in memory, with clocks that are turned by hand."""

    def __init__(self, *, settled_after_s: float = 0.0) -> None:
        self.now = 1_000.0
        self.board = MemoryBoard(clock=lambda: self.now)
        self.pins = MemoryPins(ttl_s=3600, clock=lambda: self.now)
        self.routers = BoardRouters(
            board=self.board,
            pins=self.pins,
            session_idle_s=60,
            drain_within_s=30,
            settled_after_s=settled_after_s,
            clock=lambda: self.now,
        )

    async def pinned(self, name: str, replica: ReplicaId = A) -> None:
        await self.pins.claim(AffinityKey(name), [replica], replacing=None, demand=Demand())

    async def may_stop(self) -> bool:
        return (await self.routers.state([A])).drains[A].may_stop

    async def hear(self, in_flight: int | None = None) -> None:
        """The router reports; None: it has not seen the drain."""
        await self.board.report(ROUTER, {} if in_flight is None else {A: in_flight})


async def test_sessions_count_where_they_are_used() -> None:
    house = House()
    await house.pinned("one")
    house.now += 61
    await house.pinned("two")
    await house.pinned("three", B)
    assert (await house.routers.state([A, B])).live_sessions == {A: 1, B: 1}


async def test_a_second_order_to_drain_leaves_the_deadline_where_it_is() -> None:
    house = House()
    await house.routers.drain(A)
    house.now += 20
    await house.routers.drain(A)
    assert (await house.routers.state([A])).drains[A].seconds_left == 10


async def test_a_replica_may_stop_once_every_router_agrees_and_nothing_is_there() -> None:
    house = House()
    await house.pinned("one")
    await house.hear()
    await house.routers.drain(A)
    house.now += 4
    await house.hear()
    assert not await house.may_stop()
    house.now += 3
    await house.hear(1)
    assert not await house.may_stop()
    await house.hear(0)
    assert not await house.may_stop()
    await house.pins.end(AffinityKey("one"))
    assert await house.may_stop()


async def test_a_board_that_was_emptied_waits_for_routers_that_have_not_reported_yet() -> None:
    house = House()
    await house.routers.drain(A)
    assert not await house.may_stop()
    house.now += 4.9
    assert not await house.may_stop()
    house.now += 0.1
    assert await house.may_stop()


async def test_pins_that_were_not_watched_long_enough_are_not_known() -> None:
    house = House(settled_after_s=10)
    for waited, known in ((0, False), (9.9, False), (0.1, True), (5, True)):
        house.now += waited
        assert ((await house.routers.state([A])).live_sessions is not None) is known


async def test_a_redis_that_was_emptied_knows_of_no_sessions_for_a_while(redis_client: Redis) -> None:
    now = 0.0
    pins = RedisPins(client=redis_client, ttl_s=3600)
    routers = BoardRouters(
        board=RedisBoard(client=redis_client),
        pins=pins,
        session_idle_s=60,
        drain_within_s=30,
        settled_after_s=10,
        clock=lambda: now,
    )

    async def live() -> object:
        return (await routers.state([A])).live_sessions

    await pins.claim(AffinityKey("one"), [A], replacing=None, demand=Demand())
    assert await live() is None
    now = 10.0
    assert await live() == {A: 1}
    await redis_client.flushall()
    assert await live() is None
    now = 20.0
    assert await live() == {A: 0}


async def test_a_redis_that_is_away_is_unavailable() -> None:
    client = redis_client_of(f"redis://127.0.0.1:{free_port()}")
    routers = BoardRouters(
        board=RedisBoard(client=client), pins=RedisPins(client=client, ttl_s=9), session_idle_s=60, drain_within_s=30
    )
    for call in (routers.state([A]), routers.join(SPEC), routers.drain(A), routers.keep(A), routers.leave(A)):
        with pytest.raises(RoutersUnavailable):
            await call
    await client.aclose()


async def test_pins_that_are_away_leave_sessions_unknown_and_drains_unfinished(redis_client: Redis) -> None:
    away = redis_client_of(f"redis://127.0.0.1:{free_port()}")
    board = RedisBoard(client=redis_client)
    routers = BoardRouters(
        board=board, pins=RedisPins(client=away, ttl_s=9), session_idle_s=60, drain_within_s=30, settled_after_s=0
    )
    await routers.drain(A)
    state = await routers.state([A])
    assert state.live_sessions is None
    assert (state.drains[A].sessions_left, state.drains[A].may_stop) == (None, False)
    await away.aclose()


async def test_a_name_that_the_board_does_not_take_is_told() -> None:
    with pytest.raises(RoutersUnavailable, match="name"):
        await House().routers.join(ReplicaSpec(ReplicaId("x" * 201), "http://a"))
