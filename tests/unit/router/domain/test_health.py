"""The table of health."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.fleet import Health
from router.domain.health import Observation, after, proof_of, when_canary_late, when_late

SIGHTINGS = st.lists(st.sampled_from(Observation), max_size=12)


def test_every_observation_has_an_answer_in_every_state() -> None:
    assert all(isinstance(after(*pair), Health) for pair in product(Health, Observation))


def test_ready_is_reached_only_from_proving_by_a_canary() -> None:
    ways = {(state, seen) for state, seen in product(Health, Observation) if after(state, seen) is Health.READY}
    assert {way for way in ways if way[0] is not Health.READY} == {(Health.PROVING, Observation.CANARY_PASSED)}


def test_proving_is_reached_only_by_acceptance() -> None:
    ways = {(state, seen) for state, seen in product(Health, Observation) if after(state, seen) is Health.PROVING}
    assert {seen for state, seen in ways if state is not Health.PROVING} == {Observation.ACCEPTED}


@pytest.mark.parametrize("health", [Health.DOWN, Health.REFUSED])
def test_what_does_not_serve_is_left_only_by_a_probe_that_looked_anew(health: Health) -> None:
    leaving = {seen for seen in Observation if after(health, seen) in {Health.PROVING, Health.READY, Health.UNKNOWN}}
    assert leaving == {Observation.ACCEPTED}


@given(SIGHTINGS)
def test_whatever_is_seen_a_ready_replica_has_been_accepted_and_then_proven(seen: list[Observation]) -> None:
    health = Health.UNKNOWN
    for each in seen:
        health = after(health, each)
    if health is Health.READY:
        last = len(seen) - 1 - seen[::-1].index(Observation.CANARY_PASSED)
        assert Observation.ACCEPTED in seen[:last]


@pytest.mark.parametrize("health", list(Health))
@pytest.mark.parametrize(
    "seen", [Observation.TURN_LOST, Observation.PROBE_FAILED, Observation.CANARY_FAILED], ids=lambda seen: seen.name
)
def test_what_fails_takes_a_replica_down(health: Health, seen: Observation) -> None:
    assert after(health, seen) is Health.DOWN


@pytest.mark.parametrize("health", list(Health))
def test_an_unfit_replica_is_refused_whatever_it_was(health: Health) -> None:
    assert after(health, Observation.REFUSED) is Health.REFUSED


@pytest.mark.parametrize("health", list(Health))
@pytest.mark.parametrize("seen", [Observation.PROBE_PASSED, Observation.CONNECT_LATE], ids=lambda seen: seen.name)
def test_that_it_still_answers_or_that_a_turn_got_no_connection_in_time_changes_nothing(
    health: Health, seen: Observation
) -> None:
    assert after(health, seen) is health


def test_without_canaries_acceptance_is_the_proof() -> None:
    health = Health.DOWN
    for seen in proof_of(Observation.ACCEPTED, has_canaries=False):
        health = after(health, seen)
    assert health is Health.READY


def test_with_canaries_acceptance_is_not_the_proof() -> None:
    assert proof_of(Observation.ACCEPTED, has_canaries=True) == (Observation.ACCEPTED,)


@pytest.mark.parametrize("has_canaries", [True, False])
def test_a_refusal_is_a_refusal_with_canaries_and_without(has_canaries: bool) -> None:
    assert proof_of(Observation.REFUSED, has_canaries=has_canaries) == (Observation.REFUSED,)


def test_a_ready_replica_is_forgiven_one_late_answer() -> None:
    assert when_late(Health.READY, in_a_row=1) is Observation.PROBE_PASSED
    assert when_late(Health.READY, in_a_row=2) is Observation.PROBE_FAILED


@pytest.mark.parametrize("health", [health for health in Health if health is not Health.READY])
def test_a_replica_that_does_not_serve_is_forgiven_none(health: Health) -> None:
    assert when_late(health, in_a_row=1) is Observation.PROBE_FAILED
    assert when_canary_late(health, in_a_row=1, has_moved=False) is Observation.CANARY_FAILED


def test_a_ready_replica_is_forgiven_one_late_canary() -> None:
    assert when_canary_late(Health.READY, in_a_row=1, has_moved=False) is Observation.PROBE_PASSED
    assert when_canary_late(Health.READY, in_a_row=2, has_moved=False) is Observation.CANARY_FAILED


@pytest.mark.parametrize("health", list(Health))
@pytest.mark.parametrize("in_a_row", [1, 2, 9])
def test_an_engine_that_was_seen_working_only_let_its_canary_wait(health: Health, in_a_row: int) -> None:
    assert when_canary_late(health, in_a_row=in_a_row, has_moved=True) is Observation.CANARY_PASSED
