"""A bar chart: columns side by side, or one upon another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loadtests.report.frame import LEFT, RIGHT, SLOTS, Key, drawing, frame_of, grid, nothing_measured, with_unit
from loadtests.report.markup import Markup, tag, words
from loadtests.report.scale import Axis, Scale, scale_of

_NAME_WIDTH = 34
"""Each name below a column needs so much room; where there is less, some are left out."""
_FILLED = 0.76
_WIDEST = 120.0


@dataclass(frozen=True, slots=True)
class Bars:
    """One value for each column. None has no bar; what is infinite reaches beyond the upper edge."""

    name: str
    values: Sequence[float | None]


def bar_chart(
    title: str, columns: Sequence[str], bars: Sequence[Bars], *, x: Axis, y: Axis, stacked: bool = False
) -> Markup:
    across = Scale(low=0, high=max(1, len(columns)), start=LEFT, end=RIGHT)
    frame = frame_of(title, marks=(), across=across)
    towers = [_tower([each.values[at] for each in bars], stacked=stacked) for at in range(len(columns))]
    up = scale_of(y, [top for tower in towers for _, top in tower], start=frame.bottom, end=frame.top, from_zero=True)
    figures = [*grid(y, up), tag("line", class_="ground", x1=LEFT, x2=RIGHT, y1=up.place(0), y2=up.place(0))]
    for at, name in enumerate(columns):
        room = across.place(at), across.place(at + 1)
        titles = [f"{name}, {each.name}: {with_unit(y, each.values[at])}" for each in bars]
        figures += _column(towers[at], titles, room, up, stacked=stacked)
    figures += _names(columns, across, frame.bottom)
    if all(value is None for each in bars for value in each.values):
        figures.append(nothing_measured(frame))
    keys = [Key("box", slot % SLOTS, each.name) for slot, each in enumerate(bars)] if len(bars) > 1 else []
    return drawing(frame, figures, x=x, keys=keys)


def _tower(values: Sequence[float | None], *, stacked: bool) -> list[tuple[float | None, float | None]]:
    """From where to where each bar goes."""
    found: list[tuple[float | None, float | None]] = []
    ground = 0.0
    for value in values:
        found.append((ground, None if value is None else ground + value))
        ground += (value or 0.0) if stacked else 0.0
    return found


def _column(
    tower: Sequence[tuple[float | None, float | None]],
    titles: Sequence[str],
    room: tuple[float, float],
    up: Scale,
    *,
    stacked: bool,
) -> Iterator[Markup]:
    beside = 1 if stacked else len(tower)
    width = min(_WIDEST, (room[1] - room[0]) * _FILLED / beside)
    left = (room[0] + room[1] - width * beside) / 2
    for slot, ((ground, top), said) in enumerate(zip(tower, titles, strict=True)):
        if ground is None or top is None:
            continue
        x = round(left + (0 if stacked else slot * width), 1)
        low, high = sorted((up.place(ground), up.place(top)))
        kind = f"box s{slot % SLOTS}" + (" beyond" if up.is_beyond(top) else "")
        title = tag("title", words(said))
        yield tag("rect", title, class_=kind, x=x, y=low, width=round(width, 1), height=round(high - low, 1))


def _names(columns: Sequence[str], across: Scale, bottom: float) -> Iterator[Markup]:
    widest = max(_NAME_WIDTH, 7 * max(map(len, columns), default=0))
    each = round(widest * len(columns) / (RIGHT - LEFT) + 0.5)
    for at in range(0, len(columns), max(1, each)):
        yield tag("text", words(columns[at]), x=across.place(at + 0.5), y=bottom + 18, text_anchor="middle")
