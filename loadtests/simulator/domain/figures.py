"""What an engine can say about itself at the end of a step: the numbers behind /metrics and /load."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field

from loadtests.simulator.domain.generation import FinishReason, Life

TOKENS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0)
STEP_TOKENS = (1.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0)
FEW = (1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 20.0)
_SECONDS = (2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0)
FIRST_TOKEN_S = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, *_SECONDS, 160.0, 640.0, 2560.0)
TOKEN_S = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, *_SECONDS)
_MINUTES = (10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0)
REQUEST_S = (0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, *_MINUTES)


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


class Distributions:
    """What came of every step, first token and finished request so far, counted into vLLM's buckets."""

    def __init__(self) -> None:
        self.step_tokens = Histogram(STEP_TOKENS)
        self.first_token_s = Histogram(FIRST_TOKEN_S)
        self.between_tokens_s = Histogram(TOKEN_S)
        self.prompt_tokens = Histogram(TOKENS)
        self.generated_tokens = Histogram(TOKENS)
        self.max_tokens = Histogram(TOKENS)
        self.computed_tokens = Histogram(TOKENS)
        self.preemptions = Histogram(FEW)
        self.per_output_token_s = Histogram(TOKEN_S)
        self.whole_s = Histogram(REQUEST_S)
        self.queue_s = Histogram(REQUEST_S)
        self.inference_s = Histogram(REQUEST_S)
        self.prefill_s = Histogram(REQUEST_S)
        self.decode_s = Histogram(REQUEST_S)

    def count(self, life: Life) -> None:
        self.prompt_tokens.observe(life.prompt_tokens)
        self.generated_tokens.observe(life.generated_tokens)
        self.max_tokens.observe(life.max_tokens)
        self.computed_tokens.observe(life.prompt_tokens - life.cached_tokens)
        self.preemptions.observe(life.preemptions)
        self.per_output_token_s.observe(life.per_output_token_s)
        self.whole_s.observe(life.whole_s)
        self.queue_s.observe(life.queue_s)
        self.inference_s.observe(life.inference_s)
        self.prefill_s.observe(life.prefill_s)
        self.decode_s.observe(life.decode_s)


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
    distributions: Distributions = field(default_factory=Distributions)
    """Grows in place, at the end of a step like everything else."""
