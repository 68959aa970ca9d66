"""What earlier starts tell of the next one."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.fleet.domain.past_starts import ENOUGH, PastStart, measured_start_s, next_start_at
from router.fleet.domain.pool_rules import PoolRules

RULES = PoolRules(seats_per_replica=10, maximum=4, retry_s=10.0, longest_retry_s=60.0)


def warm(*spans: float) -> list[PastStart]:
    return [PastStart(1000.0 * n, 1000.0 * n + span, went_warm=True) for n, span in enumerate(spans)]


def failed(*moments: float) -> list[PastStart]:
    return [PastStart(moment - 5.0, moment, went_warm=False) for moment in moments]


def test_few_starts_measure_nothing() -> None:
    assert measured_start_s(warm(*[60.0] * (ENOUGH - 1))) is None
    assert measured_start_s([]) is None


def test_one_in_twenty_may_take_longer_than_what_is_measured() -> None:
    assert measured_start_s(warm(*range(1, 101))) == 95.0
    assert measured_start_s(warm(*range(1, 21))) == 19.0
    assert measured_start_s(warm(60.0, 180.0, 90.0, 70.0, 80.0)) == 180.0


def test_starts_that_failed_measure_nothing() -> None:
    assert measured_start_s([*warm(*[60.0] * 5), *failed(*range(100))]) == 60.0


@given(st.lists(st.floats(1, 1e4), min_size=ENOUGH, max_size=60))
def test_a_measure_is_a_span_that_was_seen(spans: list[float]) -> None:
    measured = measured_start_s([PastStart(0.0, span, went_warm=True) for span in spans])
    assert measured in spans
    assert sum(span > measured for span in spans) <= 0.05 * len(spans)


def test_nothing_holds_a_start_up_where_the_last_one_went_well() -> None:
    assert next_start_at([], RULES) == -inf
    assert next_start_at([*failed(100.0), *warm(200.0)], RULES) == -inf


@pytest.mark.parametrize(("failures", "pause_s"), [(1, 10.0), (2, 20.0), (3, 40.0), (4, 60.0), (5, 60.0), (5000, 60.0)])
def test_the_pause_doubles_up_to_its_limit(failures: int, pause_s: float) -> None:
    moments = [500.0 - failures + n for n in range(1, failures + 1)]
    assert next_start_at(failed(*moments), RULES) == 500.0 + pause_s


def test_only_failures_since_the_last_success_count_in_whatever_order_they_are_told() -> None:
    starts = [*failed(300.0, 100.0, 200.0), PastStart(0.0, 250.0, went_warm=True)]
    assert next_start_at(starts, RULES) == next_start_at(starts[::-1], RULES) == 310.0


def test_a_success_in_the_same_moment_as_a_failure_comes_after_it() -> None:
    assert next_start_at([PastStart(0.0, 50.0, went_warm=True), *failed(50.0)], RULES) == -inf
