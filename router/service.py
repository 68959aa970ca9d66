"""Carries a session's turn to its replica: reads the pin, places, claims, opens the stream, tries elsewhere."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import assert_never

import structlog
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from router.domain.exchange import ChatRequest, StreamItem
from router.domain.failover import may_go_elsewhere
from router.domain.fleet import AffinityKey, Fleet, Replica, ReplicaId
from router.domain.pin import Pin, PinDecision
from router.domain.placement import Assign, Keep, Refuse, place, place_without_pins
from router.errors import (
    EngineError,
    EngineRejected,
    EngineUnreachable,
    NoReplicaAvailable,
    PinStoreUnavailable,
)
from router.inflight import InFlight
from router.ports import Engine, FleetSource, PinStore
from router.settings import RouterSettings
from router.tally import RouterNumbers, Tally
from router.watched_pins import WatchedPins

_log: FilteringBoundLogger = structlog.get_logger(__name__)

# Routers that see different replicas as lost could move one session to and fro; a turn takes part only so often.
_CLAIMS_PER_PLACEMENT = 4


@dataclass(frozen=True, slots=True)
class _Placed:
    replica: Replica
    pin: Pin | None
    decision: PinDecision


@dataclass(slots=True)
class _Turn:
    """One turn on its way: where it was put last, and where it failed."""

    key: AffinityKey
    request: ChatRequest
    prefer: ReplicaId | None
    placed: _Placed | None = None
    failed: dict[ReplicaId, EngineError] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A replica that has taken the request; closing `held` gives everything back."""

    placed: _Placed
    items: AsyncIterator[StreamItem]
    held: AsyncExitStack


class RoutedStream(AsyncIterator[StreamItem]):
    """A reply that a replica has taken. Until its first token it may move on, so `replica` and `pin` tell where it is.

    No generator, so there is nothing to close.
    """

    def __init__(self, attempt: _Attempt, again: Callable[[_Attempt, EngineError], Awaitable[_Attempt]]) -> None:
        self._attempt = attempt
        self._again = again
        self._has_begun = False

    @property
    def replica(self) -> ReplicaId:
        return self._attempt.placed.replica.id

    @property
    def pin(self) -> PinDecision:
        return self._attempt.placed.decision

    @override
    async def __anext__(self) -> StreamItem:
        while not self._has_begun:
            try:
                item = await anext(self._attempt.items)
            except EngineError as error:
                self._attempt = await self._again(self._attempt, error)
            else:
                self._has_begun = True
                return item
        return await anext(self._attempt.items)

    async def aclose(self) -> None:
        await self._attempt.held.aclose()


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
        """Entering returns once a replica has taken the request, before any token, so that its caller can be told.

        A failure before the first token, then or later, is mended at another replica. `prefer` names the replica of the
        session's last stored turn: without a pin the session returns to it. Entering raises `NoReplicaAvailable`, or
        the error of the last replica tried; so does the stream, which also raises `EngineBroke` or `EngineTimedOut`
        when the reply breaks after its first token.
        """
        turn = _Turn(key, request, prefer)

        async def again(failed: _Attempt, error: EngineError) -> _Attempt:
            await failed.held.aclose()
            self._failed(turn, failed.placed, error)
            return await self._open(turn)

        async with aclosing(RoutedStream(await self._open(turn), again)) as stream:
            yield stream

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

    async def _open(self, turn: _Turn) -> _Attempt:
        while True:
            placed = turn.placed = await self._place(turn)
            try:
                async with AsyncExitStack() as held:
                    held.enter_context(self._in_flight.stream(placed.replica.id))
                    items = await held.enter_async_context(self._engine.stream(placed.replica, turn.request))
                    self._tally.opened(placed.decision)
                    return _Attempt(placed, items, held.pop_all())
            except EngineError as error:
                self._failed(turn, placed, error)

    def _failed(self, turn: _Turn, placed: _Placed, error: EngineError) -> None:
        """Take note, and raise the error if no other replica shall be asked."""
        self._note(placed.replica.id, error)
        turn.failed[placed.replica.id] = error
        if not may_go_elsewhere(error, failed=len(turn.failed), most=self._settings.max_attempts):
            raise error

    def _note(self, replica: ReplicaId, error: EngineError) -> None:
        self._tally.failed(replica, error)
        if isinstance(error, EngineUnreachable):
            self._fleet.saw_failure(replica, error.detail)
        # A rejection quotes the request, and with it what people said.
        detail = "" if isinstance(error, EngineRejected) else error.detail
        _log.warning("turn failed at a replica", replica=replica, error=type(error).__name__, detail=detail)

    async def _place(self, turn: _Turn) -> _Placed:
        fleet = self._fleet.current().without(turn.failed)
        try:
            placed = await self._place_by_pin(turn, fleet)
        except PinStoreUnavailable:
            chosen = place_without_pins(turn.key, fleet, turn.prefer)
            placed = None if chosen is None else _Placed(chosen, None, PinDecision.NONE)
        if placed is None:
            raise self._nowhere(turn.failed.values())
        if turn.failed:
            self._tally.retried()
        return placed

    async def _place_by_pin(self, turn: _Turn, fleet: Fleet) -> _Placed | None:
        before = turn.placed
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
