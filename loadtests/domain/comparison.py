"""Whether a figure of some runs is better or worse than that of others, or whether chance alone may have done it.

Of times and shares the difference is drawn anew many times (`resample`), which gives an interval. Where a side has
several runs, what differs between these, beyond what their sessions explain, widens every interval. Of counts and
totals see `run_totals`.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, variance

import numpy as np

from loadtests.domain.compared import Compared, Finding, Judging, judged
from loadtests.domain.measured import RunSeen, Side, side
from loadtests.domain.resample import Counts, Floats, drawn, percentile, ratio, runs_alone
from loadtests.domain.run_totals import failures, mistakes, totals
from loadtests.domain.student import quantile

FEWEST_SESSIONS = 8
"""With fewer on a side single turns are drawn instead, as if they were independent."""
_FEWEST_TURNS = 8
"""With fewer on a side nothing is drawn: one turn, drawn again and again, is always the same."""
_USUAL = 0.95
"""The width of intervals as they are drawn; others are made from it as a normal distribution would have them."""
_BEYOND = 5
"""So many values must lie beyond a percentile, on each side."""
_PERCENTILES = (
    ("ttft", 500),
    ("ttft", 950),
    ("ttft", 990),
    ("ttft_planned", 950),
    ("bell_ttft", 950),
    ("e2e", 500),
    ("e2e", 950),
    ("tpot", 500),
    ("tpot", 950),
    ("longest_gap", 950),
)
"""In thousandths."""
_RATIOS = (("goodput_share", True), ("cached_share", True), ("cold_share", False))
"""Each with whether more of it is better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    metrics: tuple[Compared, ...]
    of: str
    """What was drawn: `sessions`, or `turns` where there are too few of them."""
    units: tuple[int, int]
    """How many of them each side has."""

    def found(self, finding: Finding) -> tuple[Compared, ...]:
        return tuple(each for each in self.metrics if each.finding is finding)


def compare(
    before: Sequence[RunSeen], after: Sequence[RunSeen], *, seed: str, judging: Judging | None = None
) -> Comparison:
    """Equal seeds draw alike, so that equal runs are judged alike."""
    told = judging or Judging()
    by_sessions = min(sum(len(run.sessions) for run in runs) for runs in (before, after)) >= FEWEST_SESSIONS
    pair = _Pair(
        _Drawn.of(side(before, by_sessions=by_sessions), seed=f"{seed} before", draws=told.draws),
        _Drawn.of(side(after, by_sessions=by_sessions), seed=f"{seed} after", draws=told.draws),
        told,
    )
    units = sum(pair.before.side.units), sum(pair.after.side.units)
    failing = (pair.before.side.failing, units[0]), (pair.after.side.failing, units[1])
    return Comparison(
        metrics=(
            *_times(pair),
            *_shares(pair),
            failures(before, after, failing, told),
            *mistakes(before, after, told),
            *totals(before, after, told),
        ),
        of="sessions" if pair.before.side.are_sessions else "turns",
        units=units,
    )


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A side with its draws: all of it once, each run of it alone, and drawn anew."""

    side: Side
    whole: Counts
    alone: Counts
    anew: Counts

    @classmethod
    def of(cls, measured: Side, *, seed: str, draws: int) -> "_Drawn":
        units = measured.units
        whole = np.ones((1, sum(units)), dtype=np.int64)
        return cls(measured, whole, runs_alone(units), drawn(units, draws=draws, seed=seed))


@dataclass(frozen=True, slots=True)
class _Pair:
    before: _Drawn
    after: _Drawn
    judging: Judging


Measure = Callable[[_Drawn, Counts], Floats]


def _times(pair: _Pair) -> Iterator[Compared]:
    for name, thousandths in _PERCENTILES:
        fewest = min(len(each.side.times[name].values) for each in (pair.before, pair.after))
        needed = math.ceil(_BEYOND * 1000 / (1000 - thousandths))
        few = f"{fewest} values on a side are too few, {needed} are needed" if fewest < needed else ""
        yield _resampled(f"{name}_p{thousandths // 10}_s", pair, _percentile(name, thousandths), few=few)


def _shares(pair: _Pair) -> Iterator[Compared]:
    fewest = min(sum(each.side.units) for each in (pair.before, pair.after))
    few = f"{fewest} turns on a side are too few, {_FEWEST_TURNS} are needed" if fewest < _FEWEST_TURNS else ""
    for name, more_is_better in _RATIOS:
        yield _resampled(name, pair, _ratio(name), more_is_better=more_is_better, few=few)


def _percentile(name: str, thousandths: int) -> Measure:
    return lambda each, counts: percentile(counts, each.side.times[name], thousandths)


def _ratio(name: str) -> Measure:
    return lambda each, counts: ratio(counts, each.side.ratios[name])


def _resampled(name: str, pair: _Pair, measure: Measure, *, more_is_better: bool = False, few: str = "") -> Compared:
    before, after = (float(measure(each, each.whole)[0]) for each in (pair.before, pair.after))
    if few or math.isnan(before) or math.isnan(after):
        return Compared(
            name=name,
            before=_known(before),
            after=_known(after),
            finding=Finding.UNKNOWN,
            more_is_better=more_is_better,
            why=few or "not measured on both sides",
        )
    low, high = _interval(pair, measure, 0.0 if before == after else after - before)
    low = max(low, -before)  # nothing takes less than no time
    return judged(name, (before, after), (low, high), judging=pair.judging, more_is_better=more_is_better)


def _interval(pair: _Pair, measure: Measure, change: float) -> tuple[float, float]:
    anew = [measure(each, each.anew) for each in (pair.before, pair.after)]
    ranked = np.sort(_difference(anew[1], anew[0]))
    tail = math.floor((1 - _USUAL) / 2 * len(ranked))
    low, high = float(ranked[tail]), float(ranked[-1 - tail])
    if not all(math.isfinite(each) for each in (low, high, change)):
        return low, high
    wider = _deviations(pair.judging.level) / _deviations(_USUAL)
    between = _between(pair, measure, anew)
    return (
        change - math.hypot((change - low) * wider, between),
        change + math.hypot((high - change) * wider, between),
    )


def _between(pair: _Pair, measure: Measure, anew: Sequence[Floats]) -> float:
    """Half the width that the spread of the runs adds, beyond that of their sessions; 0 of single runs.

    Drawn sessions of R pooled runs vary by an Rth of what those of one would: R times that is not the runs' own.
    """
    spreads: list[float] = []
    counts: list[int] = []
    for each, draws in zip((pair.before, pair.after), anew, strict=True):
        runs = [float(value) for value in measure(each, each.alone) if math.isfinite(value)]
        counts.append(max(1, len(runs)))
        if len(runs) > 1:
            by_sessions = len(runs) * float(np.var(draws[np.isfinite(draws)]))
            spreads.append(max(0.0, variance(runs) - by_sessions))
    if not spreads:
        return 0.0
    freedom = sum(count - 1 for count in counts)
    return quantile(freedom, pair.judging.level) * math.sqrt(fmean(spreads) * sum(1 / count for count in counts))


def _difference(one: Floats, other: Floats) -> Floats:
    """Two that never came do not differ; a draw that has no value on a side says nothing."""
    with np.errstate(invalid="ignore"):
        found = np.where(one == other, 0.0, one - other)
    return found[~np.isnan(found)]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _deviations(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)
