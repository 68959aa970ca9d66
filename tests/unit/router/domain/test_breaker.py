"""When a breaker opens, who tries, and what never counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.breaker import (
    CLOSED,
    Breaker,
    Outcome,
    Position,
    Rule,
    after,
    may_pass,
    outcome_of,
    passing,
)
from router.errors import EngineBroke, EngineBusy, EngineError, EngineRejected, EngineTimedOut, EngineUnreachable

RULE = Rule(failures=3, open_s=5.0)
OPEN = Breaker(Position.OPEN, 3, until=15.0)
TRYING = Breaker(Position.HALF_OPEN, 3)


def failed(times: int, *, now: float = 10.0) -> Breaker:
    breaker = CLOSED
    for _ in range(times):
        breaker = after(breaker, Outcome.FAILURE, rule=RULE, now=now)
    return breaker


def test_so_many_failures_in_a_row_open_it_for_a_while() -> None:
    assert [failed(times).position for times in range(4)] == [Position.CLOSED] * 3 + [Position.OPEN]
    assert failed(3) == OPEN
    assert [may_pass(OPEN, now=now) for now in (10.0, 14.9, 15.0)] == [False, False, True]


def test_a_success_between_them_starts_the_count_anew() -> None:
    breaker = after(failed(2), Outcome.SUCCESS, rule=RULE, now=10.0)
    assert after(breaker, Outcome.FAILURE, rule=RULE, now=10.0) == Breaker(failures=1)


@pytest.mark.parametrize("outcome", [Outcome.NEITHER, Outcome.BEGUN])
def test_what_shows_nothing_leaves_the_count_as_it_is(outcome: Outcome) -> None:
    assert after(failed(2), outcome, rule=RULE, now=10.0) == failed(2)


def test_one_request_tries_and_no_second_one_with_it() -> None:
    assert passing(OPEN) == TRYING
    assert not may_pass(TRYING, now=1e9)
    assert passing(CLOSED) == CLOSED


def test_the_request_that_tries_decides() -> None:
    assert after(TRYING, Outcome.SUCCESS, rule=RULE, now=20.0) == CLOSED
    assert after(TRYING, Outcome.FAILURE, rule=RULE, now=20.0) == Breaker(Position.OPEN, 3, until=25.0)


def test_one_that_tries_and_shows_nothing_leaves_the_place_to_the_next() -> None:
    again = after(TRYING, Outcome.NEITHER, rule=RULE, now=20.0)
    assert may_pass(again, now=20.0)


def test_a_first_piece_lets_the_others_in_until_the_next_failure() -> None:
    begun = after(TRYING, Outcome.BEGUN, rule=RULE, now=20.0)
    assert may_pass(begun, now=20.0)
    assert after(begun, Outcome.FAILURE, rule=RULE, now=21.0).position is Position.OPEN
    assert after(begun, Outcome.SUCCESS, rule=RULE, now=21.0) == CLOSED


@pytest.mark.parametrize("outcome", list(Outcome))
def test_requests_from_before_it_opened_change_nothing(outcome: Outcome) -> None:
    assert after(OPEN, outcome, rule=RULE, now=14.0) == OPEN


@pytest.mark.parametrize(
    ("error", "counts"),
    [
        (EngineUnreachable("a", "refused"), True),
        (EngineTimedOut("a", "silent"), True),
        (EngineBroke("a", "cut off"), True),
        (EngineBusy("a", "draining"), True),
        (EngineBusy("a", "broken", status=500), True),
        (EngineBusy("a", "full", status=429), False),
        (EngineRejected("a", "too long"), False),
        (EngineRejected("a", "unknown", status=404), False),
    ],
    ids=repr,
)
def test_only_what_the_replica_is_to_blame_for_counts(error: EngineError, counts: bool) -> None:
    assert (outcome_of(error) is Outcome.FAILURE) is counts


def test_silence_says_nothing_to_a_call_that_gives_way() -> None:
    assert outcome_of(EngineTimedOut("a", "silent"), gives_way=True) is Outcome.NEITHER
    assert outcome_of(EngineBroke("a", "cut off"), gives_way=True) is Outcome.FAILURE


def test_fifty_wrong_requests_open_no_breaker() -> None:
    breaker = CLOSED
    for _ in range(50):
        breaker = after(breaker, outcome_of(EngineRejected("a", "wrong")), rule=RULE, now=1.0)
    assert breaker == CLOSED


@given(st.lists(st.tuples(st.sampled_from(list(Outcome)), st.floats(0, 10)), max_size=60), st.integers(1, 5))
def test_it_is_never_shut_for_longer_than_its_time(steps: list[tuple[Outcome, float]], most: int) -> None:
    rule, breaker, now = Rule(most, 5.0), CLOSED, 0.0
    for outcome, passed in steps:
        now += passed
        breaker = after(breaker, outcome, rule=rule, now=now)
        assert breaker.failures <= most
        assert (breaker.position is Position.CLOSED) is (breaker.failures < most)
        assert breaker.position is Position.CLOSED or may_pass(breaker, now=now + rule.open_s)
        breaker = passing(breaker) if may_pass(breaker, now=now) else breaker
