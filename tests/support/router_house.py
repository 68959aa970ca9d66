"""A router over three replicas in this process, and all it stands on."""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from typing_extensions import override

from router.adapters.memory_decisions import MemoryDecisions
from router.domain.asks import Asks
from router.domain.exchange import Call, ChatRequest, Message, StreamItem
from router.domain.fleet import AffinityKey, Fleet, Health, Replica, ReplicaId
from router.domain.pin import PinDecision
from router.inflight import InFlight
from router.load_book import LoadBook
from router.ports import Engine, FleetView, PinStore, Tracing
from router.prewarming import Prewarming
from router.recent_prompts import RecentPrompts
from router.service import Router, RouterParts
from router.settings import RouterSettings
from router.tally import Tally
from router.waiting_room import WaitingRoom
from tests.support.fake_engine import FakeEngine
from tests.support.fragile_pins import FragilePins

MODEL = "smollm2"
KEY = AffinityKey("session-1")
A, B, C = ReplicaId("a"), ReplicaId("b"), ReplicaId("c")
REQUEST = ChatRequest(MODEL, (Message("user", "hello"),), 16, 0.0, "tenant-1", "request-1")
NO_ASKS = Asks()


class FakeFleet(FleetView):
    """A fleet that changes when it is told to."""

    def __init__(self, replicas: Iterable[Replica]) -> None:
        self._fleet = Fleet(tuple(replicas))
        self.failures: list[ReplicaId] = []
        self.late: list[ReplicaId] = []

    @override
    def current(self) -> Fleet:
        return self._fleet

    @override
    def saw_failure(self, replica: ReplicaId, detail: str) -> None:
        self.failures.append(replica)
        self.change(replica, health=Health.DOWN, reason=detail)

    @override
    def saw_late_connect(self, replica: ReplicaId, detail: str) -> None:
        self.late.append(replica)

    def change(self, replica: ReplicaId, **fields: object) -> None:
        self._fleet = Fleet(
            tuple(replace(each, **fields) if each.id == replica else each for each in self._fleet.replicas)  # type: ignore[arg-type]
        )


def three_replicas(model: str = MODEL) -> list[Replica]:
    return [Replica(name, f"http://{name}", Health.READY, models=frozenset({model})) for name in (A, B, C)]


class House:
    def __init__(
        self,
        *,
        pins: PinStore | None = None,
        engine: Engine | None = None,
        replicas: Iterable[Replica] | None = None,
        tracing: Tracing | None = None,
        clock: Callable[[], float] = time.monotonic,
        settings: RouterSettings | None = None,
    ) -> None:
        settings = RouterSettings() if settings is None else settings
        self.settings = settings
        self.fleet = FakeFleet(three_replicas() if replicas is None else replicas)
        self.fake = FakeEngine()
        self.engine = self.fake if engine is None else engine
        self.fragile = FragilePins()
        self.pins: PinStore = self.fragile if pins is None else pins
        self.room = WaitingRoom(settings)
        self.book = LoadBook(max_in_flight=settings.max_in_flight, kv_share=settings.kv_share, freed=self.room.freed)
        self.tally = Tally()
        self.in_flight = InFlight()
        self.prompts = RecentPrompts(limit_bytes=1 << 20)
        self.prewarming = Prewarming(engine=self.engine, load=self.book, settings=settings, tally=self.tally)
        self.decisions = MemoryDecisions()
        parts = RouterParts(
            pins=self.pins,
            fleet=self.fleet,
            engine=self.engine,
            decisions=self.decisions,
            book=self.book,
            waiting_room=self.room,
            prewarming=self.prewarming,
            recent_prompts=self.prompts,
            in_flight=self.in_flight,
            tally=self.tally,
            tracing=tracing,
            clock=clock,
            wall=lambda: 1_000.0,
        )
        self.router = Router(parts, settings)

    async def turn(
        self, key: AffinityKey = KEY, *, asks: Asks = NO_ASKS, request: ChatRequest = REQUEST
    ) -> tuple[ReplicaId, PinDecision, list[StreamItem]]:
        async with self.router.turn(key, request, asks=asks) as routed:
            items = [item async for item in routed]
            return routed.replica, routed.pin, items

    async def read(self, call: Call, *, session: AffinityKey | None = KEY, asks: Asks = NO_ASKS) -> bytes:
        """All bytes of one carried call."""
        carried = await self.router.carry(call, session=session, asks=asks)
        parts: list[bytes] = []
        try:
            while data := await carried.read():
                parts.append(data)
        finally:
            carried.close()
        return b"".join(parts)

    def take_down(self, *replicas: ReplicaId) -> None:
        for replica in replicas:
            self.fleet.saw_failure(replica, "taken down")

    def is_idle(self) -> bool:
        """Whether nothing is held anywhere."""
        held = (self.in_flight.counts(), self.book.own(), self.room.length, self.fake.open_answers)
        return held == ({}, {}, 0, 0) and not self.in_flight.is_running(AffinityKey(f"{MODEL}\n{KEY}"))


async def until(is_so: Callable[[], bool]) -> None:
    """Let others go on until it is so."""
    for _ in range(10_000):
        if is_so():
            return
        await asyncio.sleep(0)
    raise AssertionError("it did not come to that")
