"""Where a session's next turn goes."""

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from router.domain.fleet import AffinityKey, Fleet, Health, Replica, ReplicaId
from router.domain.pin import Demand, Pin, PinMode, PinnedLoad
from router.domain.rendezvous import favourite

# A replica that nobody has probed yet may well hold the session's cache; a turn will show whether it is there.
_MAY_KEEP = frozenset({Health.READY, Health.PROVING, Health.UNKNOWN})
_NOTHING_KNOWN = PinnedLoad()


class Why(StrEnum):
    """The reason of a placement, in words for the decision log."""

    PINNED = "pinned"
    NEW = "new session"
    SESSIONLESS = "no session: fewest streams"
    BACKGROUND = "background: its session has no replica that can take it"
    NO_PINS = "no pin store"
    GONE = "pinned replica has left the pool"
    DOWN = "pinned replica is down"
    REFUSED = "pinned replica must not serve"
    BLOCKED = "pinned replica failed"
    FULL = "pinned replica is full"
    ALL_FULL = "every replica is full"
    NONE_OPEN = "no replica takes new sessions"
    ALL_BLOCKED = "every replica that takes new sessions failed"


@dataclass(frozen=True, slots=True)
class Keep:
    """The pin holds."""

    replica: Replica


@dataclass(frozen=True, slots=True)
class Assign:
    """A replica is to be claimed, one of `candidates`."""

    candidates: tuple[ReplicaId, ...]
    replacing: Pin | None
    why: Why


@dataclass(frozen=True, slots=True)
class Wait:
    """There are replicas for it, and none has room now."""

    why: Why


@dataclass(frozen=True, slots=True)
class Refuse:
    """There is no replica for it."""

    why: Why


@dataclass(frozen=True, slots=True)
class Aside:
    """It goes wherever there is room, and no pin is written."""


Placement = Keep | Assign | Wait | Refuse


def place(
    fleet: Fleet,
    model: str,
    pin: Pin | None,
    *,
    blocked: Collection[ReplicaId],
    full: Collection[ReplicaId],
    mode: PinMode,
) -> Placement:
    """Keep a pin while its replica lives, even if it drains; otherwise assign among the open ones of the pool.

    `blocked` are replicas that must not be asked now: their breaker is open, or they failed in this turn.
    """
    if pin is None:
        return _assign(fleet, model, None, blocked=blocked, full=full, why=Why.NEW)
    pinned = fleet.get(pin.replica)
    loss = _loss(pinned, model, blocked)
    if pinned is None or loss is not None:
        return _assign(fleet, model, pin, blocked=blocked, full=full, why=loss or Why.GONE)
    if pinned.id not in full:
        return Keep(pinned)
    if mode is PinMode.HARD:
        return Wait(Why.FULL)
    elsewhere = _assign(fleet, model, pin, blocked=blocked, full=full, why=Why.FULL)
    return elsewhere if isinstance(elsewhere, Assign) else Wait(Why.ALL_FULL)


def for_background(found: Placement) -> Placement | Aside:
    """What becomes of a placement for a background call: it pins no session, and moves one only away from a replica
    that is gone, which the next turn would leave too.
    """
    is_aside = isinstance(found, Assign) and (found.replacing is None or found.why is Why.BLOCKED)
    return Aside() if is_aside else found


def _loss(pinned: Replica | None, model: str, blocked: Collection[ReplicaId]) -> Why | None:
    """Why a pin to it cannot be kept."""
    if pinned is None or (pinned.models and model not in pinned.models):
        return Why.GONE
    if pinned.health not in _MAY_KEEP:
        return Why.REFUSED if pinned.health is Health.REFUSED else Why.DOWN
    return Why.BLOCKED if pinned.id in blocked else None


def _assign(
    fleet: Fleet, model: str, pin: Pin | None, *, blocked: Collection[ReplicaId], full: Collection[ReplicaId], why: Why
) -> Placement:
    opened = fleet.open_to(model)
    if not opened:
        return Refuse(Why.NONE_OPEN)
    if not blocked and not full:
        return Assign(opened, pin, why)
    unblocked = tuple(replica for replica in opened if replica not in blocked)
    if not unblocked:
        return Refuse(Why.ALL_BLOCKED)
    candidates = tuple(replica for replica in unblocked if replica not in full)
    return Assign(candidates, pin, why) if candidates else Wait(Why.ALL_FULL)


def without_pins(
    key: AffinityKey, fleet: Fleet, model: str, *, prefer: ReplicaId | None, blocked: Collection[ReplicaId]
) -> Replica | None:
    """Where to go while the pin store is away: the replica of the last turn if it lives, else by rendezvous.

    Every router that knows the same last turn and the same open replicas comes to the same one. None: there is none.
    """
    last = None if prefer is None else fleet.get(prefer)
    if last is not None and _loss(last, model, blocked) is None:
        return last
    opened = fleet.open_to(model)
    if blocked:
        opened = tuple(replica for replica in opened if replica not in blocked)
    return fleet.get(favourite(key, opened)) if opened else None


def choose(
    candidates: Sequence[ReplicaId],
    loads: Mapping[ReplicaId, PinnedLoad],
    *,
    demand: Demand,
    holders: Collection[ReplicaId],
    bound: float,
    start: int,
) -> ReplicaId:
    """The candidate with the least expected KV, then the fewest sessions; equals in turn, beginning at `start`.

    `holders` already hold the prefix of the demand's cohort; the least of them is preferred inside `_preferred_to`.
    """
    seen = [loads.get(candidate, _NOTHING_KNOWN) for candidate in candidates]
    tokens = [load.kv_tokens for load in seen]
    least = min(tokens)
    if holders:
        limit = _preferred_to(tokens, demand.kv_tokens, bound)
        held = [kv for candidate, kv in zip(candidates, tokens, strict=True) if candidate in holders and kv <= limit]
        if held:
            least = min(held)
            equals = [i for i, kv in enumerate(tokens) if kv == least and candidates[i] in holders]
            return candidates[_in_turn(equals, seen, start)]
    return candidates[_in_turn([i for i, kv in enumerate(tokens) if kv == least], seen, start)]


def _preferred_to(tokens: Sequence[int], kv_tokens: int, bound: float) -> float:
    """What a holder may have already. It then has at most `bound` times the mean of all candidates, or one demand more
    than the mean, which is more while there is little; and before that no more than as much above the least of them,
    so that a replica that has just come is filled, and no prefix keeps newcomers away from it.
    """
    mean = (sum(tokens) + kv_tokens) / len(tokens)
    above = max((bound - 1) * mean, kv_tokens)
    return min(mean + above - kv_tokens, min(tokens) + above)


def _in_turn(places: Sequence[int], seen: Sequence[PinnedLoad], start: int) -> int:
    """Of these places the one with the fewest sessions; of several the next from `start` on."""
    sessions = [seen[place].sessions for place in places]
    fewest = min(sessions)
    equals = [place for place, count in zip(places, sessions, strict=True) if count == fewest]
    return equals[bisect_left(equals, start % len(seen)) % len(equals)]
