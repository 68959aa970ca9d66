"""Breakers of several replicas."""

from router.breakers import Breakers
from router.domain.breaker import Outcome, Rule
from router.domain.fleet import Replica, ReplicaId
from router.tally import Tally

A, B = ReplicaId("a"), ReplicaId("b")


def some_breakers() -> tuple[Breakers, Tally]:
    tally = Tally()
    return Breakers(rule=Rule(failures=2, open_s=5.0), tally=tally), tally


def saw(breakers: Breakers, outcome: Outcome, *, times: int = 1, is_trial: bool = False, now: float = 0.0) -> None:
    for _ in range(times):
        breakers.saw(A, outcome, is_trial=is_trial, now=now)


def test_one_replica_is_shut_off_and_the_other_is_not() -> None:
    breakers, tally = some_breakers()
    assert breakers.blocked(0.0) == set()
    saw(breakers, Outcome.FAILURE, times=4)
    assert set(breakers.blocked(1.0)) == breakers.open() == {A}
    assert tally.breaker_opened == {A: 1}


def test_one_request_tries_while_the_others_wait_for_what_it_shows() -> None:
    breakers, tally = some_breakers()
    saw(breakers, Outcome.FAILURE, times=2)
    assert breakers.blocked(5.0) == set()
    assert breakers.enter(A)
    assert not breakers.enter(A)
    assert not breakers.enter(B)
    assert breakers.blocked(9.0) == {A}
    saw(breakers, Outcome.SUCCESS, now=9.0)
    assert breakers.blocked(9.0) == {A}, "an older request proves nothing"
    saw(breakers, Outcome.SUCCESS, is_trial=True, now=9.0)
    assert not breakers.blocked(9.0)
    assert not breakers.open()
    assert tally.breaker_opened == {A: 1}


def test_a_trial_that_was_cancelled_leaves_its_place_to_the_next() -> None:
    breakers, _ = some_breakers()
    saw(breakers, Outcome.FAILURE, times=2)
    assert breakers.enter(A)
    saw(breakers, Outcome.NEITHER, is_trial=True, now=6.0)
    assert breakers.blocked(6.0) == set()
    assert breakers.enter(A)


def test_what_went_well_again_is_forgotten() -> None:
    breakers, tally = some_breakers()
    for _ in range(10):
        saw(breakers, Outcome.FAILURE)
        saw(breakers, Outcome.SUCCESS)
    assert (breakers.blocked(0.0), tally.breaker_opened) == (set(), {})


def test_a_replica_that_was_lost_and_is_ready_again_starts_anew() -> None:
    breakers, _ = some_breakers()
    breakers.saw_fleet([Replica(A, "http://a", lives=1), Replica(B, "http://b", lives=1)])
    saw(breakers, Outcome.FAILURE, times=2)
    breakers.saw_fleet([Replica(A, "http://a", lives=1), Replica(B, "http://b", lives=2)])
    assert breakers.open() == {A}
    breakers.saw_fleet([Replica(A, "http://a", lives=2), Replica(B, "http://b", lives=2)])
    assert breakers.open() == set()
    saw(breakers, Outcome.FAILURE, times=2)
    breakers.saw_fleet([Replica(B, "http://b", lives=2)])
    assert breakers.open() == set()
