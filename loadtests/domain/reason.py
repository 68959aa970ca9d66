"""What a likely reason is, and all that may be known of a run to find it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from math import inf

from loadtests.domain.drill import Drill
from loadtests.domain.figures import Figures
from loadtests.domain.limits import Limits
from loadtests.domain.looks import by_replica
from loadtests.domain.mending import mended_at
from loadtests.domain.rows import Kind, Row
from loadtests.domain.server import Event, EventKind, ProcessSample, ReplicaSample

_RECOVERY_S = 10.0
"""So long after a fault is mended, turns may still be late because of it."""


_DETAILS = frozenset({"by_letters", "cut", "lost"})
"""Notes that are no refusals."""


class Cause(StrEnum):
    NOTHING = "nothing was asked"
    CLIENT = "the client itself"
    REPLICAS_SHORT = "too few replicas"
    WINDOW = "the window overflowed"
    AFFINITY = "no affinity"
    FAULT = "a fault"
    ONE_REPLICA = "one replica"
    FOLDED = "folded history"
    BLOCKED = "false blocks"
    RECORD = "the record"
    LET_IN = "hostile requests"
    REFUSED = "refusals"
    FAILURES = "failures"
    QUEUE = "a queue"
    MEMORY = "full KV memory"
    GATEWAY = "a busy gateway"
    MACHINE = "a busy machine"
    WRITING = "slow writing"


_CONSEQUENCES = frozenset({Cause.FAILURES, Cause.QUEUE, Cause.MEMORY, Cause.GATEWAY, Cause.MACHINE, Cause.WRITING})
_CONSEQUENCE_WEIGHT = 0.1
_BEFORE_ALL = {Cause.NOTHING: inf, Cause.CLIENT: 2.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """`says` is one sentence; `evidence` are the figures that it rests on. `share`: of all turns, those it touches."""

    cause: Cause
    says: str
    evidence: tuple[str, ...] = ()
    share: float = 0.0

    @property
    def weight(self) -> float:
        factor = _CONSEQUENCE_WEIGHT if self.cause in _CONSEQUENCES else 1.0
        return _BEFORE_ALL.get(self.cause, self.share * factor)

    def as_json(self) -> dict[str, object]:
        return {"cause": self.cause.value, "says": self.says, "evidence": list(self.evidence), "share": self.share}


@dataclass(frozen=True, slots=True)
class Aftermath:
    """A fault, from when it happened until nothing of it can be felt any more."""

    event: Event
    mended_s: float | None
    until_s: float

    @property
    def name(self) -> str:
        """What was done, and to whom unless that says it."""
        what, whom = self.event.note, self.event.target
        return what if not whom or whom in what else f"{what} of {whom}"


@dataclass(frozen=True, kw_only=True)
class Seen:
    """All that is known of a run."""

    drill: Drill
    figures: Figures
    rows: Sequence[Row] = ()
    replicas: Sequence[ReplicaSample] = ()
    processes: Sequence[ProcessSample] = ()
    events: Sequence[Event] = ()
    limits: Limits = field(default_factory=Limits)
    client_lag_s: float = 0.05
    """From here on the client itself was late; real seconds."""
    load_average: float | None = None
    """Of this machine, at the end."""
    cpus: int | None = None

    @cached_property
    def turns(self) -> list[Row]:
        """A session that could not be opened counts as one failed turn, as in the figures."""
        return [row for row in self.rows if row.kind is Kind.TURN or (row.kind is Kind.OPEN and row.failure)]

    @cached_property
    def spoiled(self) -> list[Row]:
        return [row for row in self.turns if self.is_spoiled(row)]

    @cached_property
    def looks(self) -> Mapping[str, list[ReplicaSample]]:
        return by_replica(self.replicas)

    @cached_property
    def troubles(self) -> list[Aftermath]:
        return [self._trouble(event) for event in self.events if event.kind is EventKind.FAULT]

    def is_spoiled(self, row: Row) -> bool:
        """Failed, or beyond the limits."""
        return not self.limits.are_met_by(row)

    def share(self, rows: Collection[Row] | int) -> float:
        count = rows if isinstance(rows, int) else len(rows)
        return min(1.0, count / self.figures.turns) if self.figures.turns else 0.0

    def trouble_of(self, row: Row) -> Aftermath | None:
        """The fault that it met: of several one of its own replica, and the latest of those."""
        met = [each for each in self.troubles if overlaps(row, each)]
        return max(met, key=lambda each: (each.event.target == row.replica, each.event.at_s), default=None)

    def outside_faults(self, rows: Iterable[Row]) -> list[Row]:
        return [row for row in rows if self.trouble_of(row) is None]

    def _trouble(self, fault: Event) -> Aftermath:
        mended_s = mended_at(fault, self.events)
        return Aftermath(fault, mended_s, inf if mended_s is None else mended_s + _RECOVERY_S)


def overlaps(row: Row, trouble: Aftermath) -> bool:
    return row.started_s <= trouble.until_s and row.ended_s >= trouble.event.at_s


def codes(row: Row) -> tuple[str, ...]:
    """Of the refusals that it met, in their order; numbers, which some servers tell for codes, say nothing more."""
    return tuple(word for word in row.note.split() if word not in _DETAILS and not word.isdecimal())


def refusal(row: Row) -> str:
    """The code of its last refusal, where one came with its status or was waited out; else what went wrong."""
    met = codes(row)
    if met and (row.failure is None or row.failure.startswith("http_")):
        return met[-1]
    return row.failure or ""
