"""Odds against closed forms, and against each other."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.domain.odds import at_least, at_most, fisher, trials_needed, upper_bound

shares = st.floats(0.001, 0.999)


@given(st.integers(1, 60), shares, st.data())
def test_at_most_and_more_are_all_there_is(trials: int, share: float, data: st.DataObject) -> None:
    events = data.draw(st.integers(0, trials))
    assert at_most(events, trials, share) + at_least(events + 1, trials, share) == pytest.approx(1)


def test_at_most_is_the_binomial_sum() -> None:
    assert at_most(1, 3, 0.5) == pytest.approx(0.5)
    assert at_most(0, 10, 0.1) == pytest.approx(0.9**10)
    assert at_most(2, 10, 0.1) == pytest.approx(sum(math.comb(10, k) * 0.1**k * 0.9 ** (10 - k) for k in range(3)))


def test_the_ends_are_certain() -> None:
    assert at_most(3, 3, 0.5) == 1
    assert at_most(1, 3, 0) == 1
    assert at_most(1, 3, 1) == 0
    assert at_most(-1, 3, 0.5) == 0


def test_without_events_the_bound_is_the_rule_of_three() -> None:
    assert upper_bound(0, 3_000, 0.95) == pytest.approx(1 - 0.05 ** (1 / 3_000))
    assert upper_bound(0, 3_000, 0.95) == pytest.approx(3 / 3_000, rel=0.002)
    assert trials_needed(0, 0.001, 0.95) == math.ceil(math.log(0.05) / math.log(0.999)) == 2_995


def test_when_all_were_events_the_bound_is_all() -> None:
    assert upper_bound(4, 4, 0.95) == 1


@given(st.integers(0, 40), st.integers(0, 400), st.floats(0.5, 0.99))
def test_the_bound_is_above_what_was_seen_and_would_show_so_few_seldom(events: int, more: int, level: float) -> None:
    trials = events + more + 1
    bound = upper_bound(events, trials, level)
    assert bound > events / trials
    assert at_most(events, trials, bound) == pytest.approx(1 - level)


@given(st.integers(0, 20), st.floats(0.001, 0.5), st.floats(0.5, 0.99))
def test_the_trials_needed_are_the_fewest_that_prove_it(events: int, share: float, level: float) -> None:
    needed = trials_needed(events, share, level)
    assert at_most(events, needed, share) <= 1 - level
    assert at_most(events, needed - 1, share) > 1 - level


def test_fisher_is_the_sum_of_the_tables_no_likelier() -> None:
    # Fisher's tasting: 3 of 4 against 1 of 4.
    assert fisher((3, 4), (1, 4)) == pytest.approx(34 / 70)
    assert fisher((5, 5), (0, 5)) == pytest.approx(2 / math.comb(10, 5))
    assert fisher((2, 9), (2, 9)) == pytest.approx(1)
    assert fisher((0, 0), (3, 5)) == pytest.approx(1)


@given(st.integers(0, 30), st.integers(0, 30), st.data())
def test_fisher_does_not_care_which_comes_first(one: int, other: int, data: st.DataObject) -> None:
    first = (data.draw(st.integers(0, one)), one)
    second = (data.draw(st.integers(0, other)), other)
    assert fisher(first, second) == pytest.approx(fisher(second, first))
    assert 0 <= fisher(first, second) <= 1
