"""Values, intervals and findings as people read them."""

import math

import pytest

from loadtests.domain.compared import Compared, Finding
from loadtests.domain.comparison import Comparison
from loadtests.ledger.compare_words import chance, headline, interval_told, judged_last, told


def metric(name: str = "ttft_p95_s", finding: Finding = Finding.NOISE, **changes: float | None) -> Compared:
    given: dict[str, float | None] = {"before": 1.0, "after": 1.5, "low": 0.25, "high": 0.75, **changes}
    return Compared(
        name=name,
        finding=finding,
        before=given["before"],
        after=given["after"],
        low=given["low"],
        high=given["high"],
    )


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("ttft_p95_s", 0.5, "500 ms"),
        ("ttft_p95_s", 1.5, "1.5 s"),
        ("ttft_p95_s", math.inf, "no answer"),
        ("ttft_p95_s", None, "-"),
        ("goodput_share", 0.955, "95.5%"),
        ("goodput_per_s", 0.5, "0.5"),
        ("lost_turns", 3.0, "3"),
    ],
)
def test_values_have_their_units(name: str, value: float | None, words: str) -> None:
    assert told(value, metric(name)) == words


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (metric(), "+50.0% (+25.0% to +75.0%)"),
        (metric(after=math.inf, low=0.5, high=math.inf), "+∞ (+50.0% to +∞)"),
        (metric(before=math.inf, after=1.0, low=-math.inf, high=-math.inf), "-∞ (-∞ to -∞)"),
        (metric(before=math.inf, after=math.inf, low=-math.inf, high=math.inf), "none (-∞ to +∞)"),
        (metric("cold_share", before=0.0, after=0.02, low=0.01, high=0.03), "+2.0 points (+1.0 points to +3.0 points)"),
        (metric("lost_turns", before=0.0, after=3.0, low=None, high=None), "+3"),
        (metric("preemptions", before=math.inf, low=None), ""),
        (metric(before=None), ""),
    ],
)
def test_changes_are_told_as_what_they_are(found: Compared, words: str) -> None:
    assert interval_told(found) == words


def comparison(*metrics: Compared, of: str = "sessions") -> Comparison:
    return Comparison(metrics=metrics, of=of, units=(3, 4))


def test_what_changed_stands_first() -> None:
    findings = [Finding.UNKNOWN, Finding.NOISE, Finding.WORSE, Finding.BETTER, Finding.WORSE]
    metrics = [metric(finding=each) for each in findings]
    assert [each.finding for each in judged_last(metrics)] == [
        Finding.WORSE,
        Finding.WORSE,
        Finding.BETTER,
        Finding.NOISE,
        Finding.UNKNOWN,
    ]
    assert headline(comparison(*metrics)) == "2 worse, 1 better, 1 within noise, 1 not judged"
    assert headline(comparison()) == "nothing to compare"


def test_it_is_said_what_was_drawn_and_what_chance_does() -> None:
    assert "3 and 4 sessions" in chance(comparison(metric(), metric(low=None)))
    assert "one span of 20 say that something did; this comparison has 1 span." in chance(
        comparison(metric(), metric(low=None))
    )
    assert "has 2 spans." in chance(comparison(metric(), metric()))
    assert "too few sessions" in chance(comparison(metric(), of="turns"))
