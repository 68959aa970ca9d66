"""What a run amounts to. Every figure is defined here, and made of rows and samples by `figuring`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from loadtests.domain.json_values import json_object

RECORD = frozenset({"lost_turns", "doubled_turns", "altered_turns"})
"""What only the record of a session tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Nearest-rank percentiles of one measure. `count` is how many values there were; all else is None of none.

    Of times of turns, a turn that failed counts as infinite, so that failures cannot make a run look quicker.
    """

    count: int = 0
    mean: float | None = None
    """Of the finite ones."""
    p50: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    worst: float | None = None


class ColdReason(StrEnum):
    """Why a turn was computed anew although its session had been there before."""

    MOVED = "moved"
    """It ran at another replica than the turn before."""
    FOLDED = "folded"
    """Its prompt is shorter than the one before: history was folded, and the new prefix not prewarmed."""
    EVICTED = "evicted"
    """The same replica, and a prompt that only grew: the cache had let go of it."""
    LOST = "lost"
    """The same replica, which was broken in between, and may have come back with an empty cache."""
    UNTOLD = "untold"
    """The server does not tell cached tokens, so it cannot be known; not counted as cold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """The turns of one part of a run: a span of time, one turn number, one level of concurrency, one replica.

    `key` is the span's begin in seconds, the turn number, the trainees in session, or the replica's id.
    """

    key: float | str
    turns: int
    failed: int
    ttft: Spread
    e2e: Spread
    tpot: Spread
    turns_per_s: float | None = None
    cached_share: float | None = None
    sessions: int | None = None
    kv_usage: float | None = None
    preemptions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Times in drill seconds. A turn of a class counts from its first byte; `..._planned` from the timetable."""

    turns: int = 0
    failed: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    other_failures: Mapping[str, int] = field(default_factory=dict)
    """Of requests that are no turns, as `kind: failure`."""
    duration_s: float = 0.0
    """From the first planned start to the last end."""
    sessions: int = 0
    completed: int = 0
    """Sessions whose trainee took every turn of the timetable."""
    ttft: Spread = field(default_factory=Spread)
    ttft_planned: Spread = field(default_factory=Spread)
    bell_ttft: Spread = field(default_factory=Spread)
    """Of first turns alone."""
    e2e: Spread = field(default_factory=Spread)
    e2e_planned: Spread = field(default_factory=Spread)
    tpot: Spread = field(default_factory=Spread)
    longest_gap: Spread = field(default_factory=Spread)
    """The longest pause within each reply."""
    turns_per_s: float = 0.0
    """Those that did not fail."""
    goodput_per_s: float = 0.0
    """Turns per second that met every limit of the targets at once."""
    good_turns: int = 0
    """... and their number."""
    output_tokens_per_s: float | None = None
    """None: a whole reply did not tell its tokens."""
    prompt_tokens: int = 0
    cached_tokens: int | None = None
    """None: no server told any."""
    completion_tokens: int = 0
    warm_turns: int = 0
    """Turns of which it is known whether they were cold: second and later ones whose server tells cached tokens."""
    cold: Mapping[str, int] = field(default_factory=dict)
    """By `ColdReason`."""
    affinity_broken: int = 0
    """Turns at another replica than the one before, for no reason that an event gives."""
    affinity_moved: int = 0
    """... after their replica was lost or drained."""
    audited: int = 0
    """Sessions whose record was read and held against what was heard."""
    lost_turns: int = 0
    """Acknowledged by `done`, and not in the record."""
    doubled_turns: int = 0
    """In the record twice, or more of them than were sent."""
    altered_turns: int = 0
    """Whose stored reply is not what was heard."""
    false_blocks: int = 0
    let_in: int = 0
    """Hostile requests that were not refused."""
    refused: int = 0
    """... and those that were: they are no turns."""
    preemptions: int | None = None
    kv_usage_most: float | None = None
    replica_seconds: float | None = None
    """Of all replicas that were there, from the first look to the last."""
    cpu_s: Mapping[str, float] = field(default_factory=dict)
    """Of each process of ours on this machine, in real seconds."""
    memory_mb_most: Mapping[str, float] = field(default_factory=dict)
    client_lag: Spread = field(default_factory=Spread)
    """From when a trainee could have sent a turn to when it was sent, and the workers' own loops; in real seconds."""
    over_time: tuple[Slice, ...] = ()
    by_turn: tuple[Slice, ...] = ()
    by_concurrency: tuple[Slice, ...] = ()
    by_replica: tuple[Slice, ...] = ()
    knee: float | None = None
    """Trainees beyond which throughput grows no more, or latency leaps; None: not reached."""

    @property
    def failure_share(self) -> float | None:
        return self.failed / self.turns if self.turns else None

    @property
    def goodput_share(self) -> float | None:
        return self.good_turns / self.turns if self.turns else None

    @property
    def cached_share(self) -> float | None:
        if self.cached_tokens is None or not self.prompt_tokens:
            return None
        return self.cached_tokens / self.prompt_tokens

    @property
    def cold_share(self) -> float | None:
        return sum(self.cold.values()) / self.warm_turns if self.warm_turns else None

    def untold(self, name: str) -> str:
        """Why a count of what must not be says nothing; empty: it does."""
        if name in RECORD and not self.audited:
            return "no record was read"
        if name == "affinity_broken" and not any(each.turns for each in self.by_replica):
            return "no reply tells its replica"
        return ""

    def as_json(self) -> dict[str, object]:
        """With the shares."""
        shares = {
            "failure_share": self.failure_share,
            "goodput_share": self.goodput_share,
            "cached_share": self.cached_share,
            "cold_share": self.cold_share,
        }
        return json_object({**asdict(self), **shares})
