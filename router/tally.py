"""What the router has done so far, as plain numbers; turning them into metrics is the gateway's job."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from router.domain.fleet import ReplicaId
from router.domain.pin import PinDecision
from router.errors import EngineError


@dataclass(frozen=True, slots=True)
class RouterNumbers:
    """One moment's figures; all but `in_flight` and `pins_lost` only grow."""

    in_flight: Mapping[ReplicaId, int]
    turns: Mapping[PinDecision, int]
    failures: Mapping[tuple[ReplicaId, str], int]
    """Failed requests by replica and name of the error class; a turn that was tried twice may count twice."""
    retries: int
    pin_failures: int
    pins_lost: bool


class Tally:
    """Counts turns as they open and fail."""

    def __init__(self) -> None:
        self.turns: Counter[PinDecision] = Counter()
        self.failures: Counter[tuple[ReplicaId, str]] = Counter()
        self.retries = 0

    def opened(self, decision: PinDecision) -> None:
        self.turns[decision] += 1

    def failed(self, replica: ReplicaId, error: EngineError) -> None:
        self.failures[replica, type(error).__name__] += 1

    def retried(self) -> None:
        self.retries += 1
