"""What every chart has round its figures: a name, two axes, what happened meanwhile, and which line is which."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loadtests.report.markup import Markup, joined, tag, words
from loadtests.report.scale import Axis, Scale, ticks
from loadtests.report.words import clock, number

WIDTH = 960
LEFT, RIGHT = 76.0, 940.0
_NAME_AT, _ROW, _LETTER, _WIDE_LETTER = 20, 17, 6.4, 12.0
_FIRST_WIDE = 0x2E80
"""From here on letters are as wide as they are high."""
PLOT_HEIGHT = 240.0
SLOTS = 8
"""So many colours and dashes there are; after them they begin anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Something that happened at `at`, or lasted until `until`: a bell, a fault, a knee."""

    at: float
    until: float | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class Key:
    """One entry of the legend: how it is drawn (`line`, `box`, or `dot` and its tone), and what it is called."""

    kind: str
    slot: int
    name: str


@dataclass(frozen=True, slots=True)
class Frame:
    """A drawing area: `top` to `bottom` is where the figures are."""

    title: str
    top: float
    bottom: float
    marks: tuple[tuple[Mark, int], ...]
    """Each with the row that its label stands in, so that labels do not cover each other."""


def frame_of(title: str, *, marks: Sequence[Mark], across: Scale, height: float = PLOT_HEIGHT) -> Frame:
    rows = _rows_of(sorted(marks, key=lambda mark: mark.at), across)
    top = float(_NAME_AT + 20 + _ROW * (1 + len({row for _, row in rows})))
    return Frame(title, top, top + height, tuple(rows))


def drawing(frame: Frame, figures: Sequence[Markup], *, x: Axis, keys: Sequence[Key] = ()) -> Markup:
    """The whole chart as one `svg`; its styles are those of the page, or of `standalone`."""
    legend, rows = _legend(keys, frame.bottom + 58)
    height = frame.bottom + 44 + _ROW * rows + (8 if rows else 0)
    name = tag("text", words(frame.title), x=4, y=_NAME_AT, class_="name")
    below = tag("text", words(_axis_name(x)), x=(LEFT + RIGHT) / 2, y=frame.bottom + 36, text_anchor="middle")
    inner = joined([name, *figures, below, *legend], "\n")
    return tag("svg", inner, class_="chart", viewBox=f"0 0 {WIDTH} {height:g}", role="img", aria_label=frame.title)


def grid(axis: Axis, up: Scale) -> Iterator[Markup]:
    """Lines across, each with its value; what is measured stands above them."""
    for value in ticks(axis, up):
        y = up.place(value)
        yield tag("line", class_="grid", x1=LEFT, x2=RIGHT, y1=y, y2=y)
        yield tag("text", words(written(axis, value)), x=LEFT - 8, y=y + 4, text_anchor="end")
    yield tag("text", words(_axis_name(axis)), x=4, y=up.end - 12, class_="axis")


def foot(axis: Axis, across: Scale, bottom: float) -> Iterator[Markup]:
    yield tag("line", class_="ground", x1=across.start, x2=across.end, y1=bottom, y2=bottom)
    for value in ticks(axis, across):
        x = across.place(value)
        yield tag("line", class_="ground", x1=x, x2=x, y1=bottom, y2=bottom + 4)
        yield tag("text", words(written(axis, value)), x=x, y=bottom + 18, text_anchor="middle")


def happenings(frame: Frame, across: Scale, axis: Axis) -> Iterator[Markup]:
    """Spans are shaded, moments are lines; both say on hovering when they were."""
    for mark, row in frame.marks:
        x = across.place(mark.at)
        when = with_unit(axis, mark.at) + ("" if mark.until is None else f" to {with_unit(axis, mark.until)}")
        title = tag("title", words(f"{mark.label}: {when}" if mark.label else when))
        if mark.until is not None:
            width, height = max(1.0, round(across.place(mark.until) - x, 1)), frame.bottom - frame.top
            yield tag("rect", title, class_="span", x=x, y=frame.top, width=width, height=height)
        yield tag("line", title, class_="mark", x1=x, x2=x, y1=frame.top, y2=frame.bottom)
        if mark.label:
            yield _label(mark, x, _NAME_AT + 12 + _ROW * (row + 0.5))


def _label(mark: Mark, x: float, y: float) -> Markup:
    """Right of its line, or left of it where the drawing ends."""
    if x + _width(mark.label) > RIGHT:
        return tag("text", words(mark.label), class_="label", x=x - 4, y=y, text_anchor="end")
    return tag("text", words(mark.label), class_="label", x=x + 4, y=y)


def written(axis: Axis, value: float) -> str:
    return clock(value) if axis.is_clock else number(value)


def with_unit(axis: Axis, value: float | None) -> str:
    return clock(value) if axis.is_clock and value is not None else number(value, axis.unit)


def shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def nothing_measured(frame: Frame) -> Markup:
    middle = (frame.top + frame.bottom) / 2
    return tag("text", words("nothing measured"), x=(LEFT + RIGHT) / 2, y=middle, text_anchor="middle")


def _axis_name(axis: Axis) -> str:
    return f"{axis.label} ({axis.unit})" if axis.unit and not axis.is_clock else axis.label


def _width(text: str) -> float:
    return sum(_WIDE_LETTER if ord(letter) >= _FIRST_WIDE else _LETTER for letter in text)


def _rows_of(marks: Sequence[Mark], across: Scale) -> list[tuple[Mark, int]]:
    ends: list[float] = []
    placed = []
    for mark in marks:
        begin, width = across.place(mark.at), _width(mark.label) + 12
        begin = begin - width if begin + width > RIGHT else begin
        row = next((row for row, end in enumerate(ends) if end <= begin), len(ends))
        ends[row : row + 1] = [begin + width]
        placed.append((mark, row))
    return placed


def _legend(keys: Sequence[Key], top: float) -> tuple[list[Markup], int]:
    found: list[Markup] = []
    x, row = LEFT, 0
    for key in keys:
        width = 44 + _width(key.name)
        if x + width > RIGHT and x > LEFT:
            x, row = LEFT, row + 1
        y = top + _ROW * row
        found += [_sample(key, x, y), tag("text", words(key.name), x=round(x + 30, 1), y=round(y + 4, 1))]
        x += width
    return found, row + 1 if keys else 0


def _sample(key: Key, x: float, y: float) -> Markup:
    at = round(x, 1)
    if key.kind == "box":
        return tag("rect", class_=f"box s{key.slot}", x=at, y=y - 6, width=24, height=11)
    if key.kind.startswith("dot"):
        return tag("circle", class_=key.kind, cx=at + 12, cy=y, r=5)
    return tag("path", class_=f"line s{key.slot}", d=f"M{at} {y} L{at + 24} {y}")
