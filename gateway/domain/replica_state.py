"""One replica as operators see it; a figure that nobody can tell now is None."""

from dataclasses import dataclass

from router.domain.fleet import ReplicaId


@dataclass(frozen=True, slots=True)
class DrainState:
    """How far a drain has come."""

    acknowledged: int
    """Router processes that have seen the order."""
    missing: int
    """Router processes that live and have not."""
    in_flight: int
    """Turns that still run there, over all routers that have seen the order."""
    sessions_left: int | None
    seconds_left: float
    """Until what is left is moved at once; negative: that moment has passed."""
    may_stop: bool
    """Whether the replica may be stopped without anybody noticing."""


@dataclass(frozen=True, slots=True)
class ReplicaState:
    id: ReplicaId
    url: str
    models: tuple[str, ...]
    health: str
    reason: str
    warnings: tuple[str, ...]
    is_draining: bool
    sessions: int | None
    """Pinned to it over all routers, like `kv_tokens`, which they are expected to hold."""
    kv_tokens: int | None
    kv_capacity_tokens: int | None
    in_flight: int | None
    """Turns that run there through the router that was asked."""
    drain: DrainState | None = None
