"""A comparison in words: values with their units, intervals, and what to make of all of it."""

import math
from collections.abc import Sequence

from loadtests.domain.compared import Compared, Finding
from loadtests.domain.comparison import Comparison
from loadtests.report.words import ENDLESS, NOTHING, counted

_ORDER = (Finding.WORSE, Finding.BETTER, Finding.NOISE, Finding.UNKNOWN)
_OUTSIDE = 20
"""Of so many intervals of 95 %, one is wrong by chance."""


def headline(comparison: Comparison) -> str:
    """Such as `2 worse, 1 better, 17 within noise, 3 not judged`."""
    counts = [(len(comparison.found(finding)), finding) for finding in _ORDER]
    return ", ".join(f"{count} {finding}" for count, finding in counts if count) or "nothing to compare"


def chance(comparison: Comparison) -> str:
    """What a reader must know of the intervals."""
    judged = [each for each in comparison.metrics if each.low is not None]
    before, after = comparison.units
    few = "" if comparison.of == "sessions" else " They are too few sessions, so single turns were drawn."
    return (
        f"Each span holds the change in 95 of 100 cases, as {before} and {after} {comparison.of} drawn anew say.{few} "
        f"Where nothing changed at all, chance alone lets about one span of {_OUTSIDE} say that something did; "
        f"this comparison has {counted(len(judged), 'span')}."
    )


def judged_last(metrics: Sequence[Compared]) -> tuple[Compared, ...]:
    """What changed stands first, what could not be judged last."""
    return tuple(sorted(metrics, key=lambda each: _ORDER.index(each.finding)))


def told(value: float | None, metric: Compared) -> str:
    if value is None:
        return NOTHING
    if math.isinf(value):
        return ENDLESS
    if metric.name.endswith("_share"):
        return f"{value:.1%}"
    if metric.name.endswith("_s") and not metric.name.endswith("_per_s"):
        return f"{value * 1000:.4g} ms" if abs(value) < 1 else f"{value:.4g} s"
    return f"{value:.4g}"


def interval_told(metric: Compared) -> str:
    """`+12.0% (+3.1% to +20.9%)`; points of a share, and counts, as they are."""
    if metric.before is None or metric.after is None:
        return ""
    if metric.low is None or metric.high is None:
        return _signed(metric.after - metric.before, metric) if math.isfinite(metric.after - metric.before) else ""
    return (
        f"{_signed(metric.after - metric.before, metric)} "
        f"({_signed(metric.low, metric)} to {_signed(metric.high, metric)})"
    )


def _signed(change: float, metric: Compared) -> str:
    share = metric.as_share(change)
    if math.isnan(change):
        return "none"
    if math.isinf(change):
        return "+∞" if change > 0 else "-∞"
    if metric.name.endswith("_share"):
        return f"{100 * change:+.1f} points"
    return f"{share:+.1%}" if share is not None else f"{change:+.4g}"
