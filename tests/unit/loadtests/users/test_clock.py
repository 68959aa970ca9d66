"""One clock for all workers: drill seconds since the bell."""

import time

import pytest

from loadtests.users.clock import DrillClock


def test_drill_seconds_count_from_the_bell_and_run_faster_where_replicas_do() -> None:
    clock = DrillClock(bell_at=time.time() + 10, speed_up=4)
    assert clock.now() == pytest.approx(-40, abs=1)
    assert clock.at(time.perf_counter() + 10) == pytest.approx(0, abs=1)
    assert (clock.real(8.0), clock.drill(2.0)) == (2.0, 8.0)


def test_two_workers_agree_on_an_instant() -> None:
    bell_at, stamp = time.time(), time.perf_counter()
    one, other = (DrillClock(bell_at=bell_at, speed_up=1) for _ in range(2))
    assert one.at(stamp) == pytest.approx(other.at(stamp), abs=0.01)


def test_waiting_never_ends_early_and_what_is_past_is_not_waited_for() -> None:
    clock = DrillClock(bell_at=time.time(), speed_up=10)
    clock.wait_until(0.5)
    assert clock.now() >= 0.5
    began = time.perf_counter()
    clock.wait_until(-100)
    assert time.perf_counter() - began < 0.5
