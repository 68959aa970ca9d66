"""What the router has done so far, as plain numbers; turning them into metrics is the gateway's job."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from router.domain.fleet import ReplicaId
from router.domain.pin import PinDecision


class Takeover(StrEnum):
    """How a reply went on whose replica was lost."""

    ASKED_ANEW = "asked anew"
    """Nothing had been delivered."""
    CONTINUED = "continued"
    COMPLETED = "completed"
    """All of it had been delivered already."""
    STUCK = "stuck"
    """It could not be continued honestly."""


class MoveReason(StrEnum):
    """Why a pinned session went to another replica in a turn."""

    REPLICA_LOST = "replica lost"
    """It is down, unknown, or its breaker is open."""
    REPLICA_FULL = "replica full"
    TURN_FAILED = "turn failed"
    """It failed in this very turn."""
    HANDED_OVER = "handed over"
    """A drain ran past its deadline."""


class PrewarmOutcome(StrEnum):
    """What became of a prewarm."""

    DONE = "done"
    FAILED = "failed"
    DROPPED = "dropped"
    """The turn was faster."""
    NO_ROOM = "no room"


@dataclass(frozen=True, slots=True)
class RouterNumbers:
    """One moment's figures. All but `in_flight`, `waiting`, `pins_lost` and `breakers_open` only grow."""

    in_flight: Mapping[ReplicaId, int] = field(default_factory=dict)
    waiting: int = 0
    pins_lost: bool = False
    breakers_open: frozenset[ReplicaId] = frozenset()

    turns: Mapping[PinDecision, int] = field(default_factory=dict)
    """Turns that a replica has taken, by how they came to it."""
    background: int = 0
    """Background calls that a replica has taken, which are no turns."""
    attempts: Mapping[tuple[ReplicaId, str], int] = field(default_factory=dict)
    """Ended requests by replica and outcome: completed, cancelled, handed over, or the name of the error class."""
    retries: int = 0
    """Second and later requests for one turn, continuations included."""
    takeovers: Mapping[Takeover, int] = field(default_factory=dict)
    moves: Mapping[MoveReason, int] = field(default_factory=dict)
    waited: int = 0
    """Turns that had to wait for room, whatever came of it."""
    no_room: int = 0
    no_replica: int = 0
    unpinned: int = 0
    """Requests that named no session."""
    budget_exhausted: int = 0
    breaker_opened: Mapping[ReplicaId, int] = field(default_factory=dict)
    pin_failures: int = 0
    """Calls that the pin store did not answer."""
    prewarms: Mapping[PrewarmOutcome, int] = field(default_factory=dict)
    canaries: Mapping[tuple[ReplicaId, str], int] = field(default_factory=dict)
    """Canaries by replica and outcome, as whoever sends them says."""


class Tally:
    """Counts as things happen. Every label is from a closed set or a replica of the fleet."""

    def __init__(self) -> None:
        self.turns: Counter[PinDecision] = Counter()
        self.attempts: Counter[tuple[ReplicaId, str]] = Counter()
        self.takeovers: Counter[Takeover] = Counter()
        self.moves: Counter[MoveReason] = Counter()
        self.breaker_opened: Counter[ReplicaId] = Counter()
        self.prewarms: Counter[PrewarmOutcome] = Counter()
        self.canaries: Counter[tuple[ReplicaId, str]] = Counter()
        self.background = 0
        self.retries = 0
        self.waited = 0
        self.no_room = 0
        self.no_replica = 0
        self.unpinned = 0
        self.budget_exhausted = 0

    def took(self, decision: PinDecision, *, is_background: bool) -> None:
        """A replica has taken a call."""
        if is_background:
            self.background += 1
        else:
            self.turns[decision] += 1

    def prewarmed(self, outcome: PrewarmOutcome) -> None:
        self.prewarms[outcome] += 1

    def canary(self, replica: ReplicaId, outcome: str) -> None:
        self.canaries[replica, outcome] += 1

    def numbers(self) -> RouterNumbers:
        """What this object knows; the rest is the router's."""
        return RouterNumbers(
            turns=dict(self.turns),
            attempts=dict(self.attempts),
            takeovers=dict(self.takeovers),
            moves=dict(self.moves),
            breaker_opened=dict(self.breaker_opened),
            prewarms=dict(self.prewarms),
            canaries=dict(self.canaries),
            background=self.background,
            retries=self.retries,
            waited=self.waited,
            no_room=self.no_room,
            no_replica=self.no_replica,
            unpinned=self.unpinned,
            budget_exhausted=self.budget_exhausted,
        )
