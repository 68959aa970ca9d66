"""The charts there are, by name; each is a pure function from values to inline SVG."""

from loadtests.report.columns import Bars, bar_chart
from loadtests.report.frame import Mark
from loadtests.report.intervals import Interval, interval_chart
from loadtests.report.lines import Series, line_chart
from loadtests.report.markup import Markup
from loadtests.report.scale import Axis
from loadtests.report.style import standalone

__all__ = [
    "Axis",
    "Bars",
    "Interval",
    "Mark",
    "Markup",
    "Series",
    "bar_chart",
    "interval_chart",
    "line_chart",
    "standalone",
]
