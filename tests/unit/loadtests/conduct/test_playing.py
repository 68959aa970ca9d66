"""How long trainees are waited for."""

import time

import pytest

from loadtests.conduct.bell import Bell
from loadtests.conduct.playing import Patience


def patience(since_bell_s: float, *, speed_up: float = 1.0) -> Patience:
    """`since_bell_s` real seconds after it; the timetable has 100 drill seconds, a turn 60."""
    bell = Bell(at=time.time() - since_bell_s, monotonic_s=time.monotonic() - since_bell_s, speed_up=speed_up)
    return Patience(bell=bell, length_s=100.0, timeout_s=60.0)


@pytest.mark.parametrize("since_bell_s", [-5.0, 50.0, 99.0])
def test_within_the_timetable_nobody_is_stuck(since_bell_s: float) -> None:
    assert patience(since_bell_s).is_over(still_s=1000.0) is None


def test_late_trainees_may_go_on_as_long_as_something_comes() -> None:
    assert patience(200.0).is_over(still_s=119.0) is None


def test_where_nothing_comes_any_more_they_are_stuck() -> None:
    assert patience(200.0).is_over(still_s=121.0) == "nothing came for 121 s, 100 s after the end of the timetable"


def test_whoever_is_far_too_late_has_failed_by_then() -> None:
    assert patience(415.0).is_over(still_s=0.0) is None
    assert "was not through" in str(patience(425.0).is_over(still_s=0.0))


def test_a_faster_time_leaves_the_client_its_real_minute() -> None:
    assert patience(50.0, speed_up=10.0).is_over(still_s=62.0) is None
    assert patience(50.0, speed_up=10.0).is_over(still_s=67.0) is not None
