"""Columns are as high as their values."""

from math import inf
from xml.etree import ElementTree as ET

import pytest

from loadtests.report.columns import Bars, bar_chart
from loadtests.report.scale import Axis
from tests.unit.loadtests.report.test_lines import edges, of_class, parsed

X, Y = Axis(label="when"), Axis(label="turns", low=0, high=10)


def boxes(chart: ET.Element) -> list[tuple[float, float, float, float]]:
    """Left, right, top and bottom of each bar, without those of the legend."""
    found = [each for each in of_class(chart, "box") if next(each.iter("title"), None) is not None]
    places = [[float(each.get(name, "")) for name in ("x", "width", "y", "height")] for each in found]
    return [(x, x + width, y, y + height) for x, width, y, height in places]


def test_bars_stand_side_by_side_from_the_ground_to_their_values() -> None:
    bars = [Bars("moved", [5, 10]), Bars("folded", [0, None])]
    chart = parsed(bar_chart("t", ["a", "b"], bars, x=X, y=Y))
    bottom, top = edges(chart)
    first, second, third = boxes(chart)
    assert (first[2], first[3]) == ((bottom + top) / 2, bottom)
    assert first[1] == pytest.approx(second[0], abs=0.2)
    assert second[2] == second[3] == bottom
    assert (third[2], third[3]) == (top, bottom)
    assert third[0] > second[1]


def test_stacked_bars_stand_one_upon_another() -> None:
    bars = [Bars("moved", [2, None]), Bars("folded", [3, 4]), Bars("evicted", [5, 1])]
    chart = parsed(bar_chart("t", ["a", "b"], bars, x=X, y=Y, stacked=True))
    bottom, top = edges(chart)
    first, second, third, over_none, last = boxes(chart)
    assert (first[3], third[2]) == (bottom, top)
    assert (first[2], second[2]) == (second[3], third[3])
    assert first[0] == second[0] == third[0]
    assert over_none[3] == bottom
    assert last[3] == over_none[2]


def test_what_is_infinite_reaches_the_upper_edge_and_is_marked() -> None:
    chart = parsed(bar_chart("t", ["a"], [Bars("a", [inf])], x=X, y=Y))
    (box,) = of_class(chart, "beyond")
    assert float(box.get("y", "")) == edges(chart)[1]
    assert next(box.iter("title")).text == "a, a: no answer"


def test_what_is_below_zero_hangs_from_the_ground() -> None:
    chart = parsed(bar_chart("t", ["a", "b"], [Bars("a", [-2, 2])], x=X, y=Axis(label="y")))
    (ground,) = of_class(chart, "ground")
    below, above = boxes(chart)
    assert below[2] == above[3] == float(ground.get("y1", ""))


def test_names_stand_below_and_some_are_left_out_where_there_is_no_room() -> None:
    few = parsed(bar_chart("t", ["<a>", "b"], [Bars("a", [1, 2])], x=X, y=Y))
    assert {"<a>", "b"} <= {text.text for text in few.iter("text")}
    columns = [f"{at}:00" for at in range(200)]
    many = parsed(bar_chart("t", columns, [Bars("a", [1] * 200)], x=X, y=Y))
    named = [text for text in many.iter("text") if text.text in columns]
    assert 10 < len(named) < 30


def test_one_kind_of_bars_needs_no_legend_and_two_do() -> None:
    assert "moved" not in {text.text for text in parsed(bar_chart("t", ["a"], [Bars("moved", [1])], x=X, y=Y)).iter()}
    both = parsed(bar_chart("t", ["a"], [Bars("moved", [1]), Bars("folded", [1])], x=X, y=Y))
    assert {"moved", "folded"} <= {text.text for text in both.iter("text")}


@pytest.mark.parametrize("bars", [[], [Bars("a", [])], [Bars("a", [None])]])
def test_nothing_measured_is_said(bars: list[Bars]) -> None:
    columns = ["a"] * (len(bars[0].values) if bars else 0)
    chart = parsed(bar_chart("t", columns, bars, x=X, y=Axis(label="y")))
    assert "nothing measured" in {text.text for text in chart.iter("text")}
