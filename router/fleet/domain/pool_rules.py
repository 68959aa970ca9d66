"""What is set for one pool."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PoolRules:
    """Raises `ValueError` where the figures contradict each other."""

    seats_per_replica: int
    maximum: int
    minimum: int = 0
    reserve: int = 0
    """Replicas beyond what the seats need, while there are any seats."""
    lead_s: float = 1800.0
    """How long before a bell its replicas are started, at least."""
    safety: float = 1.5
    """What the measured time of a start is multiplied by."""
    unmeasured_start_s: float = 180.0
    """Taken for the 95th percentile of a start until enough of them were measured."""
    spare_starts: int = 1
    """How many times in a row a start may fail, or hang, and its replica still be warm at the bell."""
    starts_at_once: int = 4
    """How many starts the backend carries side by side."""
    moves_sessions: bool = True
    """Whether sessions may be moved, between two turns, off a replica that is to go; otherwise it waits for them."""
    alert_s: float = 600.0
    """How long before a bell somebody is told that replicas are missing."""
    retry_s: float = 15.0
    """The pause after one failed start; it doubles with each further one in a row."""
    longest_retry_s: float = 300.0

    @property
    def longest_start_s(self) -> float:
        """What a start may take before anything was measured; none is given up sooner for not answering."""
        return self.unmeasured_start_s * self.safety

    def __post_init__(self) -> None:
        if self.seats_per_replica < 1 or self.starts_at_once < 1:
            raise ValueError("a replica has seats, and a backend carries one start at least")
        if not 0 <= self.minimum <= self.maximum:
            raise ValueError(f"a pool has from {self.minimum} to {self.maximum} replicas")
        if self.reserve < 0 or self.spare_starts < 0 or self.safety < 1:
            raise ValueError("reserves are not negative, and safety never shortens a start")
        if min(self.lead_s, self.unmeasured_start_s, self.retry_s, self.longest_retry_s) < 0 or self.alert_s <= 0:
            raise ValueError("a span of time is not negative, and an alert comes before the bell")
