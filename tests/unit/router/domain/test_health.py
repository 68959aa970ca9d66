"""The table of health."""

from itertools import product

import pytest

from router.domain.fleet import Health
from router.domain.health import Observation, after, when_late


def test_every_observation_has_an_answer_in_every_state() -> None:
    assert all(isinstance(after(*pair), Health) for pair in product(Health, Observation))


def test_down_is_left_only_by_a_probe_that_looked_anew() -> None:
    leaving = {seen for seen in Observation if after(Health.DOWN, seen) is not Health.DOWN}
    assert leaving == {Observation.ACCEPTED, Observation.REFUSED}


def test_ready_is_reached_only_by_acceptance() -> None:
    ways = {seen for seen, state in product(Observation, Health) if after(state, seen) is Health.READY}
    assert ways == {Observation.ACCEPTED, Observation.PROBE_PASSED}
    assert [state for state in Health if after(state, Observation.PROBE_PASSED) is Health.READY] == [Health.READY]


@pytest.mark.parametrize("health", list(Health))
def test_a_lost_turn_and_a_failed_probe_take_a_replica_down(health: Health) -> None:
    assert after(health, Observation.TURN_LOST) is Health.DOWN
    assert after(health, Observation.PROBE_FAILED) is Health.DOWN


@pytest.mark.parametrize("health", list(Health))
def test_an_unfit_replica_is_refused_whatever_it_was(health: Health) -> None:
    assert after(health, Observation.REFUSED) is Health.REFUSED


def test_a_ready_replica_is_forgiven_one_late_answer() -> None:
    assert when_late(Health.READY, in_a_row=1) is Observation.PROBE_PASSED
    assert when_late(Health.READY, in_a_row=2) is Observation.PROBE_FAILED


@pytest.mark.parametrize("health", [Health.UNKNOWN, Health.DOWN, Health.REFUSED])
def test_a_replica_that_does_not_serve_is_forgiven_none(health: Health) -> None:
    assert when_late(health, in_a_row=1) is Observation.PROBE_FAILED
