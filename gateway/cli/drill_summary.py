"""What a drill's raw rows add up to; nothing here reads a clock or a network."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sessions.domain.turn import Usage


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that went wrong; `turn` is None when it concerns the whole session."""

    trainee: int
    session: str | None
    turn: int | None
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One turn as its trainee saw it. Moments are seconds since the drill began; a duration counts from `started_s`."""

    trainee: int
    session: str
    turn: int
    intended_s: float
    """When the trainee meant to send it: the end of the turn before plus the time to think."""
    started_s: float
    ttft_s: float | None = None
    total_s: float | None = None
    usage: Usage = field(default_factory=Usage)
    replica: str | None = None
    pin: str | None = None
    retries: int = 0
    failure: Failure | None = None

    @property
    def succeeded(self) -> bool:
        return self.failure is None


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Nearest rank over `samples` values, None of none. A failed turn counts as one that took for ever."""

    samples: int
    p50: float | None
    p95: float | None


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of some turns."""

    turns: int
    failed: int
    retried: int
    ttft_s: Percentiles
    total_s: Percentiles
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    replicas: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReplicaChange:
    """A session went on with another replica than before; `pin` is the reason that the server gave."""

    trainee: int
    session: str
    turn: int
    before: str
    after: str
    pin: str | None


@dataclass(frozen=True, slots=True)
class DrillSummary:
    wanted_turns: int
    totals: Figures
    by_turn: Mapping[int, Figures]
    changes: tuple[ReplicaChange, ...]
    failures: tuple[Failure, ...]

    @property
    def passed(self) -> bool:
        """A drill in which nothing ran has shown nothing."""
        return self.totals.turns > 0 and not self.failures


def percentile(values: Sequence[float], share: float) -> float | None:
    """The nearest rank: the smallest value that at least `share` of all values do not exceed; None of no values."""
    if not values:
        return None
    if not 0 < share <= 1:
        raise ValueError("share must be above 0 and at most 1")
    # Rounding keeps 0.95 * 20 at 19; in binary it may come out a hair above.
    rank = math.ceil(round(share * len(values), 9))
    return sorted(values)[max(rank, 1) - 1]


def summary(rows: Sequence[TurnRow], *, others: Sequence[Failure] = (), wanted_turns: int) -> DrillSummary:
    """`others` are the failures that belong to no row, such as a session that could not be started."""
    by_turn: dict[int, list[TurnRow]] = defaultdict(list)
    for row in rows:
        by_turn[row.turn].append(row)
    return DrillSummary(
        wanted_turns=wanted_turns,
        totals=figures(rows),
        by_turn={turn: figures(by_turn[turn]) for turn in sorted(by_turn)},
        changes=tuple(replica_changes(rows)),
        failures=(*(row.failure for row in rows if row.failure is not None), *others),
    )


def figures(rows: Sequence[TurnRow]) -> Figures:
    return Figures(
        turns=len(rows),
        failed=sum(not row.succeeded for row in rows),
        retried=sum(row.retries > 0 for row in rows),
        ttft_s=_percentiles([(row.ttft_s, row.succeeded) for row in rows]),
        total_s=_percentiles([(row.total_s, row.succeeded) for row in rows]),
        prompt_tokens=sum(row.usage.prompt_tokens for row in rows),
        cached_tokens=sum(row.usage.cached_tokens for row in rows),
        completion_tokens=sum(row.usage.completion_tokens for row in rows),
        replicas=tuple(sorted({row.replica for row in rows if row.replica is not None})),
    )


def replica_changes(rows: Iterable[TurnRow]) -> list[ReplicaChange]:
    """Every turn that another replica served than the one that served its session before."""
    last: dict[str, str] = {}
    found = []
    for row in sorted(rows, key=lambda row: (row.trainee, row.session, row.turn, row.started_s)):
        if row.replica is None:
            continue
        before = last.get(row.session, row.replica)
        if before != row.replica:
            found.append(ReplicaChange(row.trainee, row.session, row.turn, before, row.replica, row.pin))
        last[row.session] = row.replica
    return found


def _percentiles(measured: Iterable[tuple[float | None, bool]]) -> Percentiles:
    values = []
    for value, succeeded in measured:
        if not succeeded:
            values.append(math.inf)
        elif value is not None:  # a good turn without it, such as an empty reply's first text, is no sample
            values.append(value)
    return Percentiles(len(values), percentile(values, 0.5), percentile(values, 0.95))
