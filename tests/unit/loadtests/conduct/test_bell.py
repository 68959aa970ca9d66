"""One bell for all clocks."""

import time
from datetime import datetime

import pytest

from loadtests.conduct.bell import Bell


def test_drill_seconds_pass_faster_than_ours_and_are_negative_before_the_bell() -> None:
    bell = Bell.in_s(100.0, speed_up=4.0)
    assert bell.now_s() == pytest.approx(-400.0, abs=2.0)
    first = bell.now_s()
    assert bell.now_s() >= first


def test_the_wall_and_our_clock_mean_the_same_instant() -> None:
    bell = Bell.in_s(5.0, speed_up=1.0)
    assert bell.at - time.time() == pytest.approx(bell.monotonic_s - time.monotonic(), abs=0.5)
    assert datetime.fromisoformat(bell.written).timestamp() == pytest.approx(bell.at, abs=0.001)
