"""The decision of one turn: why this replica, and what became of it there. It holds no word of anybody."""

from dataclasses import dataclass, field

from router.domain.fleet import ReplicaId
from router.domain.pin import PinDecision


@dataclass(frozen=True, slots=True)
class Candidate:
    """A replica that was looked at. A figure that nobody knows is None."""

    replica: ReplicaId
    sessions: int | None = None
    kv_tokens: int | None = None
    in_flight: int | None = None
    refused: str = ""
    """Why it could not be taken; empty: it could."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One replica that was asked."""

    replica: ReplicaId
    why: str
    """In the words of `Why` of router/domain/placement.py; of a session that was moved between two turns also from
    where.
    """
    outcome: str = ""
    """completed, cancelled, or the name of the failure; empty while it runs."""
    detail: str = ""
    continued: bool = False
    """Whether it took over a reply that another replica had begun."""


@dataclass(slots=True)
class Decision:
    """Grows while its turn runs. `at` is in seconds since the epoch, durations are in milliseconds."""

    request_id: str
    model: str
    at: float
    pin: PinDecision = PinDecision.NONE
    generation: int = 0
    waited_ms: float = 0.0
    candidates: tuple[Candidate, ...] = ()
    """The best few and those refused, for a session that was placed; nothing for one that was kept."""
    attempts: list[Attempt] = field(default_factory=list)
