"""Figures of a run with known truth."""

import math
from dataclasses import replace

import pytest

from loadtests.domain.hearing import TurnOutcome
from loadtests.domain.tally import nearest_rank, tally

TURN = TurnOutcome(1, 0.1, 0.3, 0.4, 3, 100, 80, 3, "replica-1", None)


@pytest.mark.parametrize(("share", "value"), [(0.5, 5), (0.95, 10), (0.1, 1), (0.0, 1), (1.0, 10)])
def test_a_percentile_is_a_value_that_was_measured(share: float, value: float) -> None:
    assert nearest_rank(range(10, 0, -1), share) == value
    assert nearest_rank([], share) is None


def test_a_failed_turn_counts_as_one_that_never_came() -> None:
    turns = [replace(TURN, ttft_s=n / 10) for n in range(1, 10)]
    found = tally([*turns, replace(TURN, ttft_s=0.01, failure="tutor_broke")])
    assert (found.turns, found.failures, found.passed) == (10, {"tutor_broke": 1}, False)
    assert found.ttft_p50_s == 0.5
    assert found.ttft_p95_s == math.inf
    assert found.total_p95_s == math.inf


def test_a_run_without_turns_proves_nothing() -> None:
    assert not tally([]).passed
    assert tally([]).cached_share is None


def test_a_clean_run_passes_with_its_shares() -> None:
    found = tally([TURN, replace(TURN, completion_tokens=1, failure=None)])
    assert found.passed
    assert found.cached_share == 0.8
    assert found.tpot_p50_s == pytest.approx(0.1)


def test_failures_of_one_kind_are_counted_together() -> None:
    assert tally([replace(TURN, failure="x"), replace(TURN, failure="x")]).failures == {"x": 2}
