"""The router: pins sessions to replicas, carries their turns there, and says what it has done."""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from functools import partial

from router.attempt import Yard
from router.breakers import Breakers
from router.carrying import Carried
from router.chat_turn import OpeningTurn, RoutedStream
from router.domain.asks import Asks, with_priority
from router.domain.breaker import Rule
from router.domain.chat_call import chat_call
from router.domain.decision import Decision
from router.domain.engine_priority import prioritised
from router.domain.exchange import Call, ChatRequest
from router.domain.fleet import AffinityKey, Fleet, ReplicaId
from router.domain.kv_estimate import kv_estimate
from router.domain.pin import Pin, PinDecision, PinMode, PinnedLoad
from router.domain.pin_key import pin_key
from router.errors import PinStoreUnavailable
from router.inflight import InFlight
from router.load_book import LoadBook
from router.placing import Errand, Placing, Sources
from router.ports import DecisionLog, Engine, FleetView, PinStore, Tracing
from router.prewarming import Prewarming
from router.recent_prompts import RecentPrompts
from router.retry_budgets import RetryBudgets
from router.settings import RouterSettings
from router.tally import RouterNumbers, Tally
from router.waiting_room import WaitingRoom
from router.watched_pins import WatchedPins

__all__ = ["Carried", "RoutedStream", "Router", "RouterParts"]

_NO_ASKS = Asks()
_LOADS_INTERVAL_S = 1.0


@dataclass(frozen=True, slots=True)
class RouterParts:
    """What a router is made of; the wiring makes them, since others share some of them."""

    pins: PinStore
    fleet: FleetView
    engine: Engine
    decisions: DecisionLog
    book: LoadBook
    waiting_room: WaitingRoom
    prewarming: Prewarming
    recent_prompts: RecentPrompts
    in_flight: InFlight
    tally: Tally
    tracing: Tracing | None = None
    """None: nothing is traced, and tracing costs nothing."""
    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time


class Router:
    """Every key given to it is a session's own; the pin store's keys are made here."""

    def __init__(self, parts: RouterParts, settings: RouterSettings) -> None:
        self._parts = parts
        self._settings = settings
        self._pins = WatchedPins(parts.pins)
        self._models: set[str] = set()
        rule = Rule(settings.breaker_failures, settings.breaker_open_s)
        self._breakers = Breakers(rule=rule, tally=parts.tally)
        sources = Sources(self._pins, parts.fleet, parts.book, self._breakers, parts.waiting_room, parts.clock)
        self._placing = Placing(sources=sources, settings=settings, tally=parts.tally)
        self._yard = Yard(
            placing=self._placing,
            engine=parts.engine,
            fleet=parts.fleet,
            breakers=self._breakers,
            budgets=RetryBudgets(settings),
            in_flight=parts.in_flight,
            decisions=parts.decisions,
            prewarming=parts.prewarming,
            recent_prompts=parts.recent_prompts,
            tally=parts.tally,
            tracing=parts.tracing,
            settings=settings,
            clock=parts.clock,
            wall=parts.wall,
        )

    async def carry(self, call: Call, *, session: AffinityKey | None, asks: Asks = _NO_ASKS) -> Carried:
        """Return once a replica has taken the call, before any token of a stream; whoever gets it closes it.

        Raises `NoReplicaAvailable`, `NoRoom`, `ModelUnknown`, or the `EngineError` of the last replica asked.
        """
        if self._settings.engine_priority:
            call = prioritised(call, asks.ticket.priority)
        carried = Carried(self._yard, call, errand=self._errand(call, session, asks))
        try:
            await carried.open()
        except BaseException:
            carried.close()
            raise
        return carried

    def turn(
        self, key: AffinityKey, request: ChatRequest, *, asks: Asks = _NO_ASKS
    ) -> AbstractAsyncContextManager[RoutedStream]:
        """Entering is `carry`, at the priority of the request if it has one; leaving stops the turn down to the engine.
        The stream raises an `EngineError` when the reply breaks and nobody can go on with it.
        """
        asks = with_priority(asks, request.priority)
        return OpeningTurn(partial(self.carry, chat_call(request), session=key, asks=asks))

    async def end(self, key: AffinityKey) -> None:
        """Forget the session. While the pin store is away nothing happens: the pins' time to live ends them."""
        for each in self._keys_of(key):
            self._parts.prewarming.drop(each)
            self._parts.recent_prompts.forget(each)
            self._placing.forget(each)
            with suppress(PinStoreUnavailable):
                await self._pins.end(each)

    async def prewarm(self, key: AffinityKey, request: ChatRequest) -> None:
        """Have the prompt computed at the session's replica before its next turn; returns at once, and never raises.

        A session without a pin has no replica yet, and one whose turn runs needs none.
        """
        await self.prewarm_call(key, chat_call(request))

    async def prewarm_call(self, key: AffinityKey, call: Call) -> bool:
        """As `prewarm`; whether it was scheduled."""
        pinned = pin_key(call.model, key)
        try:
            pin = await self._pins.get(pinned)
        except PinStoreUnavailable:
            return False
        replica = None if pin is None else self._parts.fleet.current().get(pin.replica)
        if replica is None or not replica.is_ready or self._parts.in_flight.is_running(pinned):
            return False
        self._parts.prewarming.start(pinned, replica, call)
        return True

    async def pins(self, key: AffinityKey) -> Mapping[str, Pin]:
        """The session's pins by model; raises `PinStoreUnavailable`."""
        found = {model: await self._pins.get(pin_key(model, key)) for model in self._known_models()}
        return {model: pin for model, pin in found.items() if pin is not None}

    async def decision(self, request_id: str) -> Decision | None:
        """Why that turn ran where it did; raises `DecisionsUnavailable`."""
        return await self._parts.decisions.find(request_id)

    def fleet(self) -> Fleet:
        return self._parts.fleet.current()

    async def loads(self) -> Mapping[ReplicaId, PinnedLoad]:
        """What is pinned to every known replica; raises `PinStoreUnavailable`, since unknown is not zero."""
        loads = await self._pins.loads([replica.id for replica in self.fleet().replicas])
        self._placing.known_loads, self._placing.has_claimed = loads, False
        return loads

    async def watch_loads(self) -> None:
        """For ever: read the loads again after sessions were placed, so that decisions can tell those of candidates."""
        while True:
            if self._placing.has_claimed:
                with suppress(PinStoreUnavailable):
                    await self.loads()
            await asyncio.sleep(_LOADS_INTERVAL_S)

    def numbers(self) -> RouterNumbers:
        return replace(
            self._parts.tally.numbers(),
            in_flight=self._parts.in_flight.counts(),
            waiting=self._parts.waiting_room.length,
            pins_lost=self._pins.lost,
            pin_failures=self._pins.failures,
            breakers_open=self._breakers.open(),
        )

    def _errand(self, call: Call, session: AffinityKey | None, asks: Asks) -> Errand:
        key = None
        decision = PinDecision.KEPT
        if session is None:
            self._parts.tally.unpinned += 1
            decision = PinDecision.NONE
        else:
            key = pin_key(call.model, session)
        return Errand(
            key=key,
            model=call.model,
            asks=asks,
            # What gives way never moves its session for want of room.
            mode=PinMode.HARD if asks.is_background else asks.mode or self._settings.pin_mode,
            kv_tokens=kv_estimate(call.body, most=asks.demand.kv_tokens),
            decision=decision,
        )

    def _keys_of(self, key: AffinityKey) -> list[AffinityKey]:
        return [pin_key(model, key) for model in self._known_models()]

    def _known_models(self) -> list[str]:
        """Those served now and before: a pool may be away while its pins live on."""
        self._models |= self.fleet().models
        return sorted(self._models)
