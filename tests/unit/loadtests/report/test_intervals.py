"""Dots lie within their whiskers, each in its row."""

from loadtests.report.intervals import Interval, interval_chart
from loadtests.report.scale import Axis
from tests.unit.loadtests.report.test_lines import of_class, parsed

X = Axis(label="change", unit="%", low=-10, high=10)
FOUND = [
    Interval("TTFT p95", -5, 0, 5),
    Interval("goodput", 2, 5, 10, "better"),
    Interval("<failures>", -10, -10, -5, "worse"),
]


def test_each_figure_has_a_row_with_its_dot_and_its_whisker() -> None:
    chart = parsed(interval_chart("t", FOUND, x=X, middle=0))
    dots = [each for each in of_class(chart, "dot") if next(each.iter("title"), None) is not None]
    assert len({each.get("cy") for each in dots}) == 3
    places = [float(each.get("cx", "")) for each in dots]
    (middle,) = of_class(chart, "mark")
    assert places[0] == float(middle.get("x1", ""))
    assert places[2] < places[0] < places[1]
    spans = [each.get("d", "").split(" M")[0] for each in of_class(chart, "whisker")]
    for span, at in zip(spans, places, strict=True):
        low, high = (float(point.split()[0]) for point in span.removeprefix("M").split(" L"))
        assert low <= at <= high
    assert spans[2].startswith(f"M{places[2]} ")


def test_tones_are_told_in_words_too() -> None:
    chart = parsed(interval_chart("t", FOUND, x=X))
    assert [each.get("class") for each in of_class(chart, "whisker")] == [
        "whisker tone-none",
        "whisker tone-better",
        "whisker tone-worse",
    ]
    titles = [each.text for each in of_class(chart, "dot") for each in each.iter("title")]
    assert titles[1] == "goodput: 5 % (2 %, 10 %), better"
    assert {"within noise", "better", "worse", "<failures>"} <= {text.text for text in chart.iter("text")}


def test_where_nothing_is_better_or_worse_there_is_no_legend() -> None:
    chart = parsed(interval_chart("t", FOUND[:1], x=X))
    assert "within noise" not in {text.text for text in chart.iter("text")}


def test_no_figures_are_said_to_be_none() -> None:
    assert "nothing measured" in {text.text for text in parsed(interval_chart("t", [], x=X, middle=0)).iter("text")}
