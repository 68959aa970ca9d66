"""Where a session's next turn goes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from router.domain.fleet import AffinityKey, Fleet, Health, Replica, ReplicaId
from router.domain.pin import Pin
from router.domain.rendezvous import rank

# A replica that nobody has probed yet may well hold the session's cache; a turn will show whether it is there.
_MAY_KEEP = frozenset({Health.READY, Health.UNKNOWN})


@dataclass(frozen=True, slots=True)
class Keep:
    """The pin holds."""

    replica: Replica


@dataclass(frozen=True, slots=True)
class Assign:
    """A replica is to be claimed: one of `candidates`, the session's favourite first."""

    candidates: tuple[ReplicaId, ...]
    replacing: Pin | None


@dataclass(frozen=True, slots=True)
class Refuse:
    """No replica is ready."""


Placement = Keep | Assign | Refuse


def place(key: AffinityKey, fleet: Fleet, pin: Pin | None) -> Placement:
    """Keep a pin while its replica lives; otherwise assign among the ready ones."""
    pinned = None if pin is None else fleet.get(pin.replica)
    if pinned is not None and pinned.health in _MAY_KEEP:
        return Keep(pinned)
    ready = tuple(replica.id for replica in fleet.ready)
    if not ready:
        return Refuse()
    return Assign(tuple(rank(key, ready)), replacing=pin)


def place_without_pins(key: AffinityKey, fleet: Fleet, prefer: ReplicaId | None) -> Replica | None:
    """Where to go while the pin store is away: the replica of the last turn, else by rendezvous; None if none is ready.

    Every router that knows the same last turn and the same ready replicas comes to the same one.
    """
    ready = {replica.id: replica for replica in fleet.ready}
    order = [prefer, *rank(key, ready)]
    return next((ready[replica] for replica in order if replica in ready), None)


def fewest_sessions(candidates: Sequence[ReplicaId], counts: Mapping[ReplicaId, int]) -> ReplicaId:
    """The candidate with the fewest sessions, the earlier of equals. `claim.lua` does the same inside Redis."""
    return min(candidates, key=lambda replica: counts.get(replica, 0))
