"""A replica is taken out in the middle of a class: nobody's turn fails, and the next one is warm where it goes.

Two routers over one Redis, in front of simulated replicas, put together as the product is.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import pytest

from gateway.local.redis_server import RedisServer
from gateway.wiring.redis import SharedRedis, shared_redis
from gateway.wiring.routing import Plan, Routing, routing
from router.adapters.redis_board import RedisBoard
from router.adapters.redis_pins import RedisPins
from router.adapters.static_fleet import StaticFleet
from router.domain.asks import Asks
from router.domain.board import RouterId
from router.domain.exchange import ChatRequest, Finished, Message, TextPiece
from router.domain.fleet import AffinityKey, ReplicaId, ReplicaSpec
from router.domain.pin import Demand, PinDecision
from router.domain.pin_key import pin_key
from router.settings import RouterSettings
from router.tally import PrewarmOutcome
from tests.support.simulator_process import SimulatorProcess, simulator
from tests.support.told_usage import told_usage

MODEL = "smollm2"
A, B, C = ReplicaId("a"), ReplicaId("b"), ReplicaId("c")
TRAINEES = 30
SCRIPT = Message("system", "You are a customer of a small shop, and you have lost your order. " * 20)
LONG_REPLY = " ".join(f"and {number} more" for number in range(200)) + "."
SETTINGS = RouterSettings(board_interval_s=0.1, probe_interval_s=0.5, canary_interval_s=0)
Simulators = dict[ReplicaId, SimulatorProcess]


@dataclass(slots=True)
class Turn:
    replica: ReplicaId
    pin: PinDecision
    text: str
    end: Finished
    continued: int

    @property
    def cached_share(self) -> float:
        usage = told_usage(self.end)
        return usage.cached_tokens / usage.prompt_tokens


@dataclass(slots=True)
class Trainee:
    """One session that comes to one of the routers, as behind a balancer that keeps connections."""

    key: AffinityKey
    number: int = 0
    said: list[Message] = field(default_factory=list)

    async def turn(self, routers: list[Routing], *, max_tokens: int = 24) -> Turn:
        number = len(self.said) // 2
        asked = [*self.said, Message("user", f"I am {self.key}. This is what I say in turn {number}, loud and clear.")]
        messages = (SCRIPT, *asked)
        request = ChatRequest(MODEL, messages, max_tokens, 0.0, "t", f"{self.key}-{number}", self.key)
        router = routers[self.number % len(routers)].router
        async with router.turn(self.key, request, asks=Asks(demand=Demand(2_000))) as stream:
            items = [item async for item in stream]
            end = items[-1]
            assert isinstance(end, Finished)
            text = "".join(item.text for item in items if isinstance(item, TextPiece))
            self.said = [*asked, Message("assistant", text)]
            return Turn(stream.replica, stream.pin, text, end, stream.continued)


async def bell(trainees: list[Trainee], routers: list[Routing]) -> list[Turn]:
    """One turn of everybody, all at once."""
    return await asyncio.gather(*(trainee.turn(routers) for trainee in trainees))


def class_of(size: int = TRAINEES) -> list[Trainee]:
    return [Trainee(AffinityKey(f"trainee-{number}"), number) for number in range(size)]


@pytest.fixture
def simulators() -> Iterator[Simulators]:
    arguments = ("--speed-up", "30", "--enable-prompt-tokens-details")
    with simulator(*arguments) as one, simulator(*arguments) as two, simulator(*arguments) as three:
        yield {A: one, B: two, C: three}


@asynccontextmanager
async def one_router(name: str, simulators: Simulators, redis: SharedRedis) -> AsyncIterator[Routing]:
    specs = [ReplicaSpec(replica, each.url) for replica, each in simulators.items()]
    plan = Plan(settings=SETTINGS, source=StaticFleet(replicas=specs), name=RouterId(name), redis=redis)
    async with routing(plan) as running:
        yield running


@pytest.fixture
async def redis(running_redis: RedisServer) -> AsyncIterator[SharedRedis]:
    """An empty one, by the product's own client."""
    async with shared_redis(running_redis.url) as shared:
        await shared.client.flushall()
        yield shared


@pytest.fixture
async def routers(simulators: Simulators, redis: SharedRedis) -> AsyncIterator[list[Routing]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(one_router(name, simulators, redis)) for name in ("r1", "r2")]


async def sessions_at(routers: list[Routing], replica: ReplicaId) -> int:
    return (await routers[0].router.loads())[replica].sessions


@pytest.mark.redis
async def test_a_replica_is_drained_and_stopped_in_the_middle_of_a_class(
    routers: list[Routing], simulators: Simulators
) -> None:
    trainees = class_of()
    first = await bell(trainees, routers)
    second = await bell(trainees, routers)
    assert [turn.pin for turn in second] == [PinDecision.KEPT] * TRAINEES
    assert await sessions_at(routers, A) == TRAINEES / 3

    # The order comes while all of them are being answered.
    third = asyncio.ensure_future(bell(trainees, routers))
    await asyncio.to_thread(simulators[A].client.get, "/health")
    await routers[0].orders.drain(A, within_s=60.0)
    ended = await asyncio.wait_for(routers[1].orders.wait_drained(A), 40.0)
    assert ended is not None
    assert (ended.acknowledged, ended.missing, ended.sessions_left) == ((RouterId("r1"), RouterId("r2")), (), 0)
    assert ended.seconds_left > 0
    during = await third
    assert all(turn.continued == 0 for turn in during)

    await routers[1].orders.remove(A)
    simulators[A].close()
    after = await bell(trainees, routers)
    later = await bell(trainees, routers)
    assert {turn.replica for turn in (*after, *later)} == {B, C}
    assert [turn.pin for turn in (*after, *later)] == [PinDecision.KEPT] * (2 * TRAINEES)
    moved = [turn for turn, before in zip(after, first, strict=True) if before.replica == A]
    stayed = [turn for turn, before in zip(after, first, strict=True) if before.replica != A]
    assert len(moved) == TRAINEES / 3
    # The prompt was computed beforehand, though not the reply to it, which is a part of the next one.
    assert min(turn.cached_share for turn in moved) > 0.8
    assert all(turn.replica == before.replica for turn, before in zip(after, first, strict=True) if before.replica != A)
    assert min(turn.cached_share for turn in stayed) > 0.8
    numbers = [each.router.numbers() for each in routers]
    assert sum(each.retries for each in numbers) == 0
    assert sum(each.prewarms[PrewarmOutcome.DONE] for each in numbers) >= TRAINEES / 3
    assert [each.in_flight for each in numbers] == [{}, {}]


@pytest.mark.redis
async def test_past_the_deadline_running_replies_go_on_elsewhere_and_no_turn_fails(
    routers: list[Routing], simulators: Simulators
) -> None:
    for each in simulators.values():
        each.script(LONG_REPLY)
    trainees = class_of(9)
    running = asyncio.ensure_future(asyncio.gather(*(each.turn(routers, max_tokens=900) for each in trainees)))
    while await sessions_at(routers, A) < 3:  # noqa: ASYNC110 - another process's Redis is what changes
        await asyncio.sleep(0.01)
    await routers[0].orders.drain(A, within_s=0.1)
    ended = await asyncio.wait_for(routers[0].orders.wait_drained(A), 20.0)
    assert ended is not None
    assert (ended.in_flight, ended.seconds_left <= 0) == (0, True)
    turns = await running
    assert [turn.text for turn in turns] == [LONG_REPLY] * 9
    assert [turn.continued for turn in turns if turn.continued] == [1, 1, 1]
    assert {turn.replica for turn in turns} == {B, C}
    assert await sessions_at(routers, A) == 0


@pytest.mark.redis
async def test_a_router_that_died_holds_no_drain_up_and_its_sessions_move_too(
    routers: list[Routing], redis: SharedRedis
) -> None:
    pins, board = RedisPins(client=redis.client, ttl_s=60), RedisBoard(client=redis.client)
    await board.report(RouterId("ghost"), {})
    for number in range(40):
        await pins.claim(
            pin_key(MODEL, AffinityKey(f"of-the-ghost-{number}")), [A], replacing=None, demand=Demand(2_000)
        )
    begun = await routers[0].orders.drain(A, within_s=4.0)
    assert RouterId("ghost") in begun.missing
    ended = await asyncio.wait_for(routers[0].orders.wait_drained(A), 20.0)
    assert ended is not None
    assert (ended.missing, ended.sessions_left) == ((), 0)
    loads = await routers[0].router.loads()
    assert (loads[A].sessions, loads[B].sessions + loads[C].sessions) == (0, 40)
    assert abs(loads[B].sessions - loads[C].sessions) <= 8  # the two routers do not see each other's choices at once
    assert [loads[each].kv_tokens for each in (A, B, C)] == [loads[each].sessions * 2_000 for each in (A, B, C)]


@pytest.mark.redis
async def test_an_undone_drain_takes_new_sessions_again_and_moves_nobody_back(routers: list[Routing]) -> None:
    trainees = class_of(6)
    await bell(trainees, routers)
    await routers[0].orders.drain(A, within_s=60.0)
    await asyncio.wait_for(routers[0].orders.wait_drained(A), 20.0)
    await routers[1].orders.undo(A)
    for each in routers:
        await each.board.take_round()
    second = await bell(trainees, routers)
    assert {turn.replica for turn in second} == {B, C}
    newcomer = await Trainee(AffinityKey("newcomer")).turn(routers)
    assert (newcomer.replica, newcomer.pin) == (A, PinDecision.NEW)
