"""Finds a replica for a turn, and takes a place there in the same step."""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from heapq import nsmallest
from typing import assert_never

from router.breakers import Breakers
from router.domain.asks import Asks
from router.domain.decision import Candidate
from router.domain.fleet import AffinityKey, Fleet, Replica, ReplicaId
from router.domain.pin import Pin, PinDecision, PinMode, PinnedLoad
from router.domain.placement import (
    Aside,
    Assign,
    Keep,
    Placement,
    Refuse,
    Wait,
    Why,
    for_background,
    place,
    without_pins,
)
from router.errors import ModelUnknown, NoReplicaAvailable, NoRoom, PinStoreUnavailable
from router.load_book import LoadBook, Reservation
from router.ports import FleetView, PinStore
from router.settings import RouterSettings
from router.tally import MoveReason, Tally
from router.waiting_room import WaitingRoom

# Routers that see different replicas as lost could move one session to and fro; a turn takes part only so often.
_CLAIMS_PER_PLACEMENT = 4
_MOST_CANDIDATES = 5
_MOST_REMEMBERED = 65_536
_NOTHING: frozenset[ReplicaId] = frozenset()


@dataclass(slots=True)
class Errand:
    """What one turn looks for, and what it has come to know while looking."""

    key: AffinityKey | None
    """As `pin_key` makes it; None: no session was named."""
    model: str
    asks: Asks
    mode: PinMode
    kv_tokens: int
    pin: Pin | None = None
    is_pin_read: bool = False
    decision: PinDecision = PinDecision.KEPT
    failed: Set[ReplicaId] = _NOTHING
    """Where not to go again."""
    is_urgent: bool = False
    """Whether it goes where there is no room: its session was admitted and has waited, or its reply has begun."""
    is_handed_over: bool = False
    is_desperate: bool = False
    """Whether it goes also where a breaker is open, since it failed and there is nothing else."""
    is_called: bool = False
    """Whether it stands in the queue itself."""
    has_seen_room: bool = False
    waited_s: float = 0.0
    why: str = Why.PINNED
    candidates: tuple[Candidate, ...] = ()

    @property
    def turn_of(self) -> AffinityKey | None:
        """Whose turn it is; None: nobody's, since it is a background call or no session was named."""
        return None if self.asks.is_background else self.key


@dataclass(slots=True)
class Placed:
    """A place at a replica; whoever gets this releases the reservation."""

    replica: Replica
    reservation: Reservation
    is_trial: bool
    """Whether this request is the one that tries an open breaker."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What a placement looks at."""

    pins: PinStore
    fleet: FleetView
    book: LoadBook
    breakers: Breakers
    room: WaitingRoom
    clock: Callable[[], float]


class Placing:
    """One for all turns of this router."""

    def __init__(self, *, sources: Sources, settings: RouterSettings, tally: Tally) -> None:
        self._from = sources
        self._retry_after_s = settings.retry_after_s
        self._tally = tally
        self._fleet_seen = Fleet()
        self._last: dict[AffinityKey, ReplicaId] = {}
        self.known_loads: Mapping[ReplicaId, PinnedLoad] = {}
        """As last read from the pin store, for the decision log alone."""
        self.has_claimed = True
        """Whether a session was placed or moved since those were read."""

    async def place(self, errand: Errand) -> Placed:
        """Raises `NoReplicaAvailable`, `NoRoom` or `ModelUnknown`."""
        found = await self._find(errand)
        if isinstance(found, Wait):
            found = await self._wait(errand)
        if isinstance(found, Placed):
            return found
        self._tally.no_replica += 1
        raise self._nowhere(errand.model)

    def forget(self, key: AffinityKey) -> None:
        self._last.pop(key, None)

    def has_other(self, errand: Errand, replica: ReplicaId) -> bool:
        """Whether any replica but this one could go on with the turn."""
        blocked = self._blocked(errand)
        return any(each != replica and each not in blocked for each in self._current().open_to(errand.model))

    async def _find(self, errand: Errand) -> Placed | Wait | Refuse:
        found = await self._find_unblocked(errand)
        if isinstance(found, Refuse) and errand.failed and not errand.is_desperate:
            # The turn would end here. A replica that answers its probes may do, whatever came of others' turns there.
            errand.is_desperate = True
            found = await self._find_unblocked(errand)
        return found

    async def _find_unblocked(self, errand: Errand) -> Placed | Wait | Refuse:
        if errand.key is None:
            return self._find_any(errand)
        try:
            return await self._find_by_pin(errand, errand.key)
        except PinStoreUnavailable:
            return self._find_without_pins(errand, errand.key)

    async def _find_by_pin(self, errand: Errand, key: AffinityKey) -> Placed | Wait | Refuse:
        if not errand.is_pin_read:
            errand.pin = await self._from.pins.get(key)
            errand.is_pin_read = True
        for _ in range(_CLAIMS_PER_PLACEMENT):
            found = self._judged(errand)
            match found:
                case Keep(replica):
                    return self._keep(errand, replica)
                case Assign():
                    if self._is_behind_others(errand):
                        return Wait(Why.ALL_FULL)
                    await self._claim(errand, key, found)
                case Aside():
                    return self._find_any(errand)
                case Wait() | Refuse():
                    return found
                case never:
                    assert_never(never)
        return Refuse(Why.NONE_OPEN)

    def _judged(self, errand: Errand) -> Placement | Aside:
        blocked = self._blocked(errand)
        full = _NOTHING if errand.is_urgent else self._from.book.full
        found = place(self._current(), errand.model, errand.pin, blocked=blocked, full=full, mode=errand.mode)
        return for_background(found) if errand.asks.is_background else found

    def _keep(self, errand: Errand, replica: Replica) -> Placed | Wait:
        if errand.asks.is_background and self._is_behind_others(errand):
            return Wait(Why.FULL)
        if errand.decision is PinDecision.NONE:
            # The store was away when this turn was placed first.
            errand.decision = PinDecision.KEPT
        return self._take(errand, replica)

    async def _claim(self, errand: Errand, key: AffinityKey, assign: Assign) -> None:
        """The pin that wins may be another router's; the next round judges it like any other."""
        move = None if assign.replacing is None else self._move_from(errand, assign.replacing.replica)
        candidates = self._looked_at(errand, assign.candidates)
        self.has_claimed = True
        pin = errand.pin = await self._from.pins.claim(
            key,
            assign.candidates,
            replacing=assign.replacing,
            demand=errand.asks.demand,
            prefer=errand.asks.prefer or self._last.get(key),
        )
        if move is None and not pin.is_won:
            # Another turn of the session was placed first; to this one it is as if it had found the pin.
            return
        errand.why, errand.candidates = assign.why, candidates
        if move is None:
            errand.decision = PinDecision.NEW
        else:
            self._tally.moves[move] += pin.is_won
            # A session that is placed and moved in one turn is new to whoever asks.
            if errand.decision is not PinDecision.NEW or errand.failed:
                errand.decision = PinDecision.MOVED

    def _move_from(self, errand: Errand, replica: ReplicaId) -> MoveReason:
        if replica in errand.failed:
            return MoveReason.HANDED_OVER if errand.is_handed_over else MoveReason.TURN_FAILED
        return MoveReason.REPLICA_FULL if replica in self._from.book.full else MoveReason.REPLICA_LOST

    def _find_any(self, errand: Errand) -> Placed | Wait | Refuse:
        """No session, or a background call that must not pin its session: the open replica with the fewest streams."""
        blocked, book = self._blocked(errand), self._from.book
        fleet = self._current()
        candidates = [each for each in fleet.open_to(errand.model) if each not in blocked]
        if not candidates:
            return Refuse(Why.NONE_OPEN)
        roomy = candidates if errand.is_urgent else [each for each in candidates if each not in book.full]
        if not roomy or self._is_behind_others(errand):
            return Wait(Why.ALL_FULL)
        # Equals take turns, so that one request after another does not always meet the first of them.
        start = self._tally.unpinned % len(roomy)
        before = None if errand.key is None else errand.asks.prefer or self._last.get(errand.key)
        chosen = fleet.get(before if before in roomy else min(roomy[start:] + roomy[:start], key=book.streams))
        assert chosen is not None  # noqa: S101 - `open_to` names replicas of the same fleet
        errand.decision, errand.why = PinDecision.NONE, Why.SESSIONLESS if errand.key is None else Why.BACKGROUND
        return self._take(errand, chosen)

    def _find_without_pins(self, errand: Errand, key: AffinityKey) -> Placed | Refuse:
        blocked = self._blocked(errand)
        fleet, full = self._current(), self._from.book.full
        known = errand.pin.replica if errand.pin is not None else errand.asks.prefer or self._last.get(key)
        chosen = without_pins(key, fleet, errand.model, prefer=known, blocked=blocked | full) if full else None
        if chosen is None:
            chosen = without_pins(key, fleet, errand.model, prefer=known, blocked=blocked)
        if chosen is None:
            return Refuse(Why.NONE_OPEN)
        errand.decision, errand.why = PinDecision.NONE, Why.NO_PINS
        return self._take(errand, chosen)

    def _is_behind_others(self, errand: Errand) -> bool:
        """Whether others wait for the same room, whom a newcomer that finds some must not pass by."""
        room = self._from.room
        if not room.length or errand.is_urgent or errand.is_called or not room.waiting_for(errand.model):
            return False
        errand.has_seen_room = True
        return True

    async def _wait(self, errand: Errand) -> Placed | Refuse:
        """An admitted session is not refused a turn for want of room: after the wait it goes to its replica anyway. A
        background call is.
        """
        began = self._from.clock()
        self._tally.waited += 1
        try:
            return await self._when_called(errand)
        except NoRoom:
            if errand.pin is None or errand.asks.is_background:
                self._tally.no_room += 1
                raise
        finally:
            errand.waited_s += self._from.clock() - began
        errand.is_urgent = True
        found = await self._find(errand)
        return Refuse(found.why) if isinstance(found, Wait) else found

    async def _when_called(self, errand: Errand) -> Placed | Refuse:
        room, line = self._from.room, self._line_of(errand)
        with room.join(errand.asks.ticket, room=line) as waiting:
            # Who joins behind others although there is room sees to it that they are looking for it. Without room the
            # call would be in vain, and whoever held it just when room comes back would be served out of turn.
            if errand.has_seen_room:
                room.freed(line)
            errand.is_called = True
            while True:
                await waiting.called()
                errand.is_pin_read = False
                found = await self._find(errand)
                if not isinstance(found, Wait):
                    break
        # What was freed may be more than this turn took.
        room.freed(line)
        return found

    def _line_of(self, errand: Errand) -> str:
        """Who may go to one replica alone waits for that one; a background call behind everybody."""
        if errand.asks.is_background:
            return errand.model
        if errand.pin is not None and errand.mode is PinMode.HARD and errand.pin.replica not in errand.failed:
            return f"{errand.model}\n{errand.pin.replica}"
        return errand.model

    def _take(self, errand: Errand, replica: Replica) -> Placed:
        """Nothing awaits between the choice and this."""
        chosen = replica.id
        if (key := errand.turn_of) is not None and (last := self._last.get(key)) != chosen:
            self._note_move(errand, errand.asks.prefer or last, chosen)
            self._remember(key, chosen)
        reservation = self._from.book.reserve(chosen, errand.kv_tokens)
        return Placed(replica, reservation, self._from.breakers.enter(chosen))

    def _note_move(self, errand: Errand, last: ReplicaId | None, now: ReplicaId) -> None:
        """A pin that holds may have been moved since the last turn, mostly by a drain: the decision says so."""
        if last is not None and last != now and errand.why == Why.PINNED:
            errand.why = f"{Why.PINNED}; moved here since its last turn, from {last}{_state_of(self._current(), last)}"

    def _remember(self, key: AffinityKey, replica: ReplicaId) -> None:
        self._last.pop(key, None)
        self._last[key] = replica
        if len(self._last) > _MOST_REMEMBERED:
            del self._last[next(iter(self._last))]

    def _current(self) -> Fleet:
        fleet = self._from.fleet.current()
        if fleet is not self._fleet_seen:
            self._fleet_seen = fleet
            self._from.book.saw_fleet(fleet.replicas)
            self._from.breakers.saw_fleet(fleet.replicas)
        return fleet

    def _blocked(self, errand: Errand) -> Set[ReplicaId]:
        if errand.is_desperate:
            return errand.failed
        blocked = self._from.breakers.blocked(self._from.clock())
        return blocked | errand.failed if errand.failed else blocked

    def _nowhere(self, model: str) -> NoReplicaAvailable | ModelUnknown:
        fleet = self._current()
        served = fleet.models
        # A replica that was never asked may serve any model.
        if served and model not in served and all(replica.models for replica in fleet.replicas):
            return ModelUnknown(model, served=tuple(sorted(served)))
        pool = fleet.pool(model) or fleet.replicas
        blocked = self._from.breakers.blocked(self._from.clock())
        return NoReplicaAvailable(
            ready=sum(replica.is_open and replica.id not in blocked for replica in pool),
            known=len(pool),
            draining=sum(replica.is_draining for replica in pool),
            retry_after_s=self._retry_after_s,
        )

    def _known_kv(self, replica: ReplicaId) -> int:
        load = self.known_loads.get(replica)
        return 0 if load is None else load.kv_tokens

    def _looked_at(self, errand: Errand, candidates: tuple[ReplicaId, ...]) -> tuple[Candidate, ...]:
        book = self._from.book
        best = nsmallest(_MOST_CANDIDATES, candidates, key=lambda each: (self._known_kv(each), book.streams(each)))
        blocked = self._blocked(errand)
        seen: list[Candidate] = [self._candidate(each, "") for each in best]
        taken = frozenset(candidates)
        for replica in self._current().pool(errand.model):
            if len(seen) >= len(best) + _MOST_CANDIDATES:
                break
            if replica.id not in taken:
                seen.append(self._candidate(replica.id, _refusal(replica, errand.failed, blocked)))
        return tuple(seen)

    def _candidate(self, replica: ReplicaId, refused: str) -> Candidate:
        load = self.known_loads.get(replica)
        return Candidate(
            replica,
            sessions=None if load is None else load.sessions,
            kv_tokens=None if load is None else load.kv_tokens,
            in_flight=self._from.book.streams(replica),
            refused=refused,
        )


def _state_of(fleet: Fleet, replica: ReplicaId) -> str:
    known = fleet.get(replica)
    if known is None:
        return ", which has left"
    if known.is_draining:
        return ", which is draining"
    return "" if known.is_ready else f", which is {known.health}"


def _refusal(replica: Replica, failed: Set[ReplicaId], blocked: Set[ReplicaId]) -> str:
    if not replica.is_ready:
        return replica.health.value
    if replica.is_draining:
        return "draining"
    if replica.id in failed:
        return "failed in this turn"
    return "its breaker is open" if replica.id in blocked else "full"
