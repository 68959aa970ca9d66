"""What is kept of one pool between two rounds, and by whichever process leads next."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import PoolName
from router.fleet.domain.past_starts import PastStart
from router.fleet.domain.replica_record import ReplicaRecord

KEPT_STARTS = 100


@dataclass(frozen=True, slots=True)
class Floor:
    """Replicas that an operator wants at least, until a moment, whatever the calendar says."""

    replicas: int
    until: float | None
    """In seconds since the epoch; None: until it is taken back."""
    set_by: str
    """The operator's account."""
    reason: str = ""

    def at(self, now: float) -> int:
        return self.replicas if self.until is None or now < self.until else 0


@dataclass(frozen=True, slots=True)
class PoolBook:
    pool: PoolName
    records: Mapping[ReplicaId, ReplicaRecord] = field(default_factory=dict)
    starts: tuple[PastStart, ...] = ()
    """The last `KEPT_STARTS`, oldest first."""
    floor: Floor | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """What the leader made of a pool at its last round, for whoever asks."""

    pool: PoolName
    at: float
    leader: str
    wanted: int | None
    ready: int
    present: int
    wait: str = ""
    """Why no more is done; empty: nothing else is to be done."""
    short: str = ""
    """The alert that stands, such as "4 of 6 replicas are ready"; empty: none."""
    short_at: float | None = None
    """The bell it is about."""
