"""Percentiles with known truth."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.domain.figures import Spread
from loadtests.domain.spread import MEASURES, at_rank, of, spread_of
from tests.support.load_rows import a_failed_turn, a_turn

VALUES = st.lists(st.floats(0, 1e6), min_size=1, max_size=300)
SHARES = {"p50": 500, "p90": 900, "p95": 950, "p99": 990}


@given(VALUES)
def test_a_percentile_is_the_one_that_numpy_finds(values: list[float]) -> None:
    found = spread_of(values)
    for name, thousandths in SHARES.items():
        # Given as a float, 0.95 of 20 values may come to more than 19 of them.
        share = thousandths / 1000 - 1e-12
        assert getattr(found, name) == np.quantile(values, share, method="inverted_cdf")


@given(VALUES, st.integers(1, 1000))
def test_a_percentile_is_the_smallest_value_that_enough_do_not_exceed(values: list[float], thousandths: int) -> None:
    found = at_rank(sorted(values), thousandths)
    needed = Fraction(thousandths, 1000) * len(values)
    assert found in values
    assert sum(1 for value in values if value <= found) >= needed
    assert sum(1 for value in values if value < found) < needed


@given(st.lists(st.floats(0, 1e6)).flatmap(lambda values: st.tuples(st.just(values), st.permutations(values))))
def test_the_order_of_values_does_not_matter(both: tuple[list[float], list[float]]) -> None:
    assert spread_of(both[0]) == spread_of(both[1])


def test_each_percentile_is_that_of_its_name() -> None:
    found = spread_of(float(value) for value in range(1, 1_001))
    assert (found.p50, found.p90, found.p95, found.p99, found.worst) == (500, 900, 950, 990, 1_000)


def test_of_nothing_nothing_is_known() -> None:
    assert spread_of([]) == Spread(count=0)


def test_the_mean_is_of_what_came() -> None:
    assert spread_of([1.0, 3.0, math.inf]).mean == 2.0
    assert spread_of([math.inf]) == Spread(count=1, mean=None, **dict.fromkeys([*SHARES, "worst"], math.inf))


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=60), st.integers(0, 59), st.data())
def test_a_turn_that_fails_never_lowers_a_percentile(times: list[float], place: int, data: st.DataObject) -> None:
    turns = [a_turn(first_s=each, last_s=each + 1) for each in times]
    spoiled = list(turns)
    fails = place % len(turns)
    heard = data.draw(st.sampled_from([turns[fails].first_s, None]))
    spoiled[fails] = a_failed_turn(first_s=heard, last_s=heard)
    for measure in MEASURES:
        whole, after, more = (of(measure, each) for each in (turns, spoiled, [*turns, spoiled[fails]]))
        assert after.count == whole.count
        assert more.count == whole.count + 1
        for name in (*SHARES, "worst"):
            assert getattr(after, name) >= getattr(whole, name)
            assert getattr(more, name) >= getattr(whole, name)


@pytest.mark.parametrize(
    ("measure", "seconds"),
    [("ttft", 0.5), ("ttft_planned", 3.5), ("e2e", 2.5), ("e2e_planned", 5.5), ("tpot", 0.2), ("longest_gap", 0.4)],
)
def test_each_measure_is_what_it_is_called(measure: str, seconds: float) -> None:
    assert of(measure, [a_turn(at_s=10.0, late_s=3.0)]).worst == pytest.approx(seconds)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_turn_without_text_never_came(measure: str) -> None:
    assert of(measure, [a_turn(first_s=None, last_s=None)]).worst == math.inf


def test_what_has_no_value_is_left_out() -> None:
    assert of("tpot", [a_turn(completion_tokens=1)]).count == 0
    assert of("longest_gap", [a_turn(gaps_s=())]).count == 0


def test_a_stopped_reply_counts_as_far_as_it_was_heard() -> None:
    stopped = a_turn(finish="cancelled")
    counts = {measure: of(measure, [stopped]).count for measure in MEASURES}
    assert counts == {"ttft": 1, "ttft_planned": 1, "e2e": 0, "e2e_planned": 0, "tpot": 1, "longest_gap": 1}
    assert of("ttft", [a_turn(finish="cancelled", first_s=None, last_s=None)]).count == 0
