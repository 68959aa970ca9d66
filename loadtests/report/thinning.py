"""Many looks become few points: one for each stretch of time, which tells the most, the mean, or the last of it."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from loadtests.report.lines import Point, Series

MOST_POINTS = 120
MOST_LINES = 8
_MISSED = 3


def most(values: Sequence[float]) -> float:
    return max(values)


def last(values: Sequence[float]) -> float:
    return values[-1]


def width_for(times: Sequence[float], *, least: float) -> float:
    """Of a stretch, so that there are few enough of them; a whole number of times `least`, the time between looks."""
    span = max(times, default=0.0) - min(times, default=0.0)
    return least * max(1, math.ceil(span / least / MOST_POINTS))


def thinned(points: Sequence[Point], *, width: float, keep: Callable[[Sequence[float]], float]) -> list[Point]:
    """There is a gap where nothing was told, and where nobody looked for several stretches; one may be missed."""
    stretches: dict[int, list[float]] = defaultdict(list)
    for at, value in points:
        stretches[math.floor(at / width)] += [] if value is None else [value]
    found: list[Point] = []
    before: int | None = None
    for number, values in sorted(stretches.items()):
        if before is not None and number - before > _MISSED:
            found.append(((before + 1) * width, None))
        found.append((number * width, keep(values) if values else None))
        before = number
    return found


def lines_of(
    looks: Mapping[str, Sequence[Point]], *, width: float, keep: Callable[[Sequence[float]], float]
) -> list[Series]:
    """A line for each; of more than eight, the highest, the mean and the lowest of them all."""
    lines = {name: thinned(points, width=width, keep=keep) for name, points in looks.items()}
    if len(lines) <= MOST_LINES:
        return [Series(name, points) for name, points in lines.items()]
    at: dict[float, list[float]] = defaultdict(list)
    for points in lines.values():
        for place, value in points:
            at[place] += [] if value is None else [value]
    summed: dict[str, Callable[[Sequence[float]], float]] = {"highest": max, "mean": fmean, "lowest": min}
    return [
        Series(
            f"{name} of {len(lines)}",
            [(place, made(values) if values else None) for place, values in sorted(at.items())],
        )
        for name, made in summed.items()
    ]


def thinning_note(width: float, *, least: float, lines: int) -> str:
    """What a reader has to know of it; empty when nothing was left out."""
    said = [f"Each point stands for {width:g} s."] if width > least else []
    said += (
        [f"There are {lines} replicas: the highest, the mean and the lowest are shown."] if lines > MOST_LINES else []
    )
    return " ".join(said)
