"""What an engine can say about itself at the end of a step: the numbers behind /metrics and /load."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field

from loadtests.simulator.domain.generation import FinishReason


class Histogram:
    """Counts per bucket, and the sum; a bucket holds what is at most its bound."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value


@dataclass(frozen=True, slots=True)
class Life:
    """One finished request: its tokens, and in simulated seconds when it came, was scheduled, spoke first and ended."""

    reason: FinishReason
    prompt_tokens: int
    cached_tokens: int
    generated_tokens: int
    max_tokens: int
    preemptions: int
    arrived_s: float
    scheduled_s: float
    first_token_s: float
    ended_s: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Gauges as the last step left them, and counters since the start; all at once old while a long step runs.

    `sleep_level` is None while the engine is awake. `rejected` counts requests that met a full queue.
    """

    running: int = 0
    waiting: int = 0
    kv_usage: float = 0.0
    blocks: int = 0
    sleep_level: int | None = None
    prefix_queried_tokens: int = 0
    prefix_hit_tokens: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    generation_tokens: int = 0
    preemptions: int = 0
    rejected: int = 0
    finished: Mapping[FinishReason, int] = field(default_factory=dict)
