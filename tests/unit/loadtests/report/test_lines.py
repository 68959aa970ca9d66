"""Lines are where their values are."""

from math import inf
from xml.etree import ElementTree as ET

import pytest

from loadtests.report.frame import LEFT, RIGHT, Mark
from loadtests.report.lines import Series, line_chart
from loadtests.report.markup import Markup
from loadtests.report.scale import Axis

X = Axis(label="turn", low=0, high=10)
Y = Axis(label="first text", unit="s", low=0, high=2)


def parsed(chart: Markup) -> ET.Element:
    return ET.fromstring(chart)  # noqa: S314 - our own


def of_class(chart: ET.Element, name: str) -> list[ET.Element]:
    return [each for each in chart.iter() if name in each.get("class", "").split()]


def stretches(line: ET.Element) -> list[list[tuple[float, float]]]:
    return [
        [(float(x), float(y)) for x, y in (point.split() for point in part.split(" L"))]
        for part in line.get("d", "").removeprefix("M").split(" M")
    ]


def edges(chart: ET.Element) -> tuple[float, float]:
    """Bottom and top of the figures, by their lowest and highest line."""
    lines = [float(each.get("y1", "")) for each in of_class(chart, "grid")]
    return max(lines), min(lines)


def test_a_line_goes_through_its_values() -> None:
    chart = parsed(line_chart("t", [Series("a", [(0, 0), (5, 1), (10, 2)])], x=X, y=Y))
    bottom, top = edges(chart)
    (line,) = [each for each in of_class(chart, "line") if each.get("d", "").count("L") == 2]
    assert stretches(line) == [[(LEFT, bottom), ((LEFT + RIGHT) / 2, (bottom + top) / 2), (RIGHT, top)]]


def test_points_are_joined_in_the_order_of_x() -> None:
    chart = parsed(line_chart("t", [Series("a", [(10, 2), (0, 0), (5, 1)])], x=X, y=Y))
    ((first, *_),) = stretches(of_class(chart, "line")[0])
    assert first[0] == LEFT


def test_a_gap_is_a_gap_and_a_value_alone_is_a_dot() -> None:
    points = [(0, 1), (1, 1), (2, None), (3, 1), (4, None), (5, None), (6, 1), (7, 1)]
    chart = parsed(line_chart("t", [Series("a", points)], x=X, y=Y))
    assert [len(each) for each in stretches(of_class(chart, "line")[0])] == [2, 1, 2]
    many = [(0, 1.0), (0.1, None), *((0.2 + at / 100, 1.0) for at in range(50))]
    lonely = parsed(line_chart("t", [Series("a", many)], x=X, y=Y))
    (dot,) = of_class(lonely, "dot")
    assert float(dot.get("cx", "")) == LEFT


def test_what_is_infinite_lies_at_the_upper_edge_with_an_arrow() -> None:
    chart = parsed(line_chart("t", [Series("a", [(0, 1), (5, inf), (10, 1)])], x=X, y=Axis(label="y")))
    ((_, peak, _),) = stretches(of_class(chart, "line")[0])
    assert peak[0] == (LEFT + RIGHT) / 2
    assert peak[1] < edges(chart)[1]
    (arrow,) = of_class(chart, "beyond")
    assert arrow.get("d", "").startswith(f"M{peak[0] - 5} {peak[1]} ")
    assert len(of_class(chart, "dot")) == 2


def test_each_line_has_its_own_look_and_its_name_in_the_legend() -> None:
    chart = parsed(line_chart("t", [Series(f"p{at}", [(0, at), (1, at)]) for at in range(10)], x=X, y=Y))
    looks = [each.get("class") for each in of_class(chart, "line")]
    assert looks[:10] == [f"line s{at % 8}" for at in range(10)]
    assert {f"p{at}" for at in range(10)} <= {text.text for text in chart.iter("text")}


def test_hovering_tells_all_lines_at_that_place_and_every_place_is_covered() -> None:
    lines = [Series("p50", [(0, 0.5), (4, 0.6)]), Series("p95", [(4, inf), (10, None)])]
    chart = parsed(line_chart("t", lines, x=X, y=Y))
    hovers = of_class(chart, "hover")
    assert [next(each.iter("title")).text for each in hovers] == [
        "turn 0\np50: 0.5 s",
        "turn 4\np50: 0.6 s\np95: no answer",
    ]
    spans = [(float(each.get("x", "")), float(each.get("width", ""))) for each in hovers]
    assert spans[0][0] == LEFT
    assert spans[0][0] + spans[0][1] == pytest.approx(spans[1][0])
    assert sum(spans[1]) == pytest.approx(RIGHT)


def test_many_values_make_few_hovers() -> None:
    chart = parsed(line_chart("t", [Series("a", [(at, 1) for at in range(5000)])], x=Axis(label="x"), y=Y))
    assert len(of_class(chart, "hover")) <= 240
    assert not of_class(chart, "dot")


def test_a_fault_beyond_the_last_value_is_seen_too() -> None:
    marks = [Mark(at=20, label="kill")]
    chart = parsed(line_chart("t", [Series("a", [(0, 1), (10, 1)])], x=Axis(label="x"), y=Y, marks=marks))
    (mark,) = of_class(chart, "mark")
    assert float(mark.get("x1", "")) == RIGHT


@pytest.mark.parametrize("series", [[], [Series("a", [])], [Series("a", [(1, None)])]])
def test_nothing_measured_is_said(series: list[Series]) -> None:
    chart = parsed(line_chart("t", series, x=Axis(label="x"), y=Axis(label="y")))
    assert "nothing measured" in {text.text for text in chart.iter("text")}


def test_names_are_words_and_not_markup() -> None:
    chart = line_chart("<t>", [Series("<a>", [(0, 1)])], x=Axis(label="<x>"), y=Axis(label="<y>"))
    assert all(f"<{each}>" not in chart for each in "taxy")
    assert {"<t>", "<a>", "<x>", "<y>"} <= {text.text for text in parsed(chart).iter("text")}
