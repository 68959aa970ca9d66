"""Figures in words."""

from math import inf, nan

import pytest

from loadtests.report.words import clock, counted, number, seconds, share


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0"),
        (1, "1"),
        (1.5, "1.5"),
        (0.12345, "0.123"),
        (0.00012345, "0.000123"),
        (12.345, "12.3"),
        (100, "100"),
        (1234567.8, "1,234,568"),
        (-2.5, "-2.5"),
        (None, "-"),
        (nan, "-"),
        (inf, "no answer"),
        (-inf, "-"),
    ],
)
def test_numbers_have_three_digits_that_count(value: float | None, expected: str) -> None:
    assert number(value) == expected


def test_units_follow_values_but_not_what_is_no_value() -> None:
    assert number(2, "s") == "2 s"
    assert seconds(0.0421) == "42.1 ms"
    assert seconds(0) == "0 s"
    assert seconds(1.5) == "1.5 s"
    assert seconds(inf) == "no answer"
    assert share(0.1234) == "12.3 %"
    assert share(None) == "-"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, "0:00"), (65.4, "1:05"), (3600, "1:00:00"), (-10, "-0:10"), (-0.2, "0:00"), (59.6, "1:00")],
)
def test_clocks_show_minutes_and_hours(value: float, expected: str) -> None:
    assert clock(value) == expected


def test_one_is_not_many() -> None:
    assert counted(1, "turn") == "1 turn"
    assert counted(1200, "turn") == "1,200 turns"
    assert counted(2, "drill lost", "drills lost") == "2 drills lost"
