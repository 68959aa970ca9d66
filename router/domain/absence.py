"""When it is no use to wait any longer for a whole answer, whose silence alone tells nothing.

A replica that is not ready once may be back at the next look, and its work with it. One that stays so is given up,
provided that somebody else could do the work: its only hope is better than none.
"""

from collections.abc import Mapping

from router.domain.fleet import Fleet, Health, Replica, ReplicaId

# Of a replica that nobody has looked at yet nothing is known, neither good nor bad.
_PRESENT = frozenset({Health.READY, Health.UNKNOWN})


def absent_since(before: Mapping[ReplicaId, float], fleet: Fleet, *, now: float) -> Mapping[ReplicaId, float]:
    """Since when each replica that is not ready has been so; a frozen one may turn to PROVING and back for ever."""
    return {each.id: before.get(each.id, now) for each in fleet.replicas if each.health not in _PRESENT}


def given_up(since: Mapping[ReplicaId, float], fleet: Fleet, *, now: float, after_s: float) -> tuple[Replica, ...]:
    return tuple(
        replica
        for replica in fleet.replicas
        if now - since.get(replica.id, now) >= after_s and any(fleet.open_to(model) for model in replica.models)
    )
