"""Replicas over time as a chart of characters: what is wanted, what the seats need beyond it, and the bells."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from math import ceil

MOST_ROWS = 12
WANTED, MISSING, ALLOWED, EMPTY = "█", "░", "╌", " "
BELL = "▲"

_TICK_MINUTES = (5, 10, 15, 30, 60, 120, 180, 240, 360, 720, 1440, 2880)
_TICK_COLUMNS = 9
"""Between two times, which take five of them; a day takes six."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What holds from then on."""

    at: datetime
    needs: int
    wanted: int


@dataclass(frozen=True, slots=True)
class Scale:
    """Time on `width` columns; `zone` is the reader's, None that of this machine."""

    begins: datetime
    ends: datetime
    width: int
    zone: tzinfo | None = None

    def place(self, at: datetime) -> float:
        return (at - self.begins) / (self.ends - self.begins) * self.width

    def column(self, at: datetime) -> int:
        return int(self.place(at))

    def ticks(self) -> Iterator[datetime]:
        """Round times, as far apart as their labels need."""
        wide = (self.ends - self.begins) / self.width * _TICK_COLUMNS
        every = next((step for step in map(_minutes, _TICK_MINUTES) if step >= wide), _minutes(_TICK_MINUTES[-1]))
        local = self.begins.astimezone(self.zone)
        midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
        tick = midnight + ceil((local - midnight) / every) * every
        while tick < self.ends:
            yield tick
            tick += every


def chart(
    moments: Sequence[Moment],
    scale: Scale,
    *,
    allowed: int,
    bells: Iterable[datetime] = (),
    now: datetime | None = None,
) -> Iterator[str]:
    top = max(allowed, 1, *(max(moment.needs, moment.wanted) for moment in moments))
    each, margin = ceil(top / MOST_ROWS), len(str(top))
    columns = _columns(moments, scale)
    for row in range(ceil(top / each), 0, -1):
        below = (row - 1) * each
        background = ALLOWED if below < allowed <= row * each else EMPTY
        cells = (_cell(wanted, needs, below, background) for wanted, needs in columns)
        yield f"{min(top, row * each):>{margin}} │{''.join(cells)}".rstrip()
    yield f"{0:>{margin}} └{_axis(scale)}"
    named = {scale.column(tick): _label(tick) for tick in scale.ticks()}
    marks = {scale.column(bell): BELL for bell in bells if scale.begins <= bell < scale.ends}
    if now is not None:
        marks[scale.column(now)] = marks.get(scale.column(now), "") + "now"
    for line in (named, marks):
        if line:
            yield " " * (margin + 2) + _written(line)


def _minutes(count: int) -> timedelta:
    return timedelta(minutes=count)


def _columns(moments: Sequence[Moment], scale: Scale) -> Sequence[tuple[int, int]]:
    """The most that is wanted and needed within each column, so that nothing short is overlooked."""
    wanted, needs = [0] * scale.width, [0] * scale.width
    ends = [*(moment.at for moment in moments), scale.ends][1:]
    for moment, end in zip(moments, ends, strict=True):
        first = scale.column(max(moment.at, scale.begins))
        for column in range(first, min(scale.width, max(first + 1, ceil(scale.place(end))))):
            wanted[column] = max(wanted[column], moment.wanted)
            needs[column] = max(needs[column], moment.needs)
    return list(zip(wanted, needs, strict=True))


def _cell(wanted: int, needs: int, below: int, background: str) -> str:
    if wanted > below:
        return WANTED
    return MISSING if needs > below else background


def _axis(scale: Scale) -> str:
    ticks = {scale.column(tick) for tick in scale.ticks()}
    return "".join("┬" if column in ticks else "─" for column in range(scale.width))


def _label(tick: datetime) -> str:
    is_midnight = (tick.hour, tick.minute) == (0, 0)
    return f"{tick:%a %d}" if is_midnight else f"{tick:%H:%M}"


def _written(words: dict[int, str]) -> str:
    """Each at its column; one that finds its place taken stands as soon after it as there is room."""
    line = ""
    for column in sorted(words):
        line = line.ljust(column) + words[column]
    return line
