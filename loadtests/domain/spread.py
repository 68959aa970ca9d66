"""How values are spread: nearest-rank percentiles, the same whatever the order of the values."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from loadtests.domain.figures import Spread
from loadtests.domain.rows import Row


def at_rank(ranked: Sequence[float], thousandths: int) -> float:
    """The smallest of the sorted values that at least so many thousandths of them do not exceed."""
    return ranked[max(0, -(-thousandths * len(ranked) // 1000) - 1)]


def spread_of(values: Iterable[float]) -> Spread:
    ranked = sorted(values)
    if not ranked:
        return Spread()
    finite = [value for value in ranked if math.isfinite(value)]
    p50, p90, p95, p99 = (at_rank(ranked, share) for share in (500, 900, 950, 990))
    # fsum is exact, so that the order of equal runs' rows does not show in the last digit.
    mean = math.fsum(finite) / len(finite) if finite else None
    return Spread(count=len(ranked), mean=mean, p50=p50, p90=p90, p95=p95, p99=p99, worst=ranked[-1])


def times(turns: Iterable[Row], measure: Callable[[Row], float | None]) -> list[float]:
    """What was measured of each turn; infinite where it failed or brought no text, left out where it has no value."""
    found = []
    for turn in turns:
        if turn.failure is not None or (turn.first_s is None and not turn.was_cancelled):
            found.append(math.inf)
        elif (value := measure(turn)) is not None:
            found.append(value)
    return found


def _e2e_s(turn: Row) -> float | None:
    return None if turn.was_cancelled else turn.e2e_s


def _e2e_planned_s(turn: Row) -> float | None:
    if turn.last_s is None or turn.was_cancelled:
        return None
    return turn.last_s - min(turn.planned_s, turn.started_s)


MEASURES: Mapping[str, Callable[[Row], float | None]] = {
    "ttft": lambda turn: turn.ttft_s,
    "ttft_planned": lambda turn: turn.ttft_planned_s,
    "e2e": _e2e_s,
    "e2e_planned": _e2e_planned_s,
    "tpot": lambda turn: turn.tpot_s,
    "longest_gap": lambda turn: max(turn.gaps_s, default=None),
}
"""By the name that a figure has. Replies that their trainee stopped have no end, those of one chunk have no gap."""


def of(measure: str, turns: Iterable[Row]) -> Spread:
    return spread_of(times(turns, MEASURES[measure]))
