"""How long a replica may stay in each state of its life."""

import pytest

from router.fleet.domain.replica_lifecycle import DEADLINES, ON_THEIR_WAY, ReplicaState, overdue


@pytest.mark.parametrize("state", DEADLINES)
def test_whoever_is_on_its_way_for_too_long_is_given_up_with_a_reason(state: ReplicaState) -> None:
    limit = DEADLINES[state]
    assert overdue(state, since=100.0, now=100.0 + limit.seconds) is None
    assert overdue(state, since=100.0, now=100.1 + limit.seconds) == limit.reason


def test_only_what_is_on_its_way_has_a_deadline_here() -> None:
    assert set(DEADLINES) == ON_THEIR_WAY
    assert overdue(ReplicaState.READY, since=0.0, now=1e9) is None
    assert overdue(ReplicaState.DRAINING, since=0.0, now=1e9) is None
