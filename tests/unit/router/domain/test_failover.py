"""Which failures another replica may mend, and which of those are free."""

import pytest

from router.domain.failover import Elsewhere, Failure, GiveUp, Why, after_failure
from router.errors import (
    EngineBroke,
    EngineBusy,
    EngineConnectLate,
    EngineError,
    EngineRejected,
    EngineTimedOut,
    EngineUnreachable,
)

LOST = (EngineUnreachable, EngineConnectLate, EngineBroke)
SLOW = (EngineTimedOut, EngineBusy)


def judged(failure: Failure, *, most: int = 3, may_continue: bool = True) -> Elsewhere | GiveUp:
    return after_failure(failure, most=most, may_continue=may_continue)


@pytest.mark.parametrize("kind", [*LOST, *SLOW])
@pytest.mark.parametrize("has_begun", [False, True])
def test_what_the_replica_is_to_blame_for_is_mended_elsewhere(kind: type[EngineError], has_begun: bool) -> None:
    assert isinstance(judged(Failure(kind("a", "gone"), 1, has_begun)), Elsewhere)


@pytest.mark.parametrize("has_begun", [False, True])
def test_what_the_request_is_to_blame_for_is_not(has_begun: bool) -> None:
    assert judged(Failure(EngineRejected("a", "too long"), 1, has_begun)) == GiveUp(Why.WRONG_REQUEST)


def test_the_last_attempt_is_the_last() -> None:
    outcomes = [judged(Failure(EngineBusy("a", "full"), attempts)) for attempts in (1, 2, 3)]
    assert [isinstance(outcome, Elsewhere) for outcome in outcomes] == [True, True, False]
    assert outcomes[2] == GiveUp(Why.NO_MORE_ATTEMPTS)


def test_who_wants_no_continuation_gets_none_but_a_reply_that_never_began_is_asked_for_anew() -> None:
    error = EngineBroke("a", "cut off")
    assert judged(Failure(error, 1, has_begun=True), may_continue=False) == GiveUp(Why.NOT_ALLOWED)
    assert isinstance(judged(Failure(error, 1), may_continue=False), Elsewhere)


def test_when_the_time_is_over_nobody_else_is_asked() -> None:
    assert judged(Failure(EngineTimedOut("a", "slow"), 1, is_late=True)) == GiveUp(Why.NO_TIME)


@pytest.mark.parametrize("kind", LOST)
def test_the_first_move_away_from_a_lost_replica_is_free(kind: type[EngineError]) -> None:
    assert judged(Failure(kind("a", "gone"), 1)) == Elsewhere(is_free=True)
    assert judged(Failure(kind("a", "gone"), 2)) == Elsewhere(is_free=False)


@pytest.mark.parametrize("kind", SLOW)
def test_moving_away_from_a_slow_one_is_paid_for_unless_it_is_known_to_be_down(kind: type[EngineError]) -> None:
    assert judged(Failure(kind("a", "slow"), 1)) == Elsewhere(is_free=False)
    assert judged(Failure(kind("a", "slow"), 1, is_replica_down=True)) == Elsewhere(is_free=True)


@pytest.mark.parametrize("kind", SLOW)
def test_the_first_continuation_is_free_whatever_the_reason(kind: type[EngineError]) -> None:
    assert judged(Failure(kind("a", "slow"), 1, has_begun=True)) == Elsewhere(is_free=True)
    assert judged(Failure(kind("a", "slow"), 2, has_begun=True)) == Elsewhere(is_free=False)
