"""Tables say what charts show."""

from xml.etree import ElementTree as ET

from loadtests.report.columns import Bars
from loadtests.report.intervals import Interval
from loadtests.report.lines import Series
from loadtests.report.markup import Markup
from loadtests.report.scale import Axis
from loadtests.report.table import bars_table, intervals_table, lines_table, table

X, Y = Axis(label="turn"), Axis(label="first text", unit="s")


def cells(made: Markup) -> list[list[str]]:
    return [[cell.text or "" for cell in row] for row in ET.fromstring(made).iter("tr")]  # noqa: S314 - our own


def test_cells_are_words_and_rows_may_have_a_tone() -> None:
    made = table(["<a>", "b"], [[1, "x & y"], ["second", None]], caption="<c>", tones=["bad", ""])
    assert cells(made) == [["<a>", "b"], ["1", "x & y"], ["second", "None"]]
    rows = [row.get("class") for row in ET.fromstring(made).iter("tr")]  # noqa: S314 - our own
    assert rows == [None, "bad", None]
    assert "&lt;c&gt;" in made


def test_lines_have_a_row_for_each_x_that_any_of_them_has() -> None:
    made = lines_table([Series("p50", [(1, 0.5), (2, None)]), Series("p95", [(2, 1.5), (3, 2)])], x=X, y=Y)
    assert cells(made) == [
        ["turn", "p50", "p95"],
        ["1", "0.5 s", "-"],
        ["2", "-", "1.5 s"],
        ["3", "-", "2 s"],
    ]


def test_a_long_line_is_thinned_and_says_so() -> None:
    made = lines_table([Series("p50", [(at, at) for at in range(150)])], x=X, y=Y)
    assert "One of 3 values is shown; there are 150." in made
    assert len(cells(made)) == 51
    assert "is shown" not in lines_table([Series("p50", [(at, at) for at in range(60)])], x=X, y=Y)
    assert lines_table([], x=X, y=Y).count("<tr>") == 1


def test_bars_and_intervals_have_a_row_each() -> None:
    assert cells(bars_table(["a", "b"], [Bars("moved", [1, None])], x=X, y=Y)) == [
        ["turn", "moved"],
        ["a", "1 s"],
        ["b", "-"],
    ]
    assert cells(intervals_table([Interval("goodput", 1, 2, 3, "better")], x=Y))[1] == [
        "goodput",
        "2 s",
        "1 s",
        "3 s",
        "better",
    ]
