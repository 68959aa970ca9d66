"""An interval chart: figures one below the other, each a dot with the span that it may lie in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loadtests.report.frame import RIGHT, Frame, Key, drawing, foot, nothing_measured, shortened, with_unit
from loadtests.report.markup import Markup, tag, words
from loadtests.report.scale import Axis, Scale, scale_of

_ROW, _TOP, _NAMES = 26.0, 40.0, 260.0
_LONGEST_NAME = 36
TONES = {"": ("tone-none", "within noise"), "better": ("tone-better", "better"), "worse": ("tone-worse", "worse")}


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure, and from where to where it may be. `tone` is `better`, `worse`, or empty within noise."""

    name: str
    low: float
    at: float
    high: float
    tone: str = ""


def interval_chart(title: str, intervals: Sequence[Interval], *, x: Axis, middle: float | None = None) -> Markup:
    """`middle` is where nothing has changed: a line from top to bottom."""
    ends = [value for each in intervals for value in (each.low, each.at, each.high)]
    across = scale_of(x, ends if middle is None else [*ends, middle], start=_NAMES + 16, end=RIGHT - 8, from_zero=False)
    frame = Frame(title, _TOP, _TOP + _ROW * max(1, len(intervals)), ())
    figures = list(foot(x, across, frame.bottom))
    if middle is not None:
        at = across.place(middle)
        figures.append(tag("line", class_="mark", x1=at, x2=at, y1=frame.top, y2=frame.bottom))
    for row, each in enumerate(intervals):
        figures += _row(each, frame.top + _ROW * (row + 0.5), across, x)
    if not intervals:
        figures.append(nothing_measured(frame))
    tones = {each.tone for each in intervals}
    keys = [Key(f"dot {kind}", 0, said) for tone, (kind, said) in TONES.items() if tone in tones and tones != {""}]
    return drawing(frame, figures, x=x, keys=keys)


def _row(interval: Interval, y: float, across: Scale, axis: Axis) -> Iterator[Markup]:
    tone, said = TONES.get(interval.tone, TONES[""])
    low, at, high = (across.place(value) for value in (interval.low, interval.at, interval.high))
    told = ", ".join(with_unit(axis, value) for value in (interval.low, interval.high))
    title = tag("title", words(f"{interval.name}: {with_unit(axis, interval.at)} ({told}), {said}"))
    yield tag("text", words(shortened(interval.name, _LONGEST_NAME)), x=_NAMES, y=y + 4, text_anchor="end")
    yield tag(
        "path",
        title,
        class_=f"whisker {tone}",
        d=f"M{low} {y} L{high} {y} M{low} {y - 5} L{low} {y + 5} M{high} {y - 5} L{high} {y + 5}",
    )
    yield tag("circle", title, class_=f"dot {tone}", cx=at, cy=y, r=5)
