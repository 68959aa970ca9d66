"""Charts of what the trainees met, made of a run whose figures are known."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from loadtests.domain.figures import Figures, Slice, Spread
from loadtests.report import turn_charts
from loadtests.report.account import Account
from loadtests.report.markup import Markup
from loadtests.report.run_reading import account_of
from tests.support.load_runs import a_run
from tests.unit.loadtests.report.test_account import account
from tests.unit.loadtests.report.test_lines import of_class


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Account:
    return account_of(a_run(tmp_path_factory.mktemp("runs") / "class"))


def charts(made: Markup) -> dict[str, ET.Element]:
    found = [ET.fromstring(chart) for chart in re.findall("<svg.*?</svg>", made, re.DOTALL)]  # noqa: S314 - our own
    return {chart.get("aria-label", ""): chart for chart in found}


def rows(made: Markup, head: str) -> list[list[str]]:
    """Of the first table whose second column is called so."""
    tables = [ET.fromstring(each) for each in re.findall("<table.*?</table>", made, re.DOTALL)]  # noqa: S314 - our own
    cells = [[[cell.text or "" for cell in row] for row in each.iter("tr")] for each in tables]
    return next(each[1:] for each in cells if each[0][1] == head)


def a_slice(key: float, ttft: float | None = None, **changes: object) -> Slice:
    spread = Spread(count=30, p50=ttft, p95=ttft, p99=ttft)
    plain = Slice(key=key, turns=30, failed=0, ttft=spread, e2e=Spread(), tpot=Spread())
    return replace(plain, **changes)  # type: ignore[arg-type]  # fields by name


def test_percentiles_over_time_show_failures_as_arrows_and_the_fault_as_a_span(run: Account) -> None:
    (chart,) = charts(turn_charts.over_time(run)).values()
    assert of_class(chart, "beyond")
    assert len(of_class(chart, "span")) == 1
    told = rows(turn_charts.over_time(run), "p50")
    assert ["0:00", "0.5 s", "0.5 s", "0.5 s"] in told
    assert any(row[2:] == ["no answer", "no answer"] for row in told)


def test_load_over_time_has_a_chart_of_failures_only_when_there_are_some(run: Account) -> None:
    assert list(charts(turn_charts.load_over_time(run))) == ["Throughput", "Failed turns", "Sessions"]
    assert sum(int(row[1]) for row in rows(turn_charts.load_over_time(run), "failed turns")) == run.figures.failed == 10
    calm = account(Figures(turns=1, over_time=(a_slice(0, turns_per_s=2.0, sessions=3),)))
    assert list(charts(turn_charts.load_over_time(calm))) == ["Throughput", "Sessions"]


def test_by_turn_shows_the_cache_where_it_is_known(run: Account) -> None:
    made = turn_charts.by_turn(run)
    assert list(charts(made)) == ["Time to first text by turn number", "Prompt tokens found in the cache"]
    assert rows(made, "cached")[0] == ["1", "0 %"]
    assert rows(made, "cached")[9] == ["10", "94.7 %"]
    untold = account(Figures(turns=1, by_turn=(a_slice(1, 0.5),)))
    assert list(charts(turn_charts.by_turn(untold))) == ["Time to first text by turn number"]


def test_the_knee_is_marked_where_there_is_one() -> None:
    levels = (a_slice(10, 0.4, turns_per_s=1.0), a_slice(20, 0.5, turns_per_s=2.0), a_slice(40, 3.0, turns_per_s=2.1))
    made = charts(turn_charts.by_concurrency(account(Figures(turns=90, by_concurrency=levels, knee=20))))
    for chart in made.values():
        (mark,) = of_class(chart, "mark")
        dots = [float(dot.get("cx", "")) for dot in of_class(chart, "dot")]
        assert float(mark.get("x1", "")) == dots[1]
        assert "knee: 20 trainees" in {text.text for text in chart.iter("text")}
    without = charts(turn_charts.by_concurrency(account(Figures(turns=90, by_concurrency=levels))))
    assert not any(of_class(chart, "mark") for chart in without.values())


def test_failures_and_cold_turns_are_counted_by_their_kind_the_most_first() -> None:
    figures = Figures(turns=9, warm_turns=8, failures={"no_end": 1, "timeout": 2}, cold={"moved": 1, "folded": 3})
    assert rows(turn_charts.failures(account(figures)), "turns") == [["timeout", "2"], ["no_end", "1"]]
    assert rows(turn_charts.cold_turns(account(figures)), "turns") == [["folded", "3"], ["moved", "1"]]
    assert "Of 8 second and later turns" in turn_charts.cold_turns(account(figures))


def test_where_nothing_went_wrong_a_sentence_says_so() -> None:
    assert turn_charts.failures(account()) == "<p>No turn failed.</p>"
    assert "is not known" in turn_charts.cold_turns(account())
    warm = turn_charts.cold_turns(account(Figures(turns=9, warm_turns=8)))
    assert warm == "<p>None of 8 second or later turns was cold.</p>"


def test_the_client_has_a_line_for_each_worker_in_milliseconds(run: Account) -> None:
    told = rows(turn_charts.client_lag(run), "worker 0")
    assert told[0] == ["-0:10", "1 ms", "2 ms"]
    assert all(row[1:] == ["1 ms", "2 ms"] for row in told)


def test_names_of_failures_are_words() -> None:
    made = turn_charts.failures(account(Figures(turns=1, failures={"<b>": 1})))
    assert "<b>" not in made
