"""Ten routers behind round robin, 10,000 sessions on 300 replicas, while replicas die, are drained and join.

The routers are objects in one process and not ten processes: what is proven is that they agree, each by its own cache,
subscription and connection to a real Redis, and that takes a driver which sees every turn of each of them in one order.
The replicas are played (tests/support/router_crowd.py); the wire is tested elsewhere.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gateway.local.redis_server import RedisServer
from router.domain.asks import Asks
from router.domain.decision import Decision
from router.domain.exchange import Call, CallPath
from router.domain.fleet import AffinityKey, ReplicaId, ReplicaSpec
from router.domain.pin import Demand, PinDecision
from router.settings import RouterSettings
from tests.support.eventually import eventually
from tests.support.router_crowd import MODEL, Member, PlayedReplicas, crowd

ROUTERS, SESSIONS, REPLICAS = 10, 10_000, 300
AT_ONCE = 100
DEATHS, DRAINS, JOINS, LEAVERS = 6, 6, 12, 500
COHORTS = 20
EVENNESS = 1.1
GROWTH_BYTES = 48 << 20
SETTINGS = RouterSettings(canary_interval_s=0, prompt_memory_bytes=2 << 20)


@dataclass(slots=True)
class Session:
    key: AffinityKey
    call: Call
    asks: Asks
    home: ReplicaId | None = None
    generation: int = 0
    moves: list[str] = field(default_factory=list)


class Class:
    """All sessions, the balancer in front of the routers, and the judge of every single turn."""

    def __init__(self, routers: Sequence[Member], replicas: PlayedReplicas) -> None:
        self.routers = routers
        self.replicas = replicas
        self.sessions: list[Session] = []
        self.turns = 0
        self.decisions: Counter[PinDecision] = Counter()
        self.left: set[ReplicaId] = set()
        """Replicas that sessions have a reason to leave."""
        self.twice = 0
        """Moves to another replica that was lost too, of which the router that moved did not know yet."""
        self._dice = random.Random(20260)  # noqa: S311
        self._next = count()
        self._names = count()

    def arrive(self, number: int) -> list[Session]:
        newcomers = [_session(next(self._names)) for _ in range(number)]
        self.sessions += newcomers
        return newcomers

    async def leave(self, number: int) -> None:
        self._dice.shuffle(self.sessions)
        leaving, self.sessions = self.sessions[:number], self.sessions[number:]
        for start in range(0, number, AT_ONCE):
            await asyncio.gather(*(self._router().router.end(each.key) for each in leaving[start : start + AT_ONCE]))

    async def bell(self, sessions: Iterable[Session] | None = None) -> None:
        """One turn of each, many at once, in another order every time."""
        order = list(self.sessions if sessions is None else sessions)
        self._dice.shuffle(order)
        turns = iter(order)

        async def take_some() -> None:
            for session in turns:
                await self._turn(session)

        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(take_some())

    def _router(self) -> Member:
        return self.routers[next(self._next) % len(self.routers)]

    async def _turn(self, session: Session) -> None:
        router = self._router().router
        carried = await router.carry(session.call, session=session.key, asks=session.asks)
        try:
            text = b""
            while data := await carried.read():
                text += data
        finally:
            carried.close()
        assert b'"finish_reason":"stop"' in text
        decision = await router.decision(session.call.request_id)
        assert decision is not None
        self._judge(session, decision)

    def _judge(self, session: Session, decision: Decision) -> None:
        self.turns += 1
        self.decisions[decision.pin] += 1
        *failed, last = decision.attempts
        assert last.outcome == "completed"
        assert all(each.replica in self.left and each.outcome for each in failed), decision
        if session.home is None:
            assert (decision.pin, decision.generation > 0) == (PinDecision.NEW, True), decision
        elif last.replica != session.home:
            # It moved: out of a replica that is lost or drained, and once for each that it has tried.
            assert session.home in self.left, (session, decision)
            moves = decision.generation - session.generation
            assert 1 <= moves <= 2, decision
            self.twice += moves > 1
            assert last.why
            session.moves.append(last.why if decision.pin is PinDecision.MOVED else "drained")
        else:
            assert (decision.pin, decision.generation) == (PinDecision.KEPT, session.generation), (session, decision)
        session.home, session.generation = last.replica, decision.generation

    async def spread(self) -> dict[ReplicaId, int]:
        loads = await self.routers[0].router.loads()
        return {replica: load.sessions for replica, load in loads.items() if replica not in self.left}

    async def evenness(self) -> float:
        sessions = list((await self.spread()).values())
        return max(sessions) / (sum(sessions) / len(sessions))


def _session(number: int) -> Session:
    key = AffinityKey(f"session-{number}")
    body = f'{{"model":"{MODEL}","stream":true,"messages":[{{"role":"user","content":"I am {key}."}}]}}'
    call = Call(CallPath.CHAT, body.encode(), MODEL, is_streamed=True, request_id=f"turn-of-{number}")
    return Session(key, call, Asks(demand=Demand(2_000, f"scenario-{number % COHORTS}")))


def _spec(number: int) -> ReplicaSpec:
    return ReplicaSpec(ReplicaId(f"replica-{number}"), f"http://127.0.0.1:{20_000 + number}")


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.fixture
async def house(running_redis: RedisServer, redis_client: Redis) -> AsyncIterator[Class]:
    del redis_client  # it empties the database
    replicas = PlayedReplicas()
    names = [f"router-{number}" for number in range(ROUTERS)]
    specs = [_spec(number) for number in range(REPLICAS)]
    async with crowd(names, replicas, specs=specs, url=running_redis.url, settings=SETTINGS) as routers:
        yield Class(routers, replicas)


@pytest.mark.redis
@pytest.mark.timeout(300)
async def test_every_turn_of_ten_thousand_sessions_is_where_it_should_be(house: Class) -> None:
    house.arrive(SESSIONS)
    await house.bell()
    assert house.decisions == {PinDecision.NEW: SESSIONS}
    assert await house.evenness() <= EVENNESS
    await some_die(house, [ReplicaId(f"replica-{number}") for number in range(DEATHS)])
    assert await house.evenness() <= EVENNESS
    await some_are_drained(house, [ReplicaId(f"replica-{number}") for number in range(DEATHS, DEATHS + DRAINS)])
    assert await house.evenness() <= EVENNESS
    await some_join(house, [_spec(number) for number in range(REPLICAS, REPLICAS + JOINS)])
    resident = _resident_bytes()
    await house.leave(LEAVERS)
    await house.bell(house.arrive(LEAVERS))
    assert min((await house.spread()).values()) >= SESSIONS / REPLICAS / EVENNESS
    assert sum((await house.spread()).values()) == SESSIONS
    assert await house.evenness() <= EVENNESS
    await house.bell()
    assert _resident_bytes() - resident < GROWTH_BYTES
    assert not +house.replicas.running
    assert all(each.router.numbers().in_flight == {} for each in house.routers)


async def some_die(house: Class, dying: Sequence[ReplicaId]) -> None:
    """In the middle of a round, with replies that run there."""
    homes = await house.spread()
    begun = house.turns
    ringing = asyncio.ensure_future(house.bell())
    await eventually(lambda: house.turns > begun + SESSIONS // 3, within_s=60.0)
    house.left |= set(dying)
    house.replicas.lost |= set(dying)
    await ringing
    await house.bell(session for session in house.sessions if session.home in dying)
    moved = sum(bool(session.moves) for session in house.sessions)
    assert moved == sum(homes[each] for each in dying)
    assert house.twice < moved / 20
    assert max(len(session.moves) for session in house.sessions) == 1


async def some_are_drained(house: Class, leaving: Sequence[ReplicaId]) -> None:
    """While the class goes on. Nobody is asked twice, and nobody notices."""
    homes = await house.spread()
    before = house.decisions[PinDecision.MOVED]
    house.left |= set(leaving)
    ringing = asyncio.ensure_future(house.bell())
    await asyncio.gather(*(drain(house, each) for each in leaving))
    await ringing
    house.replicas.lost |= set(leaving)
    await house.bell(session for session in house.sessions if session.home in leaving)
    assert sum("drained" in session.moves for session in house.sessions) == sum(homes[each] for each in leaving)
    assert house.decisions[PinDecision.MOVED] == before


async def some_join(house: Class, joining: Sequence[ReplicaSpec]) -> None:
    """They move nobody: whoever comes next goes there."""
    for spec in joining:
        await house.routers[5].orders.add(spec.id, spec.url)
    for each in house.routers:
        await eventually(lambda router=each.router: len(router.fleet().open_to(MODEL)) == REPLICAS)  # type: ignore[misc]
    before = Counter(house.decisions)
    await house.bell()
    assert house.decisions - before == {PinDecision.KEPT: SESSIONS}
    spread = await house.spread()
    assert [spread[spec.id] for spec in joining] == [0] * JOINS


async def drain(house: Class, replica: ReplicaId) -> None:
    ordering = house.routers[3].orders
    await ordering.drain(replica, within_s=20.0)
    ended = await ordering.wait_drained(replica)
    assert ended is not None
    assert (len(ended.acknowledged), ended.missing, ended.sessions_left) == (ROUTERS, (), 0)
    await ordering.remove(replica)
