"""A line chart: one or several measures along time, turns or trainees."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from loadtests.report.frame import (
    LEFT,
    RIGHT,
    SLOTS,
    Frame,
    Key,
    Mark,
    drawing,
    foot,
    frame_of,
    grid,
    happenings,
    nothing_measured,
    with_unit,
)
from loadtests.report.markup import Markup, tag, words
from loadtests.report.scale import Axis, Scale, scale_of

Point = tuple[float, float | None]
_FEW = 40
"""A line of more points than this shows no dots."""
_MOST_HOVERS = 240


@dataclass(frozen=True, slots=True)
class Series:
    """A line from point to point, by x. None is a gap; what is infinite lies at the upper edge, with a mark."""

    name: str
    points: Sequence[Point]


def line_chart(title: str, series: Sequence[Series], *, x: Axis, y: Axis, marks: Sequence[Mark] = ()) -> Markup:
    places = [point[0] for each in series for point in each.points]
    at = [value for mark in marks for value in (mark.at, mark.until) if value is not None]
    across = scale_of(x, [*places, *at], start=LEFT, end=RIGHT, from_zero=False)
    frame = frame_of(title, marks=marks, across=across)
    values = [point[1] for each in series for point in each.points]
    up = scale_of(y, values, start=frame.bottom, end=frame.top, from_zero=True)
    figures = [
        *grid(y, up),
        *foot(x, across, frame.bottom),
        *happenings(frame, across, x),
        *(part for slot, each in enumerate(series) for part in _line(each, slot % SLOTS, across, up)),
        *_hovers(series, (x, y), across, frame),
    ]
    if all(value is None for value in values):
        figures.append(nothing_measured(frame))
    keys = [Key("line", slot % SLOTS, each.name) for slot, each in enumerate(series)]
    return drawing(frame, figures, x=x, keys=keys)


def _line(series: Series, slot: int, across: Scale, up: Scale) -> Iterator[Markup]:
    stretches = _stretches(series.points)
    drawn = [" L".join(f"{across.place(x)} {up.place(y)}" for x, y in each) for each in stretches]
    if drawn:
        yield tag("path", class_=f"line s{slot}", d=" ".join(f"M{each}" for each in drawn))
    for stretch in stretches:
        for x, y in stretch:
            if up.is_beyond(y):
                yield _beyond(across.place(x), up.end, slot)
            elif len(series.points) <= _FEW or len(stretch) == 1:
                yield tag("circle", class_=f"dot s{slot}", cx=across.place(x), cy=up.place(y), r=2.5)


def _stretches(points: Sequence[Point]) -> list[list[tuple[float, float]]]:
    """What is between gaps."""
    found: list[list[tuple[float, float]]] = [[]]
    for x, y in sorted(points, key=lambda point: point[0]):
        if y is not None:
            found[-1].append((x, y))
        elif found[-1]:
            found.append([])
    return [each for each in found if each]


def _beyond(x: float, top: float, slot: int) -> Markup:
    """An arrow upwards: higher than the chart."""
    return tag("path", class_=f"beyond s{slot}", d=f"M{x - 5} {top} L{x + 5} {top} L{x} {top - 9} Z")


def _hovers(series: Sequence[Series], axes: tuple[Axis, Axis], across: Scale, frame: Frame) -> Iterator[Markup]:
    """Columns that are not seen, each of which tells all lines' values at its x."""
    told = [{x: y for x, y in each.points if y is not None} for each in series]
    columns = sorted({x for each in told for x in each})
    columns = columns[:: len(columns) // _MOST_HOVERS + 1]
    middles = [(across.place(a) + across.place(b)) / 2 for a, b in pairwise(columns)]
    for value, begin, end in zip(columns, [across.start, *middles], [*middles, across.end], strict=False):
        lines = [
            f"{each.name}: {with_unit(axes[1], at[value])}"
            for each, at in zip(series, told, strict=True)
            if value in at
        ]
        title = tag("title", words("\n".join([f"{axes[0].label} {with_unit(axes[0], value)}", *lines])))
        width, height = round(end - begin, 1), frame.bottom - frame.top
        yield tag("rect", title, class_="hover", x=round(begin, 1), y=frame.top, width=width, height=height)
