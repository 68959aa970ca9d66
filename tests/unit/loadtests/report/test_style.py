"""Charts as files of their own."""

from xml.etree import ElementTree as ET

from loadtests.report.lines import Series, line_chart
from loadtests.report.scale import Axis
from loadtests.report.style import CHART, COLOURS, standalone


def test_a_chart_alone_is_an_image_with_its_styles() -> None:
    chart = line_chart("t", [Series("a", [(0, 1)])], x=Axis(label="x"), y=Axis(label="y"))
    found = ET.fromstring(standalone(chart))  # noqa: S314 - our own
    name = "{http://www.w3.org/2000/svg}"
    assert found.tag == f"{name}svg"
    assert "--c0" in (next(found.iter(f"{name}style")).text or "")
    assert len(list(found.iter(f"{name}path"))) == chart.count("<path")


def test_every_look_has_a_colour_by_day_by_night_and_on_paper() -> None:
    for slot in range(8):
        assert COLOURS.count(f"--c{slot}:") == 3
        assert f".line.s{slot} {{" in CHART
    for name in set(CHART.split("var(--")[1:]):
        assert name.split(")")[0] == "own" or COLOURS.count(f"--{name.split(')')[0]}:") == 3
