"""Tables: of their own, and beside each chart for readers who do not see it."""

from collections.abc import Sequence

from loadtests.report.columns import Bars
from loadtests.report.frame import with_unit
from loadtests.report.intervals import TONES, Interval
from loadtests.report.lines import Series
from loadtests.report.markup import Markup, joined, tag, words
from loadtests.report.scale import Axis
from loadtests.report.words import NOTHING

_MOST_ROWS = 60
Row = Sequence[object]


def table(head: Row, rows: Sequence[Row], *, caption: str = "", tones: Sequence[str] = ()) -> Markup:
    """`tones`, one for each row, is its class: `bad`, `good`, `doubt`."""
    top = tag("tr", joined(tag("th", words(each), scope="col") for each in head)) if head else Markup("")
    body = joined(
        (tag("tr", _row(row), class_=(tones[at] or None) if tones else None) for at, row in enumerate(rows)),
        "\n",
    )
    named = tag("caption", words(caption)) if caption else Markup("")
    return tag("table", joined([named, tag("thead", top) if head else top, tag("tbody", body)]))


def lines_table(series: Sequence[Series], *, x: Axis, y: Axis) -> Markup:
    """A row for each x; of more than sixty, one of so many."""
    told = [dict(each.points) for each in series]
    places = sorted({place for each in told for place in each})
    every = -(-len(places) // _MOST_ROWS) or 1
    rows = [
        [with_unit(x, place), *(with_unit(y, each[place]) if place in each else NOTHING for each in told)]
        for place in places[::every]
    ]
    note = f"One of {every} values is shown; there are {len(places)}." if every > 1 else ""
    return table([x.label, *(each.name for each in series)], rows, caption=note)


def bars_table(columns: Sequence[str], bars: Sequence[Bars], *, x: Axis, y: Axis) -> Markup:
    rows = [[name, *(with_unit(y, each.values[at]) for each in bars)] for at, name in enumerate(columns)]
    return table([x.label, *(each.name for each in bars)], rows)


def intervals_table(intervals: Sequence[Interval], *, x: Axis) -> Markup:
    rows = [
        [each.name, with_unit(x, each.at), with_unit(x, each.low), with_unit(x, each.high), TONES[each.tone][1]]
        for each in intervals
    ]
    return table(["", x.label, "from", "to", ""], rows)


def _row(row: Row) -> Markup:
    first, *rest = row
    return joined([tag("th", words(first), scope="row"), *(tag("td", words(each)) for each in rest)])
