"""A replica as JSON, for operators and for a gateway in front; a figure that nobody can tell now is null."""

from router.domain.drain import DrainProgress
from router.http.answer import Plain
from router.orders import ReplicaStatus


def shown(status: ReplicaStatus) -> dict[str, Plain]:
    replica, pinned = status.replica, status.pinned
    return {
        "id": replica.id,
        "url": replica.url,
        "models": sorted(replica.models),
        "health": replica.health,
        "reason": replica.reason,
        "warnings": list(replica.warnings),
        "is_draining": replica.is_draining,
        "sessions": None if pinned is None else pinned.sessions,
        "kv_tokens": None if pinned is None else pinned.kv_tokens,
        "kv_capacity_tokens": replica.kv_capacity_tokens,
        "in_flight": status.in_flight,
        "drain": None if status.drain is None else drain_shown(status.drain),
    }


def drain_shown(drain: DrainProgress) -> dict[str, Plain]:
    return {
        "acknowledged": len(drain.acknowledged),
        "missing": len(drain.missing),
        "missing_routers": list(drain.missing),
        "in_flight": drain.in_flight,
        "sessions_left": drain.sessions_left,
        "seconds_left": round(drain.seconds_left, 3),
        "may_stop": drain.may_stop,
    }
