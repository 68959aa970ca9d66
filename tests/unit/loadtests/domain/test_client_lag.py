"""A client that was late when it mattered is late, however long the run was."""

import pytest

from loadtests.domain.client_lag import client_lag
from loadtests.domain.rows import Row
from loadtests.domain.server import LagSample
from tests.support.load_rows import a_failed_turn, a_turn

BELL = [a_turn(trainee=trainee) for trainee in range(100)]
LATER = [a_turn(turn, at_s=100.0 * turn, trainee=trainee) for turn in range(2, 12) for trainee in range(100)]
CALM = [LagSample(at_s=0.05 * look, worker=0, lag_s=0.001) for look in range(24_000)]


def stall(*, until_s: float, for_s: float, worker: int = 0) -> LagSample:
    return LagSample(at_s=until_s, worker=worker, lag_s=for_s)


def p99(turns: list[Row], *stalls: LagSample, speed_up: float = 1.0) -> float | None:
    """A loop that stands still does not look meanwhile."""
    still = [(each.worker, each.at_s - each.lag_s * speed_up, each.at_s) for each in stalls]
    calm = [
        look for look in CALM if not any(worker == 0 and begins <= look.at_s <= ends for worker, begins, ends in still)
    ]
    return client_lag(turns, [*calm, *stalls], speed_up=speed_up).p99


def test_a_stall_while_a_class_waits_for_its_first_texts_is_seen_in_a_long_run() -> None:
    assert p99([*BELL, *LATER]) == pytest.approx(0.001)
    assert p99([*BELL, *LATER], stall(until_s=0.501, for_s=0.4)) == pytest.approx(0.4)


@pytest.mark.parametrize("until_s", [0.495, 0.5, 0.7, 0.899])
def test_a_first_text_may_be_stamped_in_a_stall_or_just_behind_it(until_s: float) -> None:
    assert p99(BELL, stall(until_s=until_s, for_s=0.4)) == pytest.approx(0.4)


@pytest.mark.parametrize(("until_s", "worker"), [(0.48, 0), (0.91, 0), (0.6, 1)])
def test_a_stall_at_another_time_or_of_another_worker_touches_no_turn(until_s: float, worker: int) -> None:
    assert p99(BELL * 100, stall(until_s=until_s, for_s=0.4, worker=worker)) == pytest.approx(0.001)


def test_stalls_are_real_seconds_whatever_the_speed() -> None:
    assert p99(BELL, stall(until_s=0.9, for_s=0.1), speed_up=4.0) == pytest.approx(0.1)
    assert p99(BELL, stall(until_s=1.0, for_s=0.1), speed_up=4.0) == pytest.approx(0.001)


def test_a_turn_without_text_was_stamped_by_nobody() -> None:
    assert p99([a_failed_turn()] * 100, stall(until_s=0.5, for_s=9.0)) == pytest.approx(0.001)


def test_a_turn_that_was_sent_late_counts_from_when_it_could_have_been_sent() -> None:
    assert p99([a_turn(late_s=0.3)]) == pytest.approx(0.3)
    assert p99([a_turn(late_s=0.3, free_s=0.2)]) == pytest.approx(0.1)
    assert p99([a_turn(late_s=0.3, free_s=None)]) == pytest.approx(0.3)


def test_a_loop_that_stood_still_missed_its_looks() -> None:
    """Twenty looks fall into a second, and each would have told what was left of it."""
    found = client_lag([], [stall(until_s=1.0, for_s=1.0)], speed_up=1.0)
    assert (found.count, found.worst) == (21, 1.0)
    assert found.mean == pytest.approx(0.5)
    assert client_lag([], [stall(until_s=1.0, for_s=0.049)], speed_up=1.0).count == 1


def test_without_any_look_and_any_turn_nothing_is_known() -> None:
    assert client_lag([], [], speed_up=1.0).p99 is None


def test_a_senseless_stall_fills_no_memory() -> None:
    assert client_lag([], [stall(until_s=0.0, for_s=1e14)], speed_up=1.0).count == 72_001
