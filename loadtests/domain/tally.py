"""What a run amounts to: nearest-rank percentiles over every turn that was started, and a verdict on the bare
minimum."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loadtests.domain.hearing import TurnOutcome


def nearest_rank(values: Iterable[float], share: float) -> float | None:
    """The smallest value that at least `share` of all values do not exceed; None of none."""
    ranked = sorted(values)
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)] if ranked else None


@dataclass(frozen=True, slots=True)
class Tally:
    """A failed turn counts as one whose first text never came, so that failures cannot make a run look quicker."""

    turns: int
    failures: dict[str, int]
    ttft_p50_s: float | None
    ttft_p95_s: float | None
    total_p50_s: float | None
    total_p95_s: float | None
    tpot_p50_s: float | None
    prompt_tokens: int
    cached_tokens: int

    @property
    def cached_share(self) -> float | None:
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else None

    @property
    def passed(self) -> bool:
        """A run without a single turn proves nothing."""
        return self.turns > 0 and not self.failures


def tally(outcomes: Sequence[TurnOutcome]) -> Tally:
    failures: dict[str, int] = {}
    for outcome in outcomes:
        if outcome.failure is not None:
            failures[outcome.failure] = failures.get(outcome.failure, 0) + 1
    first = [_or_never(outcome.ttft_s, outcome) for outcome in outcomes]
    total = [_or_never(outcome.total_s, outcome) for outcome in outcomes]
    return Tally(
        turns=len(outcomes),
        failures=failures,
        ttft_p50_s=nearest_rank(first, 0.5),
        ttft_p95_s=nearest_rank(first, 0.95),
        total_p50_s=nearest_rank(total, 0.5),
        total_p95_s=nearest_rank(total, 0.95),
        tpot_p50_s=nearest_rank([o.tpot_s for o in outcomes if o.tpot_s is not None], 0.5),
        prompt_tokens=sum(outcome.prompt_tokens for outcome in outcomes),
        cached_tokens=sum(outcome.cached_tokens for outcome in outcomes),
    )


def _or_never(seconds: float | None, outcome: TurnOutcome) -> float:
    return math.inf if seconds is None or outcome.failure is not None else seconds
