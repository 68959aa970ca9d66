"""The router over replicas and a Redis that are processes, while they are killed, frozen, cut off and left."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gateway.local.redis_server import redis_server
from router.adapters.redis_pins import RedisPins
from router.adapters.upstream.client import UpstreamClient
from router.adapters.vllm_http import VllmEngine
from router.domain.asks import Asks
from router.domain.exchange import ChatRequest, Finished, Message, StreamItem, TextPiece
from router.domain.fleet import AffinityKey, Health, Replica, ReplicaId
from router.domain.pin import PinDecision
from router.errors import EngineError, EngineTimedOut
from router.ports import PinStore
from router.settings import RouterSettings
from router.tally import Takeover
from tests.support.redis_fixture import redis_client_of
from tests.support.router_house import House
from tests.support.simulator_process import SimulatorProcess, simulator

pytestmark = pytest.mark.redis

REQUEST = ChatRequest("smollm2", (Message("user", "Tell me all of it."),), 400, 0.0, "tenant-1", "r-1")
KEY = AffinityKey("session-1")
ONE, TWO = ReplicaId("one"), ReplicaId("two")
REPLY = "Well, that is a long story, and it began in a small town. " * 6
# One reply of about 100 tokens takes about a second.
SLOW = ("--speed-up", "3", "--enable-prompt-tokens-details")

Replicas = Mapping[ReplicaId, SimulatorProcess]


@contextmanager
def two_replicas() -> Iterator[Replicas]:
    with ExitStack() as stack:
        found = {name: stack.enter_context(simulator(*SLOW)) for name in (ONE, TWO)}
        for each in found.values():
            each.script(REPLY)
        yield found


@pytest.fixture(scope="module")
def lasting() -> Iterator[Replicas]:
    with two_replicas() as found:
        yield found


@pytest.fixture
def replicas(lasting: Replicas) -> Iterator[Replicas]:
    """They outlive the test, so what it does to them must be undone."""
    for each in lasting.values():
        each.reset()
        each.script(REPLY)
    yield lasting
    for each in lasting.values():
        each.thaw()


@pytest.fixture
def mortal() -> Iterator[Replicas]:
    """These the test may kill."""
    with two_replicas() as found:
        yield found


@pytest.fixture
async def upstream() -> AsyncIterator[UpstreamClient]:
    async with UpstreamClient() as client:
        yield client
        assert client.connections == client.idle


def pins_on(client: Redis) -> RedisPins:
    return RedisPins(client=client, ttl_s=3600, timeout_s=0.5)


def house_over(replicas: Replicas, pins: PinStore, upstream: UpstreamClient, **settings: object) -> House:
    chosen = RouterSettings.model_validate({"chunk_timeout_s": 5, **settings})
    known = [Replica(name, each.url, Health.READY, models=frozenset({"smollm2"})) for name, each in replicas.items()]
    return House(replicas=known, pins=pins, engine=VllmEngine(client=upstream, settings=chosen), settings=chosen)


Taken = tuple[ReplicaId, PinDecision, str, int]


async def take(
    house: House, key: AffinityKey = KEY, *, prefer: ReplicaId = ONE, begun: list[AffinityKey] | None = None
) -> Taken:
    """One whole turn; in `begun` it says when it has heard its first words."""
    items: list[StreamItem] = []
    async with house.router.turn(key, REQUEST, asks=Asks(prefer=prefer)) as routed:
        async for item in routed:
            if not items and begun is not None:
                begun.append(key)
            items.append(item)
    assert isinstance(items[-1], Finished)
    text = "".join(item.text for item in items if isinstance(item, TextPiece))
    return routed.replica, routed.pin, text, routed.continued


async def class_of(group: asyncio.TaskGroup, house: House, size: int) -> list[asyncio.Task[Taken]]:
    """So many turns at the first replica, each of which has heard some words."""
    begun: list[AffinityKey] = []
    turns = [group.create_task(take(house, AffinityKey(f"session-{n}"), begun=begun)) for n in range(size)]
    while len(begun) < size:
        await asyncio.wait(turns, timeout=0.01)
    return turns


async def idle(replicas: Replicas, house: House) -> None:
    assert house.is_idle()
    deadline = time.monotonic() + 10
    while any(each.metric("vllm:num_requests_running") for each in replicas.values()):
        assert time.monotonic() < deadline, "an engine still writes for nobody"
        await asyncio.sleep(0.05)


async def test_two_routers_that_meet_a_session_at_once_agree(
    replicas: Replicas, redis_client: Redis, upstream: UpstreamClient
) -> None:
    houses = [house_over(replicas, pins_on(redis_client), upstream) for _ in range(2)]
    request = ChatRequest("smollm2", REQUEST.messages, 1, 0.0, "", "r")
    for number in range(20):
        key = AffinityKey(f"session-{number}")
        first, second = await asyncio.gather(*(house.turn(key, request=request) for house in houses))
        assert first[0] == second[0]
    assert sum(load.sessions for load in (await houses[0].router.loads()).values()) == 20


async def test_a_class_whose_replica_is_killed_hears_every_reply_to_its_end(
    mortal: Replicas, redis_client: Redis, upstream: UpstreamClient
) -> None:
    house = house_over(mortal, pins_on(redis_client), upstream)
    _, _, undisturbed, _ = await take(house, AffinityKey("undisturbed"), prefer=TWO)
    async with asyncio.TaskGroup() as group:
        turns = await class_of(group, house, 30)
        mortal[ONE].kill()
        late = [group.create_task(take(house, AffinityKey(f"late-{number}"))) for number in range(10)]
    assert undisturbed == REPLY
    assert {turn.result() for turn in turns} == {(TWO, PinDecision.MOVED, REPLY, 1)}
    assert {turn.result()[::2] for turn in late} == {(TWO, REPLY)}
    assert house.tally.takeovers[Takeover.CONTINUED] == 30
    assert house.is_idle()
    assert house.router.numbers().breakers_open == {ONE}
    assert (await take(house, AffinityKey("session-0")))[:2] == (TWO, PinDecision.KEPT)


async def test_a_frozen_replica_costs_its_sessions_little_and_the_others_nothing(
    replicas: Replicas, redis_client: Redis, upstream: UpstreamClient
) -> None:
    house = house_over(replicas, pins_on(redis_client), upstream, chunk_timeout_s=0.5, first_byte_timeout_s=2.0)
    async with asyncio.TaskGroup() as group:
        stopped = await class_of(group, house, 5)
        replicas[ONE].freeze()
        began = time.monotonic()
        assert (await take(house, AffinityKey("other"), prefer=TWO))[:3] == (TWO, PinDecision.NEW, REPLY)
    assert {turn.result()[2:] for turn in stopped} == {(REPLY, 1)}
    assert time.monotonic() - began < 10.0
    replicas[ONE].thaw()
    await idle(replicas, house)


async def test_a_replica_that_is_cut_off_in_mid_reply_costs_no_word(
    replicas: Replicas, redis_client: Redis, upstream: UpstreamClient
) -> None:
    house = house_over(replicas, pins_on(redis_client), upstream, chunk_timeout_s=0.5)
    async with asyncio.TaskGroup() as group:
        (turn,) = await class_of(group, house, 1)
        replicas[ONE].fault(kind="partition")
    assert turn.result() == (TWO, PinDecision.MOVED, REPLY, 1)
    replicas[ONE].clear_faults()
    await idle(replicas, house)


async def test_when_every_replica_is_frozen_a_turn_ends_in_bounded_time(
    replicas: Replicas, redis_client: Redis, upstream: UpstreamClient
) -> None:
    house = house_over(replicas, pins_on(redis_client), upstream, answer_timeout_s=0.4, first_byte_timeout_s=0.4)
    for each in replicas.values():
        each.freeze()
    began = time.monotonic()
    with pytest.raises(EngineTimedOut):
        await take(house)
    assert time.monotonic() - began < 3.0
    for each in replicas.values():
        each.thaw()
    await idle(replicas, house)


async def test_a_session_finds_its_replica_while_redis_is_gone_and_after(
    replicas: Replicas, upstream: UpstreamClient, tmp_path: Path
) -> None:
    request = ChatRequest("smollm2", REQUEST.messages, 1, 0.0, "", "r")
    with redis_server(tmp_path) as server:
        port = int(server.url.rsplit(":", 1)[1].split("/")[0])
        client = redis_client_of(server.url)
        house = house_over(replicas, pins_on(client), upstream)
        home, decision, _ = await house.turn(request=request)
        assert decision is PinDecision.NEW
    for _ in range(3):
        assert (await house.turn(request=request))[:2] == (home, PinDecision.NONE)
    with redis_server(tmp_path, port=port):
        assert (await house.turn(request=request))[:2] == (home, PinDecision.NEW)
        assert (await house.turn(request=request))[:2] == (home, PinDecision.KEPT)
        await client.aclose()
    assert house.router.numbers().pin_failures == 3


async def test_a_redis_that_freezes_in_mid_reply_stops_neither_it_nor_its_continuation(
    replicas: Replicas, upstream: UpstreamClient, tmp_path: Path
) -> None:
    with redis_server(tmp_path) as server:
        client = redis_client_of(server.url)
        house = house_over(replicas, pins_on(client), upstream)
        replicas[ONE].fault(kind="cut", after_chunks=60, times=1)
        async with house.router.turn(KEY, REQUEST, asks=Asks(prefer=ONE)) as routed:
            os.kill(server.pid, signal.SIGSTOP)
            try:
                items = [item async for item in routed]
            finally:
                os.kill(server.pid, signal.SIGCONT)
        assert "".join(item.text for item in items if isinstance(item, TextPiece)) == REPLY
        assert (routed.continued, routed.pin) == (1, PinDecision.NONE)
        await client.aclose()


async def test_a_thousand_turns_left_at_any_moment_leave_nothing_behind(
    replicas: Replicas, redis_client: Redis, upstream: UpstreamClient
) -> None:
    house = house_over(replicas, pins_on(redis_client), upstream, max_in_flight=1_000)

    async def leave(number: int) -> None:
        with suppress(TimeoutError, EngineError):
            async with asyncio.timeout(number % 50 * 0.004):
                await take(house, AffinityKey(f"session-{number}"))

    for start in range(0, 1_000, 100):
        await asyncio.gather(*(leave(number) for number in range(start, start + 100)))
    await idle(replicas, house)
    assert house.router.numbers().in_flight == {}
    assert (await take(house))[2] == REPLY


async def test_a_replica_that_dies_again_and_again_under_load_costs_no_turn_and_no_place(
    replicas: Replicas, redis_client: Redis, upstream: UpstreamClient
) -> None:
    house = house_over(replicas, pins_on(redis_client), upstream)
    replicas[ONE].fault(kind="cut", after_chunks=20, after_requests=3, times=10)
    turns = await asyncio.gather(*(take(house, AffinityKey(f"session-{number}")) for number in range(40)))
    assert {turn[2] for turn in turns} == {REPLY}
    assert house.tally.takeovers[Takeover.CONTINUED] == 10
    await idle(replicas, house)
