"""Carries a session's turn to its replica: reads the pin, places, claims, opens the stream, tries elsewhere."""

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import assert_never

import structlog
from typing_extensions import override

from router.domain.exchange import ChatRequest, StreamItem
from router.domain.fleet import AffinityKey, Fleet, Replica, ReplicaId
from router.domain.pin import Pin, PinDecision
from router.domain.placement import Assign, Keep, Refuse, place, place_without_pins
from router.errors import (
    EngineBroke,
    EngineBusy,
    EngineError,
    EngineTimedOut,
    EngineUnreachable,
    NoReplicaAvailable,
    PinStoreUnavailable,
)
from router.inflight import InFlight
from router.ports import Engine, FleetSource, PinStore
from router.settings import RouterSettings
from router.tally import RouterNumbers, Tally
from router.watched_pins import WatchedPins

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

# A stream that breaks before its first token has delivered nothing, so it may be asked for elsewhere.
_TRY_ELSEWHERE = (EngineUnreachable, EngineTimedOut, EngineBusy, EngineBroke)
# Routers that see different replicas as lost could move one session to and fro; a turn takes part only so often.
_CLAIMS_PER_PLACEMENT = 4


@dataclass(frozen=True, slots=True)
class RoutedStream:
    """A reply whose first item is there already, so that leaving its replica is no longer possible unseen."""

    replica: ReplicaId
    pin: PinDecision
    items: AsyncIterator[StreamItem]


@dataclass(frozen=True, slots=True)
class _Turn:
    key: AffinityKey
    request: ChatRequest
    prefer: ReplicaId | None


@dataclass(frozen=True, slots=True)
class _Placed:
    replica: Replica
    pin: Pin | None
    decision: PinDecision


class Router:
    """Pins sessions to replicas and streams their turns."""

    def __init__(self, *, pins: PinStore, fleet: FleetSource, engine: Engine, settings: RouterSettings) -> None:
        self._pins = WatchedPins(pins)
        self._fleet = fleet
        self._engine = engine
        self._settings = settings
        self._in_flight = InFlight()
        self._tally = Tally()

    @asynccontextmanager
    async def turn(
        self, key: AffinityKey, request: ChatRequest, *, prefer: ReplicaId | None = None
    ) -> AsyncIterator[RoutedStream]:
        """Entering returns with the first token, so that every failure before it can still be mended elsewhere.

        `prefer` names the replica of the session's last stored turn: without a pin the session returns to it. Entering
        raises `NoReplicaAvailable`, or the error of the last replica tried; `items` raises `EngineBroke` or
        `EngineTimedOut` when the reply breaks later.
        """
        async with AsyncExitStack() as stack:
            yield await self._open(_Turn(key, request, prefer), stack)

    async def end(self, key: AffinityKey) -> None:
        """Forget the session. While the pin store is away nothing happens: the pin's time to live ends it."""
        with suppress(PinStoreUnavailable):
            await self._pins.end(key)

    async def sessions(self) -> Mapping[ReplicaId, int]:
        """Pinned sessions of every known replica; raises `PinStoreUnavailable`, since unknown is not zero."""
        return await self._pins.sessions([replica.id for replica in self._fleet.current().replicas])

    def fleet(self) -> Fleet:
        return self._fleet.current()

    def numbers(self) -> RouterNumbers:
        return RouterNumbers(
            in_flight=self._in_flight.counts(),
            turns=dict(self._tally.turns),
            failures=dict(self._tally.failures),
            retries=self._tally.retries,
            pin_failures=self._pins.failures,
            pins_lost=self._pins.lost,
        )

    async def _open(self, turn: _Turn, stack: AsyncExitStack) -> RoutedStream:
        failed: dict[ReplicaId, EngineError] = {}
        placed: _Placed | None = None
        while True:
            placed = await self._place(turn, placed, failed)
            replica = placed.replica
            try:
                items = await self._attempt(replica, turn.request, stack)
            except EngineError as error:
                self._note(replica.id, error)
                failed[replica.id] = error
                if not isinstance(error, _TRY_ELSEWHERE) or len(failed) >= self._settings.max_attempts:
                    raise
            else:
                self._tally.opened(placed.decision)
                return RoutedStream(replica.id, placed.decision, items)

    async def _attempt(
        self, replica: Replica, request: ChatRequest, stack: AsyncExitStack
    ) -> AsyncIterator[StreamItem]:
        async with AsyncExitStack() as attempt:
            attempt.enter_context(self._in_flight.stream(replica.id))
            items = await attempt.enter_async_context(self._engine.stream(replica, request))
            first = await anext(items)
            stack.push_async_exit(attempt.pop_all())
        return _Primed(first, items)

    def _note(self, replica: ReplicaId, error: EngineError) -> None:
        self._tally.failed(replica, error)
        if isinstance(error, EngineUnreachable):
            self._fleet.saw_failure(replica, error.detail)
        log.warning("turn failed at a replica", replica=replica, error=type(error).__name__, detail=error.detail)

    async def _place(self, turn: _Turn, before: _Placed | None, failed: Mapping[ReplicaId, EngineError]) -> _Placed:
        fleet = self._fleet.current().without(failed)
        try:
            placed = await self._place_by_pin(turn, before, fleet)
        except PinStoreUnavailable:
            placed = _place_by_rank(turn, fleet)
        if placed is None:
            raise self._nowhere(failed.values())
        if failed:
            self._tally.retried()
        return placed

    async def _place_by_pin(self, turn: _Turn, before: _Placed | None, fleet: Fleet) -> _Placed | None:
        pin, decision = (before.pin, before.decision) if before else (await self._pins.get(turn.key), PinDecision.KEPT)
        for _ in range(_CLAIMS_PER_PLACEMENT):
            match place(turn.key, fleet, pin):
                case Keep(replica):
                    return _Placed(replica, pin, decision)
                case Assign(candidates, replacing):
                    # The pin that won may be another router's; the next round judges it like any other.
                    pin = await self._pins.claim(turn.key, candidates, replacing=replacing, prefer=turn.prefer)
                    decision = PinDecision.NEW if replacing is None else PinDecision.MOVED
                case Refuse():
                    return None
                case never:
                    assert_never(never)
        return None

    def _nowhere(self, errors: Collection[EngineError]) -> EngineError | NoReplicaAvailable:
        """The last replica's own error says more than that no other was left."""
        if errors:
            return list(errors)[-1]
        fleet = self._fleet.current()
        return NoReplicaAvailable(
            ready=len(fleet.ready), known=len(fleet.replicas), retry_after_s=self._settings.retry_after_s
        )


def _place_by_rank(turn: _Turn, fleet: Fleet) -> _Placed | None:
    match place_without_pins(turn.key, fleet, turn.prefer):
        case Assign(candidates):
            chosen = next(replica for replica in fleet.ready if replica.id == candidates[0])
            return _Placed(chosen, None, PinDecision.NONE)
        case Refuse():
            return None
        case never:
            assert_never(never)


class _Primed(AsyncIterator[StreamItem]):
    """The stream with its first item put back. No generator, so there is nothing to close."""

    def __init__(self, first: StreamItem, rest: AsyncIterator[StreamItem]) -> None:
        self._first: StreamItem | None = first
        self._rest = rest

    @override
    async def __anext__(self) -> StreamItem:
        first, self._first = self._first, None
        return first if first is not None else await anext(self._rest)
