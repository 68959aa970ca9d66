"""What is remembered of one replica from its order to its end; everything else is seen anew at each round."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import PoolName

_NOTHING: Mapping["Milestone", float] = MappingProxyType({})


class Milestone(StrEnum):
    """The steps of a replica's life that operators see, in their order."""

    REQUESTED = "requested"
    SCHEDULED = "scheduled"
    """Its host has it."""
    WEIGHTS_LOCAL = "weights local"
    PROCESS_UP = "process up"
    HEALTHY = "health 200"
    CANARY_RIGHT = "canary right"
    PREFIXES_WARM = "prefixes warm"
    JOINED = "joined"
    """The routers were told of it; only now it is given sessions."""
    DRAINING = "draining"
    STOPPING = "stopping"
    """Nobody uses it any more, and its host is told to stop it."""


@dataclass(frozen=True, slots=True)
class WarmReport:
    """What its warm-up measured."""

    canary: str
    """A digest of what it answered, never the answer."""
    first_token_cold_ms: float
    first_token_warm_ms: float
    prefixes: int
    """How many scenario prefixes were computed."""
    took_s: float


@dataclass(frozen=True, slots=True)
class ReplicaRecord:
    id: ReplicaId
    """As its host and the routers name it; until a host that names its replicas itself has one for the order, the
    order's own."""
    pool: PoolName
    reached: Mapping[Milestone, float] = field(default_factory=lambda: _NOTHING)
    """When it came to each step, in seconds since the epoch."""
    url: str = ""
    """Where it answers; empty: not known yet."""
    failure: str = ""
    """Why it was given up; empty: it was not."""
    report: WarmReport | None = None

    @property
    def ordered(self) -> float:
        return self.reached[Milestone.REQUESTED]

    @property
    def was_taken_in(self) -> bool:
        """Its host had it when it was first seen; nothing is known of its start."""
        return self.reached.get(Milestone.SCHEDULED) == self.ordered

    @property
    def was_warm(self) -> bool:
        """From then on the routers may know of it."""
        return self.has(Milestone.PREFIXES_WARM) or self.has(Milestone.JOINED)

    def has(self, milestone: Milestone) -> bool:
        return milestone in self.reached

    def at(self, milestone: Milestone, now: float) -> "ReplicaRecord":
        """The record with the step taken, unless it was taken before."""
        return self if milestone in self.reached else replace(self, reached={**self.reached, milestone: now})

    def without(self, milestone: Milestone) -> "ReplicaRecord":
        """A drain that is taken back was none."""
        return replace(self, reached={step: at for step, at in self.reached.items() if step is not milestone})


def ordered(replica: ReplicaId, pool: PoolName, *, now: float) -> ReplicaRecord:
    return ReplicaRecord(replica, pool, {Milestone.REQUESTED: now})
