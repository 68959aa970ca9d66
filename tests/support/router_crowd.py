"""Many routers and a large fleet in one process: all of each router is the product's own, over a real Redis by its own
connections; only the replicas are played, at once and without a wire.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from redis.asyncio import Redis
from typing_extensions import override

from gateway.wiring.background import background
from gateway.wiring.redis import shared_redis
from router.adapters.memory_decisions import MemoryDecisions
from router.adapters.pin_cache import CachedPins
from router.adapters.redis_board import RedisBoard
from router.adapters.redis_moves import RedisMoves
from router.adapters.redis_pins import RedisPins
from router.adapters.static_fleet import StaticFleet
from router.domain.board import RouterId
from router.domain.engine_metrics import EngineMetrics
from router.domain.exchange import Call
from router.domain.fleet import Replica, ReplicaId, ReplicaSpec
from router.domain.health import Observation
from router.domain.sighting import Look, Sighting
from router.errors import EngineBroke, EngineUnreachable
from router.fleet_state import FleetState
from router.fleet_upkeep import FleetUpkeep
from router.inflight import InFlight
from router.load_book import LoadBook
from router.mover import Mover, MoverParts
from router.orders import FleetOrders, FleetSources, Orders
from router.ports import Answer, Engine, Probe
from router.prewarming import Prewarming
from router.recent_prompts import RecentPrompts
from router.service import Router, RouterParts
from router.settings import RouterSettings
from router.tally import Tally
from router.waiting_room import WaitingRoom
from tests.support.eventually import eventually
from tests.support.fake_engine import events_of

MODEL = "smollm2"
_GONE = Sighting(Observation.PROBE_FAILED, "cannot be reached")
_HERE = Sighting(Observation.PROBE_PASSED, metrics=EngineMetrics())
_FIT = Sighting(Observation.ACCEPTED, models=frozenset({MODEL}))
_GENERATES = Sighting(Observation.CANARY_PASSED, took_ms=1.0)


class PlayedReplicas(Engine, Probe):
    """Every replica says the same reply in two pieces; a lost one refuses, and breaks what it had begun."""

    def __init__(self) -> None:
        self.lost: set[ReplicaId] = set()
        self.running: Counter[ReplicaId] = Counter()
        self.served: Counter[ReplicaId] = Counter()

        self._whole: tuple[bytes, bytes] | None = None

    def answer_to(self, call: Call) -> tuple[bytes, bytes]:
        if self._whole is None or b'"assistant"' in call.body:
            events = events_of(call)
            half = len(events) // 2
            pieces = b"".join(events[:half]), b"".join(events[half:])
            if b'"assistant"' in call.body:
                return pieces
            self._whole = pieces
        return self._whole

    @override
    async def open(self, replica: Replica, call: Call) -> Answer:
        await asyncio.sleep(0)
        if replica.id in self.lost:
            raise EngineUnreachable(replica.id, "connection refused")
        self.served[replica.id] += 1
        return _PlayedAnswer(self, replica.id, call)

    @override
    async def look(self, spec: ReplicaSpec) -> Look:
        await asyncio.sleep(0)
        return _GONE if spec.id in self.lost else _HERE

    @override
    async def register(self, spec: ReplicaSpec) -> Look:
        return _GONE if spec.id in self.lost else _FIT

    @override
    async def try_out(self, spec: ReplicaSpec, models: object) -> Look:
        return _GONE if spec.id in self.lost else _GENERATES


class _PlayedAnswer(Answer):
    def __init__(self, replicas: PlayedReplicas, replica: ReplicaId, call: Call) -> None:
        self._replicas, self._replica = replicas, replica
        self._pieces = list(replicas.answer_to(call))
        self._is_open = True
        replicas.running[replica] += 1

    @property
    @override
    def content_type(self) -> str:
        return "text/event-stream"

    @override
    async def read(self) -> bytes:
        await asyncio.sleep(0)
        if self._replica in self._replicas.lost:
            raise EngineBroke(self._replica, "connection reset")
        return self._pieces.pop(0) if self._pieces else b""

    @override
    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._replicas.running[self._replica] -= 1


@dataclass(frozen=True, slots=True)
class Member:
    """One router of the crowd."""

    router: Router
    orders: FleetOrders
    prompts: RecentPrompts
    mover: Mover
    redis: Redis


@asynccontextmanager
async def member(
    name: str, replicas: PlayedReplicas, *, specs: Sequence[ReplicaSpec], url: str, settings: RouterSettings
) -> AsyncIterator[Member]:
    """Put together as the wiring does it."""
    async with AsyncExitStack() as stack:
        client = (await stack.enter_async_context(shared_redis(url))).client
        feed = RedisMoves(url=url)
        shared = RedisPins(client=client, ttl_s=settings.pin_ttl_s, cohort_bound=settings.cohort_bound, timeout_s=5.0)
        pins = CachedPins(store=shared, feed=feed, ttl_s=settings.pin_ttl_s)
        state, tally, room, in_flight = FleetState(), Tally(), WaitingRoom(settings), InFlight()
        book = LoadBook(max_in_flight=settings.max_in_flight, kv_share=settings.kv_share, freed=room.freed)
        prewarming = Prewarming(engine=replicas, load=book, settings=settings, tally=tally)
        prompts = RecentPrompts(limit_bytes=settings.prompt_memory_bytes)
        parts = RouterParts(
            pins=pins,
            fleet=state,
            engine=replicas,
            decisions=MemoryDecisions(most=1_000),
            book=book,
            waiting_room=room,
            prewarming=prewarming,
            recent_prompts=prompts,
            in_flight=in_flight,
            tally=tally,
        )
        mover = Mover(MoverParts(pins, state, prewarming, prompts, in_flight), router=RouterId(name))
        board = RedisBoard(client=client, timeout_s=5.0)
        orders = Orders(
            board=board,
            router=RouterId(name),
            obey=(state.apply, mover.saw),
            in_flight=book.own,
            settings=settings,
        )
        upkeep = FleetUpkeep(source=StaticFleet(replicas=specs), state=state, probe=replicas, settings=settings)
        await orders.take_round()
        await upkeep.first_round()
        work = [upkeep.run(), orders.run(), mover.run(), prewarming.run(), pins.run()]
        await stack.enter_async_context(background(*work))
        await eventually(lambda: feed.number > 0)
        sources = FleetSources(board, state, pins, in_flight.counts)
        yield Member(Router(parts, settings), FleetOrders(sources, settings), prompts, mover, client)


@asynccontextmanager
async def crowd(
    names: Iterable[str], replicas: PlayedReplicas, *, specs: Sequence[ReplicaSpec], url: str, settings: RouterSettings
) -> AsyncIterator[list[Member]]:
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(member(name, replicas, specs=specs, url=url, settings=settings))
            for name in names
        ]
