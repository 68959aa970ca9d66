"""How long a replica may stay in each state of its life."""

import pytest

from router.fleet.domain.replica_lifecycle import DEADLINES, ON_THEIR_WAY, ReplicaState, deadline_of, overdue


@pytest.mark.parametrize("state", DEADLINES)
def test_whoever_is_on_its_way_for_too_long_is_given_up_with_a_reason(state: ReplicaState) -> None:
    limit = DEADLINES[state]
    assert overdue(state, since=100.0, now=100.0 + limit.seconds) is None
    assert overdue(state, since=100.0, now=100.1 + limit.seconds) == limit.reason


def test_only_what_is_on_its_way_has_a_deadline_here() -> None:
    assert set(DEADLINES) == ON_THEIR_WAY
    assert overdue(ReplicaState.READY, since=0.0, now=1e9) is None
    assert overdue(ReplicaState.DRAINING, since=0.0, now=1e9) is None


def test_a_start_that_may_take_longer_by_its_pool_s_rules_is_given_longer_and_nothing_else_is() -> None:
    starting = deadline_of(ReplicaState.STARTING, start_s=900.0)
    assert starting is not None
    assert starting.seconds == 900.0
    assert overdue(ReplicaState.STARTING, since=0.0, now=900.0, start_s=900.0) is None
    assert overdue(ReplicaState.STARTING, since=0.0, now=901.0, start_s=900.0) == starting.reason
    for state in ReplicaState:
        assert state is ReplicaState.STARTING or deadline_of(state, start_s=900.0) == DEADLINES.get(state)
    assert deadline_of(ReplicaState.STARTING, start_s=10.0) == DEADLINES[ReplicaState.STARTING]
