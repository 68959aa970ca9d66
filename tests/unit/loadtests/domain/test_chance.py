"""Chance that is the same again has the shape it is said to have."""

import math
from statistics import fmean, median, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.domain.chance import log_normal, log_normal_of_mean, share, shuffled
from loadtests.domain.dice import Dice


@given(st.integers(0, 10**6))
def test_a_share_is_above_nothing_and_below_all(seed: int) -> None:
    assert 0 < share(Dice(seed, "share")) < 1


def test_a_log_normal_time_has_the_median_and_the_spread_that_were_asked_for() -> None:
    dice = Dice(3, "times")
    drawn = [log_normal(dice, median=5.0, sigma=0.5) for _ in range(20_000)]
    assert median(drawn) == pytest.approx(5.0, rel=0.02)
    assert stdev(math.log(each) for each in drawn) == pytest.approx(0.5, rel=0.02)


def test_a_log_normal_time_has_the_mean_that_was_asked_for() -> None:
    dice = Dice(4, "times")
    assert fmean(log_normal_of_mean(dice, mean=20.0, sigma=0.5) for _ in range(20_000)) == pytest.approx(20, rel=0.02)


def test_no_time_stays_no_time() -> None:
    assert log_normal(Dice(1, "none"), median=0.0, sigma=0.5) == 0


@given(st.integers(0, 50), st.integers(0, 10**6))
def test_a_shuffled_order_has_everybody_once(count: int, seed: int) -> None:
    assert sorted(shuffled(Dice(seed, "order"), count)) == list(range(count))


def test_another_seed_shuffles_otherwise() -> None:
    assert shuffled(Dice(1, "order"), 20) != shuffled(Dice(2, "order"), 20)
