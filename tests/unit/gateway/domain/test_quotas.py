from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.limits import AccountLimits, DrillLimits, Spent
from gateway.domain.quotas import (
    HORIZON_US,
    MINUTE_US,
    Quota,
    Reserved,
    backlog_us,
    quotas_of,
    settled,
    share_of_account,
    share_of_drill,
    spent_costs,
    standing,
    wait_us,
)
from tests.support.limit_claims import SECOND_US, request_of

NOW = 1_795_000_000 * SECOND_US
limits = st.integers(1, 2_000_000_000)


def rate_of(per_minute: int, burst: int | None = None) -> Quota:
    return quotas_of(request_of(AccountLimits(requests_per_minute=per_minute, request_burst=burst)))[0]


def tokens_of(per_minute: int, units: int) -> Quota:
    return quotas_of(request_of(AccountLimits(output_tokens_per_minute=per_minute), tokens=(0, units)))[0]


def test_only_what_is_limited_is_counted() -> None:
    assert quotas_of(request_of(AccountLimits())) == ()
    every = AccountLimits(requests_per_minute=60, input_tokens_per_minute=10, output_tokens_per_minute=20)
    assert [(one.name, one.limit, one.units) for one in quotas_of(request_of(every, tokens=(3, 4)))] == [
        ("requests", 60, 1),
        ("input_tokens", 10, 3),
        ("output_tokens", 20, 4),
    ]


@pytest.mark.parametrize(("per_minute", "burst", "most"), [(600, 120, 120), (60, None, 60), (10, 50, 10), (1, 1, 1)])
def test_a_burst_is_a_part_of_a_minutes_share(per_minute: int, burst: int | None, most: int) -> None:
    quota = rate_of(per_minute, burst)
    assert quota.limit == most
    assert quota.depth_us == most * MINUTE_US // per_minute
    assert quota.cost_us == MINUTE_US // per_minute


@given(limits, st.none() | limits)
def test_no_bucket_is_deeper_than_the_horizon(per_minute: int, burst: int | None) -> None:
    quota = rate_of(per_minute, burst)
    assert 0 < quota.cost_us <= quota.depth_us <= HORIZON_US
    assert tokens_of(per_minute, 1).depth_us == MINUTE_US


def test_the_wait_is_exact() -> None:
    quota = rate_of(60, 2)
    assert wait_us(quota.depth_us, quota.cost_us, quota.depth_us) == SECOND_US
    assert wait_us(quota.depth_us - quota.cost_us, quota.cost_us, quota.depth_us) == 0
    assert wait_us(HORIZON_US, 0, quota.depth_us) == 0


def test_a_claim_above_the_whole_limit_takes_all_of_it() -> None:
    quota = tokens_of(1_000, 50_000)
    assert quota.cost_us == quota.depth_us
    assert wait_us(0, quota.cost_us, quota.depth_us) == 0
    assert wait_us(1, quota.cost_us, quota.depth_us) == 1


@given(st.lists(st.integers(0, 5 * SECOND_US), max_size=200), st.integers(1, 300), limits)
def test_never_more_than_the_burst_and_the_rate_allow(steps: list[int], burst: int, per_minute: int) -> None:
    quota, now, empty_at, admitted = rate_of(per_minute, burst), NOW, 0, 0
    for by_us in steps:
        now += by_us
        backlog = backlog_us(empty_at, now)
        if not wait_us(backlog, quota.cost_us, quota.depth_us):
            empty_at = now + backlog + quota.cost_us
            admitted += 1
    assert admitted <= quota.limit + (now - NOW) * per_minute // MINUTE_US


@given(
    st.lists(
        st.tuples(st.integers(-10_000 * SECOND_US, 10_000 * SECOND_US), st.integers(1, 20)), min_size=1, max_size=30
    )
)
def test_a_clock_that_jumps_gives_at_most_a_burst_each_time_and_locks_nobody_out(jumps: list[tuple[int, int]]) -> None:
    quota, now, empty_at, admitted = rate_of(60, 5), NOW, 0, 0
    for by_us, tries in jumps:
        now += by_us
        for _ in range(tries):
            wait = wait_us(backlog_us(empty_at, now), quota.cost_us, quota.depth_us)
            assert wait <= HORIZON_US
            if not wait:
                empty_at = now + backlog_us(empty_at, now) + quota.cost_us
                admitted += 1
    assert admitted <= 5 * len(jumps)
    patient = now + HORIZON_US
    assert not wait_us(backlog_us(empty_at, patient), quota.cost_us, quota.depth_us)


def test_a_moment_of_another_clock_counts_for_nothing() -> None:
    assert backlog_us(NOW + HORIZON_US, NOW) == HORIZON_US
    assert backlog_us(NOW + HORIZON_US + 1, NOW) == 0
    assert backlog_us(NOW, NOW) == backlog_us(0, NOW) == 0


def test_what_was_not_used_is_given_back_and_what_was_used_beyond_is_a_debt() -> None:
    taken = Reserved(10 * SECOND_US, NOW + 10 * SECOND_US)
    empty_at = taken.until
    assert settled(empty_at, taken, 4 * SECOND_US, NOW) == NOW + 4 * SECOND_US
    assert settled(empty_at, taken, 10 * SECOND_US, NOW) == empty_at
    assert settled(empty_at, taken, 90 * SECOND_US, NOW) == NOW + 90 * SECOND_US
    assert settled(empty_at, taken, HORIZON_US, NOW + SECOND_US) == NOW + SECOND_US + HORIZON_US - SECOND_US
    assert settled(NOW + HORIZON_US, taken, HORIZON_US, NOW) == NOW + HORIZON_US


def test_what_has_drained_is_not_given_back_again() -> None:
    first = Reserved(10 * SECOND_US, NOW + 10 * SECOND_US)
    later = NOW + 7 * SECOND_US
    second = later + 3 * SECOND_US + 5 * SECOND_US  # another claim of 5 s came in
    assert settled(second, first, 0, later) == later + 5 * SECOND_US
    much_later = NOW + 11 * SECOND_US
    assert settled(second, first, 0, much_later) == second


@given(
    st.integers(0, HORIZON_US),
    st.integers(1, MINUTE_US),
    st.integers(0, HORIZON_US),
    st.integers(-HORIZON_US, HORIZON_US),
)
def test_a_settlement_neither_gives_more_than_was_taken_nor_owes_more_than_it_says(
    backlog: int, cost: int, spent: int, late: int
) -> None:
    taken = Reserved(cost, NOW + backlog)
    after = settled(NOW + backlog, taken, spent, NOW + late) - (NOW + late)
    before = backlog_us(NOW + backlog, NOW + late)
    assert 0 <= after <= HORIZON_US
    assert max(before - cost, 0) <= after <= before + max(spent - cost, 0)


def test_the_spent_cost_of_each_quota() -> None:
    every = AccountLimits(requests_per_minute=60, input_tokens_per_minute=60, output_tokens_per_minute=600)
    quotas = quotas_of(request_of(every, tokens=(1, 1)))
    assert spent_costs(quotas, Spent(2, 3)) == (SECOND_US, 2 * SECOND_US, 300_000)
    assert spent_costs(quotas, Spent(10**9, 0)) == (SECOND_US, HORIZON_US, 0)
    assert spent_costs(quotas, None) == (0, 0, 0)


def test_a_standing_says_what_is_left_and_when_all_of_it_is_again() -> None:
    told = standing(rate_of(600, 120), 3 * SECOND_US)
    assert (told.name, told.limit, told.remaining) == ("requests", 120, 90)
    assert (told.reset_s, told.window_s) == (3.0, 12.0)
    assert standing(tokens_of(100, 1), HORIZON_US).remaining == 0


@given(limits, st.integers(0, HORIZON_US))
def test_what_is_said_to_be_left_can_be_taken(per_minute: int, backlog: int) -> None:
    left = standing(tokens_of(per_minute, 1), backlog).remaining
    if left:
        assert not wait_us(backlog, tokens_of(per_minute, left).cost_us, MINUTE_US)
    requests = rate_of(per_minute)
    fitting = standing(requests, backlog).remaining
    assert backlog + fitting * requests.cost_us <= max(requests.depth_us, backlog)


def test_a_share_is_at_least_one_and_never_more_than_the_whole() -> None:
    assert share_of_account(AccountLimits(1, 5, 100, None, 3), Fraction(1, 2)) == AccountLimits(1, 2, 50, None, 1)
    assert share_of_account(AccountLimits(turns_in_flight=0), Fraction(1, 2)) == AccountLimits(turns_in_flight=0)
    assert share_of_drill(DrillLimits(8, 2, 9), Fraction(1, 3)) == DrillLimits(8, 2, 3)
