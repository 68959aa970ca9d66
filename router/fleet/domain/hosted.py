"""A replica as its host tells of it: whether its process runs, and where."""

from dataclasses import dataclass
from enum import StrEnum

from router.domain.fleet import ReplicaId


class HostPhase(StrEnum):
    PENDING = "pending"
    """The host has taken it and runs nothing yet: no node, no free device."""
    FETCHING = "fetching"
    """Its weights are on their way to the host."""
    RUNNING = "running"
    """The process is up; whether it answers is for others to find out."""
    STOPPING = "stopping"
    EXITED = "exited"
    """It ended by itself and will not come back."""


@dataclass(frozen=True, slots=True)
class HostedReplica:
    id: ReplicaId
    phase: HostPhase
    since: float
    """When the host took it, in seconds since the epoch."""
    url: str = ""
    """Where it answers once it does; empty: the host cannot tell yet."""
    detail: str = ""
    """Why it waits, or how it ended: an exit code and its last words, for operators."""


class Mark(StrEnum):
    """What a host is told of a replica that the routers know of, so that it treats it accordingly."""

    SERVING = "serving"
    LEAVING = "leaving"
    """It is being drained: if any is to go, then this one."""
