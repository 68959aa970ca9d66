"""A comparison as a page of its own: what changed by how much, how sure that is, and how sessions grow slower."""

import math

from loadtests.domain.compared import Compared, Finding
from loadtests.ledger.compare_words import chance, headline, interval_told, judged_last, told
from loadtests.ledger.comparing import Held, SideRuns
from loadtests.report.chart import Axis, Interval, Markup, Series, interval_chart, line_chart
from loadtests.report.page import figure, page, paragraph, section, verdict
from loadtests.report.table import intervals_table, lines_table, table

_CHANGE = Axis(label="change", unit="%")
_TURN, _FIRST_TEXT = Axis(label="turn number"), Axis(label="first text", unit="s")
_TONES = {Finding.BETTER: "good", Finding.WORSE: "bad", Finding.NOISE: "", Finding.UNKNOWN: "doubt"}


def compare_page(held: Held) -> Markup:
    metrics = judged_last(held.comparison.metrics)
    rows = [
        [each.name, told(each.before, each), told(each.after, each), interval_told(each), each.finding, each.why]
        for each in metrics
    ]
    head = ["", "before", "after", "change, and what it may be", "", ""]
    return page(
        f"{held.after.told} against {held.before.told}",
        [
            verdict(_tone(held), headline(held.comparison), [*held.warnings, *([held.change] if held.change else [])]),
            section("What changed", _intervals(metrics), paragraph(chance(held.comparison), aside=True)),
            section("Time to first text by turn number", _by_turn(held.before, held.after)),
            section("Every figure", table(head, rows, tones=[_TONES[each.finding] for each in metrics])),
        ],
    )


def _tone(held: Held) -> str:
    if held.warnings:
        return "doubt"
    return "bad" if held.comparison.found(Finding.WORSE) else "good"


def _intervals(metrics: tuple[Compared, ...]) -> Markup:
    """In shares of what was before; what has no finite share has its place in the table alone."""
    shown = [found for each in metrics if (found := _interval(each)) is not None]
    note = "Left of the line: less than before. A change whose span leaves the line out is more than chance."
    return figure(
        interval_chart("Change against before", shown, x=_CHANGE, middle=0.0), intervals_table(shown, x=_CHANGE), note
    )


def _interval(metric: Compared) -> Interval | None:
    shares = (metric.as_share(metric.low), metric.share, metric.as_share(metric.high))
    if not all(each is not None and math.isfinite(each) for each in shares):
        return None
    low, at, high = (100 * (each or 0.0) for each in shares)
    tone = metric.finding.value if metric.finding in (Finding.BETTER, Finding.WORSE) else ""
    return Interval(metric.name, low, at, high, tone)


def _by_turn(before: SideRuns, after: SideRuns) -> Markup:
    series = [
        Series(f"{name}, {share}", [(number, (p50, p95)[place]) for number, p50, p95 in side.by_turn])
        for name, side in (("before", before), ("after", after))
        for place, share in enumerate(("p50", "p95"))
    ]
    chart = line_chart("Time to first text by turn number", series, x=_TURN, y=_FIRST_TEXT)
    return figure(chart, lines_table(series, x=_TURN, y=_FIRST_TEXT))
