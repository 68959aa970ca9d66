"""Where a value lies on a drawn axis, and which values are written beside it."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

_MOST_TICKS = 7
_CLOCK_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What is measured along one side. `low` and `high` are taken from the values where they are not given."""

    label: str
    unit: str = ""
    logarithmic: bool = False
    is_clock: bool = False
    """Seconds, written as minutes and hours."""
    is_count: bool = False
    """Whole numbers alone."""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """From `low` at `start` to `high` at `end`, which are places in the drawing; beyond them, at the edge."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def place(self, value: float) -> float:
        kept = min(max(value, self.low), self.high)
        if self.logarithmic:
            share = (log10(kept) - log10(self.low)) / (log10(self.high) - log10(self.low))
        else:
            share = (kept - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def is_beyond(self, value: float) -> bool:
        return value > self.high


def scale_of(axis: Axis, values: Iterable[float | None], *, start: float, end: float, from_zero: bool) -> Scale:
    """Wide enough for every finite value; `from_zero` has a linear axis begin there unless something lies below."""
    finite = [each for each in values if each is not None and isfinite(each) and (each > 0 or not axis.logarithmic)]
    least, most = min(finite, default=1.0), max(finite, default=1.0)
    low, high = _decade(least, most) if axis.logarithmic else _plain(least, most, from_zero=from_zero)
    low = low if axis.low is None else axis.low
    high = high if axis.high is None else axis.high
    if high <= low:
        high = low * 10 if axis.logarithmic else low + 1
    return Scale(low=low, high=high, start=start, end=end, logarithmic=axis.logarithmic)


def ticks(axis: Axis, scale: Scale) -> list[float]:
    if scale.logarithmic:
        return _log_ticks(scale)
    step = _step(scale.high - scale.low, is_clock=axis.is_clock)
    step = max(1.0, step) if axis.is_count else step
    first, last = ceil(round(scale.low / step, 9)), floor(round(scale.high / step, 9))
    return [round(count * step, 12) for count in range(first, last + 1)]


def _plain(least: float, most: float, *, from_zero: bool) -> tuple[float, float]:
    if not from_zero:
        return least, most
    low, high = min(0.0, least), max(0.0, most)
    room = (high - low) * 0.05
    return low - (room if low < 0 else 0), high + (room if high > 0 else 0)


def _decade(least: float, most: float) -> tuple[float, float]:
    """Down and up to the next of 1, 2 and 5."""
    below, above = 10.0 ** floor(log10(least)), 10.0 ** floor(log10(most))
    low = max(below * factor for factor in (1, 2, 5) if below * factor <= least)
    high = min(above * factor for factor in (1, 2, 5, 10) if above * factor >= most)
    return low, high


def _log_ticks(scale: Scale) -> list[float]:
    decades = range(floor(log10(scale.low)), ceil(log10(scale.high)) + 1)
    fine = _within(scale, (10.0**power * factor for power in decades for factor in (1, 2, 5)))
    if len(fine) <= _MOST_TICKS + 2:
        return fine
    coarse = _within(scale, (10.0**power for power in decades))
    return coarse[:: len(coarse) // _MOST_TICKS + 1]


def _within(scale: Scale, values: Iterable[float]) -> list[float]:
    return [each for each in values if scale.low * 0.999 <= each <= scale.high * 1.001]


def _step(width: float, *, is_clock: bool) -> float:
    if is_clock:
        return next(
            (each for each in _CLOCK_STEPS if width / each <= _MOST_TICKS), ceil(width / 86_400 / _MOST_TICKS) * 86_400
        )
    power = 10.0 ** floor(log10(width / _MOST_TICKS))
    return next(power * factor for factor in (1, 2, 5, 10) if width / (power * factor) <= _MOST_TICKS)
